//! A declaration as an archive keeps it: owned, and read without the table that wrote it.

use serde::{Deserialize, Serialize};

use crate::desc::{
    ApiDesc, Compare, Direction, ParamDesc, PayloadDesc, RetKind, Role, ScalarKind, Shape,
};

/// One function of the recorder's table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiShape {
    /// The C name.
    pub name: String,
    /// The group of the header.
    pub group: String,
    /// The library, empty for the main one.
    pub library: String,
    /// The class's name.
    pub class: String,
    /// The class's reason, or nothing.
    pub reason: String,
    /// Size of the argument block.
    pub args_bytes: u32,
    /// The parameters, in order.
    pub params: Vec<ParamShape>,
    /// What it returns.
    pub ret: RetShape,
}

/// A parameter, or a field of a struct.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ParamShape {
    /// Its name.
    pub name: String,
    /// Its type, as declared.
    pub ty: String,
    /// Where it stands in the argument block or struct.
    pub offset: u32,
    /// Its size there.
    pub bytes: u32,
    /// Its kind: [`Role::kind`].
    pub kind: String,
    /// Whether the call writes it: its recorded content was taken after the call.
    pub output: bool,
    /// Whether an output is a fact of the machine.
    pub machine: bool,
    /// The value itself, or what one element behind the pointer is.
    pub payload: Option<PayloadShape>,
}

/// What a value is made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PayloadShape {
    /// The type's name.
    pub name: String,
    /// Its size.
    pub bytes: u32,
    /// What is inside.
    pub inside: Inside,
}

/// The inside of a [`PayloadShape`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Inside {
    /// A signed integer or enum.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A float.
    Float,
    /// Bytes.
    Bytes,
    /// A handle of this type.
    Handle(String),
    /// Fields.
    Struct(Vec<ParamShape>),
}

/// What a function returns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RetShape {
    /// Its type, as declared.
    pub ty: String,
    /// Its size.
    pub bytes: u32,
    /// `void`, `status`, `value`, `string` or `handle`.
    pub kind: String,
    /// Whether it is a fact of the machine.
    pub machine: bool,
    /// The value, if it has a payload.
    pub payload: Option<PayloadShape>,
}

impl ApiShape {
    /// The shape of a declaration.
    pub fn of(desc: &ApiDesc) -> ApiShape {
        let kind = match desc.ret.kind {
            RetKind::Void => "void",
            RetKind::Status { .. } => "status",
            RetKind::Value(_) => "value",
            RetKind::Str => "string",
            RetKind::Handle(_) => "handle",
        };
        let payload = match desc.ret.kind {
            RetKind::Value(payload) => Some(PayloadShape::of(payload)),
            RetKind::Handle(handle) => Some(PayloadShape::handle(handle.name)),
            RetKind::Void | RetKind::Status { .. } | RetKind::Str => None,
        };
        ApiShape {
            name: desc.name.to_string_lossy().into_owned(),
            group: desc.group.to_owned(),
            library: desc.library.to_owned(),
            class: desc.class.name().to_owned(),
            reason: desc.class.reason().to_owned(),
            args_bytes: desc.args_bytes,
            params: desc.params.iter().map(ParamShape::of).collect(),
            ret: RetShape {
                ty: desc.ret.ty.to_owned(),
                bytes: desc.ret.bytes,
                kind: kind.to_owned(),
                machine: desc.ret.compare == Compare::Machine,
                payload,
            },
        }
    }

    /// Whether two shapes lay arguments out alike, so that a block recorded under one can be
    /// issued under the other: names, offsets, sizes and kinds of the parameters, and the size of
    /// what is returned.
    pub fn same_layout(&self, other: &ApiShape) -> bool {
        let param = |a: &ParamShape, b: &ParamShape| {
            a.name == b.name && a.offset == b.offset && a.bytes == b.bytes && a.kind == b.kind
        };
        self.args_bytes == other.args_bytes
            && self.ret.bytes == other.ret.bytes
            && self.params.len() == other.params.len()
            && self.params.iter().zip(&other.params).all(|(a, b)| param(a, b))
    }
}

impl ParamShape {
    fn of(desc: &ParamDesc) -> ParamShape {
        let (output, compare, payload) = facts_of(&desc.role);
        ParamShape {
            name: desc.name.to_owned(),
            ty: desc.ty.to_owned(),
            offset: desc.offset,
            bytes: desc.bytes,
            kind: desc.role.kind().to_owned(),
            output,
            machine: compare == Compare::Machine,
            payload,
        }
    }
}

impl PayloadShape {
    fn handle(name: &str) -> PayloadShape {
        PayloadShape { name: name.to_owned(), bytes: 8, inside: Inside::Handle(name.to_owned()) }
    }

    fn of(desc: &PayloadDesc) -> PayloadShape {
        let inside = match desc.shape {
            Shape::Scalar(ScalarKind::Signed) => Inside::Signed,
            Shape::Scalar(ScalarKind::Unsigned) => Inside::Unsigned,
            Shape::Scalar(ScalarKind::Float) => Inside::Float,
            Shape::Scalar(ScalarKind::Bytes) => Inside::Bytes,
            Shape::Handle(handle) => Inside::Handle(handle.name.to_owned()),
            Shape::Struct(fields) => Inside::Struct(fields.iter().map(ParamShape::of).collect()),
        };
        PayloadShape { name: desc.name.to_owned(), bytes: desc.bytes, inside }
    }
}

/// Whether the call writes, how that is compared, and what the value or one element is.
fn facts_of(role: &Role) -> (bool, Compare, Option<PayloadShape>) {
    let exact = Compare::Exact;
    let handle_of = |handle: &crate::desc::HandleDesc| Some(PayloadShape::handle(handle.name));
    match role {
        Role::Scalar(payload) | Role::Struct(payload) => {
            (false, exact, Some(PayloadShape::of(payload)))
        }
        Role::Pointee { direction, payload, compare }
        | Role::Array { direction, payload, compare, .. } => {
            (*direction != Direction::In, *compare, Some(PayloadShape::of(payload)))
        }
        Role::OutString { compare, .. } | Role::HostOut { compare, .. } => (true, *compare, None),
        Role::Tagged { behind, .. } => {
            (matches!(behind, Some(Direction::Out | Direction::InOut)), exact, None)
        }
        Role::OutHandle { handle, .. } => (true, exact, handle_of(handle)),
        Role::InHandle { handle, .. } => (false, exact, handle_of(handle)),
        Role::OutDevicePointer { .. } | Role::EntryPoint { .. } | Role::OsHandle { .. } => {
            (true, exact, None)
        }
        Role::String
        | Role::DevicePointer { .. }
        | Role::DevicePointerArray { .. }
        | Role::RegistersHost { .. }
        | Role::UnregistersHost
        | Role::HostIn { .. }
        | Role::Operand { .. }
        | Role::KernelArgs { .. }
        | Role::HostSymbol
        | Role::DefinesHostSymbol { .. }
        | Role::Image(_)
        | Role::JitOptions { .. }
        | Role::Callback
        | Role::UserData
        | Role::Opaque { .. }
        | Role::Device => (false, exact, None),
    }
}
