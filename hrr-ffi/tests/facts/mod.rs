//! What must hold for every descriptor, without running anything.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::table::{NAMES, rows};
use hrr_core::desc::{
    ApiDesc, Class, Effect, Extent, Len, OperandPlace, ParamDesc, PayloadDesc, Role, Shape,
};

const SIGNATURES: &str = include_str!("../data/hip_signatures.tsv");

/// A signature of the header: the sizes, with a mark where the type is a pointer.
struct Signature {
    returns: &'static str,
    params: Vec<&'static str>,
}

fn signatures() -> &'static HashMap<&'static str, Signature> {
    static SIGNATURE_MAP: OnceLock<HashMap<&'static str, Signature>> = OnceLock::new();
    SIGNATURE_MAP.get_or_init(|| {
        rows(SIGNATURES)
            .map(|row| {
                let params = if row[3] == "-" { Vec::new() } else { row[3].split(',').collect() };
                (row[0], Signature { returns: row[2], params })
            })
            .collect()
    })
}

/// The bytes of an entry of a signature, and the pointer's mark if it is one.
fn entry(text: &str) -> (Option<char>, u32) {
    let mark = text.chars().next().filter(|mark| matches!(mark, 'c' | 'm'));
    let digits = text.trim_start_matches(['c', 'm']);
    (mark, digits.parse().expect("the table holds numbers"))
}

/// The declaration has the parameters and the sizes of the header.
pub(crate) fn check_signature(api: &ApiDesc) -> Result<(), String> {
    let name = api.name.to_str().expect("a C identifier is UTF-8");
    if rows(NAMES).all(|row| row[0] != name) {
        return Err(format!("`{name}` is not a function of the API"));
    }
    // A function of neither header is held against the bindings of HIP 7.14, in `tests/abi`.
    let Some(signature) = signatures().get(name) else { return Ok(()) };
    if entry(signature.returns).1 != api.ret.bytes {
        return Err(format!("returns {} bytes, the header {}", api.ret.bytes, signature.returns));
    }
    if signature.params.len() != api.params.len() {
        return Err(format!(
            "{} parameters, the header has {}",
            api.params.len(),
            signature.params.len()
        ));
    }
    for (param, text) in api.params.iter().zip(&signature.params) {
        let (mark, bytes) = entry(text);
        if param.bytes != bytes {
            return Err(format!("`{}` has {} bytes, the header {bytes}", param.name, param.bytes));
        }
        let spelled = pointer_mark(param.ty);
        let disagrees = match (spelled, mark) {
            // What is only read may be mutable in C.
            (Some('c'), Some('m')) => !matches!(
                param.role,
                Role::String
                    | Role::HostIn { .. }
                    | Role::DefinesHostSymbol { .. }
                    | Role::Opaque { .. }
            ),
            (Some(ours), Some(theirs)) => ours != theirs,
            (Some(_), None) => true,
            // A handle or an alias hides the pointer.
            (None, _) => false,
        };
        if disagrees {
            return Err(format!("`{}: {}` is `{text}` in the header", param.name, param.ty));
        }
    }
    Ok(())
}

/// The mark of a type that is spelled as a pointer.
fn pointer_mark(ty: &str) -> Option<char> {
    let pointee = ty.strip_prefix('*')?.trim_start();
    Some(if pointee.starts_with("const") { 'c' } else { 'm' })
}

/// The texts that tools print are there.
pub(crate) fn check_texts(api: &ApiDesc) -> Result<(), String> {
    if api.group.is_empty() {
        return Err("no group".to_owned());
    }
    if api.docs.trim().is_empty() {
        return Err("no description".to_owned());
    }
    match &api.class {
        Class::Host { reason } | Class::Refused { reason } if reason.trim().is_empty() => {
            Err("no reason".to_owned())
        }
        Class::Query { wait: Some(wait) } if wait.params.len() != api.params.len() => {
            Err(format!("waits with {:?}, which takes other parameters", wait.name))
        }
        _ => Ok(()),
    }
}

/// Every index in a role or an effect names a parameter, and every length one that can count.
pub(crate) fn check_indices(api: &ApiDesc) -> Result<(), String> {
    check_params(api.params)?;
    for effect in api.effects {
        for index in effect_indices(effect) {
            let param = api
                .params
                .get(index as usize)
                .ok_or(format!("{effect:?}: no parameter {index}"))?;
            let fits = match effect {
                Effect::EnablesNode { enabled: number, .. }
                | Effect::MakesStream { flags: Some(number), .. }
                    if *number == index =>
                {
                    matches!(param.role, Role::Scalar(_))
                }
                Effect::DefinesKernel { name, .. } if *name == index => {
                    matches!(param.role, Role::String)
                }
                _ => is_handle(param),
            };
            if !fits {
                return Err(format!("{effect:?}: `{}` is not what it takes", param.name));
            }
        }
    }
    Ok(())
}

fn is_handle(param: &ParamDesc) -> bool {
    matches!(param.role, Role::InHandle { .. } | Role::OutHandle { .. })
}

fn check_params(params: &'static [ParamDesc]) -> Result<(), String> {
    for param in params {
        let told = |text: String| format!("`{}`: {text}", param.name);
        for len in lengths(&param.role) {
            check_length(len, params).map_err(told)?;
        }
        for index in named(&param.role) {
            if index as usize >= params.len() {
                return Err(told(format!("there is no parameter {index}")));
            }
        }
        for payload in payloads(&param.role) {
            if let Shape::Struct(fields) = &payload.shape {
                check_params(fields).map_err(told)?;
            }
        }
        if let Role::Tagged { table, .. } = &param.role
            && table.is_empty()
        {
            return Err(told("no tag".to_owned()));
        }
    }
    Ok(())
}

fn check_length(len: &Len, params: &[ParamDesc]) -> Result<(), String> {
    let param = |index: u16| params.get(index as usize).ok_or(format!("no parameter {index}"));
    match len {
        Len::Const(_) | Len::Call(_) => Ok(()),
        Len::Param(index) => match param(*index)?.role {
            Role::Scalar(_) => Ok(()),
            _ => Err(format!("parameter {index} cannot count")),
        },
        Len::Before(index) | Len::After(index) => match param(*index)?.role {
            Role::Pointee { .. } => Ok(()),
            _ => Err(format!("nothing behind parameter {index} can count")),
        },
        Len::Product(parts) | Len::Min(parts) => {
            parts.iter().try_for_each(|part| check_length(part, params))
        }
    }
}

fn lengths(role: &Role) -> Vec<&Len> {
    match role {
        Role::OutHandle { count: Some(len), .. }
        | Role::OutDevicePointer { bytes: Some(len), .. }
        | Role::RegistersHost { bytes: len }
        | Role::HostIn { bytes: len }
        | Role::HostOut { bytes: len, .. }
        | Role::OutString { bytes: len, .. }
        | Role::Array { count: len, .. }
        | Role::DevicePointerArray { count: len, .. }
        | Role::JitOptions { count: len, .. }
        | Role::OsHandle { bytes: Some(len) } => vec![len],
        Role::Operand { extent: Extent::Bytes(len), .. } => vec![len],
        Role::Operand { extent: Extent::Rows { pitch, width, height }, .. } => {
            vec![pitch, width, height]
        }
        _ => Vec::new(),
    }
}

fn named(role: &Role) -> Vec<u16> {
    match role {
        Role::KernelArgs { function, .. } => vec![*function],
        Role::DefinesHostSymbol { image, name } => vec![*image, *name],
        Role::Tagged { by, .. } => vec![*by],
        Role::JitOptions { keys, .. } => vec![*keys],
        Role::EntryPoint { name } => vec![*name],
        Role::Operand { place: OperandPlace::Kind(kind, _), .. } => vec![*kind],
        _ => Vec::new(),
    }
}

fn payloads(role: &Role) -> Vec<&'static PayloadDesc> {
    match role {
        Role::Struct(payload) => vec![payload],
        Role::Pointee { payload, .. } | Role::Array { payload, .. } => vec![payload],
        Role::Tagged { table, .. } => table.iter().map(|tag| tag.payload).collect(),
        _ => Vec::new(),
    }
}

fn effect_indices(effect: &Effect) -> Vec<u16> {
    match *effect {
        Effect::Launches
        | Effect::CompletesDevice
        | Effect::CompletesNullStream
        | Effect::ResetsDevice
        | Effect::ExportsMemory
        | Effect::PeeksLastError
        | Effect::TakesLastError => Vec::new(),
        Effect::MakesStream { stream, flags } => std::iter::once(stream).chain(flags).collect(),
        Effect::Enqueues { stream }
        | Effect::CompletesStream { stream }
        | Effect::BeginsCapture { stream } => vec![stream],
        Effect::CompletesEvent { event } | Effect::RecordsEvent { event, stream: None } => {
            vec![event]
        }
        Effect::RecordsEvent { event, stream: Some(stream) }
        | Effect::WaitsEvent { stream, event } => vec![stream, event],
        Effect::EndsCapture { stream, graph } => vec![stream, graph],
        Effect::AddsToGraph { graph } => vec![graph],
        Effect::SetsNode { node, exec } => std::iter::once(node).chain(exec).collect(),
        Effect::EnablesNode { exec, node, enabled } => vec![exec, node, enabled],
        Effect::ClonesGraph { clone, graph } => vec![clone, graph],
        Effect::Instantiates { exec, graph } | Effect::UpdatesExec { exec, graph } => {
            vec![exec, graph]
        }
        Effect::LaunchesGraph { exec, stream } => vec![exec, stream],
        Effect::DefinesKernel { function, image, name } => vec![function, image, name],
    }
}
