//! VOPC: vector comparisons, whose result is one bit per lane.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    reason = "each is written as its mnemonic says: nlt is true of NaNs, lg is not"
)]

use super::decode::Words;
use super::float::{class_f16, class_f32, class_f64, f16_to_f32};
use super::inst::{Encoding, Form, Inst, Opnd, Row, VCC};
use super::lane::{H, lanes};
use super::vop2::first_source;
use crate::dispatch::FaultKind;

/// The comparisons of one float type: 16 opcodes from `v_cmp`, 16 from `v_cmpx`.
macro_rules! float_compare {
    ($t:ty, $suffix:literal, $value:expr,
     [$($op:literal $opx:literal $name:literal |$a:ident, $b:ident| $e:expr;)*]) => {
        &[$(
            lanes!($op concat!("v_cmp_", $name, "_", $suffix), |$a: $t, $b: $t| -> bool {
                let ($a, $b) = ($value($a), $value($b));
                $e
            }),
            lanes!($opx concat!("v_cmpx_", $name, "_", $suffix), |$a: $t, $b: $t| -> bool {
                let ($a, $b) = ($value($a), $value($b));
                $e
            }),
        )*]
    };
}

macro_rules! int_compare {
    ($t:ty, $suffix:literal, [$($op:literal $opx:literal $name:literal $e:tt;)*]) => {
        &[$(
            lanes!($op concat!("v_cmp_", $name, "_", $suffix), |a: $t, b: $t| -> bool {
                int_compare!(@ $e, a, b)
            }),
            lanes!($opx concat!("v_cmpx_", $name, "_", $suffix), |a: $t, b: $t| -> bool {
                int_compare!(@ $e, a, b)
            }),
        )*]
    };
    (@ F, $a:ident, $b:ident) => {{ let _ = ($a, $b); false }};
    (@ T, $a:ident, $b:ident) => {{ let _ = ($a, $b); true }};
    (@ LT, $a:ident, $b:ident) => { $a < $b };
    (@ EQ, $a:ident, $b:ident) => { $a == $b };
    (@ LE, $a:ident, $b:ident) => { $a <= $b };
    (@ GT, $a:ident, $b:ident) => { $a > $b };
    (@ NE, $a:ident, $b:ident) => { $a != $b };
    (@ GE, $a:ident, $b:ident) => { $a >= $b };
}

static CLASS: &[Row] = &[
    lanes!(0x10 "v_cmp_class_f32", |a: f32, b: u32| -> bool { class_f32(a, b) }),
    lanes!(0x11 "v_cmpx_class_f32", |a: f32, b: u32| -> bool { class_f32(a, b) }),
    lanes!(0x12 "v_cmp_class_f64", |a: f64, b: u32| -> bool { class_f64(a, b) }),
    lanes!(0x13 "v_cmpx_class_f64", |a: f64, b: u32| -> bool { class_f64(a, b) }),
    lanes!(0x14 "v_cmp_class_f16", |a: H, b: u32| -> bool { class_f16(a, b) }),
    lanes!(0x15 "v_cmpx_class_f16", |a: H, b: u32| -> bool { class_f16(a, b) }),
];

static F16: &[Row] = float_compare!(H, "f16", (f16_to_f32), [
    0x20 0x30 "f" |a, b| { let _ = (a, b); false };
    0x21 0x31 "lt" |a, b| a < b;
    0x22 0x32 "eq" |a, b| a == b;
    0x23 0x33 "le" |a, b| a <= b;
    0x24 0x34 "gt" |a, b| a > b;
    0x25 0x35 "lg" |a, b| a < b || a > b;
    0x26 0x36 "ge" |a, b| a >= b;
    0x27 0x37 "o" |a, b| !a.is_nan() && !b.is_nan();
    0x28 0x38 "u" |a, b| a.is_nan() || b.is_nan();
    0x29 0x39 "nge" |a, b| !(a >= b);
    0x2a 0x3a "nlg" |a, b| !(a < b || a > b);
    0x2b 0x3b "ngt" |a, b| !(a > b);
    0x2c 0x3c "nle" |a, b| !(a <= b);
    0x2d 0x3d "neq" |a, b| a != b;
    0x2e 0x3e "nlt" |a, b| !(a < b);
    0x2f 0x3f "tru" |a, b| { let _ = (a, b); true };
]);

static F32: &[Row] = float_compare!(f32, "f32", (|x: f32| x), [
    0x40 0x50 "f" |a, b| { let _ = (a, b); false };
    0x41 0x51 "lt" |a, b| a < b;
    0x42 0x52 "eq" |a, b| a == b;
    0x43 0x53 "le" |a, b| a <= b;
    0x44 0x54 "gt" |a, b| a > b;
    0x45 0x55 "lg" |a, b| a < b || a > b;
    0x46 0x56 "ge" |a, b| a >= b;
    0x47 0x57 "o" |a, b| !a.is_nan() && !b.is_nan();
    0x48 0x58 "u" |a, b| a.is_nan() || b.is_nan();
    0x49 0x59 "nge" |a, b| !(a >= b);
    0x4a 0x5a "nlg" |a, b| !(a < b || a > b);
    0x4b 0x5b "ngt" |a, b| !(a > b);
    0x4c 0x5c "nle" |a, b| !(a <= b);
    0x4d 0x5d "neq" |a, b| a != b;
    0x4e 0x5e "nlt" |a, b| !(a < b);
    0x4f 0x5f "tru" |a, b| { let _ = (a, b); true };
]);

static F64: &[Row] = float_compare!(f64, "f64", (|x: f64| x), [
    0x60 0x70 "f" |a, b| { let _ = (a, b); false };
    0x61 0x71 "lt" |a, b| a < b;
    0x62 0x72 "eq" |a, b| a == b;
    0x63 0x73 "le" |a, b| a <= b;
    0x64 0x74 "gt" |a, b| a > b;
    0x65 0x75 "lg" |a, b| a < b || a > b;
    0x66 0x76 "ge" |a, b| a >= b;
    0x67 0x77 "o" |a, b| !a.is_nan() && !b.is_nan();
    0x68 0x78 "u" |a, b| a.is_nan() || b.is_nan();
    0x69 0x79 "nge" |a, b| !(a >= b);
    0x6a 0x7a "nlg" |a, b| !(a < b || a > b);
    0x6b 0x7b "ngt" |a, b| !(a > b);
    0x6c 0x7c "nle" |a, b| !(a <= b);
    0x6d 0x7d "neq" |a, b| a != b;
    0x6e 0x7e "nlt" |a, b| !(a < b);
    0x6f 0x7f "tru" |a, b| { let _ = (a, b); true };
]);

static I16: &[Row] = int_compare!(i16, "i16", [
    0xa0 0xb0 "f" F;
    0xa1 0xb1 "lt" LT;
    0xa2 0xb2 "eq" EQ;
    0xa3 0xb3 "le" LE;
    0xa4 0xb4 "gt" GT;
    0xa5 0xb5 "ne" NE;
    0xa6 0xb6 "ge" GE;
    0xa7 0xb7 "t" T;
]);

static U16: &[Row] = int_compare!(u16, "u16", [
    0xa8 0xb8 "f" F;
    0xa9 0xb9 "lt" LT;
    0xaa 0xba "eq" EQ;
    0xab 0xbb "le" LE;
    0xac 0xbc "gt" GT;
    0xad 0xbd "ne" NE;
    0xae 0xbe "ge" GE;
    0xaf 0xbf "t" T;
]);

static I32: &[Row] = int_compare!(i32, "i32", [
    0xc0 0xd0 "f" F;
    0xc1 0xd1 "lt" LT;
    0xc2 0xd2 "eq" EQ;
    0xc3 0xd3 "le" LE;
    0xc4 0xd4 "gt" GT;
    0xc5 0xd5 "ne" NE;
    0xc6 0xd6 "ge" GE;
    0xc7 0xd7 "t" T;
]);

static U32: &[Row] = int_compare!(u32, "u32", [
    0xc8 0xd8 "f" F;
    0xc9 0xd9 "lt" LT;
    0xca 0xda "eq" EQ;
    0xcb 0xdb "le" LE;
    0xcc 0xdc "gt" GT;
    0xcd 0xdd "ne" NE;
    0xce 0xde "ge" GE;
    0xcf 0xdf "t" T;
]);

static I64: &[Row] = int_compare!(i64, "i64", [
    0xe0 0xf0 "f" F;
    0xe1 0xf1 "lt" LT;
    0xe2 0xf2 "eq" EQ;
    0xe3 0xf3 "le" LE;
    0xe4 0xf4 "gt" GT;
    0xe5 0xf5 "ne" NE;
    0xe6 0xf6 "ge" GE;
    0xe7 0xf7 "t" T;
]);

static U64: &[Row] = int_compare!(u64, "u64", [
    0xe8 0xf8 "f" F;
    0xe9 0xf9 "lt" LT;
    0xea 0xfa "eq" EQ;
    0xeb 0xfb "le" LE;
    0xec 0xfc "gt" GT;
    0xed 0xfd "ne" NE;
    0xee 0xfe "ge" GE;
    0xef 0xff "t" T;
]);

/// The families, by opcode range.
pub(crate) static FAMILIES: &[&[Row]] = &[CLASS, F16, F32, F64, I16, U16, I32, U32, I64, U64];

/// The row of an opcode.
pub(crate) fn row(
    words: &Words<'_>,
    encoding: Encoding,
    op: u32,
) -> Result<&'static Row, FaultKind> {
    FAMILIES
        .iter()
        .find_map(|rows| super::inst::find(rows, op, words.target))
        .ok_or_else(|| words.unknown(encoding, format!("opcode {op:#x} is not implemented")))
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = row(words, Encoding::Vopc, w >> 17 & 0xff)?;
    let mut inst = words.inst(Encoding::Vopc, row, 1);
    inst.sdst = Opnd::S(VCC);
    inst.src[1] = Opnd::V((w >> 9 & 0xff) as u16);
    first_source(words, Encoding::Vopc, &mut inst)?;
    if let Form::Sdwa(extra) = inst.form
        && extra >> 15 & 1 != 0
    {
        inst.sdst = words.scalar_destination(Encoding::Vopc, extra >> 8)?;
    }
    Ok(inst)
}
