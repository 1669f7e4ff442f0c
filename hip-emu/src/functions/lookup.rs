//! Functions by name.

use std::ffi::{c_int, c_ulonglong, c_void};

use hrr_ffi::types::*;

use super::TABLES;
use crate::api::{Answer, Out, Text};

hip_api! { TABLE;
    fn hipGetProcAddress(
        name: Text,
        function: Out<*mut c_void>,
        version: c_int,
        flags: u64,
        status: Out<hipDriverProcAddressQueryResult>,
    ) {
        let _newest_is_all_there_is = version;
        proc_address(name, function, flags, status)
    }

    fn hipGetProcAddress_spt(
        name: Text,
        function: Out<*mut c_void>,
        version: c_int,
        flags: u64,
        status: Out<hipDriverProcAddressQueryResult>,
    ) {
        let _newest_is_all_there_is = version;
        proc_address(name, function, flags | hipEnablePerThreadDefaultStream as u64, status)
    }

    fn hipGetDriverEntryPoint(
        name: Text,
        function: Out<*mut c_void>,
        flags: c_ulonglong,
        status: Out<hipDriverEntryPointQueryResult>,
    ) {
        entry_point(name, function, flags, status)
    }

    fn hipGetDriverEntryPoint_spt(
        name: Text,
        function: Out<*mut c_void>,
        flags: c_ulonglong,
        status: Out<hipDriverEntryPointQueryResult>,
    ) {
        entry_point(name, function, flags | hipEnablePerThreadDefaultStream as u64, status)
    }
}

/// The function of that name, or its variant for per-thread default streams if that is wanted
/// and exists.
fn find(name: &str, flags: u64) -> Answer<Option<*mut c_void>> {
    let per_thread = u64::from(hipEnablePerThreadDefaultStream);
    if flags & !(per_thread | u64::from(hipEnableLegacyStream)) != 0 {
        return Err(hipErrorInvalidValue);
    }
    let by_name = |wanted: &str| {
        let entries = TABLES.iter().copied().flatten();
        let mut found = entries.filter(|entry| entry.name == wanted);
        found.next().map(|entry| entry.address.0.cast_mut().cast::<c_void>())
    };
    let variant = if flags & per_thread != 0 { by_name(&format!("{name}_spt")) } else { None };
    Ok(variant.or_else(|| by_name(name)))
}

fn proc_address(
    name: Text,
    function: Out<*mut c_void>,
    flags: u64,
    status: Out<hipDriverProcAddressQueryResult>,
) -> Answer {
    match find(&name.get()?, flags)? {
        Some(address) => {
            function.set(address)?;
            status.set_if_wanted(HIP_GET_PROC_ADDRESS_SUCCESS);
            Ok(())
        }
        None => {
            function.set(std::ptr::null_mut())?;
            status.set_if_wanted(HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
            Err(hipErrorInvalidValue)
        }
    }
}

fn entry_point(
    name: Text,
    function: Out<*mut c_void>,
    flags: u64,
    status: Out<hipDriverEntryPointQueryResult>,
) -> Answer {
    match find(&name.get()?, flags)? {
        Some(address) => {
            function.set(address)?;
            status.set_if_wanted(hipDriverEntryPointSuccess);
            Ok(())
        }
        None => {
            function.set(std::ptr::null_mut())?;
            status.set_if_wanted(hipDriverEntryPointSymbolNotFound);
            Err(hipErrorInvalidValue)
        }
    }
}
