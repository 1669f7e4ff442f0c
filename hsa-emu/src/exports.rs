//! The C functions: the 76 that AMD's `libamdhip64.so.5` 5.2.3 imports, and what each leads to.
//!
//! This table is the one list of them; a test compares it with what the library exports and
//! what AMD's asks for. Every body runs under a guard, so that no panic crosses into C.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use crate::abi::{
    AgentCallback, AgentHandle, AllocCallback, Answer, Dim3, ExecutableHandle, HsaQueue,
    ImageHandle, IpcMemory, IsaCallback, IsaHandle, LoadedHandle, PitchedPtr, PointerInfo,
    PoolCallback, PoolHandle, ProfilingTime, QueueCallback, ReaderHandle, SamplerHandle,
    SignalCallback, SignalHandle, Status, SvmPair, SymbolHandle,
};
use crate::image::unsupported;
use crate::runtime::runtime;
use crate::signal::{Condition, Signal};
use crate::{
    agent, code, copy, ipc, log, memory, pool, queue, runtime, signal, svm, system, trace,
};

/// Runs the body of a C function that returns a status.
pub(crate) fn guarded(name: &str, body: impl FnOnce() -> Answer) -> Status {
    match guarded_value(name, body, Err(Status::ERROR)) {
        Ok(()) => Status::SUCCESS,
        Err(status) => status,
    }
}

/// Runs the body of any other C function.
fn guarded_value<T>(name: &str, body: impl FnOnce() -> T, failed: T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        log::warn(format_args!("internal error in {name}"));
        failed
    })
}

/// Every function of the table by name, for messages about what is missing.
pub(crate) fn is_exported(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

/// Runs the body of a C function with those parameters, and writes it to the trace.
macro_rules! traced {
    ($name:ident($($parameter:ident),*), $body:expr) => {{
        let arguments: &[&dyn trace::Argument] = &[$(&$parameter),*];
        // SAFETY: the caller of the C function answers for what its parameters point at.
        let begun = unsafe { trace::begin(arguments) };
        #[allow(unused_unsafe, reason = "some bodies ask nothing of their caller")]
        let answer = $body;
        // SAFETY: as above; a function that succeeds has written what it gives.
        unsafe { trace::end(stringify!($name), begun, arguments, &answer) };
        answer
    }};
}

/// One row is a C function: its parameters and its body, in one of three forms. `status` bodies
/// give an [`Answer`]; `value` bodies give what C gets, or the value behind `else` if they
/// panic; `missing` functions have no body but the status that they give.
macro_rules! exports {
    ($(
        $form:ident $name:ident($($parameter:ident: $type:ty),* $(,)?) $(-> $result:ty)?
            = $body:expr $(, else $failed:expr)?;
    )*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(exports!(@$form $name($($parameter: $type),*) $(-> $result)?, $body $(, $failed)?);)*
    };
    (@status $name:ident($($parameter:ident: $type:ty),*), $body:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: $type),*) -> Status {
            guarded(stringify!($name), || {
                // SAFETY: the caller of the C function answers for what its parameters point
                // at, as the HSA specification has it; the body asks for no more than that.
                traced!($name($($parameter),*), unsafe { $body })
            })
        }
    };
    (
        @value $name:ident($($parameter:ident: $type:ty),*) $(-> $result:ty)?,
        $body:expr, $failed:expr
    ) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: $type),*) $(-> $result)? {
            guarded_value(
                stringify!($name),
                // SAFETY: as for the functions that give a status.
                || traced!($name($($parameter),*), unsafe { $body }),
                $failed,
            )
        }
    };
    (@missing $name:ident($($parameter:ident: $type:ty),*), $status:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: $type),*) -> Status {
            static SAID: AtomicBool = AtomicBool::new(false);
            guarded(stringify!($name), || {
                traced!(
                    $name($($parameter),*),
                    unsupported(&SAID, stringify!($name), $status)
                )
            })
        }
    };
}

/// The signal of a function that cannot give a status; a bad handle is named.
fn signal_of(name: &str, handle: SignalHandle) -> Option<&'static Signal> {
    let found = runtime().and_then(|runtime| runtime.signals.get(handle));
    if found.is_err() {
        log::warn(format_args!("{name}: {:#x} is no signal", handle.0));
    }
    found.ok()
}

fn change(name: &str, handle: SignalHandle, change: impl FnOnce(&Signal)) {
    if let Some(signal) = signal_of(name, handle) {
        change(signal);
    }
}

fn wait(handle: SignalHandle, condition: u32, compare: i64, timeout_ns: u64) -> i64 {
    let Some(signal) = signal_of("hsa_signal_wait_scacquire", handle) else { return 0 };
    match Condition::from_raw(condition) {
        Ok(condition) => signal.wait(condition, compare, timeout_ns),
        Err(_) => signal.load(),
    }
}

exports! {
    status hsa_agent_extension_supported(
        extension: u16, agent: AgentHandle, _major: u16, _minor: u16, out: *mut bool
    )
        = agent::extension_supported(extension, agent, out);
    status hsa_agent_get_info(agent: AgentHandle, attribute: u32, value: *mut c_void)
        = agent::info(agent, attribute, value);
    status hsa_agent_iterate_isas(
        agent: AgentHandle, callback: Option<IsaCallback>, data: *mut c_void
    )
        = agent::iterate_isas(agent, callback, data);
    status hsa_amd_agent_iterate_memory_pools(
        agent: AgentHandle, callback: Option<PoolCallback>, data: *mut c_void
    )
        = pool::iterate(agent, callback, data);
    status hsa_amd_agent_memory_pool_get_info(
        agent: AgentHandle, pool: PoolHandle, attribute: u32, value: *mut c_void
    )
        = pool::agent_info(agent, pool, attribute, value);
    status hsa_amd_agents_allow_access(
        count: u32, agents: *const AgentHandle, flags: *const u32, address: *const c_void
    )
        = pool::allow_access(count, agents, flags, address);
    status hsa_amd_coherency_set_type(agent: AgentHandle, kind: u32)
        = agent::set_coherency(agent, kind);
    missing hsa_amd_image_create(
        agent: AgentHandle, descriptor: *const c_void, layout: *const c_void, data: *const c_void,
        permission: u32, out: *mut ImageHandle
    )
        = Status::ERROR_IMAGE_FORMAT_UNSUPPORTED;
    missing hsa_amd_interop_map_buffer(
        count: u32, agents: *mut AgentHandle, handle: i32, flags: u32, bytes: *mut usize,
        address: *mut *mut c_void, metadata_bytes: *mut usize, metadata: *mut *const c_void
    )
        = Status::ERROR_INVALID_ARGUMENT;
    missing hsa_amd_interop_unmap_buffer(address: *mut c_void)
        = Status::ERROR_INVALID_ARGUMENT;
    status hsa_amd_ipc_memory_attach(
        handle: *const IpcMemory, bytes: usize, count: u32, agents: *const AgentHandle,
        out: *mut *mut c_void
    )
        = ipc::attach(handle, bytes, count, agents, out);
    status hsa_amd_ipc_memory_create(address: *mut c_void, bytes: usize, out: *mut IpcMemory)
        = ipc::create(address, bytes, out);
    status hsa_amd_ipc_memory_detach(address: *mut c_void)
        = ipc::detach(address);
    status hsa_amd_memory_async_copy(
        to: *mut c_void, to_agent: AgentHandle, from: *const c_void, from_agent: AgentHandle,
        bytes: usize, count: u32, dependencies: *const SignalHandle, completion: SignalHandle
    )
        = copy::copy(to, to_agent, from, from_agent, bytes, count, dependencies, completion);
    status hsa_amd_memory_async_copy_rect(
        to: *const PitchedPtr, to_offset: *const Dim3, from: *const PitchedPtr,
        from_offset: *const Dim3, range: *const Dim3, agent: AgentHandle, direction: u32,
        count: u32, dependencies: *const SignalHandle, completion: SignalHandle
    )
        = copy::copy_rect(
            to, to_offset, from, from_offset, range, agent, direction, count, dependencies,
            completion
        );
    status hsa_amd_memory_lock_to_pool(
        host: *mut c_void, bytes: usize, agents: *const AgentHandle, count: i32, pool: PoolHandle,
        flags: u32, out: *mut *mut c_void
    )
        = memory::lock_to_pool(host, bytes, agents, count, pool, flags, out);
    status hsa_amd_memory_pool_allocate(
        pool: PoolHandle, bytes: usize, flags: u32, out: *mut *mut c_void
    )
        = pool::allocate(pool, bytes, flags, out);
    status hsa_amd_memory_pool_free(address: *mut c_void)
        = pool::free(address);
    status hsa_amd_memory_pool_get_info(pool: PoolHandle, attribute: u32, value: *mut c_void)
        = pool::info(pool, attribute, value);
    status hsa_amd_memory_unlock(host: *mut c_void)
        = runtime().and_then(|runtime| runtime.memory.unlock(host.addr() as u64));
    status hsa_amd_pointer_info(
        address: *const c_void, info: *mut PointerInfo, allocate: Option<AllocCallback>,
        count: *mut u32, accessible: *mut *mut AgentHandle
    )
        = pool::pointer_info(address, info, allocate, count, accessible);
    status hsa_amd_profiling_async_copy_enable(_enable: bool)
        = runtime().map(drop);
    status hsa_amd_profiling_get_async_copy_time(signal: SignalHandle, out: *mut ProfilingTime)
        = signal::profiling_time(signal, out);
    status hsa_amd_profiling_get_dispatch_time(
        agent: AgentHandle, signal: SignalHandle, out: *mut ProfilingTime
    )
        = agent::check(agent).and_then(|()| signal::profiling_time(signal, out));
    status hsa_amd_profiling_set_profiler_enabled(queue: *mut HsaQueue, _enable: i32)
        = queue::set_profiling(queue);
    status hsa_amd_queue_cu_set_mask(queue: *const HsaQueue, bits: u32, mask: *const u32)
        = queue::set_cu_mask(queue, bits, mask);
    status hsa_amd_queue_set_priority(queue: *mut HsaQueue, priority: u32)
        = queue::set_priority(queue, priority);
    status hsa_amd_signal_async_handler(
        signal: SignalHandle, condition: u32, value: i64, handler: Option<SignalCallback>,
        argument: *mut c_void
    )
        = signal::async_handler(signal, condition, value, handler, argument);
    status hsa_amd_signal_create(
        value: i64, count: u32, consumers: *const AgentHandle, attributes: u64,
        out: *mut SignalHandle
    )
        = signal::create_with_attributes(value, count, consumers, attributes, out);
    status hsa_amd_signal_value_pointer(signal: SignalHandle, out: *mut *mut i64)
        = signal::value_pointer(signal, out);
    status hsa_amd_svm_attributes_get(
        address: *mut c_void, bytes: usize, pairs: *mut SvmPair, count: usize
    )
        = svm::get(address, bytes, pairs, count);
    status hsa_amd_svm_attributes_set(
        address: *mut c_void, bytes: usize, pairs: *const SvmPair, count: usize
    )
        = svm::set(address, bytes, pairs, count);
    status hsa_amd_svm_prefetch_async(
        address: *mut c_void, bytes: usize, agent: AgentHandle, count: u32,
        dependencies: *const SignalHandle, completion: SignalHandle
    )
        = svm::prefetch(address, bytes, agent, count, dependencies, completion);
    status hsa_code_object_reader_create_from_memory(
        code: *const c_void, bytes: usize, out: *mut ReaderHandle
    )
        = code::create_reader(code, bytes, out);
    status hsa_code_object_reader_destroy(reader: ReaderHandle)
        = code::destroy_reader(reader);
    missing hsa_executable_agent_global_variable_define(
        executable: ExecutableHandle, agent: AgentHandle, name: *const c_char,
        address: *mut c_void
    )
        = Status::ERROR_INVALID_ARGUMENT;
    status hsa_executable_create_alt(
        profile: u32, rounding: u32, _options: *const c_char, out: *mut ExecutableHandle
    )
        = code::create_executable(profile, rounding, out);
    status hsa_executable_destroy(executable: ExecutableHandle)
        = code::destroy_executable(executable);
    status hsa_executable_freeze(executable: ExecutableHandle, _options: *const c_char)
        = code::freeze(executable);
    status hsa_executable_get_symbol_by_name(
        executable: ExecutableHandle, name: *const c_char, agent: *const AgentHandle,
        out: *mut SymbolHandle
    )
        = code::symbol_by_name(executable, name, agent, out);
    status hsa_executable_load_agent_code_object(
        executable: ExecutableHandle, agent: AgentHandle, reader: ReaderHandle,
        _options: *const c_char, out: *mut LoadedHandle
    )
        = code::load(executable, agent, reader, out);
    status hsa_executable_symbol_get_info(symbol: SymbolHandle, attribute: u32, value: *mut c_void)
        = code::symbol_info(symbol, attribute, value);
    missing hsa_ext_image_create(
        agent: AgentHandle, descriptor: *const c_void, data: *const c_void, permission: u32,
        out: *mut ImageHandle
    )
        = Status::ERROR_IMAGE_FORMAT_UNSUPPORTED;
    missing hsa_ext_image_create_with_layout(
        agent: AgentHandle, descriptor: *const c_void, data: *const c_void, permission: u32,
        layout: u32, row: usize, slice: usize, out: *mut ImageHandle
    )
        = Status::ERROR_IMAGE_FORMAT_UNSUPPORTED;
    missing hsa_ext_image_data_get_info(
        agent: AgentHandle, descriptor: *const c_void, permission: u32, out: *mut c_void
    )
        = Status::ERROR_IMAGE_FORMAT_UNSUPPORTED;
    missing hsa_ext_image_destroy(agent: AgentHandle, image: ImageHandle)
        = Status::ERROR_INVALID_ARGUMENT;
    missing hsa_ext_image_export(
        agent: AgentHandle, image: ImageHandle, to: *mut c_void, row: usize, slice: usize,
        region: *const c_void
    )
        = Status::ERROR_INVALID_ARGUMENT;
    missing hsa_ext_image_import(
        agent: AgentHandle, from: *const c_void, row: usize, slice: usize, image: ImageHandle,
        region: *const c_void
    )
        = Status::ERROR_INVALID_ARGUMENT;
    missing hsa_ext_sampler_create(
        agent: AgentHandle, descriptor: *const c_void, out: *mut SamplerHandle
    )
        = Status::ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED;
    missing hsa_ext_sampler_destroy(agent: AgentHandle, sampler: SamplerHandle)
        = Status::ERROR_INVALID_ARGUMENT;
    status hsa_init()
        = runtime::init();
    status hsa_isa_get_info_alt(isa: IsaHandle, attribute: u32, value: *mut c_void)
        = agent::isa_info(isa, attribute, value);
    status hsa_iterate_agents(callback: Option<AgentCallback>, data: *mut c_void)
        = agent::iterate(callback, data);
    status hsa_memory_copy(to: *mut c_void, from: *const c_void, bytes: usize)
        = memory::copy(to, from, bytes);
    status hsa_memory_deregister(host: *mut c_void, _bytes: usize)
        = memory::deregister(host);
    status hsa_memory_register(host: *mut c_void, bytes: usize)
        = memory::register(host, bytes);
    value hsa_queue_add_write_index_screlease(queue: *const HsaQueue, count: u64) -> u64
        = queue::add_write_index(queue, count), else 0;
    status hsa_queue_create(
        agent: AgentHandle, size: u32, kind: u32, callback: Option<QueueCallback>,
        data: *mut c_void, _private_bytes: u32, _group_bytes: u32, out: *mut *mut HsaQueue
    )
        = queue::create(agent, size, kind, callback, data, out);
    status hsa_queue_destroy(queue: *mut HsaQueue)
        = queue::destroy(queue);
    value hsa_queue_load_read_index_relaxed(queue: *const HsaQueue) -> u64
        = queue::read_index(queue), else 0;
    value hsa_queue_load_read_index_scacquire(queue: *const HsaQueue) -> u64
        = queue::read_index(queue), else 0;
    value hsa_queue_load_write_index_relaxed(queue: *const HsaQueue) -> u64
        = queue::write_index(queue), else 0;
    status hsa_shut_down()
        = runtime::shut_down();
    value hsa_signal_add_relaxed(signal: SignalHandle, value: i64)
        = change("hsa_signal_add_relaxed", signal, |signal| signal.add(value)), else ();
    status hsa_signal_create(
        value: i64, count: u32, consumers: *const AgentHandle, out: *mut SignalHandle
    )
        = signal::create(value, count, consumers, out);
    status hsa_signal_destroy(signal: SignalHandle)
        = signal::destroy(signal);
    value hsa_signal_load_relaxed(signal: SignalHandle) -> i64
        = signal_of("hsa_signal_load_relaxed", signal).map_or(0, Signal::load), else 0;
    value hsa_signal_silent_store_relaxed(signal: SignalHandle, value: i64)
        = change("hsa_signal_silent_store_relaxed", signal, |signal| {
            signal.store_silently(value)
        }), else ();
    value hsa_signal_store_relaxed(signal: SignalHandle, value: i64)
        = change("hsa_signal_store_relaxed", signal, |signal| signal.store(value)), else ();
    value hsa_signal_store_screlease(signal: SignalHandle, value: i64)
        = change("hsa_signal_store_screlease", signal, |signal| signal.store(value)), else ();
    value hsa_signal_subtract_relaxed(signal: SignalHandle, value: i64)
        = change("hsa_signal_subtract_relaxed", signal, |signal| {
            signal.add(value.wrapping_neg())
        }), else ();
    value hsa_signal_wait_scacquire(
        signal: SignalHandle, condition: u32, compare: i64, timeout_ns: u64, _hint: u32
    ) -> i64
        = wait(signal, condition, compare, timeout_ns), else 0;
    status hsa_status_string(status: Status, out: *mut *const c_char)
        = system::status_string(status, out);
    status hsa_system_extension_supported(extension: u16, major: u16, _minor: u16, out: *mut bool)
        = system::extension_supported(extension, major, out);
    status hsa_system_get_info(attribute: u32, value: *mut c_void)
        = system::info(attribute, value);
    status hsa_system_get_major_extension_table(
        extension: u16, major: u16, bytes: usize, table: *mut c_void
    )
        = system::extension_table(extension, major, bytes, table);
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Status, guarded, guarded_value};

    #[test]
    fn a_panic_becomes_an_answer() {
        assert_eq!(guarded("a test", || panic!("on purpose")), Status::ERROR);
        assert_eq!(guarded("a test", || Err(Status::ERROR_FATAL)), Status::ERROR_FATAL);
        assert_eq!(guarded_value("a test", || panic!("on purpose"), 7), 7);
    }

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(NAMES.is_sorted_by(|first, second| first < second));
    }
}
