//! What a block or a struct says, as data: the only thing that `expand` may look at.
//!
//! Every name is resolved: a [`Name`] has the index of the parameter that it means. Tokens are kept
//! where an error or an expansion needs their spans.

use proc_macro2::{Ident, Span};
use syn::{Attribute, ExprPath, LitInt, LitStr, Type};

use crate::attr::EffectRow;

/// One block of declarations.
pub(crate) struct Block {
    pub(crate) group: String,
    pub(crate) library: String,
    pub(crate) functions: Vec<ApiFn>,
}

/// One declared function.
pub(crate) struct ApiFn {
    pub(crate) ident: Ident,
    /// Copied to every item made for the function.
    pub(crate) cfgs: Vec<Attribute>,
    /// Copied to the exported function.
    pub(crate) outer: Vec<Attribute>,
    pub(crate) docs: String,
    pub(crate) params: Vec<Param>,
    pub(crate) ret: Type,
    pub(crate) aliases: Vec<LitStr>,
    /// The word, where returned values are facts of the machine.
    pub(crate) machine: Option<Ident>,
    pub(crate) validated: bool,
    pub(crate) class: Class,
    /// The word of the class, if it was written.
    pub(crate) class_word: Option<Ident>,
    pub(crate) capture: Option<ExprPath>,
    pub(crate) replay: Option<Hook>,
    pub(crate) effects: Vec<Effect>,
}

/// A hand-written half: its word and its path.
pub(crate) struct Hook {
    pub(crate) word: Ident,
    pub(crate) path: ExprPath,
}

/// How replay treats the function.
pub(crate) enum Class {
    Replayed,
    Query { wait: Option<ExprPath> },
    Ordering,
    Host { reason: LitStr },
    Unreplayable { reason: LitStr },
}

/// A struct that crosses the ABI.
pub(crate) struct Payload {
    pub(crate) ident: Ident,
    pub(crate) fields: Vec<Param>,
}

/// A parameter of a function, or a field of a struct.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) role: Role,
    /// The word of the role; none for the role that the type gives.
    pub(crate) word: Option<Ident>,
    /// Something is wrong with its attributes, which was told.
    pub(crate) broken: bool,
    /// The word `machine` inside the role's attribute.
    pub(crate) machine: bool,
}

/// A parameter or field that an attribute names.
#[derive(Clone)]
pub(crate) struct Name {
    pub(crate) index: usize,
    /// As the attribute spells it, for its span.
    pub(crate) ident: Ident,
}

/// A number of elements or bytes.
pub(crate) enum Len {
    Literal { value: u64, token: LitInt },
    Param(Name),
    Before(Name),
    After(Name),
    Product(Vec<Len>),
    Min(Vec<Len>),
    Call(ExprPath),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

pub(crate) enum SpaceOf {
    /// One of `device`, `pinned`, `managed`, as the variant of the descriptor.
    Fixed(&'static str),
    Call(ExprPath),
}

pub(crate) enum OperandPlace {
    /// One of `host`, `device`, `tracked`, as the variant of the descriptor.
    Fixed(&'static str),
    Kind(Name),
    Call(ExprPath),
}

#[expect(clippy::large_enum_variant, reason = "a few live at a time")]
pub(crate) enum Extent {
    Bytes(Len),
    Rows { pitch: Len, width: Len, height: Len },
    Call(ExprPath),
}

/// What a parameter or field means.
#[expect(clippy::large_enum_variant, reason = "a few live at a time")]
pub(crate) enum Role {
    Value,
    OutHandle {
        count: Option<Len>,
    },
    Destroys,
    Pointee {
        direction: Direction,
        count: Option<Len>,
    },
    DevicePointerArray {
        count: Len,
    },
    String,
    OutString {
        bytes: Len,
    },
    DevicePointer {
        frees: bool,
    },
    OutDevicePointer {
        bytes: Option<Len>,
    },
    OutAlloc {
        bytes: Len,
        space: SpaceOf,
    },
    RegistersHost {
        bytes: Len,
    },
    UnregistersHost,
    HostIn {
        bytes: Len,
    },
    /// `exact`: a literal number of bytes must be the size of the pointee.
    HostOut {
        bytes: Len,
        exact: bool,
    },
    Operand {
        /// The variant of the descriptor, if the declaration says it; else the pointer does.
        side: Option<&'static str>,
        place: OperandPlace,
        extent: Extent,
    },
    /// `form`: the variant of the descriptor.
    KernelArgs {
        of: Name,
        form: &'static str,
    },
    HostSymbol,
    DefinesHostSymbol {
        image: Name,
        name: Name,
    },
    /// The variant of the descriptor.
    Image(&'static str),
    Tagged {
        by: Name,
        table: ExprPath,
        direction: Direction,
    },
    JitOptions {
        keys: Name,
        count: Len,
    },
    Callback,
    UserData,
    EntryPoint {
        name: Name,
    },
    OsHandle {
        bytes: Option<Len>,
    },
    Opaque {
        reason: LitStr,
    },
    Device,
}

impl Role {
    /// Every length of the role.
    pub(crate) fn lengths(&self) -> Vec<&Len> {
        match self {
            Role::OutHandle { count } | Role::Pointee { count, .. } => count.iter().collect(),
            Role::OutDevicePointer { bytes } | Role::OsHandle { bytes } => bytes.iter().collect(),
            Role::DevicePointerArray { count } | Role::JitOptions { count, .. } => vec![count],
            Role::OutString { bytes }
            | Role::OutAlloc { bytes, .. }
            | Role::RegistersHost { bytes }
            | Role::HostIn { bytes }
            | Role::HostOut { bytes, .. } => vec![bytes],
            Role::Operand { extent, .. } => match extent {
                Extent::Bytes(bytes) => vec![bytes],
                Extent::Rows { pitch, width, height } => vec![pitch, width, height],
                Extent::Call(_) => Vec::new(),
            },
            Role::Value
            | Role::Destroys
            | Role::String
            | Role::DevicePointer { .. }
            | Role::UnregistersHost
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::Tagged { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::Opaque { .. }
            | Role::Device => Vec::new(),
        }
    }
}

/// What a successful call does: a row of the table of effects, and a parameter for each slot that
/// was given.
pub(crate) struct Effect {
    pub(crate) row: &'static EffectRow,
    pub(crate) names: Vec<Name>,
}

/// Whether a type is a pointer, as far as its spelling tells.
pub(crate) enum Pointer<'a> {
    /// `*const T`.
    Const(&'a Type),
    /// `*mut T`.
    Mut(&'a Type),
    /// `fn(..)` or `Option<fn(..)>`.
    Function,
    /// Anything else; an alias may hide a pointer.
    No,
}

/// Looks through parentheses and invisible groups.
pub(crate) fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        Type::Paren(paren) => peeled(&paren.elem),
        ty => ty,
    }
}

/// Whether a type is a pointer.
pub(crate) fn pointer_of(ty: &Type) -> Pointer<'_> {
    match peeled(ty) {
        Type::Ptr(pointer) => match pointer.mutability {
            syn::PointerMutability::Mut(_) => Pointer::Mut(&pointer.elem),
            syn::PointerMutability::Const(_) => Pointer::Const(&pointer.elem),
        },
        Type::FnPtr(_) => Pointer::Function,
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Pointer::No };
            let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return Pointer::No;
            };
            match arguments.args.first() {
                Some(syn::GenericArgument::Type(inner))
                    if last.ident == "Option" && matches!(peeled(inner), Type::FnPtr(_)) =>
                {
                    Pointer::Function
                }
                _ => Pointer::No,
            }
        }
        _ => Pointer::No,
    }
}

/// What a raw pointer leads to.
pub(crate) fn pointee_of(ty: &Type) -> Option<&Type> {
    match pointer_of(ty) {
        Pointer::Const(inner) | Pointer::Mut(inner) => Some(inner),
        Pointer::Function | Pointer::No => None,
    }
}

/// The last word of a path type, such as `c_char` of `core::ffi::c_char`.
pub(crate) fn last_word(ty: &Type) -> Option<String> {
    match peeled(ty) {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// `Option<..>` of an absent output: the type of a function that returns nothing.
pub(crate) fn unit(span: Span) -> Type {
    Type::Tuple(syn::TypeTuple {
        attrs: Vec::new(),
        paren_token: syn::token::Paren(span),
        elems: syn::punctuated::Punctuated::new(),
    })
}
