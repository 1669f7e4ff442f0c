//! Single instructions against arithmetic that is written independently of them, and random
//! code that must neither panic nor leave the address space.

use std::sync::Mutex;

use half::f16;

use super::inst::{EXEC, VCC};
use super::lane::{LANES, Reg};
use super::mem::Access;
use super::state::{Cx, Wave};
use super::{Flow, Program, Target, opcodes};
use crate::dispatch::{FaultKind, Host};
use crate::memory::{AddressSpace, Range};

const ENDPGM: u32 = 0xbf81_0000;

/// One wave on its own.
struct Machine {
    wave: Wave,
    lds: Vec<u8>,
    space: AddressSpace,
    host: Option<&'static dyn Host>,
}

impl Machine {
    fn new() -> Self {
        let mut wave = Wave::new();
        wave.set_s64(EXEC, u64::MAX);
        wave.mode = 0xf0;
        Self { wave, lds: vec![0; 4096], space: AddressSpace::new(), host: None }
    }

    fn try_run(&mut self, words: &[u32], turns: usize) -> Result<Flow, FaultKind> {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(ENDPGM.to_le_bytes());
        let program = Program::new(Target::Gfx90a, 0x10000, &bytes);
        self.wave.pc = 0x10000;
        let mut access = Access::new(&self.space);
        access.host = self.host;
        let mut cx = Cx { wave: &mut self.wave, lds: &mut self.lds, mem: &mut access };
        for _ in 0..turns {
            match program.run(&mut cx, 50) {
                Ok(Flow::Yield | Flow::Barrier) => {}
                Ok(flow) => return Ok(flow),
                Err(trouble) => return Err(trouble.kind),
            }
        }
        Ok(Flow::Yield)
    }

    fn run(&mut self, words: &[u32]) {
        assert_eq!(self.try_run(words, 1), Ok(Flow::End));
    }

    fn set64(&mut self, at: usize, values: &[u64; LANES]) {
        self.wave.v[at] = values.map(|x| x as u32);
        self.wave.v[at + 1] = values.map(|x| (x >> 32) as u32);
    }

    fn get64(&self, at: usize) -> [u64; LANES] {
        let (low, high) = (self.wave.v[at], self.wave.v[at + 1]);
        std::array::from_fn(|i| u64::from(low[i]) | u64::from(high[i]) << 32)
    }
}

/// The long form of a vector instruction by its mnemonic: sources are 9-bit codes.
fn vop3(name: &str, dst: u32, sources: [u32; 3]) -> [u32; 2] {
    let opcode = opcodes(Target::Gfx90a)
        .find(|opcode| opcode.name == name && opcode.encoding.starts_with("VOP"))
        .unwrap_or_else(|| panic!("no opcode {name}"));
    let number = u32::from(opcode.number);
    let number = match opcode.encoding {
        "VOP1" => 0x140 + number,
        "VOP2" => 0x100 + number,
        _ => number,
    };
    let [a, b, c] = sources;
    [0xd000_0000 | number << 16 | dst, a | b << 9 | c << 18]
}

/// As `vop3`, with a scalar pair for the second result.
fn vop3b(name: &str, dst: u32, sdst: u32, sources: [u32; 3]) -> [u32; 2] {
    let [first, second] = vop3(name, dst, sources);
    [first | sdst << 8, second]
}

fn v(at: u32) -> u32 {
    256 + at
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

const EDGES32: [u32; 24] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3fff_ffff,
    0x4000_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
    0x4b00_0000,
    0x4f00_0000,
    0x3400_0000,
    31,
    32,
    0xffff_ffff,
];

/// Pairs of 32-bit values: all edges with all edges, then random ones.
fn pairs32(rounds: usize) -> Vec<(Reg, Reg)> {
    let mut r = Random(0x1234_5678_9abc_def1);
    let mut all: Vec<(u32, u32)> =
        EDGES32.iter().flat_map(|&a| EDGES32.iter().map(move |&b| (a, b))).collect();
    all.extend((0..rounds * LANES).map(|_| (r.next() as u32, (r.next() >> 20) as u32)));
    // Values of like exponents, where rounding matters.
    all.extend((0..rounds * LANES).map(|_| {
        let (a, b) = (r.next() as u32, (r.next() >> 20) as u32);
        (a & 0x807f_ffff | 0x3e00_0000 | a >> 7 & 0x0380_0000, b & 0x807f_ffff | 0x3e80_0000)
    }));
    all.chunks_exact(LANES)
        .map(|chunk| (std::array::from_fn(|i| chunk[i].0), std::array::from_fn(|i| chunk[i].1)))
        .collect()
}

/// Compares an operation on pairs with a function of them. NaNs compare as equal.
fn check32(name: &str, float: bool, expected: impl Fn(u32, u32) -> u32) {
    let mut m = Machine::new();
    for (a, b) in pairs32(20) {
        (m.wave.v[0], m.wave.v[1]) = (a, b);
        m.run(&vop3(name, 2, [v(0), v(1), 0]));
        for i in 0..LANES {
            let (ours, theirs) = (m.wave.v[2][i], expected(a[i], b[i]));
            let both_nan =
                float && f32::from_bits(ours).is_nan() && f32::from_bits(theirs).is_nan();
            let (x, y) = (a[i], b[i]);
            assert!(
                ours == theirs || both_nan,
                "{name}({x:#x}, {y:#x}) = {ours:#x}, expected {theirs:#x}"
            );
        }
    }
}

fn on_floats(f: impl Fn(f32, f32) -> f32) -> impl Fn(u32, u32) -> u32 {
    move |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

#[test]
fn float_arithmetic_is_ieee() {
    check32("v_add_f32", true, on_floats(|a, b| a + b));
    check32("v_sub_f32", true, on_floats(|a, b| a - b));
    check32("v_subrev_f32", true, on_floats(|a, b| b - a));
    check32("v_mul_f32", true, on_floats(|a, b| a * b));
    check32("v_sqrt_f32", true, on_floats(|a, _| a.sqrt()));
    check32("v_rcp_f32", true, on_floats(|a, _| 1.0 / a));
    check32("v_floor_f32", true, on_floats(|a, _| a.floor()));
    check32("v_ceil_f32", true, on_floats(|a, _| a.ceil()));
    check32("v_trunc_f32", true, on_floats(|a, _| a.trunc()));
    check32("v_rndne_f32", true, on_floats(|a, _| a.round_ties_even()));
    // IEEE minimum and maximum of numbers; zeros are ordered by sign.
    check32("v_min_f32", true, |a, b| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let signalling = |x: f32| x.is_nan() && x.to_bits() & 0x0040_0000 == 0;
        if signalling(x) || signalling(y) {
            f32::NAN.to_bits()
        } else if x == 0.0 && y == 0.0 {
            a | b
        } else {
            x.min(y).to_bits()
        }
    });
    check32("v_max_f32", true, |a, b| {
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let signalling = |x: f32| x.is_nan() && x.to_bits() & 0x0040_0000 == 0;
        if signalling(x) || signalling(y) {
            f32::NAN.to_bits()
        } else if x == 0.0 && y == 0.0 {
            a & b
        } else {
            x.max(y).to_bits()
        }
    });
}

#[test]
fn invalid_operations_give_the_hardware_nan() {
    let mut m = Machine::new();
    m.wave.v[0] = [0x7f80_0000; LANES];
    m.wave.v[1] = [0xff80_0000; LANES];
    m.run(&vop3("v_add_f32", 2, [v(0), v(1), 0]));
    assert_eq!(m.wave.v[2], [0x7fc0_0000; LANES]);
    // A NaN operand goes through, quieted.
    m.wave.v[0] = [0x7f81_2345; LANES];
    m.run(&vop3("v_mul_f32", 2, [v(1), v(0), 0]));
    assert_eq!(m.wave.v[2], [0x7fc1_2345; LANES]);
}

#[test]
fn integer_operations() {
    check32("v_add_u32", false, u32::wrapping_add);
    check32("v_sub_u32", false, u32::wrapping_sub);
    check32("v_subrev_u32", false, |a, b| b.wrapping_sub(a));
    check32("v_mul_lo_u32", false, u32::wrapping_mul);
    check32("v_mul_hi_u32", false, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32);
    check32("v_mul_hi_i32", false, |a, b| {
        ((i128::from(a as i32) * i128::from(b as i32)) >> 32) as u32
    });
    check32("v_mul_u32_u24", false, |a, b| {
        ((u64::from(a) % (1 << 24)) * (u64::from(b) % (1 << 24))) as u32
    });
    check32("v_lshlrev_b32", false, |a, b| b.wrapping_shl(a));
    check32("v_lshrrev_b32", false, |a, b| b.wrapping_shr(a));
    check32("v_ashrrev_i32", false, |a, b| (b as i32).wrapping_shr(a) as u32);
    check32("v_min_i32", false, |a, b| if (a as i32) < b as i32 { a } else { b });
    check32("v_max_u32", false, |a, b| if a > b { a } else { b });
    check32("v_bfrev_b32", false, |a, _| (0..32).map(|i| (a >> i & 1) << (31 - i)).sum());
    check32("v_ffbh_u32", false, |a, _| {
        (0..32).find(|i| a >> (31 - i) & 1 != 0).unwrap_or(u32::MAX)
    });
    check32("v_ffbl_b32", false, |a, _| (0..32).find(|i| a >> i & 1 != 0).unwrap_or(u32::MAX));
    check32("v_ffbh_i32", false, |a, _| {
        (1..32).find(|i| a >> (31 - i) & 1 != a >> 31).unwrap_or(u32::MAX)
    });
    check32("v_bcnt_u32_b32", false, |a, b| {
        (0..32).map(|i| a >> i & 1).sum::<u32>().wrapping_add(b)
    });
    check32("v_bfm_b32", false, |a, b| (((1u64 << (a % 32)) - 1) << (b % 32)) as u32);
}

#[test]
fn conversions_saturate() {
    check32("v_cvt_i32_f32", false, |a, _| {
        let x = f64::from(f32::from_bits(a));
        let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
        if x.is_nan() { 0 } else { x.clamp(*range.start(), *range.end()).trunc() as i64 as u32 }
    });
    check32("v_cvt_u32_f32", false, |a, _| {
        let x = f64::from(f32::from_bits(a));
        if x.is_nan() { 0 } else { x.clamp(0.0, f64::from(u32::MAX)).trunc() as u64 as u32 }
    });
    check32("v_cvt_f32_u32", true, |a, _| (f64::from(a) as f32).to_bits());
    check32("v_cvt_f32_i32", true, |a, _| (f64::from(a as i32) as f32).to_bits());
    check32("v_cvt_f16_f32", false, |a, _| {
        let x = f32::from_bits(a);
        let half = f16::from_f32(x).to_bits();
        u32::from(if x.is_nan() { half | 0x200 } else { half })
    });
    check32("v_cvt_f32_f16", true, |a, _| f16::from_bits(a as u16).to_f32().to_bits());
    check32("v_cvt_pkrtz_f16_f32", false, |a, b| {
        let toward_zero = |bits: u32| {
            let x = f32::from_bits(bits);
            let near = f16::from_f32(x);
            let down = f16::from_bits(near.to_bits().wrapping_sub(1));
            let half = if near.to_f32().abs() > x.abs() { down } else { near };
            u32::from(if x.is_nan() { half.to_bits() | 0x200 } else { half.to_bits() })
        };
        toward_zero(a) | toward_zero(b) << 16
    });
}

#[test]
fn half_precision_is_ieee() {
    let on_halves = |f: fn(f64, f64) -> f64| {
        move |a: u32, b: u32| {
            let wide = |x: u32| f16::from_bits(x as u16).to_f64();
            u32::from(f16::from_f64(f(wide(a), wide(b))).to_bits())
        }
    };
    let check = |name: &str, f: fn(f64, f64) -> f64| {
        let reference = on_halves(f);
        let mut m = Machine::new();
        let mut r = Random(77);
        for _ in 0..2000 {
            let (a, b) =
                ([(); LANES].map(|()| r.next() as u32), [(); LANES].map(|()| r.next() as u32));
            (m.wave.v[0], m.wave.v[1]) = (a, b);
            m.run(&vop3(name, 2, [v(0), v(1), 0]));
            for i in 0..LANES {
                let (ours, theirs) = (m.wave.v[2][i], reference(a[i], b[i]));
                let nan = |x: u32| f16::from_bits(x as u16).is_nan();
                assert!(
                    ours == theirs || nan(ours) && nan(theirs),
                    "{name}({:#x}, {:#x}) = {ours:#x}, expected {theirs:#x}",
                    a[i],
                    b[i]
                );
            }
        }
    };
    check("v_add_f16", |a, b| a + b);
    check("v_sub_f16", |a, b| a - b);
    check("v_mul_f16", |a, b| a * b);
}

/// The instructions that compilers emit for `a / b` in single precision.
fn division32() -> Vec<u32> {
    let mut code = Vec::new();
    let one = 242;
    let negative_first = 1 << 29;
    // v2 = scaled denominator, v3 = scaled numerator.
    code.extend(vop3b("v_div_scale_f32", 2, 20, [v(1), v(1), v(0)]));
    code.extend(vop3b("v_div_scale_f32", 3, u32::from(VCC), [v(0), v(1), v(0)]));
    code.extend(vop3("v_rcp_f32", 4, [v(2), 0, 0]));
    let fma = |dst, sources, neg: u32| {
        let [first, second] = vop3("v_fma_f32", dst, sources);
        [first, second | neg]
    };
    code.extend(fma(5, [v(2), v(4), one], negative_first));
    code.extend(fma(4, [v(5), v(4), v(4)], 0));
    code.extend(vop3("v_mul_f32", 5, [v(3), v(4), 0]));
    code.extend(fma(6, [v(2), v(5), v(3)], negative_first));
    code.extend(fma(5, [v(6), v(4), v(5)], 0));
    code.extend(fma(6, [v(2), v(5), v(3)], negative_first));
    code.extend(vop3("v_div_fmas_f32", 5, [v(6), v(4), v(5)]));
    code.extend(vop3("v_div_fixup_f32", 5, [v(5), v(1), v(0)]));
    code
}

#[test]
fn single_division_is_exact() {
    let mut m = Machine::new();
    let code = division32();
    for (a, b) in pairs32(300) {
        (m.wave.v[0], m.wave.v[1]) = (a, b);
        m.run(&code);
        for i in 0..LANES {
            let (x, y) = (f32::from_bits(a[i]), f32::from_bits(b[i]));
            let (ours, theirs) = (f32::from_bits(m.wave.v[5][i]), x / y);
            assert!(
                ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(),
                "{x:e} / {y:e} = {ours:e}, expected {theirs:e} ({:#x} {:#x})",
                a[i],
                b[i]
            );
        }
    }
}

#[test]
fn double_division_is_exact() {
    let mut code = Vec::new();
    let one = 242;
    let negative_first = 1 << 29;
    let fma = |dst, sources, neg: u32| {
        let [first, second] = vop3("v_fma_f64", dst, sources);
        [first, second | neg]
    };
    // v[0:1] / v[2:3].
    code.extend(vop3b("v_div_scale_f64", 4, 20, [v(2), v(2), v(0)]));
    code.extend(vop3("v_rcp_f64", 8, [v(4), 0, 0]));
    for _ in 0..2 {
        code.extend(fma(10, [v(4), v(8), one], negative_first));
        code.extend(fma(8, [v(8), v(10), v(8)], 0));
    }
    code.extend(vop3b("v_div_scale_f64", 6, u32::from(VCC), [v(0), v(2), v(0)]));
    code.extend(vop3("v_mul_f64", 10, [v(6), v(8), 0]));
    code.extend(fma(12, [v(4), v(10), v(6)], negative_first));
    code.extend(vop3("v_div_fmas_f64", 14, [v(12), v(8), v(10)]));
    code.extend(vop3("v_div_fixup_f64", 14, [v(14), v(2), v(0)]));
    let mut m = Machine::new();
    let mut r = Random(99);
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        2.225_073_858_507_201e-308,
        1e-300,
        1e300,
        3.0,
    ];
    let mut all: Vec<(f64, f64)> =
        edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).collect();
    all.extend((0..20_000).map(|_| (f64::from_bits(r.next()), f64::from_bits(r.next()))));
    // Quotients in and around the denormal range.
    all.extend((0..20_000).map(|_| {
        let (a, b) = (r.next(), r.next());
        let fraction = (1u64 << 52) - 1;
        let low = f64::from_bits(a & fraction | (1 + (a >> 52) % 60) << 52);
        (low, f64::from_bits(b & fraction | (1015 + (b >> 52) % 60) << 52))
    }));
    for chunk in all.chunks_exact(LANES) {
        m.set64(0, &std::array::from_fn(|i| chunk[i].0.to_bits()));
        m.set64(2, &std::array::from_fn(|i| chunk[i].1.to_bits()));
        m.run(&code);
        for (bits, (x, y)) in m.get64(14).into_iter().zip(chunk) {
            let (ours, theirs) = (f64::from_bits(bits), x / y);
            assert!(
                ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(),
                "{x:e} / {y:e} = {ours:e}, expected {theirs:e}"
            );
        }
    }
}

#[test]
fn carries_chain() {
    let mut m = Machine::new();
    let mut r = Random(5);
    let mut code = Vec::new();
    code.extend(vop3b("v_add_co_u32", 4, u32::from(VCC), [v(0), v(2), 0]));
    code.extend(vop3b("v_addc_co_u32", 5, 20, [v(1), v(3), u32::from(VCC)]));
    code.extend(vop3b("v_sub_co_u32", 6, 22, [v(0), v(2), 0]));
    code.extend(vop3b("v_subb_co_u32", 7, 24, [v(1), v(3), 22]));
    code.extend(vop3b("v_mad_u64_u32", 8, 26, [v(0), v(3), v(0)]));
    for round in 0..50 {
        let mut a = [(); LANES].map(|()| r.next());
        let mut b = [(); LANES].map(|()| r.next());
        if round == 0 {
            (a[0], b[0]) = (u64::MAX, 1);
            (a[1], b[1]) = (0, 1);
            (a[2], b[2]) = (0xffff_ffff, 1);
            (a[3], b[3]) = (u64::MAX, u64::MAX);
        }
        m.set64(0, &a);
        m.set64(2, &b);
        m.run(&code);
        let mask = |f: &dyn Fn(usize) -> bool| {
            (0..LANES).filter(|&i| f(i)).fold(0u64, |mask, i| mask | 1 << i)
        };
        for i in 0..LANES {
            assert_eq!(m.get64(4)[i], a[i].wrapping_add(b[i]));
            assert_eq!(m.get64(6)[i], a[i].wrapping_sub(b[i]));
            let product = u128::from(a[i] as u32) * u128::from((b[i] >> 32) as u32);
            assert_eq!(m.get64(8)[i], (product + u128::from(a[i])) as u64);
        }
        assert_eq!(m.wave.s64(20), mask(&|i| a[i].checked_add(b[i]).is_none()));
        assert_eq!(m.wave.s64(24), mask(&|i| a[i] < b[i]));
        let wide = |i: usize| u128::from(a[i] as u32) * u128::from((b[i] >> 32) as u32);
        assert_eq!(m.wave.s64(26), mask(&|i| (wide(i) + u128::from(a[i])) >> 64 != 0));
    }
}

#[test]
fn comparisons_and_classes() {
    let mut m = Machine::new();
    for (a, b) in pairs32(5) {
        (m.wave.v[0], m.wave.v[1]) = (a, b);
        let mut compare = |name: &str, f: &dyn Fn(f32, f32) -> bool| {
            m.run(&vop3(name, 30, [v(0), v(1), 0]));
            for i in 0..LANES {
                let (x, y) = (f32::from_bits(a[i]), f32::from_bits(b[i]));
                assert_eq!(m.wave.s64(30) >> i & 1 != 0, f(x, y), "{name}({x:e}, {y:e})");
            }
        };
        compare("v_cmp_lt_f32", &|x, y| x < y);
        compare("v_cmp_nlt_f32", &|x, y| x.partial_cmp(&y) != Some(std::cmp::Ordering::Less));
        compare("v_cmp_lg_f32", &|x, y| x != y && !x.is_nan() && !y.is_nan());
        compare("v_cmp_neq_f32", &|x, y| x != y);
        compare("v_cmp_o_f32", &|x, y| x.partial_cmp(&y).is_some());
        compare("v_cmp_u_f32", &|x, y| x.partial_cmp(&y).is_none());
        compare("v_cmp_class_f32", &|x, y| {
            use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
            let negative = x.is_sign_negative();
            let bit = match (x.classify(), negative) {
                (Nan, _) if x.to_bits() & 0x0040_0000 == 0 => 0,
                (Nan, _) => 1,
                (Infinite, true) => 2,
                (Normal, true) => 3,
                (Subnormal, true) => 4,
                (Zero, true) => 5,
                (Zero, false) => 6,
                (Subnormal, false) => 7,
                (Normal, false) => 8,
                (Infinite, false) => 9,
            };
            y.to_bits() >> bit & 1 != 0
        });
    }
}

#[test]
fn cmpx_and_exec_mask_lanes() {
    let mut m = Machine::new();
    m.wave.v[0] = std::array::from_fn(|i| i as u32);
    m.wave.v[1] = [7; LANES];
    let mut code = Vec::from(vop3("v_cmpx_lt_u32", u32::from(VCC), [128 + 10, v(0), 0]));
    code.extend(vop3("v_add_u32", 1, [v(0), v(0), 0]));
    m.run(&code);
    let expected: Reg = std::array::from_fn(|i| if i > 10 { 2 * i as u32 } else { 7 });
    assert_eq!(m.wave.v[1], expected);
    assert_eq!(m.wave.exec(), !0 << 11);
    assert_eq!(m.wave.vcc(), !0 << 11);
}

#[test]
fn dpp_moves_lanes() {
    let mut m = Machine::new();
    let mut dpp = |control: u32, bound: bool, rows: u32, banks: u32| {
        m.wave.v[0] = std::array::from_fn(|i| 100 + i as u32);
        m.wave.v[1] = [7; LANES];
        let extra = control << 8 | u32::from(bound) << 19 | banks << 24 | rows << 28;
        m.run(&[0x7e02_02fa, extra]);
        m.wave.v[1]
    };
    let lane = |i: usize| 100 + i as u32;
    // row_shr:1 leaves the first lane of each row alone, or zeroes it.
    let shifted = dpp(0x111, false, 15, 15);
    assert_eq!(shifted, std::array::from_fn(|i| if i % 16 == 0 { 7 } else { lane(i - 1) }));
    let zeroed = dpp(0x111, true, 15, 15);
    assert_eq!(zeroed, std::array::from_fn(|i| if i % 16 == 0 { 0 } else { lane(i - 1) }));
    assert_eq!(
        dpp(0x102, true, 15, 15),
        std::array::from_fn(|i| if i % 16 < 14 { lane(i + 2) } else { 0 })
    );
    assert_eq!(dpp(0x140, true, 15, 15), std::array::from_fn(|i| lane(i ^ 15)));
    assert_eq!(dpp(0x141, true, 15, 15), std::array::from_fn(|i| lane(i ^ 7)));
    assert_eq!(dpp(0b00_01_10_11, true, 15, 15), std::array::from_fn(|i| lane(i ^ 3)));
    // row_bcast:15 into rows 1 and 3, as a scan does.
    assert_eq!(
        dpp(0x142, false, 0b1010, 15),
        std::array::from_fn(|i| if i / 16 % 2 == 1 { lane(i / 16 * 16 - 1) } else { 7 })
    );
    assert_eq!(
        dpp(0x143, false, 0b1100, 15),
        std::array::from_fn(|i| if i >= 32 { lane(31) } else { 7 })
    );
    // One bank only.
    assert_eq!(
        dpp(0x121, true, 15, 0b0001),
        std::array::from_fn(|i| if i % 16 < 4 { lane(i / 16 * 16 + (i + 15) % 16) } else { 7 })
    );
}

#[test]
fn sdwa_selects_and_places_parts() {
    let mut m = Machine::new();
    m.wave.v[0] = [0x89ab_cdef; LANES];
    m.wave.v[1] = [0x1122_3344; LANES];
    m.wave.v[2] = [0xaaaa_aaaa; LANES];
    // v_add_u32_sdwa v2, sext(v0), v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE
    // src0_sel:BYTE_1 src1_sel:WORD_0
    let word = 5 << 8 | 2 << 11 | 1 << 16 | 1 << 19 | 4 << 24;
    m.run(&[0x6800_0000 | 2 << 17 | 1 << 9 | 249, word]);
    let sum = (0xcdu8 as i8 as i32 as u32).wrapping_add(0x3344) & 0xffff;
    assert_eq!(m.wave.v[2], [sum << 16 | 0xaaaa; LANES]);
    // A byte comparison: v_cmp_eq_u32_sdwa vcc, v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_3.
    m.wave.v[1] = std::array::from_fn(|i| if i % 2 == 0 { 0xef00_0000 } else { 0 });
    m.run(&[0x7c00_0000 | 0xca << 17 | 1 << 9 | 249, 3 << 24]);
    assert_eq!(m.wave.vcc(), 0x5555_5555_5555_5555);
}

#[test]
fn modifiers_of_results_and_sources() {
    let mut m = Machine::new();
    m.wave.v[0] = [3.0f32.to_bits(); LANES];
    m.wave.v[1] = [(-0.25f32).to_bits(); LANES];
    let [first, second] = vop3("v_mul_f32", 2, [v(0), v(1), 0]);
    // |v1|, times 4, clamped to 1.
    m.run(&[first | 2 << 8 | 1 << 15, second | 2 << 27]);
    assert_eq!(m.wave.v[2], [1.0f32.to_bits(); LANES]);
    // -v0 * v1 / 2.
    m.run(&[first, second | 1 << 29 | 3 << 27]);
    assert_eq!(m.wave.v[2], [0.375f32.to_bits(); LANES]);
    // A saturating add.
    m.wave.v[0] = [0xffff_fff0; LANES];
    let [first, second] = vop3("v_add_u32", 2, [v(0), 128 + 40, 0]);
    m.run(&[first | 1 << 15, second]);
    assert_eq!(m.wave.v[2], [u32::MAX; LANES]);
}

#[test]
fn denormals_are_flushed_where_the_mode_says_so() {
    let mut m = Machine::new();
    m.wave.v[0] = [0x8000_0001; LANES];
    m.wave.v[1] = [0x0080_0000; LANES];
    let half = 240;
    let mut code = Vec::from(vop3("v_mul_f32", 2, [v(1), half, 0]));
    code.extend(vop3("v_add_f32", 3, [v(0), v(0), 0]));
    code.extend(vop3("v_max_f64", 4, [v(0), v(0), 0]));
    code.extend(vop3("v_mov_b32", 6, [v(0), 0, 0]));
    m.run(&code);
    assert_eq!((m.wave.v[2][0], m.wave.v[3][0]), (0x0040_0000, 0x8000_0002));
    // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0
    let off = [0xba00_0000 | 1 << 11 | 4 << 6 | 1, 0];
    m.run(&[&off[..], &code].concat());
    assert_eq!((m.wave.v[2][0], m.wave.v[3][0]), (0, 0x8000_0000));
    assert_eq!(m.wave.v[6][0], 0x8000_0001);
    // Rounding modes other than to nearest are refused.
    let rounding = [0xba00_0000 | 1 << 11 | 1, 3];
    let refused = m.try_run(&rounding, 1).unwrap_err();
    assert!(refused.to_string().contains("float mode 0xc3"), "{refused}");
}

#[test]
fn permutations() {
    let mut m = Machine::new();
    let lane = |i: usize| 1000 + i as u32;
    m.wave.v[0] = std::array::from_fn(|i| 4 * ((i as u32 * 7 + 3) % 64));
    m.wave.v[1] = std::array::from_fn(lane);
    // ds_bpermute_b32 v2, v0, v1, then ds_permute_b32 v3, v0, v1.
    m.run(&[0xd87e_0000, 2 << 24 | 1 << 8, 0xd87c_0000, 3 << 24 | 1 << 8]);
    for i in 0..LANES {
        assert_eq!(m.wave.v[2][i], lane((i * 7 + 3) % 64));
        assert_eq!(m.wave.v[3][(i * 7 + 3) % 64], lane(i));
    }
    // ds_swizzle_b32 v4, v1: swap neighbours; then a mask mode with xor 16.
    m.run(&[0xd87a_0000 | 0x80b1, 4 << 24 | 1]);
    assert_eq!(m.wave.v[4], std::array::from_fn(|i| lane(i ^ 1)));
    m.run(&[0xd87a_0000 | 0x401f, 4 << 24 | 1]);
    assert_eq!(m.wave.v[4], std::array::from_fn(|i| lane(i ^ 16)));
}

#[test]
fn scaling_by_powers_of_two_rounds_once() {
    use super::float::{ldexp_f32, ldexp_f64};
    let mut r = Random(3);
    for _ in 0..20_000 {
        let x = f64::from_bits(r.next());
        let e = (r.next() % 4400) as i32 - 2200;
        if !x.is_finite() {
            continue;
        }
        // In steps that are exact until the last one.
        let mut expected = x;
        let mut left = e;
        while left > 0 && expected.is_finite() {
            expected *= 2.0;
            left -= 1;
        }
        if left < 0 {
            // Scaling down by halves rounds only at the end if the start is normal and large.
            let (m, shift) = (expected, -left);
            let up = 2f64.powi(900);
            let big = m * up;
            if !big.is_finite() || m.is_subnormal() {
                continue;
            }
            let total = shift + 900;
            if total > 1000 {
                continue;
            }
            expected = big * 2f64.powi(-total);
        }
        assert_eq!(ldexp_f64(x, e).to_bits(), expected.to_bits(), "{x:e} {e}");
    }
    assert_eq!(ldexp_f64(5e-324, 1074), 1.0);
    assert_eq!(ldexp_f64(1.0, -1074), 5e-324);
    assert_eq!(ldexp_f64(1.5, -1074), 1e-323);
    assert_eq!(ldexp_f64(1.0, -1076), 0.0);
    assert_eq!(ldexp_f64(-1.0, 5000), f64::NEG_INFINITY);
    assert_eq!(ldexp_f32(1.0, -149).to_bits(), 1);
    assert_eq!(ldexp_f32(1.0, 128), f32::INFINITY);
    assert_eq!(ldexp_f32(f32::from_bits(1), 149), 1.0);
}

#[test]
fn scalar_operations() {
    let mut m = Machine::new();
    let sop2 = |op: u32, a: u32, b: u32| 0x8000_0000 | op << 23 | 10 << 16 | b << 8 | a;
    let mut binary = |op: u32, a: u32, b: u32| {
        (m.wave.s[4], m.wave.s[5]) = (a, b);
        m.wave.scc = false;
        m.run(&[sop2(op, 4, 5)]);
        (m.wave.s[10], m.wave.scc)
    };
    assert_eq!(binary(0x00, u32::MAX, 1), (0, true));
    assert_eq!(binary(0x01, 0, 1), (u32::MAX, true));
    assert_eq!(binary(0x02, i32::MAX as u32, 1), (0x8000_0000, true));
    assert_eq!(binary(0x03, 0x8000_0000, 1), (0x7fff_ffff, true));
    assert_eq!(binary(0x06, u32::MAX, 1), (u32::MAX, true));
    assert_eq!(binary(0x09, u32::MAX, 1), (u32::MAX, true));
    assert_eq!(binary(0x1c, 1, 33), (2, true));
    assert_eq!(binary(0x20, 0x8000_0000, 63), (u32::MAX, true));
    assert_eq!(binary(0x22, 4, 8), (0xf00, false));
    assert_eq!(binary(0x25, 0xabcd_1234, 8 << 16 | 4), (0x23, true));
    assert_eq!(binary(0x26, 0x0000_0f00, 4 << 16 | 8), (u32::MAX, true));
    assert_eq!(binary(0x25, 0xabcd_1234, 32 << 16), (0xabcd_1234, true));
    assert_eq!(binary(0x2a, 5, u32::MAX), (6, true));
    assert_eq!(binary(0x2c, u32::MAX, u32::MAX), (u32::MAX - 1, false));
    assert_eq!(binary(0x2d, u32::MAX, 1), (u32::MAX, false));
    assert_eq!(binary(0x33, 0x1111_2222, 0x3333_4444), (0x3333_2222, false));
    let sop1 = |op: u32, a: u32| 0xbe80_0000 | 10 << 16 | op << 8 | a;
    let mut unary = |op: u32, a: u64| {
        m.wave.set_s64(4, a);
        m.run(&[sop1(op, 4)]);
        m.wave.s[10]
    };
    assert_eq!(unary(0x10, 0), u32::MAX);
    assert_eq!(unary(0x11, 1 << 40), 40);
    assert_eq!(unary(0x12, 0x00ff_0000), 8);
    assert_eq!(unary(0x14, 0xffff_0000), 16);
    assert_eq!(unary(0x14, 0xffff_ffff), u32::MAX);
    assert_eq!(unary(0x15, 0xffff_ffff_0000_0000), 32);
    assert_eq!(unary(0x0d, u64::MAX), 64);
    assert_eq!(unary(0x16, 0x80), 0xffff_ff80);
    assert_eq!(unary(0x06, 0x0000_0010), 0x0000_00f0);
}

#[test]
fn flat_addresses_reach_lds_and_scratch() {
    let mut m = Machine::new();
    let mut scratch = vec![0u32; 16 * LANES];
    let host = scratch.as_mut_ptr().cast::<u8>();
    let base = host.expose_provenance() as u64;
    m.wave.scratch = base;
    m.wave.scratch_bytes = 4 * scratch.len() as u64;
    // SAFETY: the vector outlives the machine's last access, and nobody else writes it meanwhile.
    unsafe { m.space.insert(Range { base, end: base + m.wave.scratch_bytes, host }) };
    m.wave.v[0] = std::array::from_fn(|i| 16 * i as u32);
    m.wave.v[1] = [super::state::SHARED_BASE_HI; LANES];
    m.wave.v[2] = [8; LANES];
    m.wave.v[3] = [super::state::PRIVATE_BASE_HI; LANES];
    m.wave.v[4] = std::array::from_fn(|i| 5000 + i as u32);
    // flat_store_dword v[0:1], v4 offset:4; flat_store_dword v[2:3], v4 offset:4;
    // scratch_load_dword v5, off, s0 with s0 = 12; ds_read_b32 v6, v0 offset:4.
    m.wave.s[0] = 12;
    m.run(&[
        0xdc70_0004,
        0x0000_0400,
        0xdc70_0004,
        0x0000_0402,
        0xdc50_4000,
        0x0500_0000,
        0xd86c_0004,
        0x0600_0000,
    ]);
    assert_eq!(m.wave.v[5], m.wave.v[4]);
    assert_eq!(m.wave.v[6], m.wave.v[4]);
    // The words of all lanes lie side by side.
    assert_eq!(scratch[3 * LANES..4 * LANES], m.wave.v[4]);
}

#[test]
fn random_code_neither_panics_nor_escapes() {
    let mut r = Random(0xfeed);
    let known: Vec<_> = opcodes(Target::Gfx90a).collect();
    let mut faults = 0;
    for round in 0..3000 {
        let mut m = Machine::new();
        // A buffer that registers point at, so that some accesses succeed.
        let mut memory = vec![0u8; 4096];
        let host = memory.as_mut_ptr();
        let base = host.expose_provenance() as u64;
        // SAFETY: the vector outlives the machine's last access; nobody else has a use for it.
        unsafe { m.space.insert(Range { base, end: base + 4096, host }) };
        for at in 0..104 {
            m.wave.s[at] = if at % 2 == 0 { base as u32 } else { (base >> 32) as u32 };
        }
        for at in 0..64 {
            m.wave.v[at] = [(r.next() % 4096) as u32; LANES];
        }
        m.wave.set_s64(EXEC, r.next());
        let words: Vec<u32> = (0..40)
            .map(|_| {
                let word = r.next() as u32;
                if round % 2 == 0 {
                    return word;
                }
                // A word of a known opcode.
                let opcode = known[(r.next() % known.len() as u64) as usize];
                let op = u32::from(opcode.number);
                match opcode.encoding {
                    "SOP1" => 0xbe80_0000 | word & 0x007f_00ff | op << 8,
                    "SOP2" => 0x8000_0000 | word & 0x007f_ffff | op << 23,
                    "SOPK" => 0xb000_0000 | word & 0x007f_ffff | op << 23,
                    "SOPC" => 0xbf00_0000 | word & 0xffff | op << 16,
                    "SOPP" => 0xbf80_0000 | word & 7 | op << 16,
                    "SMEM" => 0xc000_0000 | word & 0x0003_ffff | op << 18,
                    "VOP1" => 0x7e00_0000 | word & 0x01fe_01ff | op << 9,
                    "VOP2" => word & 0x01ff_ffff | op << 25,
                    "VOPC" => 0x7c00_0000 | word & 0x0001_ffff | op << 17,
                    "VOP3" => 0xd000_0000 | word & 0x0000_ffff | op << 16,
                    "VOP3P" => 0xd380_0000 | word & 0x0000_ffff | op << 16,
                    "DS" => 0xd800_0000 | word & 0x0200_ffff | op << 17,
                    "MUBUF" => 0xe000_0000 | word & 0x0002_ffff | op << 18,
                    _flat => 0xdc00_0000 | word & 0x0003_dfff | op << 18,
                }
            })
            .collect();
        match m.try_run(&words, 4) {
            Ok(_) => {}
            Err(kind) => {
                faults += 1;
                assert!(!kind.to_string().contains('\n'), "one line: {kind}");
            }
        }
        drop(memory);
    }
    assert!(faults > 1000, "random code must fault often, not {faults} times");
}

#[test]
fn random_words_have_text_or_a_named_fault() {
    let mut r = Random(0xabcd);
    for _ in 0..300_000 {
        let words = [r.next() as u32, r.next() as u32, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for target in Target::ALL {
            match Program::new(target, 0, &bytes).disassemble(0) {
                Ok((text, size)) => assert!(!text.is_empty() && (size == 4 || size == 8)),
                Err(FaultKind::UnknownInstruction { target: name, words, .. }) => {
                    assert_eq!(name, target.name());
                    assert!(!words.is_empty());
                }
                Err(kind) => panic!("{kind}"),
            }
        }
    }
}

/// Counts the messages that come, and then refuses them.
#[derive(Debug)]
struct Listener(Mutex<u32>, u32);

impl Host for Listener {
    fn interrupt(&self) -> Result<(), String> {
        let mut heard = self.0.lock().unwrap();
        *heard += 1;
        if *heard > self.1 { Err("no more".to_owned()) } else { Ok(()) }
    }
}

#[test]
fn the_host_hears_messages_before_the_wave_goes_on() {
    const MESSAGE: u32 = 0xbf90_0001;
    let mut machine = Machine::new();
    // Nobody listens, and nobody has to.
    machine.run(&[MESSAGE]);
    let listener: &'static Listener = Box::leak(Box::new(Listener(Mutex::new(0), 2)));
    machine.host = Some(listener);
    machine.run(&[MESSAGE, MESSAGE]);
    assert_eq!(*listener.0.lock().unwrap(), 2);
    assert_eq!(machine.try_run(&[MESSAGE], 1), Err(FaultKind::Host("no more".to_owned())));
    // The messages of the graphics pipeline are not emulated.
    let other = machine.try_run(&[MESSAGE + 1], 1);
    assert!(matches!(other, Err(FaultKind::Unsupported { .. })), "{other:?}");
}
