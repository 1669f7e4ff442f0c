//! Writes fields in the live form while a call is being taken.

use std::sync::Arc;

use super::recorder::Recorder;
use crate::archive::event::{AbsentReason, Body, EventId, Field, Phase};
use crate::archive::raw;

/// Contents of more bytes than this go to the blob store.
pub(crate) const INLINE_BYTES_MAX: usize = 4096;

/// What stands before a field's content.
#[derive(Clone, Copy)]
pub(crate) struct Meta {
    pub(crate) id: u16,
    pub(crate) depth: u8,
    pub(crate) phase: Phase,
    pub(crate) element: u32,
    pub(crate) address: u64,
    pub(crate) owner: Option<(EventId, u16)>,
}

impl Default for Meta {
    fn default() -> Meta {
        Meta { id: 0, depth: 0, phase: Phase::Before, element: 0, address: 0, owner: None }
    }
}

/// Appends fields.
pub(crate) struct Fields<'a> {
    out: &'a mut Vec<u8>,
    recorder: &'static Recorder,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, recorder: &'static Recorder) -> Fields<'a> {
        Fields { out, recorder }
    }

    /// Any field.
    pub(crate) fn field(&mut self, meta: Meta, original: u64, recorded: u64, body: Body) {
        let Meta { id, depth, phase, element, address, owner } = meta;
        let field = Field { id, depth, phase, element, original, recorded, address, owner, body };
        raw::put_field(self.out, &field);
    }

    /// Bytes that stay in the record.
    pub(crate) fn inline_bytes(&mut self, meta: Meta, content: &[u8]) {
        let count = content.len() as u64;
        self.field(meta, count, count, Body::Bytes(Arc::from(content)));
    }

    /// Bytes, in the record or in the blob store; `count` elements of them.
    pub(crate) fn content(&mut self, meta: Meta, count: u64, content: &[u8]) {
        if content.len() <= INLINE_BYTES_MAX {
            self.field(meta, count, count, Body::Bytes(Arc::from(content)));
        } else {
            match self.recorder.blob(content) {
                Some(body) => self.field(meta, count, count, body),
                None => self.absent(meta, count, AbsentReason::RecorderLimit),
            }
        }
    }

    /// Bytes in the blob store, however few.
    pub(crate) fn blob(&mut self, meta: Meta, content: &[u8]) {
        let count = content.len() as u64;
        match self.recorder.blob(content) {
            Some(body) => self.field(meta, count, count, body),
            None => self.absent(meta, count, AbsentReason::RecorderLimit),
        }
    }

    /// A null pointer that stood for `count` elements.
    pub(crate) fn null(&mut self, meta: Meta, count: u64) {
        self.field(meta, count, count, Body::Null);
    }

    /// A content that could not be taken.
    pub(crate) fn absent(&mut self, meta: Meta, count: u64, reason: AbsentReason) {
        self.field(meta, count, 0, Body::Absent(reason));
    }
}
