//! Streams: what runs in which order, and what waits for what.
//!
//! Each stream is a queue with a worker. The null stream of a device has legacy semantics: its
//! work waits for all earlier work of the device's blocking streams, and their work waits for
//! its. All of that is decided when work is submitted, under one lock for each device, so that
//! the order is the order of the calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gfx_emu::queue::{Queue, Signal};
use hrr_ffi::types::*;

use crate::api::Answer;
use crate::graphs::{Capture, NodeKind};
use crate::ops::{Op, Worker};
use crate::runtime::{Device, Runtime};

/// How a stream relates to the null stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordering {
    /// It is the null stream.
    Null,
    /// It waits for the null stream, and is waited for.
    Blocking,
    /// The null stream does not matter to it.
    Independent,
}

/// A stream.
pub(crate) struct Stream {
    pub(crate) handle: usize,
    pub(crate) id: u64,
    pub(crate) device: usize,
    pub(crate) ordering: Ordering,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    /// The mask of compute units that the program gave, if it did.
    pub(crate) units: Option<Vec<u32>>,
    queue: Queue,
    worker: Arc<Worker>,
    /// Completes when all work so far has ended.
    tail: Mutex<Signal>,
    capture: Mutex<Option<StreamCapture>>,
}

/// A stream's part in a capture.
#[derive(Clone)]
pub(crate) struct StreamCapture {
    pub(crate) capture: Arc<Capture>,
    /// Nodes that the next one depends on.
    pub(crate) tail: Vec<usize>,
    /// Whether the capture began here.
    pub(crate) origin: bool,
}

impl Stream {
    pub(crate) fn new(
        runtime: &'static Runtime,
        device: usize,
        ordering: Ordering,
        flags: u32,
        priority: i32,
        units: Option<Vec<u32>>,
    ) -> Answer<Arc<Self>> {
        let queue = Queue::new("hip-emu stream").map_err(|_| hipErrorOutOfMemory)?;
        let stream = Arc::new(Self {
            handle: runtime.handles.next(),
            id: runtime.next_id(),
            device,
            ordering,
            flags,
            priority,
            units,
            queue,
            worker: Arc::new(Worker::new(runtime, device)),
            tail: Mutex::new(Signal::completed()),
            capture: Mutex::new(None),
        });
        runtime.device(device)?.add_stream(&stream);
        Ok(stream)
    }

    /// Completes when all work that the stream has now has ended.
    pub(crate) fn tail(&self) -> Signal {
        lock(&self.tail).clone()
    }

    pub(crate) fn capture(&self) -> MutexGuard<'_, Option<StreamCapture>> {
        lock(&self.capture)
    }

    pub(crate) fn is_capturing(&self) -> bool {
        self.capture().is_some()
    }

    /// Runs the work, or makes a node of it while the stream captures. The signal completes with
    /// the work; there is none in a capture.
    pub(crate) fn enqueue(&self, runtime: &'static Runtime, op: Op) -> Answer<Option<Signal>> {
        runtime.device(self.device)?.check()?;
        if self.add_to_capture(runtime, || NodeKind::Work(op.clone()))? {
            return Ok(None);
        }
        self.check_implicit_capture(runtime)?;
        Ok(Some(self.submit(runtime, Vec::new(), Some(op))))
    }

    /// Adds a node if the stream captures.
    pub(crate) fn add_to_capture(
        &self,
        runtime: &'static Runtime,
        kind: impl FnOnce() -> NodeKind,
    ) -> Answer<bool> {
        let mut capture = self.capture();
        let Some(state) = capture.as_mut() else { return Ok(false) };
        state.capture.check_valid()?;
        let node = state.capture.graph.add(runtime, kind(), state.tail.clone());
        state.tail = vec![node];
        Ok(true)
    }

    /// Appends work behind what is there and behind the given signals, whatever the stream's
    /// capture. `None` is a marker: its signal is what counts.
    pub(crate) fn submit(
        &self,
        runtime: &'static Runtime,
        mut after: Vec<Signal>,
        op: Option<Op>,
    ) -> Signal {
        let Ok(device) = runtime.device(self.device) else { return Signal::completed() };
        let _order = device.order();
        after.extend(self.implicit_dependencies(device));
        after.retain(|signal| !signal.is_complete());
        let worker = Arc::clone(&self.worker);
        let done = self.queue.submit(after, move || {
            if let Some(op) = op {
                worker.run(&op);
            }
        });
        *lock(&self.tail) = done.clone();
        done
    }

    /// What the stream's next work waits for on other streams because of the null stream.
    fn implicit_dependencies(&self, device: &Device) -> Vec<Signal> {
        match self.ordering {
            Ordering::Null => device
                .streams()
                .iter()
                .filter(|stream| stream.ordering == Ordering::Blocking)
                .map(|stream| stream.tail())
                .collect(),
            Ordering::Blocking => {
                device.existing_null_stream().map(|s| s.tail()).into_iter().collect()
            }
            Ordering::Independent => Vec::new(),
        }
    }

    /// Waits until all work of the stream so far has ended, and for what that includes on the
    /// null stream.
    pub(crate) fn synchronize(&self, runtime: &'static Runtime) -> Answer {
        let device = runtime.device(self.device)?;
        let mut signals = {
            let _order = device.order();
            match self.ordering {
                Ordering::Null => self.implicit_dependencies(device),
                Ordering::Blocking | Ordering::Independent => Vec::new(),
            }
        };
        signals.push(self.tail());
        signals.iter().for_each(Signal::wait);
        device.check()
    }

    /// Whether all work of the stream so far has ended.
    pub(crate) fn is_idle(&self, runtime: &'static Runtime) -> Answer<bool> {
        let device = runtime.device(self.device)?;
        let others = match self.ordering {
            Ordering::Null => self.implicit_dependencies(device),
            Ordering::Blocking | Ordering::Independent => Vec::new(),
        };
        device.check()?;
        Ok(self.tail().is_complete() && others.iter().all(Signal::is_complete))
    }

    /// The null stream may not be used while a blocking stream captures: its order would be part
    /// of the graph, which has no node for it.
    fn check_implicit_capture(&self, runtime: &'static Runtime) -> Answer {
        if self.ordering != Ordering::Null {
            return Ok(());
        }
        let streams = runtime.device(self.device)?.streams();
        let blocking = streams.iter().filter(|stream| stream.ordering == Ordering::Blocking);
        let mut captures = blocking.filter_map(|stream| stream.capture().clone());
        match captures.next() {
            Some(state) => {
                state.capture.invalidate();
                Err(hipErrorStreamCaptureImplicit)
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
