//! Holding bytes against the recorded ones.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::desc::Rect;

use super::memory::Memory;
use super::scope;

/// A float type that the user named for a tolerance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatType {
    /// IEEE 754, 2 bytes.
    F16,
    /// The upper half of an [`FloatType::F32`].
    Bf16,
    /// IEEE 754, 4 bytes.
    F32,
    /// IEEE 754, 8 bytes.
    F64,
}

impl FloatType {
    const NAMES: [(&'static str, FloatType); 4] = [
        ("f16", FloatType::F16),
        ("bf16", FloatType::Bf16),
        ("f32", FloatType::F32),
        ("f64", FloatType::F64),
    ];

    fn bytes(self) -> usize {
        match self {
            FloatType::F16 | FloatType::Bf16 => 2,
            FloatType::F32 => 4,
            FloatType::F64 => 8,
        }
    }

    fn decode(self, bytes: &[u8]) -> f64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        match self {
            FloatType::F16 => f16(word as u16),
            FloatType::Bf16 => f64::from(f32::from_bits((word as u32) << 16)),
            FloatType::F32 => f64::from(f32::from_bits(word as u32)),
            FloatType::F64 => f64::from_bits(word),
        }
    }
}

fn f16(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        normal => (1024.0 + fraction) * 2f64.powi(normal - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// How far a checked value may be from the recorded one: only as the user says, never guessed.
///
/// Values `a` and `b` are equal if `|a - b| <= limit * max(1, |a|, |b|)`, or if both are NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// What checked bytes are taken for.
    pub ty: FloatType,
    /// The limit.
    pub limit: f64,
}

impl FromStr for Tolerance {
    type Err = String;

    /// `f32:1e-5`.
    fn from_str(text: &str) -> Result<Tolerance, String> {
        let wrong = || {
            format!(
                "`{text}` is no tolerance: expected `f16`, `bf16`, `f32` or `f64`, a colon and a number, as in `f32:1e-5`"
            )
        };
        let (ty, limit) = text.split_once(':').ok_or_else(wrong)?;
        let (_, ty) = FloatType::NAMES.into_iter().find(|(n, _)| *n == ty).ok_or_else(wrong)?;
        let limit: f64 = limit.parse().map_err(|_| wrong())?;
        if !limit.is_finite() || limit < 0.0 {
            return Err(wrong());
        }
        Ok(Tolerance { ty, limit })
    }
}

impl Tolerance {
    fn accepts(self, expected: &[u8], actual: &[u8]) -> bool {
        let (a, b) = (self.ty.decode(expected), self.ty.decode(actual));
        (a.is_nan() && b.is_nan())
            || a == b
            || (a.is_finite()
                && b.is_finite()
                && (a - b).abs() <= self.limit * 1f64.max(a.abs()).max(b.abs()))
    }
}

/// What a comparison found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    /// Bytes that differ.
    bytes: u64,
    /// Offset of the first, counted over the rows without the gaps.
    offset: u64,
    expected: Vec<u8>,
    actual: Vec<u8>,
}

/// Differing bytes that a finding shows.
const SHOWN_BYTES: usize = 16;

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} bytes differ, first at offset {:#x}: expected {}, got {}",
            self.bytes,
            self.offset,
            hex(&self.expected),
            hex(&self.actual)
        )
    }
}

/// Bytes in hexadecimal, spaced.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().enumerate().fold(String::new(), |mut text, (i, byte)| {
        let gap = if i > 0 { " " } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}{byte:02x}");
        text
    })
}

/// The rules by which bytes are equal.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) tolerance: Option<Tolerance>,
    /// Words that are addresses of memory that could not be placed are held against where that
    /// memory is now.
    pub(super) memory: Option<&'a Memory>,
}

impl Rules<'_> {
    /// Bit for bit.
    pub(super) const EXACT: Rules<'static> = Rules { tolerance: None, memory: None };

    /// Compares two runs of one length.
    pub(super) fn compare(&self, expected: &[u8], actual: &[u8]) -> Option<Difference> {
        if expected == actual {
            return None;
        }
        let mut found: Option<Difference> = None;
        let unit = self.tolerance.map_or(1, |t| t.ty.bytes());
        let whole = expected.len().is_multiple_of(unit);
        let mut at = 0;
        while at < expected.len() {
            let word = at.is_multiple_of(8).then(|| self.moved_word(&expected[at..])).flatten();
            if word.is_some_and(|word| actual.get(at..at + 8) == Some(&word)) {
                at += 8;
                continue;
            }
            let step = if whole { unit } else { 1 };
            let (e, a) = (&expected[at..at + step], &actual[at..at + step]);
            let equal = e == a || (whole && self.tolerance.is_some_and(|t| t.accepts(e, a)));
            if !equal {
                let bytes = e.iter().zip(a).filter(|(e, a)| e != a).count() as u64;
                let shown = (at + SHOWN_BYTES).min(expected.len());
                let first = found.get_or_insert_with(|| Difference {
                    bytes: 0,
                    offset: at as u64,
                    expected: expected[at..shown].to_vec(),
                    actual: actual[at..shown].to_vec(),
                });
                first.bytes += bytes;
            }
            at += step;
        }
        found
    }

    fn moved_word(&self, bytes: &[u8]) -> Option<[u8; 8]> {
        let word = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
        self.memory?.moved_word(word).map(u64::to_le_bytes)
    }

    /// Compares the rows of a rectangle in memory with packed bytes; what lies between the rows is
    /// not looked at.
    ///
    /// # Safety
    /// The rectangle's footprint is readable at `base`, and no device work writes there.
    pub(super) unsafe fn compare_rows(
        &self,
        expected: &[u8],
        base: *const u8,
        rect: &Rect,
    ) -> Option<Difference> {
        let mut found: Option<Difference> = None;
        let width = rect.width as usize;
        if width == 0 {
            return None;
        }
        for (i, (row, expected)) in scope::rows(rect).zip(expected.chunks(width)).enumerate() {
            // SAFETY: the row lies inside the footprint, which the caller vouches for.
            let actual =
                unsafe { std::slice::from_raw_parts(base.add(row as usize), expected.len()) };
            if let Some(difference) = self.compare(expected, actual) {
                match &mut found {
                    Some(first) => first.bytes += difference.bytes,
                    None => {
                        let offset = difference.offset + (i * width) as u64;
                        found = Some(Difference { offset, ..difference });
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_say_where_and_how_many() {
        let found = Rules::EXACT.compare(&[1, 2, 3, 4], &[1, 9, 3, 8]).unwrap();
        assert_eq!((found.bytes, found.offset), (2, 1));
        assert_eq!(
            found.to_string(),
            "2 bytes differ, first at offset 0x1: expected 02 03 04, got 09 03 08"
        );
        assert_eq!(Rules::EXACT.compare(&[], &[]), None);
    }

    #[test]
    fn a_tolerance_is_for_its_type_and_whole_values_only() {
        let rules = Rules { tolerance: Some("f32:1e-5".parse().unwrap()), memory: None };
        let f = |x: f32| x.to_le_bytes();
        assert_eq!(rules.compare(&f(1.0), &f(1.000_001)), None);
        assert!(rules.compare(&f(1.0), &f(1.0001)).is_some());
        assert_eq!(rules.compare(&f(f32::NAN), &f(-f32::NAN)), None);
        assert!(rules.compare(&f(f32::NAN), &f(1.0)).is_some());
        assert_eq!(rules.compare(&f(f32::INFINITY), &f(f32::INFINITY)), None);
        assert!(rules.compare(&f(f32::INFINITY), &f(1.0)).is_some());
        assert!(rules.compare(&[1, 0, 0], &[0, 0, 0]).is_some(), "3 bytes are no f32");
    }

    #[test]
    fn tolerances_parse_strictly() {
        assert_eq!("bf16:0.5".parse(), Ok(Tolerance { ty: FloatType::Bf16, limit: 0.5 }));
        for wrong in ["", "f32", "f32:", "f8:1", "f32:-1", "f32:nan", "f32:1e-5x", "1e-5"] {
            assert!(wrong.parse::<Tolerance>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn halves_decode() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 2f64.powi(-24)), (0x7bff, 65504.0)]
        {
            assert_eq!(f16(bits), value);
        }
        assert!(f16(0x7e00).is_nan() && f16(0x7c00).is_infinite());
    }

    #[test]
    fn only_rows_are_compared() {
        let rect = Rect { offset: 1, width: 2, height: 2, depth: 1, pitch: 4, slice: 8 };
        let mut memory = [9u8, 1, 2, 9, 9, 3, 4, 9];
        // SAFETY: the footprint is 7 bytes of 8.
        let compare = |memory: &[u8]| unsafe {
            Rules::EXACT.compare_rows(&[1, 2, 3, 4], memory.as_ptr(), &rect)
        };
        assert_eq!(compare(&memory), None);
        memory[3] = 0;
        assert_eq!(compare(&memory), None);
        memory[6] = 0;
        assert_eq!(compare(&memory).map(|d| (d.bytes, d.offset)), Some((1, 3)));
    }
}
