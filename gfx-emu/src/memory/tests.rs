//! Goal: device memory is as out of reach for a program as that of a discrete GPU, and bounds
//! and lifetimes are kept. Method: a forked child touches device addresses and the parent looks
//! at how it ended; the rest goes through the public functions.

use super::{Access, AddressSpace, Config, MemoryError, PAGE_BYTES};

fn space(seed: u64) -> AddressSpace {
    AddressSpace::with_arena(Config { seed, arena_bytes: 4 << 30 }).unwrap()
}

/// Runs `child` in a forked process and returns its wait status.
fn in_child(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only touches memory, makes system calls and leaves by `_exit`.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        let status = child();
        // SAFETY: ends the child without running what belongs to the parent.
        unsafe { libc::_exit(status) }
    }
    let mut status = 0;
    // SAFETY: the pid is a child of this process; `status` is a live local.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    status
}

fn killed_by_segv(status: i32) -> bool {
    libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV
}

#[test]
fn the_program_cannot_dereference_device_memory() {
    let space = space(1);
    let address = space.alloc(64, 1).unwrap();
    space.write(address, &[7; 64]).unwrap();
    let pointer = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    let read = in_child(|| {
        // SAFETY: deliberately not met: the test is that this access is refused.
        i32::from(unsafe { pointer.read_volatile() } != 0)
    });
    assert!(killed_by_segv(read), "read: status {read:#x}");
    let write = in_child(|| {
        // SAFETY: as above.
        unsafe { pointer.write_volatile(1) };
        0
    });
    assert!(killed_by_segv(write), "write: status {write:#x}");
    let mut back = [0; 64];
    space.read(address, &mut back).unwrap();
    assert_eq!(back, [7; 64]);
}

#[test]
fn system_calls_refuse_device_memory() {
    let space = space(2);
    let address = space.alloc(4096, 1).unwrap();
    let pointer = std::ptr::with_exposed_provenance::<libc::c_void>(address as usize);
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the kernel checks the pointer, which is the point; nothing is dereferenced here.
    let written = unsafe { libc::write(ends[1], pointer, 16) };
    let error = std::io::Error::last_os_error();
    assert_eq!((written, error.raw_os_error()), (-1, Some(libc::EFAULT)));
    for end in ends {
        // SAFETY: both descriptors were opened above.
        assert_eq!(unsafe { libc::close(end) }, 0);
    }
}

#[test]
fn a_forked_child_gets_errors() {
    let space = space(3);
    let address = space.alloc(64, 1).unwrap();
    let status = in_child(|| {
        let refused = matches!(space.write(address, &[1]), Err(MemoryError::Forked))
            && matches!(space.alloc(64, 1), Err(MemoryError::Forked))
            && matches!(space.free(address), Err(MemoryError::Forked))
            && matches!(space.reserve(PAGE_BYTES, 1, None), Err(MemoryError::Forked))
            && space.find(address).is_none();
        i32::from(!refused)
    });
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
    assert!(space.find(address).is_some());
}

#[test]
fn freed_bytes_do_not_reappear() {
    let space = space(4);
    let address = space.alloc(3 << 20, 1).unwrap();
    space.fill(address, &[0xee], 3 << 20).unwrap();
    space.free(address).unwrap();
    assert!(matches!(space.read(address, &mut [0]), Err(MemoryError::Unmapped { .. })));
    assert!(matches!(space.free(address), Err(MemoryError::NotAStart { .. })));
    assert_eq!(space.alloc_at(address, 3 << 20).unwrap(), address);
    let mut bytes = vec![1; 3 << 20];
    space.read(address, &mut bytes).unwrap();
    assert!(bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn bounds_are_those_of_the_allocation() {
    let space = space(5);
    let first = space.alloc(100, 1).unwrap();
    let second = space.alloc(4096, 1).unwrap();
    assert!(first.is_multiple_of(PAGE_BYTES) && second.is_multiple_of(PAGE_BYTES));
    // Up to the widest load, then a fault, even where the page goes on.
    assert!(space.resolve(first, 112, Access::Read).is_ok());
    assert!(space.resolve(first, 113, Access::Read).is_err());
    assert!(space.resolve(first - 1, 2, Access::Read).is_err());
    assert!(space.find(first + 112).is_none());
    // A neighbour is not reached by running over the end.
    assert!(space.resolve(second, 4097, Access::Read).is_err());
    assert!(space.find(second + 4096).is_none());
    assert!(space.resolve(u64::MAX, 2, Access::Read).is_err());
    assert!(matches!(space.alloc(1 << 60, 1), Err(MemoryError::OutOfMemory { .. })));
    assert!(matches!(space.alloc(u64::MAX, 1), Err(MemoryError::OutOfMemory { .. })));
    assert!(matches!(space.alloc(0, 1), Err(MemoryError::InvalidRange { .. })));
}

#[test]
fn seeds_move_the_arena() {
    let bases: std::collections::BTreeSet<u64> = (0..8).map(|seed| space(seed).arena().0).collect();
    assert!(bases.len() > 6, "{bases:x?}");
}

#[test]
fn hints_are_honoured_inside_and_outside_the_arena() {
    let (space, other) = (space(6), space(1000));
    let inside = space.arena().0 + (1 << 30);
    assert_eq!(space.alloc_at(inside, 5000).unwrap(), inside);
    assert!(matches!(space.alloc_at(inside + 4096, 10), Err(MemoryError::Occupied { .. })));
    // Where another process, with another seed, had its memory.
    let (foreign, size) = other.arena();
    drop(other);
    let outside = foreign + size / 2;
    assert_eq!(space.alloc_at(outside, 10_000).unwrap(), outside);
    space.fill(outside, &[1, 2, 3, 4], 2500).unwrap();
    let mut back = [0; 4];
    space.read(outside + 9996, &mut back).unwrap();
    assert_eq!(back, [1, 2, 3, 4]);
    assert!(matches!(space.alloc_at(outside, 10), Err(MemoryError::Occupied { .. })));
    space.free(outside).unwrap();
    assert!(space.find(outside).is_none());
    // Where the program itself has something.
    let local = Box::new([0_u8; 3 * PAGE_BYTES as usize]);
    let page = (local.as_ptr().addr() as u64).next_multiple_of(PAGE_BYTES);
    assert!(matches!(space.alloc_at(page, 10), Err(MemoryError::Occupied { .. })));
}

#[test]
fn host_memory_keeps_its_address() {
    let space = space(7);
    let mut host = vec![0_u8; 256];
    let address = host.as_mut_ptr().expose_provenance() as u64;
    // SAFETY: the vector outlives the registration, which ends below.
    unsafe { space.register_host(host.as_mut_ptr(), 256) }.unwrap();
    // SAFETY: refused, so nothing to keep.
    let again = unsafe { space.register_host(host.as_mut_ptr().wrapping_add(255), 1) };
    assert!(matches!(again, Err(MemoryError::Occupied { .. })));
    let device = space.alloc(256, 1).unwrap();
    space.fill(device, &[9], 256).unwrap();
    space.copy(address + 16, device, 8).unwrap();
    let inside = host.as_mut_ptr().wrapping_add(1);
    assert!(matches!(space.unregister_host(inside), Err(MemoryError::NotAStart { .. })));
    space.unregister_host(host.as_mut_ptr()).unwrap();
    assert_eq!(host[15..25], [0, 9, 9, 9, 9, 9, 9, 9, 9, 0]);
    assert!(space.find(address).is_none());
}

#[test]
fn host_memory_has_an_alias_that_only_the_device_can_use() {
    let space = space(1);
    let mut host = vec![3_u8; 6000];
    // In the middle of a page, as it may be.
    let start = host.as_mut_ptr().wrapping_add(5);
    // SAFETY: the vector outlives the alias.
    let alias = unsafe { space.alias_host(start, 5000) }.unwrap();
    assert_ne!(alias, start.addr() as u64);
    assert_eq!(alias % PAGE_BYTES, start.addr() as u64 % PAGE_BYTES);
    space.write(alias + 4999, &[7]).unwrap();
    space.fill(alias, &[8], 2).unwrap();
    for outside in [alias - 1, alias + 5000, start.addr() as u64] {
        let read = space.read(outside, &mut [0]);
        assert!(matches!(read, Err(MemoryError::Unmapped { .. })), "{outside:#x}: {read:?}");
    }
    let status = in_child(|| {
        let pointer = std::ptr::with_exposed_provenance::<u8>(alias as usize);
        // SAFETY: not at all: the point is that it is refused.
        i32::from(unsafe { pointer.read_volatile() })
    });
    assert!(killed_by_segv(status), "{status}");
    // SAFETY: the vector outlives the alias.
    let second = unsafe { space.alias_host(start, 5000) }.unwrap();
    assert!(second.abs_diff(alias) > 5000);
    space.free(alias).unwrap();
    assert!(matches!(space.free(alias), Err(MemoryError::NotAStart { .. })));
    assert!(space.read(alias, &mut [0]).is_err());
    let mut seen = [0; 3];
    space.read(second, &mut seen).unwrap();
    assert_eq!(seen, [8, 8, 3], "the memory stays");
    space.free(second).unwrap();
    assert_eq!((host[4], host[5], host[5004], host[5005]), (3, 8, 7, 3));
    // SAFETY: nothing is entered.
    let nothing = unsafe { space.alias_host(start, 0) };
    assert!(matches!(nothing, Err(MemoryError::InvalidRange { .. })));
}

#[test]
fn virtual_memory_is_mapped_shared_and_protected() {
    let space = space(8);
    let bytes = 4 * PAGE_BYTES;
    let range = space.reserve(2 * bytes, 1, None).unwrap();
    let hinted = space.reserve(bytes, 1, Some(range + (1 << 24))).unwrap();
    assert_eq!(hinted, range + (1 << 24));
    let memory = space.create_physical(bytes).unwrap();
    space.map(range, bytes, memory, 0).unwrap();
    assert!(matches!(space.write(range, &[1]), Err(MemoryError::Denied { .. })));
    assert!(space.find(range).is_none(), "no access yet");
    space.set_access(range, bytes, Access::ReadWrite).unwrap();
    space.write(range + 5, &[1, 2, 3]).unwrap();
    // The same bytes at a second address, and on across the border of two mappings.
    space.map(range + bytes, bytes, memory, 0).unwrap();
    space.set_access(range, 2 * bytes, Access::Read).unwrap();
    let mut back = vec![0; 2 * bytes as usize];
    space.read(range, &mut back).unwrap();
    assert_eq!(back[5..8], [1, 2, 3]);
    assert_eq!(back[bytes as usize + 5..][..3], [1, 2, 3]);
    assert!(matches!(space.write(range, &[1]), Err(MemoryError::Denied { .. })));
    assert!(matches!(space.map(range, bytes, memory, 0), Err(MemoryError::Occupied { .. })));
    let released = space.release_reservation(range, 2 * bytes);
    assert!(matches!(released, Err(MemoryError::StillMapped { .. })));
    // The memory lives on while it is mapped.
    space.release_physical(memory).unwrap();
    assert!(matches!(space.map(hinted, bytes, memory, 0), Err(MemoryError::NoSuchPhysical { .. })));
    space.read(range + 5, &mut back[..3]).unwrap();
    assert_eq!(back[..3], [1, 2, 3]);
    space.unmap(range, 2 * bytes).unwrap();
    assert!(matches!(space.read(range, &mut [0]), Err(MemoryError::Unmapped { .. })));
    space.release_reservation(range, 2 * bytes).unwrap();
    assert_eq!(space.alloc_at(range, 64).unwrap(), range);
    space.read(range, &mut back[..64]).unwrap();
    assert!(back[..64].iter().all(|&byte| byte == 0));
}

#[test]
fn shared_memory_is_one_memory_at_two_addresses_until_it_is_freed() {
    let space = space(9);
    let first = space.alloc(5000, 1).unwrap();
    space.fill(first, &[1, 2, 3, 4], 1250).unwrap();
    let file = space.share(first).unwrap();
    let mut byte = [0];
    space.read(first + 4999, &mut byte).unwrap();
    assert_eq!(byte, [4], "sharing keeps the bytes");
    let second = space.attach(file.try_clone().unwrap(), 5000).unwrap();
    space.write(second + 4999, &[9]).unwrap();
    space.read(first + 4999, &mut byte).unwrap();
    assert_eq!(byte, [9]);
    assert!(space.attach(file.try_clone().unwrap(), 9000).is_err(), "more than the file has");
    space.free(first).unwrap();
    space.read(second, &mut byte).unwrap();
    assert_eq!(byte, [1], "the other one keeps the memory");
    assert_eq!(space.alloc_at(first, 5000).unwrap(), first);
    space.read(first, &mut byte).unwrap();
    assert_eq!(byte, [0], "whoever gets the addresses finds nothing");
    space.write(first, &[7]).unwrap();
    space.read(second, &mut byte).unwrap();
    assert_eq!(byte, [1]);
    space.free(second).unwrap();
}
