//! Lane-wise operations: how a scalar expression becomes an operation on all 64 lanes.
//!
//! A row gives one expression with typed arguments; [`lanes!`] makes from it the loop over the
//! lanes, once for any x86-64 and once for processors with AVX2 and FMA, and the operand types
//! that decode and text need.

use std::sync::LazyLock;

use super::inst::Ty;

/// Lanes of a wave.
pub(crate) const LANES: usize = 64;
/// One register of all lanes.
pub(crate) type Reg = [u32; LANES];

/// The results of one operation, before EXEC decides which lanes take them.
pub(crate) struct Out {
    pub v: [Reg; 4],
    /// One flag per lane: carries and comparisons.
    pub bits: [u8; LANES],
}

impl Out {
    pub(crate) fn new() -> Self {
        Self { v: [[0; LANES]; 4], bits: [0; LANES] }
    }

    /// The flags as a mask.
    pub(crate) fn mask(&self) -> u64 {
        let mut mask = 0;
        for (i, chunk) in self.bits.chunks_exact(8).enumerate() {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(chunk);
            // Each byte is 0 or 1: the product gathers byte k's bit at bit 56 + k.
            let byte = u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            mask |= byte << (8 * i);
        }
        mask
    }
}

/// Source registers of one operation.
pub(crate) type Sources<'a> = [&'a [Reg]; 4];
/// A lane-wise operation. Unsafe, since a variant may need processor features.
pub(crate) type LaneFn = unsafe fn(&mut Out, &Sources<'_>);

/// The two variants of an operation.
#[derive(Clone, Copy)]
pub(crate) struct LanePair {
    pub plain: fn(&mut Out, &Sources<'_>),
    /// Needs AVX2, FMA, BMI2 and F16C.
    pub fast: LaneFn,
}

static FAST: LazyLock<bool> = LazyLock::new(|| {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && std::env::var_os("HIP_EMU_PLAIN").is_none()
});

impl LanePair {
    /// Runs the operation in the best variant that this processor has.
    #[inline]
    pub(crate) fn run(&self, out: &mut Out, sources: &Sources<'_>) {
        if *FAST {
            // SAFETY: the variant's only obligation is that the processor has the features it
            // was compiled for, which `FAST` has detected.
            unsafe { (self.fast)(out, sources) }
        } else {
            (self.plain)(out, sources);
        }
    }
}

/// A type that a lane-wise expression takes or gives.
pub(crate) trait Lane: Sized {
    /// How text and decode see it as a source.
    const SRC: Ty;
    /// How text and decode see it as a destination.
    const DST: Ty;
    /// The opened source registers.
    type In<'a>: Copy;
    fn open<'a>(source: &'a [Reg]) -> Self::In<'a>;
    fn get(input: Self::In<'_>, lane: usize) -> Self;
    fn put(self, out: &mut Out, lane: usize);
}

macro_rules! lane_32 {
    ($($t:ty, $src:expr, $dst:expr, |$bits:ident| $get:expr, |$v:ident| $put:expr;)*) => {$(
        impl Lane for $t {
            const SRC: Ty = $src;
            const DST: Ty = $dst;
            type In<'a> = &'a Reg;
            #[inline(always)]
            fn open(source: &[Reg]) -> &Reg {
                &source[0]
            }
            #[inline(always)]
            fn get(input: &Reg, lane: usize) -> Self {
                let $bits = input[lane];
                $get
            }
            #[inline(always)]
            fn put(self, out: &mut Out, lane: usize) {
                let $v = self;
                out.v[0][lane] = $put;
            }
        }
    )*};
}

/// A half-precision float, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct H(pub u16);
/// A 16-bit result that keeps the high half of its register.
pub(crate) struct Keep(pub u16);
/// A half-precision result that keeps the high half of its register.
pub(crate) struct KeepH(pub H);
/// A half-precision result for the high half, which keeps the low half of its register.
pub(crate) struct KeepHi(pub H);
/// Two 16-bit integers.
#[derive(Clone, Copy)]
pub(crate) struct P16(pub [u16; 2]);
/// Two half-precision floats.
#[derive(Clone, Copy)]
pub(crate) struct PH(pub [H; 2]);
/// Two single-precision floats.
#[derive(Clone, Copy)]
pub(crate) struct P32(pub [f32; 2]);
/// An operand of v_fma_mix, already widened.
#[derive(Clone, Copy)]
pub(crate) struct Mix(pub f32);

lane_32! {
    u32, Ty::B32, Ty::B32, |bits| bits, |v| v;
    i32, Ty::B32, Ty::B32, |bits| bits as i32, |v| v as u32;
    f32, Ty::F32, Ty::F32, |bits| f32::from_bits(bits), |v| v.to_bits();
    u16, Ty::B16, Ty::B16, |bits| bits as u16, |v| u32::from(v);
    i16, Ty::B16, Ty::B16, |bits| bits as u16 as i16, |v| u32::from(v as u16);
    H, Ty::F16, Ty::F16, |bits| H(bits as u16), |v| u32::from(v.0);
    Keep, Ty::B16, Ty::Keep16, |bits| Keep(bits as u16), |v| u32::from(v.0);
    KeepH, Ty::F16, Ty::KeepF16, |bits| KeepH(H(bits as u16)), |v| u32::from(v.0.0);
    KeepHi, Ty::F16, Ty::KeepHi16, |bits| KeepHi(H(bits as u16)), |v| u32::from(v.0.0);
    P16, Ty::PkB16, Ty::PkB16, |bits| P16([bits as u16, (bits >> 16) as u16]),
        |v| u32::from(v.0[0]) | u32::from(v.0[1]) << 16;
    PH, Ty::PkF16, Ty::PkF16, |bits| PH([H(bits as u16), H((bits >> 16) as u16)]),
        |v| u32::from(v.0[0].0) | u32::from(v.0[1].0) << 16;
    Mix, Ty::Mix, Ty::F32, |bits| Mix(f32::from_bits(bits)), |v| v.0.to_bits();
}

macro_rules! lane_64 {
    ($($t:ty, $src:expr, |$bits:ident| $get:expr, |$v:ident| $put:expr;)*) => {$(
        impl Lane for $t {
            const SRC: Ty = $src;
            const DST: Ty = $src;
            type In<'a> = (&'a Reg, &'a Reg);
            #[inline(always)]
            fn open(source: &[Reg]) -> (&Reg, &Reg) {
                (&source[0], &source[1])
            }
            #[inline(always)]
            fn get(input: (&Reg, &Reg), lane: usize) -> Self {
                let $bits = u64::from(input.0[lane]) | u64::from(input.1[lane]) << 32;
                $get
            }
            #[inline(always)]
            fn put(self, out: &mut Out, lane: usize) {
                let $v = self;
                let bits: u64 = $put;
                out.v[0][lane] = bits as u32;
                out.v[1][lane] = (bits >> 32) as u32;
            }
        }
    )*};
}

lane_64! {
    u64, Ty::B64, |bits| bits, |v| v;
    i64, Ty::B64, |bits| bits as i64, |v| v as u64;
    f64, Ty::F64, |bits| f64::from_bits(bits), |v| v.to_bits();
    P32, Ty::Pk32,
        |bits| P32([f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]),
        |v| u64::from(v.0[0].to_bits()) | u64::from(v.0[1].to_bits()) << 32;
}

/// One bit of a mask.
impl Lane for bool {
    const SRC: Ty = Ty::Mask;
    const DST: Ty = Ty::Mask;
    type In<'a> = u64;
    #[inline(always)]
    fn open(source: &[Reg]) -> u64 {
        u64::from(source[0][0]) | u64::from(source[0][1]) << 32
    }
    #[inline(always)]
    fn get(input: u64, lane: usize) -> Self {
        input >> lane & 1 != 0
    }
    #[inline(always)]
    fn put(self, out: &mut Out, lane: usize) {
        out.bits[lane] = u8::from(self);
    }
}

macro_rules! lane_with_mask {
    ($($t:ty, $dst:expr;)*) => {$(
        impl Lane for ($t, bool) {
            const SRC: Ty = $dst;
            const DST: Ty = $dst;
            type In<'a> = (<$t as Lane>::In<'a>, u64);
            #[inline(always)]
            fn open<'a>(source: &'a [Reg]) -> Self::In<'a> {
                (<$t as Lane>::open(source), 0)
            }
            #[inline(always)]
            fn get(input: Self::In<'_>, lane: usize) -> Self {
                (<$t as Lane>::get(input.0, lane), false)
            }
            #[inline(always)]
            fn put(self, out: &mut Out, lane: usize) {
                self.0.put(out, lane);
                out.bits[lane] = u8::from(self.1);
            }
        }
    )*};
}

lane_with_mask! {
    u32, Ty::B32Mask;
    f32, Ty::F32Mask;
    u64, Ty::B64Mask;
    f64, Ty::F64Mask;
}

#[inline(always)]
pub(crate) fn each1<A: Lane, R: Lane>(out: &mut Out, s: &Sources<'_>, f: impl Fn(A) -> R) {
    let a = A::open(s[0]);
    for i in 0..LANES {
        f(A::get(a, i)).put(out, i);
    }
}

#[inline(always)]
pub(crate) fn each2<A: Lane, B: Lane, R: Lane>(
    out: &mut Out,
    s: &Sources<'_>,
    f: impl Fn(A, B) -> R,
) {
    let (a, b) = (A::open(s[0]), B::open(s[1]));
    for i in 0..LANES {
        f(A::get(a, i), B::get(b, i)).put(out, i);
    }
}

#[inline(always)]
pub(crate) fn each3<A: Lane, B: Lane, C: Lane, R: Lane>(
    out: &mut Out,
    s: &Sources<'_>,
    f: impl Fn(A, B, C) -> R,
) {
    let (a, b, c) = (A::open(s[0]), B::open(s[1]), C::open(s[2]));
    for i in 0..LANES {
        f(A::get(a, i), B::get(b, i), C::get(c, i)).put(out, i);
    }
}

#[inline(always)]
pub(crate) fn each4<A: Lane, B: Lane, C: Lane, D: Lane, R: Lane>(
    out: &mut Out,
    s: &Sources<'_>,
    f: impl Fn(A, B, C, D) -> R,
) {
    let (a, b, c, d) = (A::open(s[0]), B::open(s[1]), C::open(s[2]), D::open(s[3]));
    for i in 0..LANES {
        f(A::get(a, i), B::get(b, i), C::get(c, i), D::get(d, i)).put(out, i);
    }
}

/// One row of a vector encoding from an expression over one lane.
macro_rules! lanes {
    ($op:literal $name:expr, |$a:ident: $ta:ty| -> $r:ty { $($e:tt)* }) => {
        lanes!(@row $op, $name, each1, ($ta), $r, [None, None, None], |$a: $ta| -> $r { $($e)* })
    };
    ($op:literal $name:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty| -> $r:ty { $($e:tt)* }) => {
        lanes!(@row $op, $name, each2, ($ta), $r, [(<$tb>), None, None],
            |$a: $ta, $b: $tb| -> $r { $($e)* })
    };
    ($op:literal $name:expr,
     |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| -> $r:ty { $($e:tt)* }) => {
        lanes!(@row $op, $name, each3, ($ta), $r, [(<$tb>), (<$tc>), None],
            |$a: $ta, $b: $tb, $c: $tc| -> $r { $($e)* })
    };
    ($op:literal $name:expr, |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty,
     $d:ident: $td:ty| -> $r:ty { $($e:tt)* }) => {
        lanes!(@row $op, $name, each4, ($ta), $r, [(<$tb>), (<$tc>), (<$td>)],
            |$a: $ta, $b: $tb, $c: $tc, $d: $td| -> $r { $($e)* })
    };
    (@ty None) => { $crate::isa::inst::Ty::None };
    (@ty (<$t:ty>)) => { <$t as $crate::isa::lane::Lane>::SRC };
    (@row $op:literal, $name:expr, $each:ident, ($ta:ty), $r:ty,
     [$b:tt, $c:tt, $d:tt], $f:expr) => {
        $crate::isa::inst::Row {
            op: $op,
            name: $name,
            targets: $crate::isa::inst::Targets::ALL,
            dst: <$r as $crate::isa::lane::Lane>::DST,
            src: [
                <$ta as $crate::isa::lane::Lane>::SRC,
                lanes!(@ty $b),
                lanes!(@ty $c),
                lanes!(@ty $d),
            ],
            run: $crate::isa::inst::Run::Lanes($crate::isa::lane::LanePair {
                plain: {
                    fn plain(
                        out: &mut $crate::isa::lane::Out,
                        sources: &$crate::isa::lane::Sources<'_>,
                    ) {
                        $crate::isa::lane::$each(out, sources, $f);
                    }
                    plain
                },
                fast: {
                    #[target_feature(enable = "avx2,fma,bmi2,f16c")]
                    fn fast(
                        out: &mut $crate::isa::lane::Out,
                        sources: &$crate::isa::lane::Sources<'_>,
                    ) {
                        $crate::isa::lane::$each(out, sources, $f);
                    }
                    fast
                },
            }),
        }
    };
}
pub(crate) use lanes;
