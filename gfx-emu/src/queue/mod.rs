//! Queues: work that runs in order on a thread of its own, and signals that tell when it did.
//!
//! A queue knows neither what its work does nor which device it is for. Order between queues is
//! made of signals: work may wait for any signal of work that was submitted before it, so that
//! no circle of waiting can arise.
//!
//! Nothing here is torn down at exit: workers simply end with the process. They block all
//! signals but those of their own faults, so that a program's handlers run on its own threads.

mod signal;

pub use signal::Signal;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

type Work = Box<dyn FnOnce() + Send>;

/// A queue and its worker. The worker ends once the queue is dropped and its work is done.
#[derive(Debug)]
pub struct Queue {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<(Vec<Signal>, Work, Signal)>,
    closed: bool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Queue {
    /// Starts a worker with that thread name.
    pub fn new(name: &str) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_worker = Arc::clone(&shared);
        let builder = std::thread::Builder::new().name(name.to_owned());
        let _blocked = BlockedSignals::new();
        // The new thread inherits the mask of this one.
        builder.spawn(move || of_worker.work())?;
        Ok(Self { shared })
    }

    /// Appends work that starts when everything before it has ended and all of `after` are
    /// complete. The signal completes when the work returns.
    pub fn submit(&self, after: Vec<Signal>, work: impl FnOnce() + Send + 'static) -> Signal {
        let done = Signal::new();
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.work.push_back((after, Box::new(work), done.clone()));
        drop(state);
        self.shared.changed.notify_one();
        done
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn work(&self) {
        while let Some((after, work, done)) = self.next() {
            after.iter().for_each(Signal::wait);
            // Work that panics has ended too (the panic hook has reported it): what waits for it,
            // or comes after it, must not hang.
            let _reported = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            done.complete();
        }
    }

    fn next(&self) -> Option<(Vec<Signal>, Work, Signal)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(next) = state.work.pop_front() {
                return Some(next);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// While it lives, the calling thread takes no asynchronous signal.
struct BlockedSignals(Option<libc::sigset_t>);

impl BlockedSignals {
    fn new() -> Self {
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: fills the set that the pointer names.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        // SAFETY: `sigfillset` has initialised it.
        let mut all = unsafe { all.assume_init() };
        for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            // SAFETY: the set is initialised and the number is a signal's.
            unsafe { libc::sigdelset(&raw mut all, own) };
        }
        let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: both sets are live; the second is only written.
        let failed = unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, before.as_mut_ptr())
        };
        // SAFETY: on success the call has written the former mask.
        Self((failed == 0).then(|| unsafe { before.assume_init() }))
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the set is the mask that this thread had before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use super::{Queue, Signal};

    #[test]
    fn work_runs_in_order_on_another_thread() {
        let queue = Queue::new("test queue").unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut last = Signal::completed();
        for index in 0..100 {
            let seen = Arc::clone(&seen);
            last = queue.submit(Vec::new(), move || seen.lock().unwrap().push(index));
        }
        last.wait();
        assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
        let worker = Arc::new(Mutex::new(None));
        let its = Arc::clone(&worker);
        queue
            .submit(Vec::new(), move || *its.lock().unwrap() = Some(std::thread::current().id()))
            .wait();
        assert_ne!(worker.lock().unwrap().unwrap(), std::thread::current().id());
    }

    #[test]
    fn work_waits_for_the_signals_of_other_queues() {
        let (first, second) = (Queue::new("first").unwrap(), Queue::new("second").unwrap());
        let gate = Signal::new();
        let step = Arc::new(AtomicU32::new(0));
        let (writer, reader) = (Arc::clone(&step), Arc::clone(&step));
        let wrote = first.submit(vec![gate.clone()], move || writer.store(7, Ordering::Relaxed));
        let read = Arc::new(AtomicU32::new(0));
        let result = Arc::clone(&read);
        let done = second.submit(vec![wrote.clone()], move || {
            result.store(reader.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        assert!(!wrote.is_complete() && !done.is_complete());
        gate.complete();
        done.wait();
        assert_eq!(read.load(Ordering::Relaxed), 7);
        assert!(wrote.completed_at().unwrap() <= done.completed_at().unwrap());
    }

    #[test]
    fn a_dropped_queue_ends_its_work_first() {
        let queue = Queue::new("dropped").unwrap();
        let gate = Signal::new();
        let done = queue.submit(vec![gate.clone()], || {});
        drop(queue);
        assert!(!done.is_complete());
        gate.complete();
        done.wait();
    }

    #[test]
    fn a_panic_ends_the_work_but_not_the_queue() {
        let queue = Queue::new("panicking").unwrap();
        queue.submit(Vec::new(), || std::panic::resume_unwind(Box::new(()))).wait();
        queue.submit(Vec::new(), || {}).wait();
    }

    #[test]
    fn workers_take_no_signals() {
        let queue = Queue::new("masked").unwrap();
        let blocked = Arc::new(AtomicU32::new(0));
        let result = Arc::clone(&blocked);
        queue
            .submit(Vec::new(), move || {
                let mut mask = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
                // SAFETY: a null set changes nothing; the second one is written.
                unsafe {
                    libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr())
                };
                for (bit, signal) in [libc::SIGINT, libc::SIGALRM, libc::SIGSEGV].iter().enumerate()
                {
                    // SAFETY: the mask was zeroed and then written.
                    let member = unsafe { libc::sigismember(mask.as_ptr(), *signal) };
                    result.fetch_or((member as u32) << bit, Ordering::Relaxed);
                }
            })
            .wait();
        assert_eq!(blocked.load(Ordering::Relaxed), 0b011);
    }
}
