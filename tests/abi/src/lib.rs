//! Reads the source of a binding crate, and holds our declarations and constants against it.
//!
//! Layouts of types are compared by the compiler, in the tests; signatures and constants are
//! compared by name, so that nobody has to list them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use hrr_core::desc::{ApiDesc, Role};
use syn::{Expr, ForeignItem, Item, Lit, ReturnType, Type, UnOp};

/// What a binding crate says.
pub struct Bindings {
    aliases: HashMap<String, Type>,
    functions: HashMap<String, Signature>,
    constants: HashMap<String, i128>,
    enums: Vec<String>,
}

struct Signature {
    params: Vec<(String, Type)>,
    returns: Option<Type>,
}

/// What a type is to a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passed {
    Pointer { mutable: bool },
    Bytes(usize),
}

impl Passed {
    fn bytes(self) -> usize {
        match self {
            Passed::Pointer { .. } => 8,
            Passed::Bytes(bytes) => bytes,
        }
    }
}

impl Bindings {
    /// Reads a source file of a package that this workspace depends on.
    ///
    /// # Panics
    /// The package or its file is not there, or is not Rust.
    pub fn read(package: &str, file: &str) -> Bindings {
        let path = folder_of(package).join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let source = syn::parse_file(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let mut bindings = Bindings {
            aliases: HashMap::new(),
            functions: HashMap::new(),
            constants: HashMap::new(),
            enums: Vec::new(),
        };
        for item in source.items {
            bindings.take(item);
        }
        bindings
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Type(alias) => {
                self.aliases.insert(alias.ident.to_string(), *alias.ty);
            }
            Item::Const(constant) => {
                if let Some(value) = integer(&constant.expr) {
                    self.constants.insert(constant.ident.to_string(), value);
                }
            }
            Item::Enum(item) => {
                let name = item.ident.to_string();
                for variant in &item.variants {
                    if let Some(value) = variant.discriminant.as_ref().and_then(|d| integer(&d.1)) {
                        self.constants.insert(format!("{name}_{}", variant.ident), value);
                    }
                }
                self.enums.push(name);
            }
            Item::ForeignMod(block) => {
                for item in block.items {
                    if let ForeignItem::Fn(function) = item {
                        self.take_function(function.sig);
                    }
                }
            }
            _ => {}
        }
    }

    fn take_function(&mut self, signature: syn::Signature) {
        let params = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(param) => match &*param.pat {
                syn::Pat::Ident(name) => Some((name.ident.to_string(), (*param.ty).clone())),
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        let returns = match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some((**ty).clone()),
        };
        let known = Signature { params: params.collect(), returns };
        self.functions.insert(signature.ident.to_string(), known);
    }

    fn passed(&self, ty: &Type, structs: &dyn Fn(&str) -> Option<usize>) -> Result<Passed, String> {
        match ty {
            Type::Ptr(pointer) => {
                let mutable = matches!(pointer.mutability, syn::PointerMutability::Mut(_));
                Ok(Passed::Pointer { mutable })
            }
            Type::Path(path) => {
                let Some(last) = path.path.segments.last() else { return Err("no path".into()) };
                let name = last.ident.to_string();
                match name.as_str() {
                    "c_char" | "c_uchar" | "u8" | "i8" => return Ok(Passed::Bytes(1)),
                    "c_short" | "c_ushort" | "u16" => return Ok(Passed::Bytes(2)),
                    "c_int" | "c_uint" | "u32" | "i32" | "f32" => return Ok(Passed::Bytes(4)),
                    "c_longlong" | "c_ulonglong" | "c_long" | "c_ulong" | "u64" | "usize"
                    | "f64" => return Ok(Passed::Bytes(8)),
                    // A nullable function pointer.
                    "Option" => return Ok(Passed::Bytes(8)),
                    _ => {}
                }
                if self.enums.contains(&name) {
                    return Ok(Passed::Bytes(4));
                }
                if let Some(bytes) = structs(&name) {
                    return Ok(Passed::Bytes(bytes));
                }
                match self.aliases.get(&name) {
                    Some(ty) => match self.passed(ty, structs)? {
                        // An alias hides the pointer, as ours may.
                        Passed::Pointer { .. } => Ok(Passed::Bytes(8)),
                        passed => Ok(passed),
                    },
                    None => Err(format!("`{name}` is not known")),
                }
            }
            _ => Err("not a pointer and not a path".to_owned()),
        }
    }

    /// Holds every declared function that the bindings have against them; answers how many, and
    /// what differs. `structs` gives the sizes of structs that are passed by value.
    pub fn check_functions(&self, structs: &dyn Fn(&str) -> Option<usize>) -> (usize, Vec<String>) {
        let mut checked = 0;
        let mut wrong = Vec::new();
        for api in hrr_ffi::ALL {
            let name = api.name.to_str().expect("a C identifier is UTF-8");
            let Some(signature) = self.functions.get(name) else { continue };
            checked += 1;
            if let Err(difference) = self.check_function(api, signature, structs) {
                wrong.push(format!("{name}: {difference}"));
            }
        }
        (checked, wrong)
    }

    fn check_function(
        &self,
        api: &ApiDesc,
        theirs: &Signature,
        structs: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<(), String> {
        let returned = match &theirs.returns {
            Some(ty) => self.passed(ty, structs)?.bytes(),
            None => 0,
        };
        if returned != api.ret.bytes as usize {
            return Err(format!("returns {} bytes, theirs {returned}", api.ret.bytes));
        }
        if api.params.len() != theirs.params.len() {
            let (ours, theirs) = (api.params.len(), theirs.params.len());
            return Err(format!("{ours} parameters, theirs {theirs}"));
        }
        for (param, (name, ty)) in api.params.iter().zip(&theirs.params) {
            let passed = self.passed(ty, structs).map_err(|e| format!("`{name}`: {e}"))?;
            if passed.bytes() != param.bytes as usize {
                let (ours, theirs) = (param.bytes, passed.bytes());
                return Err(format!("`{}` has {ours} bytes, theirs {theirs}", param.name));
            }
            if let (Some(ours), Passed::Pointer { mutable }) = (is_mutable(param.ty), passed)
                && ours != mutable
                // What is only read may be mutable in C.
                && (ours || !is_input(&param.role))
            {
                return Err(format!(
                    "`{}: {}` points to the other mutability",
                    param.name, param.ty
                ));
            }
        }
        Ok(())
    }

    /// Holds the constants of one of our enums against theirs of the same name; answers how many,
    /// and what differs. Theirs are spelled `ENUM_CONSTANT`. `changed` are the constants that have
    /// another number there, and which.
    pub fn check_enum(
        &self,
        name: &str,
        ours: &[(i128, &str)],
        changed: &[(&str, i128)],
    ) -> (usize, Vec<String>) {
        let mut checked = 0;
        let mut wrong = Vec::new();
        for (value, constant) in ours {
            let Some(theirs) = self.constants.get(&format!("{name}_{constant}")) else { continue };
            checked += 1;
            let expected =
                changed.iter().find(|(name, _)| name == constant).map(|(_, there)| there);
            if theirs != expected.unwrap_or(value) {
                wrong.push(format!("{constant} is {value}, theirs {theirs}"));
            }
        }
        (checked, wrong)
    }
}

/// Whether a spelled pointer is mutable; `None` for a type that hides one.
fn is_mutable(ty: &str) -> Option<bool> {
    Some(!ty.strip_prefix('*')?.trim_start().starts_with("const"))
}

fn is_input(role: &Role) -> bool {
    matches!(
        role,
        Role::String | Role::HostIn { .. } | Role::DefinesHostSymbol { .. } | Role::Opaque { .. }
    ) || matches!(role, Role::Operand { side: hrr_core::desc::Side::Source, .. })
}

fn integer(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Some(-integer(&unary.expr)?),
        _ => None,
    }
}

/// Where the source of a package lies.
fn folder_of(package: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--all-features"])
        // What other platforms need is not downloaded.
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo answers JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let manifest = packages
        .iter()
        .find(|candidate| candidate["name"] == package)
        .and_then(|found| found["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("no package `{package}`"));
    PathBuf::from(manifest).parent().expect("a manifest lies in a folder").to_owned()
}

/// Asserts that types of ours and theirs have one size, one alignment, and fields at the same
/// offsets: `layouts! { bindings: Ours = Theirs { ours = theirs, .. } .. }`.
#[macro_export]
macro_rules! layouts {
    ($theirs:ident: $($name:ident = $other:ident {$($field:ident = $other_field:ident),* $(,)?})*) => {
        #[test]
        fn layouts_agree() {
            use core::mem::{align_of, offset_of, size_of};
            let mut wrong = Vec::new();
            $({
                type Ours = hrr_ffi::types::$name;
                type Theirs = $theirs::$other;
                let facts = [
                    ("size", size_of::<Ours>(), size_of::<Theirs>()),
                    ("alignment", align_of::<Ours>(), align_of::<Theirs>()),
                    $((
                        stringify!($field),
                        offset_of!(Ours, $field),
                        offset_of!(Theirs, $other_field),
                    ),)*
                ];
                wrong.extend(
                    facts.iter().filter(|(_, ours, theirs)| ours != theirs).map(
                        |(fact, ours, theirs)| {
                            format!("{}: {fact} {ours}, theirs {theirs}", stringify!($name))
                        },
                    ),
                );
            })*
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    };
}

/// Asserts that enums of ours have the constants of the bindings, and that these are there:
/// `enums! { bindings(), changed = &[("constant", their number), ..]; Ours = "Theirs", .. }`.
#[macro_export]
macro_rules! enums {
    ($bindings:expr, changed = $changed:expr; $($name:ident = $other:literal),* $(,)?) => {
        #[test]
        fn constants_agree() {
            let bindings = $bindings;
            let mut wrong = Vec::new();
            $({
                let ours: Vec<(i128, &str)> = hrr_ffi::types::$name::NAMES
                    .iter()
                    .map(|(value, name)| (i128::from(*value), *name))
                    .collect();
                let (checked, differences) = bindings.check_enum($other, &ours, $changed);
                if checked == 0 {
                    wrong.push(format!("the bindings have no constant of {}", $other));
                }
                wrong.extend(differences);
            })*
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    };
}
