//! The runtime compiler. Recorded and not issued again: the code object it makes arrives with the
//! module load, and replay needs no compiler.

use core::ffi::{c_char, c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{hipJitInputType, hipJitOption, hiprtcLinkState, hiprtcProgram, hiprtcResult};

#[api(group = "rtc", library = "hiprtc")]
unsafe extern "C" {
    /// Writes a new program from source text. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcCreateProgram(
        #[out_handle] prog: *mut hiprtcProgram,
        #[string] src: *const c_char,
        #[string] name: *const c_char,
        numHeaders: c_int,
        #[opaque(
            reason = "texts of the compiler's input, which no later call of the runtime reads"
        )]
        headers: *const *const c_char,
        #[opaque(
            reason = "texts of the compiler's input, which no later call of the runtime reads"
        )]
        includeNames: *const *const c_char,
    ) -> hiprtcResult;

    /// Ends a program and writes null. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcDestroyProgram(#[inout] prog: *mut hiprtcProgram) -> hiprtcResult;

    /// Asks for the mangled name of an expression. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcAddNameExpression(
        prog: hiprtcProgram,
        #[string] name_expression: *const c_char,
    ) -> hiprtcResult;

    /// Compiles a program. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcCompileProgram(
        prog: hiprtcProgram,
        numOptions: c_int,
        #[opaque(
            reason = "texts of the compiler's input, which no later call of the runtime reads"
        )]
        options: *const *const c_char,
    ) -> hiprtcResult;

    /// Writes the code object, as many bytes as `hiprtcGetCodeSize` said. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetCode(
        prog: hiprtcProgram,
        #[opaque(
            reason = "the code object is recorded where it is loaded and no argument tells its size"
        )]
        code: *mut c_char,
    ) -> hiprtcResult;

    /// Writes the bytes of the code object. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetCodeSize(
        prog: hiprtcProgram,
        #[out(machine)] codeSizeRet: *mut usize,
    ) -> hiprtcResult;

    /// Writes the bitcode, as many bytes as `hiprtcGetBitcodeSize` said. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetBitcode(
        prog: hiprtcProgram,
        #[opaque(
            reason = "the code object is recorded where it is loaded and no argument tells its size"
        )]
        bitcode: *mut c_char,
    ) -> hiprtcResult;

    /// Writes the bytes of the bitcode. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetBitcodeSize(
        prog: hiprtcProgram,
        #[out(machine)] bitcode_size: *mut usize,
    ) -> hiprtcResult;

    /// Writes the log, as many bytes as `hiprtcGetProgramLogSize` said. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetProgramLog(
        prog: hiprtcProgram,
        #[opaque(reason = "a text for people and no argument tells its size")] log: *mut c_char,
    ) -> hiprtcResult;

    /// Writes the bytes of the log. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetProgramLogSize(
        prog: hiprtcProgram,
        #[out(machine)] logSizeRet: *mut usize,
    ) -> hiprtcResult;

    /// Writes a pointer to the mangled name, which the compiler owns. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetLoweredName(
        prog: hiprtcProgram,
        #[string] name_expression: *const c_char,
        #[out_buffer(bytes = 8, machine)] lowered_name: *mut *const c_char,
    ) -> hiprtcResult;

    /// Answers what the status means. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcGetErrorString(result: hiprtcResult) -> *const c_char;

    /// Writes the version of the compiler. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcVersion(
        #[out(machine)] major: *mut c_int,
        #[out(machine)] minor: *mut c_int,
    ) -> hiprtcResult;

    /// Writes a new link in progress. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcLinkCreate(
        num_options: c_uint,
        #[deref(count = num_options)] option_ptr: *mut hipJitOption,
        #[jit_options(keys = option_ptr, count = num_options)] option_vals_pptr: *mut *mut c_void,
        #[out_handle] hip_link_state_ptr: *mut hiprtcLinkState,
    ) -> hiprtcResult;

    /// Adds an input in memory. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcLinkAddData(
        hip_link_state: hiprtcLinkState,
        input_type: hipJitInputType,
        #[host_in(bytes = image_size)] image: *mut c_void,
        image_size: usize,
        #[string] name: *const c_char,
        num_options: c_uint,
        #[deref(count = num_options)] options_ptr: *mut hipJitOption,
        #[jit_options(keys = options_ptr, count = num_options)] option_values: *mut *mut c_void,
    ) -> hiprtcResult;

    /// Adds an input file. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcLinkAddFile(
        hip_link_state: hiprtcLinkState,
        input_type: hipJitInputType,
        #[string] file_path: *const c_char,
        num_options: c_uint,
        #[deref(count = num_options)] options_ptr: *mut hipJitOption,
        #[jit_options(keys = options_ptr, count = num_options)] option_values: *mut *mut c_void,
    ) -> hiprtcResult;

    /// Writes the address of the image, which the compiler owns, and its bytes. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcLinkComplete(
        hip_link_state: hiprtcLinkState,
        #[out_buffer(bytes = 8, machine)] bin_out: *mut *mut c_void,
        #[out(machine)] size_out: *mut usize,
    ) -> hiprtcResult;

    /// Ends a link. (HIP 7.14)
    #[host(reason = "the code object that the compiler makes arrives with the module load")]
    pub fn hiprtcLinkDestroy(#[destroys] hip_link_state: hiprtcLinkState) -> hiprtcResult;
}
