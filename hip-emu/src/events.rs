//! Events: points in the work of a stream.

use std::sync::{Arc, Mutex};

use gfx_emu::queue::Signal;
use hrr_ffi::types::*;

use crate::api::Answer;
use crate::graphs::{Capture, NodeKind};
use crate::runtime::Runtime;
use crate::streams::{Stream, StreamCapture, lock};

/// An event.
pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) flags: u32,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
enum State {
    /// Never recorded.
    #[default]
    New,
    /// Recorded: completes when the work before it has ended.
    Recorded(Signal),
    /// Recorded in a capture, behind these nodes.
    Captured(Arc<Capture>, Vec<usize>),
}

impl Event {
    pub(crate) fn new(runtime: &'static Runtime, device: usize, flags: u32) -> Arc<Self> {
        let handle = runtime.handles.next();
        Arc::new(Self { handle, device, flags, state: Mutex::default() })
    }

    /// Records the event behind the work of the stream.
    pub(crate) fn record(self: &Arc<Self>, runtime: &'static Runtime, stream: &Stream) -> Answer {
        if stream.device != self.device {
            return Err(hipErrorInvalidHandle);
        }
        runtime.device(self.device)?.check()?;
        if let Some(capture) = stream.capture().as_ref() {
            capture.capture.check_valid()?;
            let nodes = capture.tail.clone();
            *lock(&self.state) = State::Captured(Arc::clone(&capture.capture), nodes);
            return Ok(());
        }
        *lock(&self.state) = State::Recorded(stream.submit(runtime, Vec::new(), None));
        Ok(())
    }

    /// Records the event by a node of a graph that is being launched.
    pub(crate) fn record_in_graph(&self) -> Signal {
        let signal = Signal::new();
        *lock(&self.state) = State::Recorded(signal.clone());
        signal
    }

    /// Makes later work of the stream wait for the event.
    pub(crate) fn make_wait(&self, runtime: &'static Runtime, stream: &Stream) -> Answer {
        runtime.device(stream.device)?.check()?;
        let state = lock(&self.state).clone();
        let mut own = stream.capture();
        match (state, own.as_mut()) {
            (State::New, _) => Ok(()),
            (State::Recorded(signal), None) => {
                drop(own);
                stream.submit(runtime, vec![signal], None);
                Ok(())
            }
            // Work outside the graph that a captured stream would wait for.
            (State::Recorded(signal), Some(_)) if signal.is_complete() => Ok(()),
            (State::Recorded(_), Some(state)) => {
                state.capture.invalidate();
                Err(hipErrorStreamCaptureIsolation)
            }
            (State::Captured(capture, nodes), None) => {
                if stream.ordering == crate::streams::Ordering::Null {
                    return Err(hipErrorStreamCaptureImplicit);
                }
                if capture.has_ended() {
                    return Err(hipErrorCapturedEvent);
                }
                capture.check_valid()?;
                // The stream joins the capture.
                *own = Some(StreamCapture { capture, tail: nodes, origin: false });
                Ok(())
            }
            (State::Captured(capture, nodes), Some(state)) => {
                if !Arc::ptr_eq(&capture, &state.capture) {
                    state.capture.invalidate();
                    return Err(hipErrorStreamCaptureMerge);
                }
                for node in nodes {
                    if !state.tail.contains(&node) {
                        state.tail.push(node);
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the recorded work has ended. An event that was never recorded counts as complete.
    pub(crate) fn is_complete(&self) -> Answer<bool> {
        match &*lock(&self.state) {
            State::New => Ok(true),
            State::Recorded(signal) => Ok(signal.is_complete()),
            State::Captured(capture, _) => {
                capture.invalidate();
                Err(hipErrorCapturedEvent)
            }
        }
    }

    /// Waits for the recorded work.
    pub(crate) fn synchronize(&self) -> Answer {
        let signal = match &*lock(&self.state) {
            State::New => return Ok(()),
            State::Recorded(signal) => signal.clone(),
            State::Captured(capture, _) => {
                capture.invalidate();
                return Err(hipErrorCapturedEvent);
            }
        };
        signal.wait();
        Ok(())
    }

    /// What the event waits for now, for a graph that is being launched.
    pub(crate) fn signal(&self) -> Option<Signal> {
        match &*lock(&self.state) {
            State::Recorded(signal) => Some(signal.clone()),
            State::New | State::Captured(..) => None,
        }
    }

    /// Milliseconds from the completion of `self` to that of `stop`.
    pub(crate) fn elapsed_ms(&self, stop: &Self) -> Answer<f32> {
        if (self.flags | stop.flags) & hipEventDisableTiming != 0 || self.device != stop.device {
            return Err(hipErrorInvalidHandle);
        }
        let (Some(first), Some(second)) = (self.signal(), stop.signal()) else {
            return Err(hipErrorInvalidHandle);
        };
        match (first.completed_at(), second.completed_at()) {
            (Some(first), Some(second)) => {
                let sign = if second >= first { 1.0 } else { -1.0 };
                let distance = second.max(first) - second.min(first);
                Ok(sign * distance.as_secs_f32() * 1e3)
            }
            (None, _) | (_, None) => Err(hipErrorNotReady),
        }
    }
}

/// The node that records or awaits an event in a graph, when a program asks for one explicitly.
pub(crate) fn external_record(
    runtime: &'static Runtime,
    stream: &Stream,
    event: &Arc<Event>,
) -> Answer<bool> {
    stream.add_to_capture(runtime, || NodeKind::EventRecord(Arc::clone(event)))
}

/// The node for `hipEventWaitExternal`.
pub(crate) fn external_wait(
    runtime: &'static Runtime,
    stream: &Stream,
    event: &Arc<Event>,
) -> Answer<bool> {
    stream.add_to_capture(runtime, || NodeKind::EventWait(Arc::clone(event)))
}
