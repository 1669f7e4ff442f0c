//! What the engine itself asks of the live runtime.
//!
//! Helper calls run on a thread of their own ([`Helper`]), so that the last error and the current
//! device of a replayed thread are those of the program. None is made while a stream is being
//! captured, because some runtimes then refuse or spoil the capture.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The live runtime, as the engine uses it.
pub trait Driver: Send + Sync {
    /// What the runtime is, for the report: its name, path and version.
    fn identity(&self) -> String;

    /// How many devices there are. Runs on the helper thread.
    fn device_count(&self) -> Result<u32, String>;

    /// The name of a device, for the report. Runs on the helper thread.
    fn device_name(&self, device: u32) -> String;

    /// The current device of the calling thread, by one call of the runtime that succeeds.
    ///
    /// The engine calls it *on the replayed thread in place of* an allocating or freeing call that
    /// it serves itself, so that the thread's last error is what a successful call leaves.
    fn current_device(&self) -> Result<u32, String>;

    /// Puts device memory at an address: reserve, create, map, give access. All or nothing: what a
    /// refusal had reached is released. Runs on the helper thread.
    fn place(&self, address: u64, bytes: u64, device: u32) -> Result<(), String>;

    /// Ends memory that [`Driver::place`] put there, after waiting for all work of the device. Runs
    /// on the helper thread.
    fn unplace(&self, address: u64) -> Result<(), String>;

    /// Whether a function works only on memory that the runtime allocated as the program asked,
    /// and so fails for placed memory: allocations that a recorded call of it is given are left to
    /// the runtime.
    fn needs_own_memory(&self, function: &str) -> bool {
        let _ = function;
        false
    }

    /// Waits for all work of all devices. Runs on the helper thread.
    fn synchronize(&self) -> Result<(), String>;
}

type Job = Box<dyn FnOnce(&dyn Driver) + Send>;

/// The thread that makes the engine's own calls.
pub(super) struct Helper {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// Jobs that are not done.
    open: Arc<AtomicUsize>,
}

impl Helper {
    /// Starts the thread.
    pub(super) fn start(driver: Arc<dyn Driver>) -> std::io::Result<Helper> {
        let (jobs, queue) = channel::<Job>();
        let thread =
            std::thread::Builder::new().name("hrr-driver".to_owned()).spawn(move || {
                for job in queue {
                    job(&*driver);
                }
            })?;
        Ok(Helper { jobs: Some(jobs), thread: Some(thread), open: Arc::default() })
    }

    /// Runs a job there and waits for its answer.
    pub(super) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&dyn Driver) -> T + Send + 'static,
    ) -> Result<T, String> {
        self.start_job(job)?.recv().map_err(|_| gone())
    }

    /// Runs a job there and waits so long for its answer: `None` if it has not come. The thread does
    /// nothing else until the job is done.
    pub(super) fn run_at_most<T: Send + 'static>(
        &self,
        limit: Duration,
        job: impl FnOnce(&dyn Driver) -> T + Send + 'static,
    ) -> Result<Option<T>, String> {
        match self.start_job(job)?.recv_timeout(limit) {
            Ok(answer) => Ok(Some(answer)),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    fn start_job<T: Send + 'static>(
        &self,
        job: impl FnOnce(&dyn Driver) -> T + Send + 'static,
    ) -> Result<Receiver<T>, String> {
        let (answer, wait) = channel();
        let open = self.open.clone();
        open.fetch_add(1, Ordering::Relaxed);
        let job: Job = Box::new(move |driver| {
            let done = job(driver);
            open.fetch_sub(1, Ordering::Relaxed);
            // The asker waits for exactly this answer; if it is gone nobody needs it.
            let _ = answer.send(done);
        });
        self.jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        Ok(wait)
    }
}

fn gone() -> String {
    "the driver thread has ended".to_owned()
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // A job that does not return is left behind.
        if let Some(thread) = self.thread.take().filter(|_| self.open.load(Ordering::Relaxed) == 0)
        {
            // A panic of the driver was already answered with "has ended".
            let _ = thread.join();
        }
    }
}
