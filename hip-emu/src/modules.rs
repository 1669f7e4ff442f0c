//! Code: modules that a program loads, and the fat binaries that its own code registers.
//!
//! Registration happens in static constructors, before anything else: it keeps pointers and
//! names and makes nothing. Code is read and loaded for a device when the device first needs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use gfx_emu::loader::code::{CodeError, image, select};
use gfx_emu::loader::{LoadError, LoadedKernel, LoadedObject, Variable};
use hrr_ffi::types::*;

use crate::abi;
use crate::allocations::{Allocation, Kind};
use crate::api::Answer;
use crate::functions::memory;
use crate::runtime::{self, Runtime, memory_error};
use crate::streams::lock;

/// Code in the memory of one device. Its memory is freed with the last user.
pub(crate) struct Loaded {
    runtime: &'static Runtime,
    pub(crate) object: LoadedObject,
    /// Variables that are entered in the table of allocations.
    variables: Mutex<Vec<u64>>,
}

/// A module of `hipModuleLoad`.
pub(crate) struct Module {
    pub(crate) handle: usize,
    pub(crate) code: Arc<Loaded>,
}

/// A kernel that has a handle.
pub(crate) struct Function {
    pub(crate) handle: usize,
    /// The module it came from; `None` for a kernel of the program's own code.
    pub(crate) module: Option<usize>,
    pub(crate) code: Arc<Loaded>,
    pub(crate) kernel: Arc<LoadedKernel>,
}

impl Loaded {
    /// Takes the code object for the emulated target out of an image and loads it.
    pub(crate) fn from_image(
        runtime: &'static Runtime,
        device: usize,
        bytes: &[u8],
    ) -> Answer<Arc<Self>> {
        let selected = select(bytes, &runtime.config.target).map_err(|error| match error {
            CodeError::NoCodeForDevice { .. } if image::is_object(bytes) => {
                abi::object_for_another_device()
            }
            error => code_error(&error),
        })?;
        let object = LoadedObject::load(&runtime.space, &selected.object).map_err(|error| {
            eprintln!("hip-emu: code object: {error}");
            load_error(&error)
        })?;
        let loaded = Self { runtime, object, variables: Mutex::default() };
        loaded.enter_variables(device);
        Ok(Arc::new(loaded))
    }

    /// HIP tells about a module's variables as about any device memory.
    fn enter_variables(&self, device: usize) {
        let mut entered = lock(&self.variables);
        for (_, Variable { address, bytes }) in self.object.variables() {
            let allocation =
                Allocation { base: address, bytes, kind: Kind::Variable, device, flags: 0 };
            self.runtime.allocations.insert(allocation);
            entered.push(address);
        }
    }

    pub(crate) fn kernel(&self, name: &str) -> Answer<Arc<LoadedKernel>> {
        self.object.kernel(name).cloned().ok_or(hipErrorNotFound)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for address in lock(&self.variables).drain(..) {
            self.runtime.allocations.remove(address);
        }
        // In a forked child, where the memory is not ours, there is nothing to free.
        let _of_the_parent = self.object.unload(&self.runtime.space);
    }
}

/// What the program's own code registered.
#[derive(Default)]
pub(crate) struct Registry {
    state: Mutex<Registered>,
}

#[derive(Default)]
struct Registered {
    binaries: Vec<Binary>,
    /// Host stub to binary and kernel name.
    functions: HashMap<usize, (usize, String)>,
    /// Host shadow to binary and variable.
    variables: HashMap<usize, (usize, HostVariable)>,
}

struct Binary {
    handle: usize,
    /// What was registered; read when the code is first needed.
    wrapper: usize,
    image: Option<Arc<[u8]>>,
    loaded: HashMap<usize, Answer<Arc<Loaded>>>,
    managed: Vec<Managed>,
    live: bool,
}

/// A variable of the program's own code.
#[derive(Clone, Debug)]
pub(crate) struct HostVariable {
    pub(crate) name: String,
    pub(crate) bytes: usize,
}

/// A `__managed__` variable: device code finds it through a pointer in device memory. The
/// program uses its own pointer from the start, so the memory is there before anything else.
struct Managed {
    name: String,
    /// The program's pointer, by which it knows the variable.
    pointer: usize,
    address: u64,
    bytes: usize,
    /// Whether kernels can reach it yet.
    adopted: bool,
}

impl Registry {
    /// Registers a fat binary; the result names it.
    pub(crate) fn add_binary(&self, wrapper: *const u8) -> usize {
        let mut state = lock(&self.state);
        // Not from the runtime's source of handles, which does not exist yet.
        let handle = std::ptr::from_ref(self).addr() + 16 * (state.binaries.len() + 1);
        state.binaries.push(Binary {
            handle,
            wrapper: wrapper.expose_provenance(),
            image: None,
            loaded: HashMap::new(),
            managed: Vec::new(),
            live: true,
        });
        handle
    }

    /// Ends a binary. Code that may be running stays.
    pub(crate) fn remove_binary(&self, handle: usize) {
        let mut state = lock(&self.state);
        let Some(index) = state.index_of(handle) else { return };
        state.binaries[index].live = false;
        state.functions.retain(|_, (binary, _)| *binary != index);
        state.variables.retain(|_, (binary, _)| *binary != index);
    }

    pub(crate) fn add_function(&self, binary: usize, stub: usize, name: String) {
        let mut state = lock(&self.state);
        if let Some(index) = state.index_of(binary) {
            state.functions.insert(stub, (index, name));
        }
    }

    pub(crate) fn add_variable(&self, binary: usize, shadow: usize, variable: HostVariable) {
        let mut state = lock(&self.state);
        if let Some(index) = state.index_of(binary) {
            state.variables.insert(shadow, (index, variable));
        }
    }

    /// Registers a managed variable: `pointer` is the program's pointer to it, `initial` its
    /// first content.
    pub(crate) fn add_managed(
        &self,
        binary: usize,
        pointer: usize,
        initial: usize,
        variable: HostVariable,
    ) {
        let mut state = lock(&self.state);
        let Some(index) = state.index_of(binary) else { return };
        match Managed::new(&variable, pointer, initial) {
            Ok(managed) => state.binaries[index].managed.push(managed),
            Err(_) => eprintln!("hip-emu: no memory for the managed variable {}", variable.name),
        }
        state.variables.insert(pointer, (index, variable));
    }

    /// The kernel behind a host stub.
    pub(crate) fn function(
        &self,
        runtime: &'static Runtime,
        device: usize,
        stub: usize,
    ) -> Answer<(Arc<Loaded>, Arc<LoadedKernel>)> {
        let mut state = lock(&self.state);
        let (index, name) =
            state.functions.get(&stub).cloned().ok_or(hipErrorInvalidDeviceFunction)?;
        let code = state.load(runtime, device, index)?;
        let kernel = code.kernel(&name)?;
        Ok((code, kernel))
    }

    /// The name of the kernel behind a host stub.
    pub(crate) fn function_name(&self, stub: usize) -> Option<String> {
        lock(&self.state).functions.get(&stub).map(|(_, name)| name.clone())
    }

    /// The device memory behind a host shadow.
    pub(crate) fn variable(
        &self,
        runtime: &'static Runtime,
        device: usize,
        shadow: usize,
    ) -> Answer<Variable> {
        let mut state = lock(&self.state);
        let (index, variable) =
            state.variables.get(&shadow).cloned().ok_or(hipErrorInvalidSymbol)?;
        let code = state.load(runtime, device, index)?;
        let managed = state.binaries[index].managed.iter().find(|m| m.pointer == shadow);
        if let Some(Managed { address, bytes, .. }) = managed {
            return Ok(Variable { address: *address, bytes: *bytes as u64 });
        }
        code.object.variable(&variable.name).ok_or(hipErrorInvalidSymbol)
    }
}

impl Registered {
    fn index_of(&self, handle: usize) -> Option<usize> {
        self.binaries.iter().position(|binary| binary.handle == handle)
    }

    /// The code of a binary on a device; a failure is as lasting as the binary is.
    fn load(
        &mut self,
        runtime: &'static Runtime,
        device: usize,
        index: usize,
    ) -> Answer<Arc<Loaded>> {
        if let Some(known) = self.binaries[index].loaded.get(&device) {
            return known.clone();
        }
        let binary = &mut self.binaries[index];
        if !binary.live {
            return Err(hipErrorNoBinaryForGpu);
        }
        let answer = binary.image().and_then(|image| Loaded::from_image(runtime, device, &image));
        if let Ok(code) = &answer {
            for managed in &mut binary.managed {
                managed.adopt(runtime, device)?;
                managed.enter(runtime, code)?;
            }
        }
        binary.loaded.insert(device, answer.clone());
        answer
    }
}

impl Binary {
    fn image(&mut self) -> Answer<Arc<[u8]>> {
        if let Some(image) = &self.image {
            return Ok(Arc::clone(image));
        }
        let wrapper = std::ptr::with_exposed_provenance::<u8>(self.wrapper);
        // SAFETY: the program's own constant data, which nobody writes to.
        let image = unsafe { image::fat_binary_image(wrapper) }.ok_or(hipErrorInvalidImage)?;
        // SAFETY: as above.
        let bytes = unsafe { image::copy_image(image) }.ok_or(hipErrorInvalidImage)?;
        let bytes: Arc<[u8]> = bytes.into();
        self.image = Some(Arc::clone(&bytes));
        Ok(bytes)
    }
}

impl Managed {
    /// Makes the variable with its first content and lets the program's pointer point at it.
    fn new(variable: &HostVariable, pointer: usize, initial: usize) -> Answer<Self> {
        let target = memory::map_host(variable.bytes as u64)?.cast::<u8>();
        if initial != 0 {
            let source = std::ptr::with_exposed_provenance::<u8>(initial);
            // SAFETY: the compiler registered the first content with this size; the memory for
            // it was made just above.
            unsafe { std::ptr::copy_nonoverlapping(source, target, variable.bytes) };
        }
        let own = std::ptr::with_exposed_provenance_mut::<*mut u8>(pointer);
        // SAFETY: the compiler registered its own pointer variable.
        unsafe { own.write(target) };
        Ok(Self {
            name: variable.name.clone(),
            pointer,
            address: target.addr() as u64,
            bytes: variable.bytes,
            adopted: false,
        })
    }

    /// Makes the variable reachable from kernels.
    fn adopt(&mut self, runtime: &Runtime, device: usize) -> Answer {
        if self.adopted {
            return Ok(());
        }
        let (base, bytes) = (self.address, self.bytes as u64);
        // SAFETY: the memory is never unmapped.
        unsafe { memory::adopt_host(runtime, memory::address(base), bytes) }?;
        let flags = hipMemAttachGlobal;
        runtime.allocations.insert(Allocation { base, bytes, kind: Kind::Managed, device, flags });
        self.adopted = true;
        Ok(())
    }

    /// Tells the device code where the variable is.
    fn enter(&self, runtime: &Runtime, code: &Loaded) -> Answer {
        let Some(pointer) = code.object.variable(&self.name) else { return Ok(()) };
        let written = runtime.space.write(pointer.address, &self.address.to_le_bytes());
        written.map_err(|error| memory_error(&error))
    }
}

/// What HIP says about an image.
pub(crate) fn code_error(error: &CodeError) -> hipError_t {
    if runtime::log_level() >= 1 {
        eprintln!("hip-emu: code object: {error}");
    }
    match error {
        CodeError::NoCodeForDevice { .. } => hipErrorNoBinaryForGpu,
        CodeError::UnknownImage => abi::no_image(),
        CodeError::Truncated(_)
        | CodeError::Malformed(_)
        | CodeError::UnknownCompression { .. }
        | CodeError::Decompression(_)
        | CodeError::Elf(_)
        | CodeError::NotAmdgpu
        | CodeError::UnknownMachine(_)
        | CodeError::UnknownAbi(_)
        | CodeError::NoMetadata
        | CodeError::Metadata(_) => hipErrorInvalidImage,
    }
}

fn load_error(error: &LoadError) -> hipError_t {
    match error {
        LoadError::Code(error) => code_error(error),
        LoadError::Target(_) => hipErrorNoBinaryForGpu,
        LoadError::Memory(error) => memory_error(error),
        LoadError::Relocation { .. } | LoadError::Layout(_) => hipErrorInvalidImage,
        LoadError::Kernel { .. } => hipErrorInvalidKernelFile,
    }
}
