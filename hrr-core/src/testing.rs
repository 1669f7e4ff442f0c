//! The harness behind the per-declaration tests: a fake runtime that receives what a wrapper
//! passes on.

use crate::desc::ApiDesc;

/// What a receiver hands over: the arguments that the real function would have got, and where its
/// answer goes.
pub type Answer = dyn FnMut(&'static ApiDesc, *const u8, *mut u8);

thread_local! {
    static ANSWER: std::cell::RefCell<Option<Box<Answer>>> = const { std::cell::RefCell::new(None) };
}

/// Called by every receiver: hands the arguments to the test of this thread, else to the test of
/// all threads. Without either, the answer is zero.
///
/// # Safety
/// `args` leads to the argument block of `api`, `ret` to room for what it returns.
pub unsafe fn received(api: &'static ApiDesc, args: *const u8, ret: *mut u8) {
    // SAFETY: the caller's room.
    unsafe { core::ptr::write_bytes(ret, 0, api.ret.bytes as usize) };
    ANSWER.with_borrow_mut(|answer| match answer {
        Some(answer) => answer(api, args, ret),
        None => {
            let everywhere = EVERYWHERE.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(answer) = &*everywhere {
                answer(api, args, ret);
            }
        }
    });
}

/// Answers received calls on this thread with `answer` while `body` runs.
pub fn receive_with<R>(answer: Box<Answer>, body: impl FnOnce() -> R) -> R {
    ANSWER.with_borrow_mut(|slot| *slot = Some(answer));
    let result = body();
    ANSWER.with_borrow_mut(|slot| *slot = None);
    result
}

/// Answers received calls on every thread that [`receive_with`] does not serve, from now on.
pub fn receive_everywhere(
    answer: impl Fn(&'static ApiDesc, *const u8, *mut u8) + Send + Sync + 'static,
) {
    *EVERYWHERE.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Box::new(answer));
}

type AnswerEverywhere = dyn Fn(&'static ApiDesc, *const u8, *mut u8) + Send + Sync;

static EVERYWHERE: std::sync::RwLock<Option<Box<AnswerEverywhere>>> = std::sync::RwLock::new(None);
