//! Handlers that run when a signal meets a condition.
//!
//! A condition is looked at when the handler is added and at each change of the signal, by the
//! thread that changes it, so a value that is soon overwritten is not missed. Handlers run one
//! after the other on a thread of their own: they call into the program and into HIP.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::abi::{Answer, SignalCallback, Status};
use crate::runtime::runtime;
use crate::signal::{Condition, Signal};
use crate::{log, thread};

/// A kernel may change a signal without telling us: while handlers wait, the thread looks at
/// their signals this often.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// All handlers of the process.
#[derive(Default)]
pub(crate) struct Handlers {
    book: Mutex<Book>,
    ready: Condvar,
}

#[derive(Default)]
struct Book {
    waiting: Vec<Handler>,
    /// Handlers whose condition was met, with the value that met it.
    due: VecDeque<(Handler, i64)>,
    started: bool,
}

#[derive(Clone, Copy)]
struct Handler {
    signal: &'static Signal,
    condition: Condition,
    compare: i64,
    function: SignalCallback,
    argument: *mut c_void,
}

// SAFETY: the argument is a word of the program, which promised to `add` that the function may
// be called with it on any thread.
unsafe impl Send for Handler {}

impl Handlers {
    /// Adds a handler.
    ///
    /// # Safety
    ///
    /// `function` may be called with `argument` on any thread, until it returns false.
    pub(crate) unsafe fn add(
        &self,
        signal: &'static Signal,
        condition: Condition,
        compare: i64,
        function: SignalCallback,
        argument: *mut c_void,
    ) -> Answer {
        let handler = Handler { signal, condition, compare, function, argument };
        let mut book = self.book();
        if !book.started {
            let started = thread::spawn("hsa-handlers", || {
                if let Ok(runtime) = runtime() {
                    runtime.handlers.run();
                }
            });
            if let Err(error) = started {
                log::warn(format_args!("no thread for signal handlers: {error}"));
                return Err(Status::ERROR_OUT_OF_RESOURCES);
            }
            book.started = true;
        }
        signal.count_handlers(1);
        self.enter(&mut book, handler);
        Ok(())
    }

    /// A thread has given `signal` a new value.
    pub(crate) fn changed(&self, signal: &Signal, value: i64) {
        let mut book = self.book();
        self.collect(&mut book, |handler| {
            (std::ptr::eq(handler.signal, signal)
                && handler.condition.holds(value, handler.compare))
            .then_some(value)
        });
    }

    /// The signal ends; its handlers never run.
    pub(crate) fn forget(&self, signal: &'static Signal) {
        let mut book = self.book();
        let before = book.waiting.len() + book.due.len();
        book.waiting.retain(|handler| !std::ptr::eq(handler.signal, signal));
        book.due.retain(|(handler, _)| !std::ptr::eq(handler.signal, signal));
        let gone = before - book.waiting.len() - book.due.len();
        signal.count_handlers(-(gone as i32));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a counted handler wait, or run at once if its condition holds already.
    fn enter(&self, book: &mut Book, handler: Handler) {
        book.waiting.push(handler);
        self.collect(book, Handler::met);
    }

    /// Moves handlers from waiting to due.
    fn collect(&self, book: &mut Book, met: impl Fn(&Handler) -> Option<i64>) {
        let mut index = 0;
        while let Some(handler) = book.waiting.get(index) {
            match met(handler) {
                Some(value) => {
                    let handler = book.waiting.remove(index);
                    book.due.push_back((handler, value));
                }
                None => index += 1,
            }
        }
        if !book.due.is_empty() {
            self.ready.notify_one();
        }
    }

    fn run(&self) {
        let mut book = self.book();
        loop {
            let Some((handler, value)) = book.due.pop_front() else {
                book = if book.waiting.is_empty() {
                    self.ready.wait(book).unwrap_or_else(PoisonError::into_inner)
                } else {
                    let waited = self.ready.wait_timeout(book, LOOK_AGAIN);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                };
                self.collect(&mut book, Handler::met);
                continue;
            };
            drop(book);
            // SAFETY: `add` was promised that the function may be called with its argument on
            // any thread until it returns false, after which the handler is forgotten.
            let again = unsafe { (handler.function)(value, handler.argument) };
            book = self.book();
            if again {
                self.enter(&mut book, handler);
            } else {
                handler.signal.count_handlers(-1);
            }
        }
    }
}

impl Handler {
    /// The value of the signal, if it meets the condition.
    fn met(&self) -> Option<i64> {
        let value = self.signal.load();
        self.condition.holds(value, self.compare).then_some(value)
    }
}
