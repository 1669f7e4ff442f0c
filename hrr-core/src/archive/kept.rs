//! A file of the recording, kept open in a process that is not ours.
//!
//! The program may close any descriptor, as daemons do, and then open a file of its own under the
//! same number. So the descriptor is looked at before each use: a number that means something else
//! now is forgotten, never written to and never closed, and the file is opened anew by its path.
//! Descriptors are high numbers, where they do not change those that the program gets.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lowest descriptor that is taken, where the process may have so many.
const LOWEST: libc::c_int = 600;

/// The file.
pub(crate) struct KeptFile {
    path: PathBuf,
    place: (u64, u64),
    file: Mutex<ManuallyDrop<File>>,
}

impl KeptFile {
    /// Creates the file: never one that is there, never through a link.
    pub(crate) fn create(path: &Path) -> io::Result<KeptFile> {
        let file = options().create_new(true).mode(0o600).open(path)?;
        let place = place(&file)?;
        // By its whole path: the program may go to another folder.
        let path = std::path::absolute(path)?;
        Ok(KeptFile { path, place, file: Mutex::new(ManuallyDrop::new(raised(file))) })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with the open file.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let mut file = self.lock();
        if !self.is_ours(&file) {
            let anew = options().open(&self.path)?;
            if !self.is_ours(&anew) {
                let what = format!("{} is another file now", self.path.display());
                return Err(io::Error::new(io::ErrorKind::NotFound, what));
            }
            *file = ManuallyDrop::new(raised(anew));
        }
        use_it(&file)
    }

    fn lock(&self) -> MutexGuard<'_, ManuallyDrop<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ours(&self, file: &File) -> bool {
        place(file).is_ok_and(|place| place == self.place)
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        let mut file = self.lock();
        if self.is_ours(&file) {
            // SAFETY: dropped once, and not used after: `self` is going.
            unsafe { ManuallyDrop::drop(&mut file) };
        }
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
    options
}

/// Which file a descriptor means.
fn place(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|meta| (meta.dev(), meta.ino()))
}

/// The same file under a high number; as it is, where the system refuses.
fn raised(file: File) -> File {
    // SAFETY: a system call on a descriptor of ours.
    let high = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, LOWEST) };
    match high {
        0.. => {
            // SAFETY: a fresh descriptor that nobody else owns.
            unsafe { File::from_raw_fd(high) }
        }
        _ => file,
    }
}
