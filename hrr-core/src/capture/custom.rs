//! What a hand-written half of recording works with.

use super::fields::Meta;
use super::interpret::{Taking, value_at};
use super::track::Tracker;
use crate::archive::event::{AbsentReason, BlobHash, Body, EventId, FIELD_CUSTOM, Phase};
use crate::code::Identity;
use crate::desc::{ApiDesc, CaptureFn, KernelArgsForm, Space};

/// The call that a hand-written half records: it runs once before and once after the real call, in
/// the place of the interpreter, and may send single parameters back to it.
pub struct CaptureCx<'a> {
    taking: Taking<'a>,
}

/// Runs a hand-written half in the place of the interpreter.
pub(crate) fn run<'t>(capture: CaptureFn, taking: Taking<'t>) -> Taking<'t> {
    let mut cx = CaptureCx { taking };
    capture(&mut cx);
    cx.taking
}

impl CaptureCx<'_> {
    /// Before or after the real call.
    pub fn phase(&self) -> Phase {
        self.taking.phase
    }

    /// The function.
    pub fn api(&self) -> &'static ApiDesc {
        self.taking.api
    }

    /// The event.
    pub fn id(&self) -> EventId {
        self.taking.id
    }

    /// Whether the call has returned, and returned success.
    pub fn succeeded(&self) -> bool {
        self.taking.succeeded
    }

    /// The first 8 bytes of what the call returned, zero-extended.
    pub fn returned(&self) -> u64 {
        self.taking.ret
    }

    /// The value of a parameter of up to 8 bytes, zero-extended.
    pub fn word(&mut self, index: u16) -> u64 {
        self.taking.with_scope(|_, scope| value_at(scope, index))
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// `T` has another size than the parameter: a mistake in the hand-written half, which stops the
    /// recording and not the program.
    pub fn arg<T: Copy>(&self, index: u16) -> T {
        let param = &self.taking.api.params[index as usize];
        assert_eq!(param.bytes as usize, size_of::<T>(), "{} has another type", param.name);
        // SAFETY: the argument block holds an initialised value of the parameter's type at this
        // offset; the size agrees, and what a hand-written half reads is what its declaration says.
        unsafe { self.taking.args.add(param.offset as usize).cast::<T>().read_unaligned() }
    }

    /// Takes all parameters as the interpreter would.
    pub fn interpret(&mut self) {
        self.taking.parameters();
    }

    /// Takes one parameter as the interpreter would.
    pub fn interpret_parameter(&mut self, index: u16) {
        self.taking.parameter(index);
    }

    /// Reads memory of the program; `None` if it cannot be read.
    pub fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        let read = address != 0 && self.taking.memory.read(address, bytes, &mut content);
        read.then_some(content)
    }

    /// Reads a string of the program, without its NUL; `None` if it cannot be read.
    pub fn read_string(&self, address: u64) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        let read = address != 0 && self.taking.memory.read_string(address, None, &mut content);
        read.then_some(content)
    }

    fn meta(&self, id: u16, element: u32) -> Meta {
        Meta { id, element, phase: self.taking.phase, ..Meta::default() }
    }

    /// Adds the content of a parameter: `count` elements that are these bytes.
    pub fn add(&mut self, index: u16, element: u32, count: u64, content: &[u8]) {
        let meta = self.meta(index, element);
        self.taking.fields().content(meta, count, content);
    }

    /// Adds any body for a parameter: `original` elements passed, `recorded` of them kept.
    pub fn add_body(&mut self, index: u16, element: u32, original: u64, recorded: u64, body: Body) {
        let meta = self.meta(index, element);
        self.taking.fields().field(meta, original, recorded, body);
    }

    /// Adds a content that belongs to no parameter; `element` tells several apart.
    pub fn add_custom(&mut self, element: u32, content: &[u8]) {
        let meta = self.meta(FIELD_CUSTOM, element);
        self.taking.fields().content(meta, content.len() as u64, content);
    }

    /// Says that the content of a parameter could not be taken.
    pub fn absent(&mut self, index: u16, element: u32, reason: AbsentReason) {
        let meta = self.meta(index, element);
        self.taking.fields().absent(meta, 1, reason);
    }

    /// Takes the arguments of a kernel, given what names it, as a field group of a parameter.
    pub fn add_kernel_args(
        &mut self,
        index: u16,
        identity: Option<Identity>,
        list: u64,
        form: KernelArgsForm,
    ) {
        let meta = self.meta(index, 0);
        self.taking.kernel_args_of(meta, identity, list, form);
    }

    /// The image that a handle stands for.
    pub fn image(&self, handle: u64) -> Option<BlobHash> {
        self.taking.recorder.tracker().image(handle)
    }

    /// The kernel that a handle stands for.
    pub fn kernel(&self, handle: u64) -> Option<Identity> {
        self.taking.recorder.tracker().kernel(handle)
    }

    /// The kernel or variable that a host address stands for.
    pub fn symbol(&self, address: u64) -> Option<Identity> {
        self.taking.recorder.tracker().symbol(address)
    }

    /// The size of a variable of an image that a load handed over.
    pub fn variable_bytes(&self, variable: &Identity) -> Option<u64> {
        let image = Tracker::parsed(self.taking.recorder, variable.image)?;
        let symbol = image.symbols.iter().find(|symbol| symbol.name == variable.name)?;
        Some(symbol.bytes)
    }

    /// From here on the handle stands for this image.
    pub fn define_image(&mut self, handle: u64, image: BlobHash) {
        self.taking.recorder.tracker().define_image(handle, image);
    }

    /// From here on the handle stands for this kernel.
    pub fn define_kernel(&mut self, handle: u64, identity: Identity) {
        self.taking.recorder.tracker().define_kernel(handle, identity);
    }

    /// From here on the host address stands for this kernel or variable.
    pub fn define_symbol(&mut self, address: u64, identity: Identity) {
        self.taking.recorder.tracker().define_symbol(address, identity);
    }

    /// From here on this is memory that the device uses.
    pub fn add_range(&mut self, address: u64, bytes: u64, space: Space) {
        self.taking.recorder.tracker().add_range(address, bytes, space);
    }

    /// Where an address lies, as far as the recording knows.
    pub fn space_of(&self, address: u64) -> Option<Space> {
        self.taking.recorder.tracker().space_of(address)
    }
}
