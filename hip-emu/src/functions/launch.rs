//! Launches of kernels, by handle and by host stub.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use gfx_emu::loader::LoadedKernel;
use hrr_ffi::types::*;

use super::memory::per_thread;
use super::module::function_handle;
use crate::abi::{by_version, major};
use crate::api::{Answer, In, Out};
use crate::handles::word;
use crate::launches::{Arguments, Launch, Shape, WORKGROUP_MAX, axes};
use crate::modules::Loaded;
use crate::ops::Op;
use crate::runtime::{Runtime, current, registry};
use crate::thread;

hip_api! { TABLE;
    fn hipLaunchKernel(
        stub: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: In<*mut c_void>,
        shared_bytes: usize,
        stream: hipStream_t,
    ) {
        let shape = Shape::of(grid, block, shared_bytes);
        launch_stub(stub, shape, arguments, stream)
    }

    fn hipLaunchKernel_spt(
        stub: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: In<*mut c_void>,
        shared_bytes: usize,
        stream: hipStream_t,
    ) {
        let shape = Shape::of(grid, block, shared_bytes);
        launch_stub(stub, shape, arguments, per_thread(stream))
    }

    fn hipExtLaunchKernel(
        stub: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: In<*mut c_void>,
        shared_bytes: usize,
        stream: hipStream_t,
        start: hipEvent_t,
        stop: hipEvent_t,
        flags: c_int,
    ) {
        let _order_of_its_own = flags;
        let shape = Shape::of(grid, block, shared_bytes);
        between_events(stream, start, stop, || launch_stub(stub, shape, arguments, stream))
    }

    fn hipLaunchCooperativeKernel(
        stub: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: In<*mut c_void>,
        shared_bytes: c_uint,
        stream: hipStream_t,
    ) {
        let shape = Shape::of(grid, block, shared_bytes as usize).cooperative();
        launch_stub(stub, shape, arguments, stream)
    }

    fn hipLaunchCooperativeKernel_spt(
        stub: *const c_void,
        grid: dim3,
        block: dim3,
        arguments: In<*mut c_void>,
        shared_bytes: u32,
        stream: hipStream_t,
    ) {
        let shape = Shape::of(grid, block, shared_bytes as usize).cooperative();
        launch_stub(stub, shape, arguments, per_thread(stream))
    }

    fn hipLaunchKernelExC(
        config: In<hipLaunchConfig_t>,
        stub: *const c_void,
        arguments: In<*mut c_void>,
    ) {
        let config = config.get()?;
        // SAFETY: HIP's contract: the array has as many elements as the count says.
        let attributes = unsafe { In::new(config.attrs.cast_const()) };
        let shape = Shape::of(config.gridDim, config.blockDim, config.dynamicSmemBytes);
        let shape = with_attributes(shape, attributes, config.numAttrs)?;
        launch_stub(stub, shape, arguments, config.stream)
    }

    fn hipDrvLaunchKernelEx(
        config: In<HIP_LAUNCH_CONFIG>,
        function: hipFunction_t,
        arguments: In<*mut c_void>,
        extra: In<*mut c_void>,
    ) {
        let c = config.get()?;
        // SAFETY: HIP's contract: the array has as many elements as the count says.
        let attributes = unsafe { In::new(c.attrs.cast_const()) };
        let grid = dim3 { x: c.gridDimX, y: c.gridDimY, z: c.gridDimZ };
        let block = dim3 { x: c.blockDimX, y: c.blockDimY, z: c.blockDimZ };
        let shape = Shape::of(grid, block, c.sharedMemBytes as usize);
        let shape = with_attributes(shape, attributes, c.numAttrs)?;
        launch_function(function, shape, Arguments { pointers: arguments, extra }, c.hStream)
    }

    fn hipModuleLaunchKernel(
        function: hipFunction_t,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: hipStream_t,
        arguments: In<*mut c_void>,
        extra: In<*mut c_void>,
    ) {
        let grid = dim3 { x: grid_x, y: grid_y, z: grid_z };
        let block = dim3 { x: block_x, y: block_y, z: block_z };
        let shape = Shape::of(grid, block, shared_bytes as usize);
        launch_function(function, shape, Arguments { pointers: arguments, extra }, stream)
    }

    fn hipModuleLaunchCooperativeKernel(
        function: hipFunction_t,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: hipStream_t,
        arguments: In<*mut c_void>,
    ) {
        let grid = dim3 { x: grid_x, y: grid_y, z: grid_z };
        let block = dim3 { x: block_x, y: block_y, z: block_z };
        let shape = Shape::of(grid, block, shared_bytes as usize).cooperative();
        launch_function(function, shape, Arguments::pointers(arguments), stream)
    }

    /// The grid is in work-items.
    fn hipExtModuleLaunchKernel(
        function: hipFunction_t,
        items_x: c_uint,
        items_y: c_uint,
        items_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: usize,
        stream: hipStream_t,
        arguments: In<*mut c_void>,
        extra: In<*mut c_void>,
        start: hipEvent_t,
        stop: hipEvent_t,
        flags: c_uint,
    ) {
        let _order_of_its_own = flags;
        let items = dim3 { x: items_x, y: items_y, z: items_z };
        let block = dim3 { x: block_x, y: block_y, z: block_z };
        let shape = Shape { grid_in_items: true, ..Shape::of(items, block, shared_bytes) };
        let arguments = Arguments { pointers: arguments, extra };
        between_events(stream, start, stop, || {
            launch_function(function, shape, arguments, stream)
        })
    }

    /// The grid is in work-items.
    fn hipHccModuleLaunchKernel(
        function: hipFunction_t,
        items_x: c_uint,
        items_y: c_uint,
        items_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: usize,
        stream: hipStream_t,
        arguments: In<*mut c_void>,
        extra: In<*mut c_void>,
        start: hipEvent_t,
        stop: hipEvent_t,
    ) {
        let items = dim3 { x: items_x, y: items_y, z: items_z };
        let block = dim3 { x: block_x, y: block_y, z: block_z };
        let shape = Shape { grid_in_items: true, ..Shape::of(items, block, shared_bytes) };
        let arguments = Arguments { pointers: arguments, extra };
        between_events(stream, start, stop, || {
            launch_function(function, shape, arguments, stream)
        })
    }

    /// Launches what `hipConfigureCall` and `hipSetupArgument` have prepared.
    fn hipLaunchByPtr(stub: *const c_void) {
        let call = thread::pop_call().ok_or(hipErrorMissingConfiguration)?;
        let (runtime, _) = current()?;
        let stream = runtime.stream(call.stream)?;
        let (code, kernel) = registry().function(runtime, stream.device, stub.addr())?;
        let shape = Shape::of(call.grid, call.block, call.shared_bytes);
        shape.check(&kernel)?;
        let launch = Launch::with_block(code, kernel, stub.addr(), shape, &call.arguments)?;
        stream.enqueue(runtime, Op::Kernel(Arc::new(launch))).map(drop)
    }

    fn hipGetFuncBySymbol(function: Out<hipFunction_t>, stub: *const c_void) {
        let (runtime, device) = current()?;
        let (code, kernel) = registry().function(runtime, device.id(), stub.addr())?;
        let handle = function_handle(runtime, None, &code, kernel);
        function.set(hipFunction_t(word(handle)))
    }

    fn hipFuncGetAttributes(attributes: Out<hipFuncAttributes>, stub: *const c_void) {
        let (runtime, _) = current()?;
        let missing = if stub.is_null() { hipErrorInvalidValue } else { hipErrorInvalidSymbol };
        let (_, kernel) = kernel_of(runtime, stub.addr())
            .map_err(|error| by_version(missing, error))?;
        let metadata = &kernel.metadata;
        let fixed = metadata.group_segment_bytes as usize;
        attributes.set(hipFuncAttributes {
            binaryVersion: binary_version(&kernel),
            localSizeBytes: metadata.private_segment_bytes as usize,
            maxDynamicSharedSizeBytes: (crate::launches::LDS_BYTES as usize - fixed) as c_int,
            maxThreadsPerBlock: metadata.workgroup_max.min(WORKGROUP_MAX) as c_int,
            numRegs: metadata.vgprs as c_int,
            ptxVersion: binary_version(&kernel),
            sharedSizeBytes: fixed,
            ..hipFuncAttributes::default()
        })
    }

    fn hipFuncGetAttribute(
        value: Out<c_int>,
        attribute: hipFunction_attribute,
        function: hipFunction_t,
    ) {
        let (runtime, _) = current()?;
        let (_, kernel) = kernel_of(runtime, function.0.addr())
            .map_err(|error| by_version(hipErrorInvalidValue, error))?;
        let metadata = &kernel.metadata;
        value.set(match attribute {
            HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => {
                metadata.workgroup_max.min(WORKGROUP_MAX) as c_int
            }
            HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => metadata.group_segment_bytes as c_int,
            HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => metadata.private_segment_bytes as c_int,
            HIP_FUNC_ATTRIBUTE_NUM_REGS => metadata.vgprs as c_int,
            HIP_FUNC_ATTRIBUTE_PTX_VERSION | HIP_FUNC_ATTRIBUTE_BINARY_VERSION => {
                binary_version(&kernel)
            }
            HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
                crate::launches::LDS_BYTES as c_int - metadata.group_segment_bytes as c_int
            }
            HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
            | HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA
            | HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => 0,
            _unknown => return Err(hipErrorInvalidValue),
        })
    }

    /// Any amount of LDS that a workgroup can have may be asked for at the launch.
    fn hipFuncSetAttribute(stub: *const c_void, attribute: hipFuncAttribute, value: c_int) {
        let (runtime, _) = current()?;
        // HIP 5 does nothing with it.
        if major() <= 5 {
            return Ok(());
        }
        let (_, kernel) = kernel_of(runtime, stub.addr())?;
        let fixed = kernel.metadata.group_segment_bytes as c_int;
        match attribute {
            hipFuncAttributeMaxDynamicSharedMemorySize
                if (0..=crate::launches::LDS_BYTES as c_int - fixed).contains(&value) =>
            {
                Ok(())
            }
            hipFuncAttributePreferredSharedMemoryCarveout if (-1..=100).contains(&value) => Ok(()),
            _unknown => Err(hipErrorInvalidValue),
        }
    }

    fn hipFuncSetCacheConfig(stub: *const c_void, config: hipFuncCache_t) {
        let (runtime, _) = current()?;
        if major() <= 5 {
            return Ok(());
        }
        super::device::check_cache(config)?;
        kernel_of(runtime, stub.addr()).map(drop)
    }

    fn hipFuncSetSharedMemConfig(stub: *const c_void, config: hipSharedMemConfig) {
        let (runtime, _) = current()?;
        if major() <= 5 {
            return Ok(());
        }
        if config.0 > hipSharedMemBankSizeEightByte.0 {
            return Err(hipErrorInvalidValue);
        }
        kernel_of(runtime, stub.addr()).map(drop)
    }
}

hip_api_unchecked! { NAMES;
    /// The name of a kernel, or null.
    fn hipKernelNameRef(function: hipFunction_t) -> *const c_char {
        let found = current().and_then(|(runtime, _)| kernel_of(runtime, function.0.addr()));
        found.map_or(std::ptr::null(), |(_, kernel)| leaked_name(kernel.kernel.name()))
    }

    /// The name of the kernel behind a host stub, or null.
    fn hipKernelNameRefByPtr(stub: *const c_void, _stream: hipStream_t) -> *const c_char {
        registry().function_name(stub.addr()).map_or(std::ptr::null(), |name| leaked_name(&name))
    }
}

impl Shape {
    fn of(grid: dim3, block: dim3, shared_bytes: usize) -> Self {
        Self {
            grid: axes(grid),
            block: axes(block),
            shared_bytes: shared_bytes as u64,
            grid_in_items: false,
            cooperative: false,
        }
    }

    fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }
}

/// A shape from a node's parameters.
pub(crate) fn node_shape(params: &hipKernelNodeParams) -> Shape {
    Shape::of(params.gridDim, params.blockDim, params.sharedMemBytes as usize)
}

fn with_attributes(
    shape: Shape,
    attributes: In<hipLaunchAttribute>,
    count: c_uint,
) -> Answer<Shape> {
    let mut shape = shape;
    for attribute in attributes.slice(count as usize)? {
        match attribute.id {
            hipLaunchAttributeCooperative => {
                // SAFETY: the tag says that this variant of the union is the one that is set.
                shape.cooperative = unsafe { attribute.val.cooperative } != 0;
            }
            // Say how to run fast, not what to do.
            hipLaunchAttributeIgnore
            | hipLaunchAttributePriority
            | hipLaunchAttributeAccessPolicyWindow
            | hipLaunchAttributeSynchronizationPolicy
            | hipLaunchAttributeMemSyncDomain
            | hipLaunchAttributeMemSyncDomainMap => {}
            _unknown => return Err(hipErrorNotSupported),
        }
    }
    Ok(shape)
}

/// The kernel of a function handle or of a host stub.
pub(crate) fn kernel_of(
    runtime: &'static Runtime,
    named: usize,
) -> Answer<(Arc<Loaded>, Arc<LoadedKernel>)> {
    if let Some(function) = runtime.functions.get(word(named)) {
        return Ok((Arc::clone(&function.code), Arc::clone(&function.kernel)));
    }
    registry().function(runtime, thread::device(), named)
}

fn launch_stub(
    stub: *const c_void,
    shape: Shape,
    arguments: In<*mut c_void>,
    stream: hipStream_t,
) -> Answer {
    let (runtime, _) = current()?;
    let stream = runtime.stream(stream)?;
    let found = registry().function(runtime, stream.device, stub.addr());
    let (code, kernel) = found.map_err(|error| match error {
        hipErrorInvalidDeviceFunction if shape.cooperative => {
            by_version(hipErrorInvalidSymbol, error)
        }
        other => other,
    })?;
    let arguments = Arguments::pointers(arguments);
    let launch = Launch::new(code, kernel, stub.addr(), shape, arguments)?;
    stream.enqueue(runtime, Op::Kernel(Arc::new(launch))).map(drop)
}

fn launch_function(
    function: hipFunction_t,
    shape: Shape,
    arguments: Arguments,
    stream: hipStream_t,
) -> Answer {
    let (runtime, _) = current()?;
    let missing = by_version(hipErrorInvalidImage, hipErrorInvalidHandle);
    let found = runtime.functions.get(function.0).ok_or(missing)?;
    let stream = runtime.stream(stream)?;
    let (code, kernel) = (Arc::clone(&found.code), Arc::clone(&found.kernel));
    let launch = Launch::new(code, kernel, found.handle, shape, arguments)?;
    stream.enqueue(runtime, Op::Kernel(Arc::new(launch))).map(drop)
}

/// Records the events that are given around a launch.
fn between_events(
    stream: hipStream_t,
    start: hipEvent_t,
    stop: hipEvent_t,
    launch: impl FnOnce() -> Answer,
) -> Answer {
    let (runtime, _) = current()?;
    let stream = runtime.stream(stream)?;
    let event = |handle: hipEvent_t| {
        if handle.is_null() { Ok(None) } else { runtime.event(handle).map(Some) }
    };
    let (start, stop) = (event(start)?, event(stop)?);
    if let Some(start) = start {
        start.record(runtime, &stream)?;
    }
    launch()?;
    if let Some(stop) = stop {
        stop.record(runtime, &stream)?;
    }
    Ok(())
}

/// The target's number: 90 for gfx90a.
fn binary_version(kernel: &LoadedKernel) -> c_int {
    let name = kernel.kernel.program().target().name();
    let digits = name.trim_start_matches("gfx").bytes().take_while(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + c_int::from(digit - b'0'))
}

/// Programs keep the pointer for as long as they like.
fn leaked_name(name: &str) -> *const c_char {
    use std::collections::HashMap;
    use std::ffi::CString;
    use std::sync::{LazyLock, Mutex};
    static NAMES: LazyLock<Mutex<HashMap<String, CString>>> = LazyLock::new(Mutex::default);
    let mut names = crate::streams::lock(&NAMES);
    if !names.contains_key(name) {
        let Ok(text) = CString::new(name) else { return std::ptr::null() };
        names.insert(name.to_owned(), text);
    }
    names[name].as_ptr()
}
