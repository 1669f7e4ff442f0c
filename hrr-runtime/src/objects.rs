//! The libraries that the dynamic loader has loaded.
//!
//! Knows ELF and the loader, no function of the runtime. Nothing here allocates or locks but
//! `path_of`, so that a hook may look a symbol up before the program's allocator is ready.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use hrr_core::archive::facts::RuntimeName;

/// The library that an address lies in: where it begins, and its path. `None` if no library holds
/// the address.
pub fn holder_of(address: usize) -> Option<(usize, PathBuf)> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr looks the address up and never reads it; it fills the struct if it succeeds,
    // and all bits zero are a valid struct if it does not.
    let info = unsafe {
        if libc::dladdr(address as *const c_void, info.as_mut_ptr()) == 0 {
            return None;
        }
        info.assume_init()
    };
    // SAFETY: on success the name is a string that lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some((info.dli_fbase as usize, PathBuf::from(OsStr::from_bytes(name.to_bytes()))))
}

/// Whether an address lies in the program itself, not in a library.
pub fn in_program(address: usize) -> bool {
    // SAFETY: asks for a word of the auxiliary vector; an entry that is not there reads 0.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) } as usize;
    let base = |address| holder_of(address).map(|(base, _)| base);
    base(address).is_some_and(|found| base(headers) == Some(found))
}

/// The address of the first definition of `symbol` in a library whose file name begins with
/// `file`, in the order of loading and without the library that this code is in; null if there is
/// none.
pub fn definition(file: &[u8], symbol: &CStr) -> *mut c_void {
    let mut found = ptr::null_mut();
    each(&mut |object| {
        let name = object.name().to_bytes().rsplit(|byte| *byte == b'/').next();
        if name.is_some_and(|name| name.starts_with(file)) && !object.is_this() {
            found = object.definition(symbol);
        }
        found.is_null()
    });
    found
}

/// The address of the definition of `symbol` that the library which this code is in exports; null
/// if it does not.
pub fn here(symbol: &CStr) -> *mut c_void {
    let mut found = ptr::null_mut();
    each(&mut |object| {
        let this = object.is_this();
        if this {
            found = object.definition(symbol);
        }
        !this
    });
    found
}

/// The paths of the loaded libraries whose file name begins with `file`, without the one that this
/// code is in.
pub fn paths(file: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    each(&mut |object| {
        let path = object.name().to_bytes();
        let name = path.rsplit(|byte| *byte == b'/').next();
        if name.is_some_and(|name| name.starts_with(file)) && !object.is_this() {
            paths.push(PathBuf::from(OsStr::from_bytes(path)));
        }
        true
    });
    paths
}

/// The names of the loaded library at a path, as the loader has it. What links lead to outlives
/// them: `hrr record` puts a folder of links in front.
pub fn names_of(path: &Path) -> RuntimeName {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    RuntimeName {
        path: real.display().to_string(),
        loaded_as: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        soname: soname(path),
    }
}

/// Whether the loaded library of that path asks the loader for a library of that name.
pub fn asks_for(path: &Path, name: &str) -> bool {
    let mut asks = false;
    each(&mut |object| {
        if object.name().to_bytes() == path.as_os_str().as_bytes() {
            asks = object.asks_for(name);
        }
        !asks
    });
    asks
}

/// The name that the loaded library of that path gives itself, if it does.
pub fn soname(path: &Path) -> Option<String> {
    let mut name = None;
    each(&mut |object| {
        let found = object.name().to_bytes() == path.as_os_str().as_bytes();
        if found {
            name = object.soname();
        }
        !found
    });
    name
}

/// The address of the first definition of `symbol` outside the library that this code is in, as
/// [`definition`] for any file; but it calls no function of the C library, where a sanitizer may
/// stand that is not ready yet. No other thread may load or unload a library meanwhile.
pub fn first_definition_unlocked(symbol: &CStr) -> *mut c_void {
    /// The head of the loader's list of objects, as in `link.h`.
    #[repr(C)]
    struct Debug {
        version: c_int,
        first: *const LinkMap,
    }
    #[repr(C)]
    struct LinkMap {
        base: u64,
        name: *const c_char,
        dynamic: *const [u64; 2],
        next: *const LinkMap,
    }
    unsafe extern "C" {
        #[link_name = "_r_debug"]
        safe static DEBUG: Debug;
    }
    let mut next = DEBUG.first;
    // SAFETY: the list's entries are valid while no library is loaded or unloaded: the caller's
    // obligation. The last one's `next` is null.
    while let Some(map) = unsafe { next.as_ref() } {
        let object = Object { base: map.base, name: map.name, dynamic: map.dynamic };
        let found = if object.is_this() { ptr::null_mut() } else { object.definition(symbol) };
        if !found.is_null() {
            return found;
        }
        next = map.next;
    }
    ptr::null_mut()
}

/// A loaded object, as the loader describes it.
struct Object {
    /// What is added to the addresses in its file.
    base: u64,
    name: *const c_char,
    dynamic: *const [u64; 2],
}

impl Object {
    fn name(&self) -> &CStr {
        if self.name.is_null() {
            return c"";
        }
        // SAFETY: the loader's name of a loaded object is a string.
        unsafe { CStr::from_ptr(self.name) }
    }

    /// Whether this code is in the object.
    fn is_this(&self) -> bool {
        unsafe extern "C" {
            /// The linker puts it at the dynamic section of what it links.
            #[link_name = "_DYNAMIC"]
            safe static DYNAMIC: [u64; 2];
        }
        ptr::eq(self.dynamic, &raw const DYNAMIC)
    }

    /// Looks a symbol up in the object's own GNU hash table.
    fn definition(&self, symbol: &CStr) -> *mut c_void {
        let Some(tables) = self.tables() else { return ptr::null_mut() };
        let wanted = symbol
            .to_bytes()
            .iter()
            .fold(5381u32, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)));
        // SAFETY: the tables of a loaded object are mapped and have the layout of a GNU hash
        // section: four words, bloom words of 8 bytes, buckets, then a chain word per symbol from
        // `first` on; the lowest bit is set in the last word of a chain.
        unsafe {
            let buckets_count = tables.hash.read();
            let first = tables.hash.add(1).read();
            let bloom_count = tables.hash.add(2).read();
            if buckets_count == 0 {
                return ptr::null_mut();
            }
            let buckets = tables.hash.add(4 + 2 * bloom_count as usize);
            let chain = buckets.add(buckets_count as usize);
            let mut index = buckets.add((wanted % buckets_count) as usize).read();
            while index >= first {
                let word = chain.add((index - first) as usize).read();
                let entry = &*tables.symbols.add(index as usize);
                if word | 1 == wanted | 1
                    && entry.st_shndx != 0
                    && CStr::from_ptr(tables.strings.add(entry.st_name as usize).cast()) == symbol
                {
                    return (self.base + entry.st_value) as *mut c_void;
                }
                if word & 1 == 1 {
                    break;
                }
                index += 1;
            }
        }
        ptr::null_mut()
    }

    /// Where the object's symbols are; `None` if it has none that can be looked up.
    fn tables(&self) -> Option<Tables> {
        const DT_SYMTAB: u64 = 6;
        const DT_GNU_HASH: u64 = 0x6fff_fef5;
        let (mut strings, mut symbols, mut hash) = (0, 0, 0);
        for [tag, value] in self.entries() {
            if tag == DT_STRTAB {
                strings = value;
            } else if tag == DT_SYMTAB {
                symbols = value;
            } else if tag == DT_GNU_HASH {
                hash = value;
            }
        }
        // The loader writes addresses in place of offsets, but not in the kernel's own object.
        let loaded = |address: u64| address >= self.base && address != 0;
        (loaded(strings) && loaded(symbols) && loaded(hash)).then_some(Tables {
            strings: strings as *const u8,
            symbols: symbols as *const libc::Elf64_Sym,
            hash: hash as *const u32,
        })
    }

    /// The entries of the object's dynamic section; none if it has no such section.
    fn entries(&self) -> impl Iterator<Item = [u64; 2]> {
        let mut entry = self.dynamic;
        std::iter::from_fn(move || {
            if entry.is_null() {
                return None;
            }
            // SAFETY: the dynamic section of a loaded object is mapped and ends with a tag 0, which
            // was not met yet: at it the pointer becomes null.
            let read = unsafe { entry.read() };
            // SAFETY: as above; the entry after one that is not the last lies in the section.
            entry = if read[0] == 0 { ptr::null() } else { unsafe { entry.add(1) } };
            (read[0] != 0).then_some(read)
        })
    }

    /// Whether the object names a library as one that it needs.
    fn asks_for(&self, library: &str) -> bool {
        const DT_NEEDED: u64 = 1;
        self.strings(DT_NEEDED).any(|name| name.to_bytes() == library.as_bytes())
    }

    /// The name that the object gives itself.
    fn soname(&self) -> Option<String> {
        const DT_SONAME: u64 = 14;
        self.strings(DT_SONAME).next().map(|name| name.to_string_lossy().into_owned())
    }

    /// The strings that the entries of a tag name.
    fn strings(&self, wanted: u64) -> impl Iterator<Item = &CStr> {
        let tables = self.tables();
        self.entries().filter(move |[tag, _]| *tag == wanted).filter_map(move |[_, offset]| {
            let strings = tables.as_ref()?.strings;
            // SAFETY: the entry's value is the offset of a string in the object's table of them,
            // which is mapped while the object is loaded.
            Some(unsafe { CStr::from_ptr(strings.add(offset as usize).cast()) })
        })
    }
}

/// A tag of a dynamic section: where its strings are.
const DT_STRTAB: u64 = 5;

struct Tables {
    strings: *const u8,
    symbols: *const libc::Elf64_Sym,
    hash: *const u32,
}

/// Visits the loaded objects until `visit` says false.
fn each(mut visit: &mut dyn FnMut(&Object) -> bool) {
    unsafe extern "C" fn step(
        info: *mut libc::dl_phdr_info,
        _bytes: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: `data` is the reference that is passed below, and the loader describes an object
        // and says where its program headers are, and how many.
        let (visit, info, segments) = unsafe {
            let info = &*info;
            let segments = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            (&mut *data.cast::<&mut dyn FnMut(&Object) -> bool>(), info, segments)
        };
        let dynamic = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC);
        let dynamic = dynamic.map_or(0, |segment| info.dlpi_addr.wrapping_add(segment.p_vaddr));
        let (base, name) = (info.dlpi_addr, info.dlpi_name);
        c_int::from(!visit(&Object { base, name, dynamic: dynamic as *const [u64; 2] }))
    }
    // SAFETY: `step` has the signature that is asked for, and `visit` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(step), (&raw mut visit).cast()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_found_and_defines_what_the_loader_says() {
        let found = definition(b"libc.so", c"dl_iterate_phdr");
        assert_eq!(found, libc::dl_iterate_phdr as *mut c_void);
        assert_eq!(first_definition_unlocked(c"dl_iterate_phdr"), found);
        let (_, path) = holder_of(found.addr()).expect("the address lies in a library");
        assert!(paths(b"libc.so").contains(&path), "{}", path.display());
        assert!(asks_for(&path, "ld-linux-x86-64.so.2"));
        assert!(!asks_for(&path, "libc.so.6"));
        assert_eq!(soname(&path).as_deref(), Some("libc.so.6"));
    }

    #[test]
    fn what_nobody_defines_is_not_found() {
        assert!(definition(b"", c"no_library_defines_this").is_null());
        assert!(definition(b"no_such_library", c"puts").is_null());
        assert_eq!(paths(b"no_such_library"), Vec::<PathBuf>::new());
        assert_eq!(soname(Path::new("/no/such/library.so")), None);
    }

    #[test]
    fn this_code_is_passed_over() {
        assert!(holder_of(0).is_none());
        assert!(in_program(holder_of as *const () as usize));
        assert!(!in_program(libc::dl_iterate_phdr as *const () as usize));
        let (_, path) = holder_of(holder_of as *const () as usize).expect("this test is a program");
        assert!(!paths(b"").contains(&path));
        assert!(here(c"dl_iterate_phdr").is_null(), "this program defines no such function");
    }
}
