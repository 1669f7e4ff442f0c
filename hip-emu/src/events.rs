//! Events: points in the work of a stream.

use std::sync::{Arc, Mutex};

use gfx_emu::queue::Signal;
use hrr_ffi::types::*;

use crate::api::Answer;
use crate::graphs::{Capture, NodeKind};
use crate::handles::word;
use crate::ops::Op;
use crate::runtime::Runtime;
use crate::shared_events::SharedEvent;
use crate::streams::{Stream, StreamCapture, lock};

/// An event.
pub(crate) struct Event {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) flags: u32,
    /// What other processes know of the event too, if they can.
    pub(crate) shared: Option<Arc<SharedEvent>>,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
enum State {
    /// Never recorded by this process, or recorded where other processes see it.
    #[default]
    New,
    /// Recorded: completes when the work before it has ended.
    Recorded(Signal),
    /// Recorded in a capture, behind these nodes.
    Captured(Arc<Capture>, Vec<usize>),
}

/// One record of an event: the point that waiting for the event means.
#[derive(Clone)]
pub(crate) enum Point {
    /// This process's alone.
    Own(Signal),
    /// The record with that ticket, by this process or another.
    Shared(Arc<SharedEvent>, u64),
}

impl Point {
    pub(crate) fn complete(&self) {
        match self {
            Self::Own(signal) => signal.complete(),
            Self::Shared(event, ticket) => event.complete(*ticket),
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Own(signal) => signal.is_complete(),
            Self::Shared(event, ticket) => event.is_complete(*ticket),
        }
    }

    pub(crate) fn wait(&self) {
        match self {
            Self::Own(signal) => signal.wait(),
            Self::Shared(event, ticket) => event.wait(*ticket),
        }
    }

    /// Makes later work of the stream wait for the point.
    fn hold(self, runtime: &'static Runtime, stream: &Stream) {
        match self {
            Self::Own(signal) => stream.submit(runtime, vec![signal], None),
            shared @ Self::Shared(..) => {
                stream.submit(runtime, Vec::new(), Some(Op::Await(shared)))
            }
        };
    }
}

impl Event {
    /// Makes an event and gives it a handle.
    pub(crate) fn add(
        runtime: &'static Runtime,
        device: usize,
        flags: u32,
        shared: Option<Arc<SharedEvent>>,
    ) -> hipEvent_t {
        let handle = runtime.handles.next();
        let event = Self { handle, device, flags, shared, state: Mutex::default() };
        runtime.events.insert(handle, Arc::new(event));
        hipEvent_t(word(handle))
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
        let recorded = match &self.shared {
            None => State::Recorded(stream.submit(runtime, Vec::new(), None)),
            Some(shared) => {
                let point = Point::Shared(Arc::clone(shared), shared.begin());
                stream.submit(runtime, Vec::new(), Some(Op::Complete(point)));
                State::New
            }
        };
        *lock(&self.state) = recorded;
        Ok(())
    }

    /// Records the event by a node of a graph that is being launched.
    pub(crate) fn record_in_graph(&self) -> Point {
        if let Some(shared) = &self.shared {
            return Point::Shared(Arc::clone(shared), shared.begin());
        }
        let signal = Signal::new();
        *lock(&self.state) = State::Recorded(signal.clone());
        Point::Own(signal)
    }

    /// Makes later work of the stream wait for the event.
    pub(crate) fn make_wait(&self, runtime: &'static Runtime, stream: &Stream) -> Answer {
        runtime.device(stream.device)?.check()?;
        let captured = self.captured();
        let mut own = stream.capture();
        let Some((capture, nodes)) = captured else {
            let Some(point) = self.latest() else { return Ok(()) };
            return match own.as_ref() {
                None => {
                    drop(own);
                    point.hold(runtime, stream);
                    Ok(())
                }
                // Work outside the graph that a captured stream would wait for.
                Some(_) if point.is_complete() => Ok(()),
                Some(state) => {
                    state.capture.invalidate();
                    Err(hipErrorStreamCaptureIsolation)
                }
            };
        };
        let Some(state) = own.as_mut() else {
            if stream.ordering == crate::streams::Ordering::Null {
                return Err(hipErrorStreamCaptureImplicit);
            }
            if capture.has_ended() {
                return Err(hipErrorCapturedEvent);
            }
            capture.check_valid()?;
            // The stream joins the capture.
            *own = Some(StreamCapture { capture, tail: nodes, origin: false });
            return Ok(());
        };
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

    fn captured(&self) -> Option<(Arc<Capture>, Vec<usize>)> {
        match &*lock(&self.state) {
            State::Captured(capture, nodes) => Some((Arc::clone(capture), nodes.clone())),
            State::New | State::Recorded(_) => None,
        }
    }

    /// Spoils the capture that the event was recorded in: nobody can look at it from outside.
    fn check_not_captured(&self) -> Answer {
        match self.captured() {
            Some((capture, _)) => {
                capture.invalidate();
                Err(hipErrorCapturedEvent)
            }
            None => Ok(()),
        }
    }

    /// Whether the recorded work has ended. An event that was never recorded counts as complete.
    pub(crate) fn is_complete(&self) -> Answer<bool> {
        self.check_not_captured()?;
        Ok(self.latest().is_none_or(|point| point.is_complete()))
    }

    /// Waits for the recorded work.
    pub(crate) fn synchronize(&self) -> Answer {
        self.check_not_captured()?;
        if let Some(point) = self.latest() {
            point.wait();
        }
        Ok(())
    }

    /// What waiting for the event means now: its last record outside captures, by whatever process.
    pub(crate) fn latest(&self) -> Option<Point> {
        match &self.shared {
            Some(shared) => shared.latest().map(|ticket| Point::Shared(Arc::clone(shared), ticket)),
            None => self.signal().map(Point::Own),
        }
    }

    fn signal(&self) -> Option<Signal> {
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
