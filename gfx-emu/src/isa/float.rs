//! Floating-point operations as the hardware does them: NaN rules, class tests, the steps of a
//! division, conversions.
//!
//! The results of IEEE operations are exact. The functions that hardware approximates (exp, log,
//! sin, cos, rcp, rsq, sqrt) give the correctly rounded value; hardware may differ by 1 ulp.
//! Signalling NaNs are quieted as in IEEE mode, which compute kernels run in.

use super::lane::H;

/// What the hardware makes of an invalid operation.
const NAN32: u32 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;

macro_rules! float_ops {
    ($t:ident, $bits:ty, $nan:expr, $quiet:expr,
     $nan1:ident, $nan2:ident, $nan3:ident, $quieted:ident, $add:ident, $sub:ident, $mul:ident,
     $fma:ident, $min:ident, $max:ident, $med3:ident, $fract:ident, $trunc:ident, $ceil:ident,
     $floor:ident, $rndne:ident, $rcp:ident, $sqrt:ident, $canon:ident) => {
        #[inline(always)]
        fn $quieted(x: $t) -> $t {
            $t::from_bits(x.to_bits() | $quiet)
        }

        /// The result `r` of an operation on `a`, with the hardware's NaN.
        #[inline(always)]
        pub(crate) fn $nan1(r: $t, a: $t) -> $t {
            if r.is_nan() { if a.is_nan() { $quieted(a) } else { $t::from_bits($nan) } } else { r }
        }

        #[inline(always)]
        fn $nan2(r: $t, a: $t, b: $t) -> $t {
            if r.is_nan() {
                if a.is_nan() {
                    $quieted(a)
                } else if b.is_nan() {
                    $quieted(b)
                } else {
                    $t::from_bits($nan)
                }
            } else {
                r
            }
        }

        #[inline(always)]
        fn $nan3(r: $t, a: $t, b: $t, c: $t) -> $t {
            if r.is_nan() && !a.is_nan() && !b.is_nan() && c.is_nan() {
                $quieted(c)
            } else {
                $nan2(r, a, b)
            }
        }

        #[inline(always)]
        pub(crate) fn $add(a: $t, b: $t) -> $t {
            $nan2(a + b, a, b)
        }

        #[inline(always)]
        #[allow(dead_code, reason = "the f64 variant has no instruction")]
        pub(crate) fn $sub(a: $t, b: $t) -> $t {
            $nan2(a - b, a, b)
        }

        #[inline(always)]
        pub(crate) fn $mul(a: $t, b: $t) -> $t {
            $nan2(a * b, a, b)
        }

        #[inline(always)]
        pub(crate) fn $fma(a: $t, b: $t, c: $t) -> $t {
            $nan3(a.mul_add(b, c), a, b, c)
        }

        #[inline(always)]
        fn $canon(a: $t, b: $t) -> Option<$t> {
            let signalling = |x: $t| x.is_nan() && x.to_bits() & $quiet == 0;
            if signalling(a) {
                Some($quieted(a))
            } else if signalling(b) {
                Some($quieted(b))
            } else if a.is_nan() {
                Some(b)
            } else if b.is_nan() {
                Some(a)
            } else {
                None
            }
        }

        #[inline(always)]
        pub(crate) fn $min(a: $t, b: $t) -> $t {
            if let Some(r) = $canon(a, b) {
                r
            } else if a == b {
                // Only zeros differ in their bits here.
                $t::from_bits(a.to_bits() | b.to_bits())
            } else if a < b {
                a
            } else {
                b
            }
        }

        #[inline(always)]
        pub(crate) fn $max(a: $t, b: $t) -> $t {
            if let Some(r) = $canon(a, b) {
                r
            } else if a == b {
                $t::from_bits(a.to_bits() & b.to_bits())
            } else if a > b {
                a
            } else {
                b
            }
        }

        #[allow(dead_code, reason = "the f64 variant has no instruction")]
        pub(crate) fn $med3(a: $t, b: $t, c: $t) -> $t {
            if a.is_nan() || b.is_nan() || c.is_nan() {
                return $min($min(a, b), c);
            }
            let top = $max($max(a, b), c);
            if top == a {
                $max(b, c)
            } else if top == b {
                $max(a, c)
            } else {
                $max(a, b)
            }
        }

        pub(crate) fn $fract(a: $t) -> $t {
            let r = a - a.floor();
            // The largest value below 1.
            let below = $t::from_bits((1.0 as $t).to_bits() - 1);
            $nan1(if r >= 1.0 { below } else { r }, a)
        }

        pub(crate) fn $trunc(a: $t) -> $t {
            $nan1(a.trunc(), a)
        }

        pub(crate) fn $ceil(a: $t) -> $t {
            $nan1(a.ceil(), a)
        }

        pub(crate) fn $floor(a: $t) -> $t {
            $nan1(a.floor(), a)
        }

        pub(crate) fn $rndne(a: $t) -> $t {
            $nan1(a.round_ties_even(), a)
        }

        pub(crate) fn $rcp(a: $t) -> $t {
            $nan1(1.0 / a, a)
        }

        pub(crate) fn $sqrt(a: $t) -> $t {
            $nan1(a.sqrt(), a)
        }
    };
}

float_ops!(
    f32,
    u32,
    NAN32,
    0x0040_0000,
    nan1_f32,
    nan2_f32,
    nan3_f32,
    quiet_f32,
    add_f32,
    sub_f32,
    mul_f32,
    fma_f32,
    min_f32,
    max_f32,
    med3_f32,
    fract_f32,
    trunc_f32,
    ceil_f32,
    floor_f32,
    rndne_f32,
    rcp_f32,
    sqrt_f32,
    pick_nan_f32
);
float_ops!(
    f64,
    u64,
    NAN64,
    0x0008_0000_0000_0000,
    nan1_f64,
    nan2_f64,
    nan3_f64,
    quiet_f64,
    add_f64,
    sub_f64,
    mul_f64,
    fma_f64,
    min_f64,
    max_f64,
    med3_f64,
    fract_f64,
    trunc_f64,
    ceil_f64,
    floor_f64,
    rndne_f64,
    rcp_f64,
    sqrt_f64,
    pick_nan_f64
);

/// A denormal as a zero of its sign.
#[inline(always)]
pub(crate) fn flush_f32(a: f32) -> f32 {
    if a.is_subnormal() { 0.0f32.copysign(a) } else { a }
}

/// Multiply and add, rounded twice, denormals flushed: v_mad_f32 and v_mac_f32.
#[inline(always)]
pub(crate) fn mad_f32(a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (flush_f32(a), flush_f32(b), flush_f32(c));
    let product = flush_f32(a * b);
    flush_f32(nan3_f32(product + c, a, b, c))
}

/// Multiplication in which zero times anything is zero.
pub(crate) fn mul_legacy_f32(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { mul_f32(a, b) }
}

pub(crate) fn rsq_f32(a: f32) -> f32 {
    nan1_f32((1.0 / f64::from(a).sqrt()) as f32, a)
}

pub(crate) fn rsq_f64(a: f64) -> f64 {
    nan1_f64(1.0 / a.sqrt(), a)
}

pub(crate) fn exp_f32(a: f32) -> f32 {
    nan1_f32(f64::from(a).exp2() as f32, a)
}

pub(crate) fn log_f32(a: f32) -> f32 {
    nan1_f32(f64::from(a).log2() as f32, a)
}

/// The sine of `a` turns.
pub(crate) fn sin_f32(a: f32) -> f32 {
    nan1_f32(turns(a).sin() as f32, a)
}

/// The cosine of `a` turns.
pub(crate) fn cos_f32(a: f32) -> f32 {
    nan1_f32(turns(a).cos() as f32, a)
}

fn turns(a: f32) -> f64 {
    let a = f64::from(a);
    (a - a.round_ties_even()) * std::f64::consts::TAU
}

/// `x * 2^exponent`, rounded once.
pub(crate) fn ldexp_f64(x: f64, exponent: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return nan1_f64(x, x);
    }
    let own = exponent_f64(x);
    // The value with exponent 0: its fraction, moved up to the leading bit if it is denormal.
    let fraction = if x.is_subnormal() { x.to_bits() << (-1022 - own) } else { x.to_bits() };
    let sign = x.to_bits() & 1 << 63;
    let unit = f64::from_bits(sign | 1023 << 52 | fraction & ((1 << 52) - 1));
    match own + exponent.clamp(-3000, 3000) {
        1024.. => f64::INFINITY.copysign(x),
        target @ -1022..1024 => unit * power(target),
        // The only rounding: into the denormal range.
        target @ -1100..-1022 => unit * power(target + 200) * power(-200),
        _tiny => 0.0f64.copysign(x),
    }
}

/// The binary exponent of a finite value that is not 0, so that `x = m * 2^e`, 1 <= m < 2.
fn exponent_f64(x: f64) -> i32 {
    let field = (x.to_bits() >> 52 & 0x7ff) as i32;
    if field != 0 {
        field - 1023
    } else {
        let fraction = x.to_bits() & ((1 << 52) - 1);
        -1011 - fraction.leading_zeros() as i32
    }
}

/// `2^e` for the exponents of normal values.
fn power(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// `x * 2^exponent`, rounded once.
pub(crate) fn ldexp_f32(x: f32, exponent: i32) -> f32 {
    // Every single-precision value is normal in double precision: scaling there is exact.
    let exponent = exponent.clamp(-400, 400);
    nan1_f32((f64::from(x) * power(exponent)) as f32, x)
}

#[inline(always)]
fn field_f32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

#[inline(always)]
fn field_f64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

/// v_div_scale_f32: the scaled value, and whether v_div_fmas must scale back.
pub(crate) fn div_scale_f32(value: f32, den: f32, num: f32) -> (f32, bool) {
    let is_den = value.to_bits() == den.to_bits();
    let is_num = value.to_bits() == num.to_bits();
    if num == 0.0 || den == 0.0 {
        return (f32::from_bits(NAN32), false);
    }
    let up = |scale: bool| if scale { ldexp_f32(value, 64) } else { value };
    let inverse_denormal = (1.0 / f64::from(den)).abs() < f64::from(f32::MIN_POSITIVE);
    let quotient = f64::from(num) / f64::from(den);
    let quotient_denormal = quotient != 0.0 && quotient.abs() < f64::from(f32::MIN_POSITIVE);
    if field_f32(num) - field_f32(den) >= 96 {
        (up(is_den), true)
    } else if den.is_subnormal() {
        (up(true), false)
    } else if inverse_denormal && quotient_denormal {
        // The published pseudo-code scales the denominator up here, out of range. Scaled down
        // it gives the estimate the exponent by which v_div_fmas knows its way back.
        (if is_den { ldexp_f32(value, -64) } else { value }, true)
    } else if inverse_denormal {
        (ldexp_f32(value, -64), false)
    } else if quotient_denormal {
        (up(is_num), true)
    } else if field_f32(num) <= 23 {
        (up(true), false)
    } else {
        (value, false)
    }
}

/// v_div_scale_f64.
pub(crate) fn div_scale_f64(value: f64, den: f64, num: f64) -> (f64, bool) {
    let is_den = value.to_bits() == den.to_bits();
    let is_num = value.to_bits() == num.to_bits();
    if num == 0.0 || den == 0.0 {
        return (f64::from_bits(NAN64), false);
    }
    let up = |scale: bool| if scale { ldexp_f64(value, 128) } else { value };
    let inverse_denormal = (1.0 / den).is_subnormal();
    // Exact enough where it matters: the quotient of the exponents decides.
    let quotient = num / den;
    let quotient_denormal = quotient.is_subnormal() || (quotient == 0.0 && num.is_finite());
    if field_f64(num) - field_f64(den) >= 768 {
        (up(is_den), true)
    } else if den.is_subnormal() {
        (up(true), false)
    } else if inverse_denormal && quotient_denormal {
        // As in single precision.
        (if is_den { ldexp_f64(value, -128) } else { value }, true)
    } else if inverse_denormal {
        (ldexp_f64(value, -128), false)
    } else if quotient_denormal {
        (up(is_num), true)
    } else if field_f64(num) <= 53 {
        (up(true), false)
    } else {
        (value, false)
    }
}

/// The sum of two doubles, rounded to odd, so that rounding it again to a shorter format gives
/// what rounding the exact sum would.
fn add_to_odd(a: f64, b: f64) -> f64 {
    let s = a + b;
    if !s.is_finite() {
        return s;
    }
    let bb = s - a;
    odd(s, (a - (s - bb)) + (b - bb))
}

/// `r`, whose exact value is `r + rest`, rounded to odd.
fn odd(r: f64, rest: f64) -> f64 {
    if rest == 0.0 || r.to_bits() & 1 != 0 {
        return r;
    }
    // Toward the rest: away from zero when the signs agree.
    let away = (rest > 0.0) == (r > 0.0);
    f64::from_bits(if away { r.to_bits() + 1 } else { r.to_bits() - 1 })
}

/// v_div_fmas_f32: a fused multiply-add that is scaled before its only rounding. By which power
/// the exponent of the estimate (the addend) tells: v_div_scale either made the quotient small
/// by scaling the denominator, or large by scaling the numerator.
pub(crate) fn div_fmas_f32(a: f32, b: f32, c: f32, scaled: bool) -> f32 {
    if !scaled {
        return fma_f32(a, b, c);
    }
    let exact = add_to_odd(f64::from(a) * f64::from(b), f64::from(c));
    let by = if field_f32(c) > 127 { 64 } else { -64 };
    nan3_f32((exact * power(by)) as f32, a, b, c)
}

/// v_div_fmas_f64.
pub(crate) fn div_fmas_f64(a: f64, b: f64, c: f64, scaled: bool) -> f64 {
    let r = fma_f64(a, b, c);
    if !scaled || !r.is_finite() || r == 0.0 {
        return r;
    }
    let by = if field_f64(c) > 1023 { 128 } else { -128 };
    if exponent_f64(r) + by >= -1022 {
        return ldexp_f64(r, by);
    }
    // The result is a denormal, and `r` is rounded already. The error of the fused operation,
    // after Boldo and Muller:
    let uh = a * b;
    let ul = a.mul_add(b, -uh);
    let a1 = c + ul;
    let t = a1 - c;
    let a2 = (c - (a1 - t)) + (ul - t);
    let b1 = uh + a1;
    let t = b1 - uh;
    let b2 = (uh - (b1 - t)) + (a1 - t);
    let rest = ((b1 - r) + b2) + a2;
    let rounded = ldexp_f64(r, by);
    // Only where `r` lies halfway between two denormals can the error tip the balance.
    let step = f64::from_bits(1);
    let off = r - ldexp_f64(rounded, -by);
    let halfway = off.abs() == ldexp_f64(step, -by - 1);
    if halfway && rest != 0.0 && (off > 0.0) == (rest > 0.0) {
        rounded + step.copysign(off)
    } else {
        rounded
    }
}

macro_rules! div_fixup {
    ($name:ident, $t:ident, $nan:expr, $quieted:ident, $field:ident, $low:expr, $top:expr) => {
        /// The last step of a division: signs, specials, and results out of range.
        pub(crate) fn $name(q: $t, den: $t, num: $t) -> $t {
            let negative = den.is_sign_negative() != num.is_sign_negative();
            let signed = |x: $t| if negative { -x.abs() } else { x.abs() };
            if num.is_nan() {
                $quieted(num)
            } else if den.is_nan() {
                $quieted(den)
            } else if (den == 0.0 && num == 0.0) || (den.is_infinite() && num.is_infinite()) {
                $t::from_bits($nan)
            } else if den == 0.0 || num.is_infinite() {
                signed($t::INFINITY)
            } else if den.is_infinite() || num == 0.0 {
                signed(0.0)
            } else if $field(num) - $field(den) < $low {
                // Too small even to round to the smallest denormal.
                signed(0.0)
            } else if $field(den) == $top || q.is_nan() {
                // Of finite operands only a quotient far out of range has no estimate.
                signed($t::INFINITY)
            } else {
                signed(q)
            }
        }
    };
}

div_fixup!(div_fixup_f32, f32, 0xffc0_0000, quiet_f32, field_f32, -150, 255);
div_fixup!(div_fixup_f64, f64, 0xfff8_0000_0000_0000, quiet_f64, field_f64, -1075, 2047);

/// The class bits of v_cmp_class.
#[inline(always)]
fn class(nan: bool, quiet: bool, inf: bool, zero: bool, sub: bool, negative: bool) -> u32 {
    if nan {
        return if quiet { 2 } else { 1 };
    }
    // From the outside in: infinity, normal, denormal, zero.
    let rank = if inf {
        0
    } else if zero {
        3
    } else if sub {
        2
    } else {
        1
    };
    if negative { 4 << rank } else { 0x200 >> rank }
}

pub(crate) fn class_f32(a: f32, mask: u32) -> bool {
    let quiet = a.to_bits() & 0x0040_0000 != 0;
    let sub = a.is_subnormal();
    class(a.is_nan(), quiet, a.is_infinite(), a == 0.0, sub, a.is_sign_negative()) & mask != 0
}

pub(crate) fn class_f64(a: f64, mask: u32) -> bool {
    let quiet = a.to_bits() & (1 << 51) != 0;
    let sub = a.is_subnormal();
    class(a.is_nan(), quiet, a.is_infinite(), a == 0.0, sub, a.is_sign_negative()) & mask != 0
}

pub(crate) fn class_f16(a: H, mask: u32) -> bool {
    let (exponent, fraction) = (a.0 >> 10 & 0x1f, a.0 & 0x3ff);
    let nan = exponent == 31 && fraction != 0;
    let inf = exponent == 31 && fraction == 0;
    let zero = exponent == 0 && fraction == 0;
    let sub = exponent == 0 && fraction != 0;
    class(nan, a.0 & 0x200 != 0, inf, zero, sub, a.0 & 0x8000 != 0) & mask != 0
}

pub(crate) fn frexp_exp_f64(a: f64) -> i32 {
    if a == 0.0 || !a.is_finite() { 0 } else { exponent_f64(a) + 1 }
}

pub(crate) fn frexp_mant_f64(a: f64) -> f64 {
    if a == 0.0 || !a.is_finite() { nan1_f64(a, a) } else { ldexp_f64(a, -exponent_f64(a) - 1) }
}

pub(crate) fn frexp_exp_f32(a: f32) -> i32 {
    frexp_exp_f64(f64::from(a))
}

pub(crate) fn frexp_mant_f32(a: f32) -> f32 {
    if a == 0.0 || !a.is_finite() { nan1_f32(a, a) } else { frexp_mant_f64(f64::from(a)) as f32 }
}

/// 53 bits of 2/pi, from the place that the argument's exponent and the segment ask for.
pub(crate) fn trig_preop_f64(a: f64, segment: u32) -> f64 {
    let field = field_f64(a);
    let mut shift = (segment & 31) as i32 * 53;
    if field > 1077 {
        shift += field - 1077;
    }
    let mut bits = 0u64;
    for i in 0..53 {
        let at = shift + i;
        let bit = match usize::try_from(at) {
            Ok(at) if at < 1201 => two_over_pi_bit(at),
            Ok(_) | Err(_) => false,
        };
        bits = bits << 1 | u64::from(bit);
    }
    let mut scale = -53 - shift;
    if field >= 1968 {
        scale += 128;
    }
    ldexp_f64(bits as f64, scale)
}

fn two_over_pi_bit(at: usize) -> bool {
    TWO_OVER_PI[at / 24] >> (23 - at % 24) & 1 != 0
}

/// The fraction of 2/pi, 24 bits a word, most significant first.
const TWO_OVER_PI: [u32; 51] = [
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163,
    0xabdebb, 0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129,
    0xa73ee8, 0x8235f5, 0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c,
    0x845f8b, 0xbdf928, 0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf,
    0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292,
    0x6bfb5f, 0x8d5d08, 0x560330, 0x46fc7b, 0x6babf0, 0xcfbc20,
];

// Half precision: computed in wider formats and rounded once.

#[inline(always)]
pub(crate) fn f16_to_f32(h: H) -> f32 {
    let sign = u32::from(h.0 & 0x8000) << 16;
    let exponent = u32::from(h.0 >> 10 & 0x1f);
    let fraction = u32::from(h.0 & 0x3ff);
    if exponent == 31 {
        f32::from_bits(sign | 0x7f80_0000 | fraction << 13)
    } else if exponent == 0 {
        // Exact: a small integer times a power of two.
        let value = fraction as f32 * f32::from_bits((127 - 24) << 23);
        f32::from_bits(sign | value.to_bits())
    } else {
        f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13)
    }
}

/// Rounds to the nearest half-precision value, ties to even.
pub(crate) fn f64_to_f16(x: f64) -> H {
    let sign = (x.to_bits() >> 48 & 0x8000) as u16;
    if x.is_nan() {
        let fraction = (x.to_bits() >> 42 & 0x3ff) as u16;
        return H(sign | 0x7e00 | fraction);
    }
    let a = x.abs();
    if a >= 65520.0 {
        return H(sign | 0x7c00);
    }
    if a < power(-14) {
        // Denormal: a multiple of 2^-24; the sum with 2^28 rounds to that multiple.
        return H(sign | ((a + power(28)).to_bits() & 0x7ff) as u16);
    }
    // Normal: drop 42 bits with rounding; a carry moves into the exponent.
    let bits = a.to_bits();
    let rounded = bits + ((1 << 41) - 1) + (bits >> 42 & 1);
    let exponent = (rounded >> 52) as i32 - 1023 + 15;
    H(sign | (exponent as u16) << 10 | (rounded >> 42 & 0x3ff) as u16)
}

pub(crate) fn f32_to_f16(x: f32) -> H {
    f64_to_f16(f64::from(x))
}

/// Rounds toward zero: v_cvt_pkrtz_f16_f32.
pub(crate) fn f32_to_f16_rtz(x: f32) -> H {
    let near = f32_to_f16(x);
    let back = f16_to_f32(near);
    // Stepping the bits down steps the magnitude down, from infinity to the largest value too.
    if back.abs() > x.abs() { H(near.0 - 1) } else { near }
}

macro_rules! half_ops {
    ($($name:ident($($a:ident),*) = $f:expr;)*) => {$(
        pub(crate) fn $name($($a: H),*) -> H {
            f32_to_f16($f($(f16_to_f32($a)),*))
        }
    )*};
}

half_ops! {
    add_f16(a, b) = add_f32;
    sub_f16(a, b) = sub_f32;
    mul_f16(a, b) = mul_f32;
    min_f16(a, b) = min_f32;
    max_f16(a, b) = max_f32;
    med3_f16(a, b, c) = med3_f32;
    fract_f16(a) = |a: f32| {
        let r = fract_f32(a);
        // The largest half-precision value below 1.
        if r > 0.999_511_7 { 0.999_511_7 } else { r }
    };
    trunc_f16(a) = trunc_f32;
    ceil_f16(a) = ceil_f32;
    floor_f16(a) = floor_f32;
    rndne_f16(a) = rndne_f32;
    rcp_f16(a) = rcp_f32;
    sqrt_f16(a) = sqrt_f32;
    rsq_f16(a) = rsq_f32;
    exp_f16(a) = exp_f32;
    log_f16(a) = log_f32;
    sin_f16(a) = sin_f32;
    cos_f16(a) = cos_f32;
    frexp_mant_f16(a) = frexp_mant_f32;
}

pub(crate) fn fma_f16(a: H, b: H, c: H) -> H {
    let (x, y, z) = (f16_to_f32(a), f16_to_f32(b), f16_to_f32(c));
    // The product of two halves is exact in single precision's range and double's precision.
    let r = add_to_odd(f64::from(x) * f64::from(y), f64::from(z));
    if r.is_nan() { f32_to_f16(nan3_f32(f32::NAN, x, y, z)) } else { f64_to_f16(r) }
}

/// Multiply and add, rounded twice: v_mad_f16 and v_mac_f16.
pub(crate) fn mad_f16(a: H, b: H, c: H) -> H {
    add_f16(mul_f16(a, b), c)
}

pub(crate) fn frexp_exp_f16(a: H) -> i16 {
    frexp_exp_f32(f16_to_f32(a)) as i16
}

pub(crate) fn ldexp_f16(a: H, exponent: i16) -> H {
    f64_to_f16(f64::from(f16_to_f32(a)) * power(i32::from(exponent).clamp(-100, 100)))
}

pub(crate) fn div_fixup_f16(q: H, den: H, num: H) -> H {
    f32_to_f16(div_fixup_f32(f16_to_f32(q), f16_to_f32(den), f16_to_f32(num)))
}

/// A float in -1..=1 as a signed fraction of 16 bits.
pub(crate) fn snorm16(x: f32) -> u16 {
    if x.is_nan() { 0 } else { (x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16 }
}

/// A float in 0..=1 as a fraction of 16 bits.
pub(crate) fn unorm16(x: f32) -> u16 {
    if x.is_nan() { 0 } else { (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16 }
}
