//! Goal: images are taken apart as their builder put them together, their length follows from
//! their headers, and broken ones give errors. Method: bundles made by clang-offload-bundler are
//! compared with what went in; every sample is cut at every byte and changed at random.

use hip_code::image::{copy_image, fat_binary_image, image_bytes, image_bytes_in};
use hip_code::{Bundle, CodeError, CodeObject, CompressedBundle, TargetId, select};
use proptest::prelude::*;

const GFX906: &[u8] = include_bytes!("data/fs.gfx906.c15.co");
const GFX90A: &[u8] = include_bytes!("data/fs.gfx90a.c15.co");
const XNACK: &[u8] = include_bytes!("data/fs.gfx90a-xnack.co");
const GFX942: &[u8] = include_bytes!("data/fs.gfx942.c19.co");
const RELOCATABLE: &[u8] = include_bytes!("data/fs.gfx90a.rel.o");
const BUNDLE: &[u8] = include_bytes!("data/fs.bundle");
const CCOB2: &[u8] = include_bytes!("data/fs.ccob2");
const CCOB3: &[u8] = include_bytes!("data/fs.ccob3");
const IMAGES: [&[u8]; 8] = [GFX906, GFX90A, XNACK, GFX942, RELOCATABLE, BUNDLE, CCOB2, CCOB3];

fn target(text: &str) -> TargetId {
    TargetId::parse(text).unwrap()
}

/// A bundle as the format's documentation describes it.
fn bundle_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let table: usize = entries.iter().map(|(id, _)| 24 + id.len()).sum();
    let mut image = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    image.extend((entries.len() as u64).to_le_bytes());
    let mut offset = (32 + table) as u64;
    for (id, data) in entries {
        for field in [offset, data.len() as u64, id.len() as u64] {
            image.extend(field.to_le_bytes());
        }
        image.extend(id.as_bytes());
        offset += data.len() as u64;
    }
    entries.iter().for_each(|(_, data)| image.extend(*data));
    image
}

#[test]
fn bundles_hold_what_was_bundled() {
    for image in [BUNDLE, CCOB2, CCOB3] {
        for (device, object) in [("gfx906:sramecc+:xnack-", GFX906), ("gfx90a:xnack-", GFX90A)] {
            let selected = select(image, &target(device)).unwrap();
            assert!(*selected.object == *object, "{device}");
        }
        let missing = select(image, &target("gfx942:sramecc+:xnack-")).unwrap_err();
        let CodeError::NoCodeForDevice { device, offered } = missing else {
            panic!("{missing}");
        };
        assert_eq!(device, "gfx942:sramecc+:xnack-");
        assert!(offered.contains("gfx906") && offered.contains("gfx90a"), "{offered}");
    }
    let bundle = Bundle::parse(BUNDLE).unwrap();
    assert_eq!(bundle.entries.len(), 3);
    assert_eq!(bundle.entries[0].target(), None, "the host entry has no target");
    assert!(bundle.entries[0].data.is_empty());
}

#[test]
fn the_entry_that_fixes_most_wins() {
    let id = |features: &str| format!("hipv4-amdgcn-amd-amdhsa--gfx90a{features}");
    let ids = [id(""), id(":xnack+"), id(":xnack-"), id(":sramecc+:xnack-"), id(":sramecc+")];
    let entries: Vec<(&str, &[u8])> = ids.iter().map(|id| (id.as_str(), id.as_bytes())).collect();
    let image = bundle_of(&entries);
    for (device, expected) in [
        ("gfx90a:sramecc+:xnack-", ":sramecc+:xnack-"),
        ("gfx90a:sramecc-:xnack-", ":xnack-"),
        ("gfx90a:sramecc-:xnack+", ":xnack+"),
    ] {
        let selected = select(&image, &target(device)).unwrap();
        assert_eq!(*selected.object, *id(expected).as_bytes());
    }
    assert!(select(XNACK, &target("gfx90a:sramecc+:xnack+")).is_ok());
    assert!(select(XNACK, &target("gfx90a:sramecc+:xnack-")).is_err());
}

#[test]
fn entry_ids_of_all_spellings_have_targets() {
    let image = bundle_of(&[
        ("hip-amdgcn-amd-amdhsa-gfx906", b"a"),
        ("hipv4-amdgcn-amd-amdhsa-unknown-gfx942:xnack-", b"b"),
        ("openmp-amdgcn-amd-amdhsa--gfx90a", b"c"),
        ("host-x86_64-unknown-linux-gnu-", b"d"),
    ]);
    let bundle = Bundle::parse(&image).unwrap();
    let targets: Vec<_> = bundle.entries.iter().map(|entry| entry.target()).collect();
    assert_eq!(targets, [Some(target("gfx906")), Some(target("gfx942:xnack-")), None, None]);
}

#[test]
fn zlib_is_decompressed_and_sizes_are_checked() {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(BUNDLE).unwrap();
    let payload = encoder.finish().unwrap();
    let image = |total: usize, uncompressed: usize| {
        let mut image = b"CCOB\x02\x00\x00\x00".to_vec();
        image.extend((total as u32).to_le_bytes());
        image.extend((uncompressed as u32).to_le_bytes());
        image.extend([0; 8]);
        image.extend(&payload);
        image
    };
    let total = payload.len() + 24;
    let device = target("gfx90a:sramecc+:xnack-");
    let good = image(total, BUNDLE.len());
    assert!(*select(&good, &device).unwrap().object == *GFX90A);
    assert_eq!(image_bytes_in(&good), Some(good.len()));
    for (total, uncompressed) in
        [(total, BUNDLE.len() - 1), (total, BUNDLE.len() + 1), (total + 1, BUNDLE.len()), (23, 1)]
    {
        let bad = image(total, uncompressed);
        assert!(select(&bad, &device).is_err(), "{total} {uncompressed}");
    }
    // Version 1 has no length: unknown, which is not zero.
    let mut first = b"CCOB\x01\x00\x00\x00".to_vec();
    first.extend((BUNDLE.len() as u32).to_le_bytes());
    first.extend([0; 8]);
    first.extend(&payload);
    assert_eq!(image_bytes_in(&first), None);
    assert_eq!(CompressedBundle::parse_header(&first).unwrap().total_bytes, None);
    assert!(*select(&first, &device).unwrap().object == *GFX90A);
    for (version, method) in [(4, 0), (0, 0), (2, 2)] {
        let mut unknown = good.clone();
        (unknown[4], unknown[6]) = (version, method);
        let refused = select(&unknown, &device).unwrap_err();
        assert!(matches!(refused, CodeError::UnknownCompression { .. }), "{refused}");
        assert_eq!(image_bytes_in(&unknown), None);
    }
}

#[test]
fn lengths_are_those_of_the_files() {
    for image in IMAGES {
        assert_eq!(image_bytes_in(image), Some(image.len()));
        // What follows in memory does not count.
        let mut longer = image.to_vec();
        longer.extend([0xa5; 100]);
        assert_eq!(image_bytes_in(&longer), Some(image.len()));
        // SAFETY: the copy is not changed meanwhile.
        assert_eq!(unsafe { image_bytes(longer.as_ptr()) }, Some(image.len()));
        // SAFETY: as above.
        assert_eq!(unsafe { copy_image(longer.as_ptr()) }.as_deref(), Some(image));
    }
    assert_eq!(image_bytes_in(&[]), None);
    assert_eq!(image_bytes_in(&[0; 64]), None);
}

#[test]
fn every_cut_is_refused() {
    for image in IMAGES {
        for end in 0..image.len() {
            assert_eq!(image_bytes_in(&image[..end]), None, "cut at {end} of {}", image.len());
            exercise(&image[..end]);
        }
    }
}

/// Memory that ends at an inaccessible page.
struct Guarded {
    mapping: *mut u8,
    pages: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    fn new(pages: usize) -> Self {
        let (all, usable) = ((pages + 1) * PAGE, pages * PAGE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let mapping =
            unsafe { libc::mmap(std::ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED);
        // SAFETY: the pages were mapped just above.
        let opened = unsafe { libc::mprotect(mapping, usable, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(opened, 0);
        Self { mapping: mapping.cast(), pages }
    }

    /// Puts the bytes right in front of the guard page.
    fn place(&mut self, bytes: &[u8]) -> *const u8 {
        let usable = self.pages * PAGE;
        let start = self.mapping.wrapping_add(usable - bytes.len());
        // SAFETY: the mapping has `usable` writable bytes, of which these are the last.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        start
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned by this value.
        unsafe { libc::munmap(self.mapping.cast(), (self.pages + 1) * PAGE) };
    }
}

#[test]
fn cut_images_in_front_of_a_guard_page_have_no_length() {
    for image in IMAGES {
        let mut memory = Guarded::new(image.len().div_ceil(PAGE));
        let step = (image.len() / 300).max(1);
        for end in (0..200.min(image.len())).chain((200..image.len()).step_by(step)) {
            let start = memory.place(&image[..end]);
            // SAFETY: nobody writes meanwhile; the image may end anywhere.
            assert_eq!(unsafe { image_bytes(start) }, None, "cut at {end} of {}", image.len());
        }
        let start = memory.place(image);
        // SAFETY: as above.
        assert_eq!(unsafe { image_bytes(start) }, Some(image.len()));
    }
    for nowhere in [0_usize, 1, 0x1000, usize::MAX] {
        // SAFETY: as above; the pointer may be invalid.
        assert_eq!(unsafe { image_bytes(std::ptr::without_provenance(nowhere)) }, None);
    }
}

#[test]
fn a_hole_inside_an_image_is_found() {
    // A bundle whose one entry spans three pages, the second of which is not there.
    let image = bundle_of(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", &[1; 3 * PAGE])]);
    let mut memory = Guarded::new(4);
    let start = memory.place(&image);
    // SAFETY: nobody writes meanwhile.
    assert_eq!(unsafe { image_bytes(start) }, Some(image.len()));
    let hole = memory.mapping.wrapping_add(2 * PAGE);
    // SAFETY: the page belongs to the mapping; nothing reads it afterwards.
    assert_eq!(unsafe { libc::mprotect(hole.cast(), PAGE, libc::PROT_NONE) }, 0);
    // SAFETY: nobody writes meanwhile.
    assert_eq!(unsafe { image_bytes(start) }, None);
}

#[test]
fn fat_binary_wrappers_lead_to_their_image() {
    #[repr(C)]
    struct Wrapper {
        magic: u32,
        version: u32,
        image: *const u8,
        unused: *const u8,
    }
    let of = |magic, version, image: *const u8| {
        let wrapper = Wrapper { magic, version, image, unused: std::ptr::null() };
        // SAFETY: nobody writes meanwhile.
        unsafe { fat_binary_image((&raw const wrapper).cast()) }
    };
    assert_eq!(of(0x4849_5046, 1, BUNDLE.as_ptr()), Some(BUNDLE.as_ptr()));
    assert_eq!(of(0x4849_5046, 2, BUNDLE.as_ptr()), None);
    assert_eq!(of(0x4849_5047, 1, BUNDLE.as_ptr()), None);
    assert_eq!(of(0x4849_5046, 1, std::ptr::null()), None);
}

#[test]
fn headers_that_wrap_are_refused() {
    let good = bundle_of(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", GFX90A)]);
    let patch = |at: usize, value: u64| {
        let mut image = good.clone();
        image[at..at + 8].copy_from_slice(&value.to_le_bytes());
        image
    };
    // Number of entries, offset, size, length of the id.
    for (at, name) in [(24, "count"), (32, "offset"), (40, "size"), (48, "id")] {
        for value in [u64::MAX, u64::MAX - 16, 1 << 63, 1 << 40, good.len() as u64 + 1] {
            let image = patch(at, value);
            assert!(Bundle::parse(&image).is_err(), "{name} {value:#x}");
            assert_eq!(image_bytes_in(&image), None, "{name} {value:#x}");
        }
    }
}

/// Everything that reads an image, over all that comes of it.
fn exercise(image: &[u8]) {
    let _ = image_bytes_in(image);
    for device in ["gfx90a:sramecc+:xnack-", "gfx906:sramecc+:xnack-", "gfx942:sramecc+:xnack-"] {
        let Ok(selected) = select(image, &target(device)) else { continue };
        let Ok(object) = CodeObject::parse(&selected.object) else { continue };
        for symbol in &object.symbols {
            let _ = object.symbol_bytes(symbol);
        }
        for kernel in object.metadata().into_iter().flat_map(|metadata| metadata.kernels) {
            let _ = object.descriptor(&kernel.symbol);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_images_never_panic(
        which in 0..IMAGES.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..16),
        headers in proptest::collection::vec((0_usize..512, any::<u8>()), 0..8),
    ) {
        let mut image = IMAGES[which].to_vec();
        for (index, value) in changes {
            let at = index.index(image.len());
            image[at] = value;
        }
        for (at, value) in headers {
            image[at] = value;
        }
        exercise(&image);
    }

    #[test]
    fn random_bytes_after_a_magic_never_panic(
        magic in prop_oneof![
            Just(&b"__CLANG_OFFLOAD_BUNDLE__"[..]),
            Just(&b"CCOB\x02\0\x01\0"[..]),
            Just(&b"CCOB\x03\0\0\0"[..]),
            Just(&b"\x7fELF\x02\x01\x01\x40\x02"[..]),
        ],
        rest in proptest::collection::vec(any::<u8>(), 0..2000),
    ) {
        let mut image = magic.to_vec();
        image.extend(rest);
        exercise(&image);
    }
}
