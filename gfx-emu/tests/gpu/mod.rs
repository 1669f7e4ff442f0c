//! A device for tests: memory, a code object, and launches with arguments by position.

use gfx_emu::dispatch::{Dispatch, Fault, Stats, run};
use gfx_emu::loader::LoadedObject;
use gfx_emu::memory::{AddressSpace, Config};
use hip_code::ValueKind;

/// Values that memory holds.
pub(crate) trait Plain: Copy {
    const BYTES: usize;
    fn to_bytes(self) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            const BYTES: usize = size_of::<$t>();
            fn to_bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

plain!(u8, i32, u32, f32, u64, f64);

/// Kernel arguments in their order.
#[derive(Default)]
pub(crate) struct Args(Vec<Vec<u8>>);

impl Args {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn bytes(mut self, bytes: Vec<u8>) -> Self {
        self.0.push(bytes);
        self
    }

    pub(crate) fn ptr(self, value: u64) -> Self {
        self.bytes(value.to_bytes())
    }

    pub(crate) fn i32(self, value: i32) -> Self {
        self.bytes(value.to_bytes())
    }

    #[allow(dead_code, reason = "not every test file has such arguments")]
    pub(crate) fn f32(self, value: f32) -> Self {
        self.bytes(value.to_bytes())
    }
}

pub(crate) struct Gpu {
    #[allow(dead_code, reason = "not every test depends on how the code was built")]
    pub(crate) name: String,
    pub(crate) space: AddressSpace,
    object: LoadedObject,
}

pub(crate) fn data(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Gpu {
    pub(crate) fn with_object(name: &str) -> Self {
        let space = AddressSpace::with_arena(Config { arena_bytes: 1 << 30, ..Config::default() });
        let space = space.unwrap();
        let object = LoadedObject::load(&space, &data(name)).unwrap();
        Self { name: name.to_owned(), space, object }
    }

    pub(crate) fn upload<T: Plain>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_bytes()).collect();
        let address = self.space.alloc(bytes.len() as u64, 256).unwrap();
        self.space.write(address, &bytes).unwrap();
        address
    }

    pub(crate) fn download<T: Plain>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * T::BYTES];
        self.space.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(T::BYTES).map(T::from_bytes).collect()
    }

    #[allow(dead_code, reason = "not every test file has kernels with variables")]
    pub(crate) fn write_symbol<T: Plain>(&self, name: &str, values: &[T]) {
        let variable = self.object.variable(name).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_bytes()).collect();
        self.space.write(variable.address, &bytes).unwrap();
    }

    pub(crate) fn launch(
        &self,
        kernel: &str,
        groups: [u32; 3],
        block: [u32; 3],
        lds: u32,
        args: Args,
    ) -> Stats {
        self.try_launch(kernel, groups, block, lds, args).unwrap_or_else(|fault| panic!("{fault}"))
    }

    pub(crate) fn try_launch(
        &self,
        kernel: &str,
        groups: [u32; 3],
        block: [u32; 3],
        lds: u32,
        args: Args,
    ) -> Result<Stats, Fault> {
        self.launch_as(Dispatch::default(), kernel, groups, block, lds, args)
    }

    /// A launch with more than size and arguments; `base` has the rest.
    #[allow(dead_code, reason = "not every test file has such launches")]
    pub(crate) fn launch_as(
        &self,
        base: Dispatch<'_>,
        kernel: &str,
        groups: [u32; 3],
        block: [u32; 3],
        lds: u32,
        args: Args,
    ) -> Result<Stats, Fault> {
        let loaded = self.object.kernel(kernel).unwrap();
        let mut block_bytes = vec![0; loaded.metadata.kernarg_bytes.max(8) as usize];
        let mut given = args.0.into_iter();
        for argument in &loaded.metadata.args {
            let value = if argument.is_hidden() {
                hidden(&argument.kind, groups, block, lds)
            } else {
                given.next().expect("an argument for each that the kernel has")
            };
            let at = argument.offset as usize;
            let size = value.len().min(argument.bytes as usize);
            block_bytes[at..at + size].copy_from_slice(&value[..size]);
        }
        assert!(given.next().is_none(), "more arguments than the kernel has");
        let kernarg_address = self.upload(&block_bytes);
        let dispatch = Dispatch {
            grid: [0, 1, 2].map(|axis| groups[axis] * block[axis]),
            block,
            dynamic_lds_bytes: lds,
            kernarg_address,
            ..base
        };
        run(&self.space, &loaded.kernel, &dispatch)
    }
}

fn hidden(kind: &ValueKind, groups: [u32; 3], block: [u32; 3], lds: u32) -> Vec<u8> {
    let short = |n: u32| (n as u16).to_le_bytes().to_vec();
    match kind {
        ValueKind::HiddenBlockCountX => groups[0].to_bytes(),
        ValueKind::HiddenBlockCountY => groups[1].to_bytes(),
        ValueKind::HiddenBlockCountZ => groups[2].to_bytes(),
        ValueKind::HiddenGroupSizeX => short(block[0]),
        ValueKind::HiddenGroupSizeY => short(block[1]),
        ValueKind::HiddenGroupSizeZ => short(block[2]),
        ValueKind::HiddenGridDims => short(3),
        ValueKind::HiddenDynamicLdsSize => lds.to_bytes(),
        _zero => Vec::new(),
    }
}
