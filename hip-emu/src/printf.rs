//! What kernels print: a message of words, formatted as C formats it, into the C library's own
//! streams, so that it comes in order with what the program prints itself.
//!
//! The message is the one of `ROCm`'s device libraries and of the compiler that calls them
//! (ockl `services.cl`, `ROCclr` `devhcprintf.cpp`, clang `AMDGPUEmitPrintf.cpp`): a word that
//! says which stream, the format, and its arguments. A string, the format too, is its bytes with
//! the zero at the end, in whole words; any other argument is one word. Compiler and runtime
//! agree on where a conversion ends: at the first letter that is a conversion of C's, whatever
//! lies before it.
//!
//! Differences from AMD's runtime: it takes what a `%s` printed for the string's length, and so
//! reads the arguments behind one with a width or a precision at the wrong place; and it hands
//! conversions that C does not know to the C library, which here are printed as they stand.

use std::ffi::{CString, c_int, c_void};

use libc::FILE;

/// Bit 0 of the control word: to standard error.
const TO_STDERR: u64 = 1;
/// The letters that end a conversion.
const CONVERSIONS: &[u8] = b"diouxXfFeEgGaAcspn";

unsafe extern "C" {
    static stdout: *mut FILE;
    static stderr: *mut FILE;
    fn flockfile(stream: *mut FILE);
    fn funlockfile(stream: *mut FILE);
}

/// Prints a message of [`control word, format, arguments...`]; the result is what `printf`
/// returns in the kernel.
pub(crate) fn print(message: &[u64]) -> i32 {
    let Some((&control, rest)) = message.split_first() else { return -1 };
    let stream = match control {
        // SAFETY: a pointer that the C library, and the program if it wants to, keeps right.
        0 => unsafe { stdout },
        // SAFETY: as above.
        TO_STDERR => unsafe { stderr },
        _unknown => return -1,
    };
    print_to(stream, rest)
}

fn print_to(stream: *mut FILE, words: &[u64]) -> i32 {
    // Locked as a whole, since the message is written piece by piece.
    let mut output = Output { stream: Locked::new(stream), printed: 0 };
    match output.message(words) {
        Ok(()) => output.printed,
        Err(Failed) => -1,
    }
}

/// A stream that no other thread writes to meanwhile.
struct Locked(*mut FILE);

impl Locked {
    fn new(stream: *mut FILE) -> Self {
        // SAFETY: an open stream of the C library.
        unsafe { flockfile(stream) };
        Self(stream)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: this thread has locked it.
        unsafe { funlockfile(self.0) };
    }
}

/// The stream took no more.
struct Failed;

struct Output {
    stream: Locked,
    printed: i32,
}

/// The arguments that are left.
struct Rest<'a>(&'a [u64]);

impl Rest<'_> {
    fn word(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A string up to its zero, or up to the end of the message.
    fn string(&mut self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(word) = self.word() {
            let word = word.to_le_bytes();
            let end = word.iter().position(|&byte| byte == 0);
            bytes.extend(&word[..end.unwrap_or(word.len())]);
            if end.is_some() {
                break;
            }
        }
        bytes
    }
}

impl Output {
    fn message(&mut self, words: &[u64]) -> Result<(), Failed> {
        let mut rest = Rest(words);
        let format = rest.string();
        let mut format = format.as_slice();
        while let Some(at) = format.iter().position(|&byte| byte == b'%') {
            self.text(&format[..at])?;
            format = &format[at..];
            if format.get(1) == Some(&b'%') {
                self.text(b"%")?;
                format = &format[2..];
                continue;
            }
            // AMD's runtime ends the line where the arguments, or the conversion, end.
            let end = format.iter().position(|byte| CONVERSIONS.contains(byte));
            let (Some(end), false) = (end, rest.0.is_empty()) else { return Ok(()) };
            let conversion = &format[..=end];
            format = &format[end + 1..];
            self.conversion(conversion, &mut rest)?;
        }
        self.text(format)
    }

    fn text(&mut self, text: &[u8]) -> Result<(), Failed> {
        if text.is_empty() {
            return Ok(());
        }
        // SAFETY: the slice is that long, and the stream is open and locked.
        let written =
            unsafe { libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), self.stream.0) };
        if written < text.len() {
            return Err(Failed);
        }
        self.count(c_int::try_from(text.len()).unwrap_or(c_int::MAX))
    }

    fn count(&mut self, printed: c_int) -> Result<(), Failed> {
        if printed < 0 {
            return Err(Failed);
        }
        self.printed = self.printed.saturating_add(printed);
        Ok(())
    }

    fn conversion(&mut self, text: &[u8], rest: &mut Rest<'_>) -> Result<(), Failed> {
        let stars = text.iter().filter(|&&byte| byte == b'*').count();
        if stars >= rest.0.len() {
            // Fewer arguments than the conversion needs: what is left is no argument of a later
            // one either.
            *rest = Rest(&[]);
            return Ok(());
        }
        let mut given = [0; 2];
        for index in 0..stars {
            let word = rest.word().unwrap_or(0);
            if let Some(place) = given.get_mut(index) {
                *place = word as c_int;
            }
        }
        let argument = match text.last() {
            Some(b's') => Value::String(CString::new(rest.string()).unwrap_or_default()),
            Some(b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A') => {
                Value::Float(f64::from_bits(rest.word().unwrap_or(0)))
            }
            _integer => Value::Word(rest.word().unwrap_or(0)),
        };
        let Some(conversion) = Conversion::parse(text) else { return self.text(text) };
        if conversion.letter == b'n' {
            // Nothing of the kernel's can be written to.
            return Ok(());
        }
        let printed = self.formatted(&conversion, &given[..stars], &argument);
        self.count(printed)
    }

    fn formatted(&self, conversion: &Conversion, stars: &[c_int], value: &Value) -> c_int {
        let (stream, format) = (self.stream.0, conversion.format.as_ptr());
        // The conversion was parsed: it has as many stars as `stars` has numbers, and its letter
        // decided what `value` is.
        macro_rules! print {
            ($value:expr) => {
                match *stars {
                    [] => {
                        // SAFETY: as said above; the stream is open and locked.
                        unsafe { libc::fprintf(stream, format, $value) }
                    }
                    [first] => {
                        // SAFETY: as above.
                        unsafe { libc::fprintf(stream, format, first, $value) }
                    }
                    [first, second, ..] => {
                        // SAFETY: as above.
                        unsafe { libc::fprintf(stream, format, first, second, $value) }
                    }
                }
            };
        }
        match value {
            // A narrower type is the low part of the register that variadic arguments come in.
            Value::Word(word) => print!(*word),
            Value::Float(number) => print!(*number),
            Value::String(text) => print!(text.as_ptr()),
        }
    }
}

enum Value {
    Word(u64),
    Float(f64),
    String(CString),
}

/// A conversion as C defines it.
struct Conversion {
    letter: u8,
    format: CString,
}

impl Conversion {
    /// `None` if the text is not a conversion of C's: `%`, flags, width, precision, length, letter.
    fn parse(text: &[u8]) -> Option<Self> {
        let (&letter, body) = text.strip_prefix(b"%")?.split_last()?;
        let body = skip(body, |byte| b"-+ #0'".contains(&byte));
        let body = number(body);
        let body = body.strip_prefix(b".").map_or(body, number);
        let length = match body {
            b"" | b"hh" | b"h" | b"l" | b"ll" | b"q" | b"j" | b"z" | b"t" | b"L" => body,
            _other => return None,
        };
        let start = &text[..text.len() - 1 - length.len()];
        let length: &[u8] = match (letter, length) {
            // Wide characters are not what the device has strings of.
            (b's', b"") | (b'c', b"" | b"l") | (b'p', _) => length,
            (b's' | b'c', _) => return None,
            // The device's widest number is a double.
            (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A', _) => b"",
            (_, b"L") => b"ll",
            (_, other) => other,
        };
        let format = CString::new([start, length, &[letter]].concat()).ok()?;
        Some(Self { letter, format })
    }
}

fn skip(text: &[u8], what: impl Fn(u8) -> bool) -> &[u8] {
    let end = text.iter().position(|&byte| !what(byte)).unwrap_or(text.len());
    &text[end..]
}

/// Skips a star or digits.
fn number(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"*").unwrap_or_else(|| skip(text, |byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, CString, c_char};
    use std::ptr;

    use super::{print, print_to};

    enum Argument {
        Word(u64),
        Float(f64),
        Text(&'static str),
    }
    use Argument::{Float, Text, Word};

    fn words(text: &[u8]) -> Vec<u64> {
        let mut bytes = text.to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn message(format: &str, arguments: &[Argument]) -> Vec<u64> {
        let mut message = words(format.as_bytes());
        for argument in arguments {
            match argument {
                Word(word) => message.push(*word),
                Float(number) => message.push(number.to_bits()),
                Text(text) => message.extend(words(text.as_bytes())),
            }
        }
        message
    }

    /// What a message prints, and its result.
    fn printed(message: &[u64]) -> (String, i32) {
        let (mut text, mut bytes): (*mut c_char, usize) = (ptr::null_mut(), 0);
        // SAFETY: both places outlive the stream.
        let stream = unsafe { libc::open_memstream(&raw mut text, &raw mut bytes) };
        assert!(!stream.is_null());
        let result = print_to(stream, message);
        // SAFETY: opened above, and not used any more.
        unsafe { libc::fclose(stream) };
        // SAFETY: closing has stored the text with a zero at its end.
        let all = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        // SAFETY: the stream's memory is the caller's to free.
        unsafe { libc::free(text.cast()) };
        assert_eq!(all.len(), bytes);
        (all, result)
    }

    /// Fails unless the C library prints the same.
    macro_rules! assert_same {
        ($format:literal $(, $argument:expr => $value:expr)*) => {{
            let format = CString::new($format).unwrap();
            let mut line = [0_u8; 500];
            let start = line.as_mut_ptr().cast();
            // SAFETY: there is room for 500 bytes, and the values are what the format names.
            let result = unsafe { libc::snprintf(start, 500, format.as_ptr() $(, $value)*) };
            let text = CStr::from_bytes_until_nul(&line).unwrap().to_str().unwrap();
            let got = printed(&message($format, &[$($argument),*]));
            assert_eq!(got, (text.to_owned(), result), $format);
        }};
    }

    #[test]
    fn what_follows_a_string_is_where_the_string_ends() {
        assert_same!("%12s|%d|\n", Text("right") => c"right".as_ptr(), Word(5) => 5);
        assert_same!(
            "%.2s|%d|%s|\n",
            Text("cut off here") => c"cut off here".as_ptr(),
            Word(6) => 6,
            Text("end") => c"end".as_ptr()
        );
        assert_same!(
            "%-20s|%f|%-*s|%c|",
            Text("left") => c"left".as_ptr(),
            Float(0.5) => 0.5,
            Word(30) => 30,
            Text("wide, of two words") => c"wide, of two words".as_ptr(),
            Word(99) => 99
        );
        assert_same!("%*.*s|%d", Word(9) => 9, Word(1) => 1, Text("") => c"".as_ptr(), Word(7) => 7);
    }

    #[test]
    fn numbers_have_the_width_that_the_length_says() {
        assert_same!("%hhd|%hd|%ld", Word(300) => 300, Word(70000) => 70000, Word(1 << 40) => 1_i64 << 40);
        assert_same!("%d|%x|%c", Word(0xffff_fff0_0000_0005) => 5, Word(1 << 32) => 0, Word(0x141) => 0x41);
        assert_same!("%zu %jd %td %qd", Word(1) => 1_u64, Word(2) => 2_u64, Word(3) => 3_u64, Word(4) => 4_u64);
        assert_same!("%p %p", Word(0) => 0_u64, Word(0x1234) => 0x1234_u64);
        assert_eq!(
            printed(&message("%Lf|%Ld", &[Float(1.5), Word(7)])),
            ("1.500000|7".to_owned(), 10)
        );
    }

    #[test]
    fn a_message_that_is_no_message_harms_nothing() {
        let cases: &[(&str, &[Argument], &str)] = &[
            ("", &[], ""),
            ("100%", &[Word(1)], "100"),
            ("%d", &[], ""),
            ("%d %d end", &[Word(1)], "1 "),
            ("%*d end", &[Word(1)], " end"),
            ("%*.*d end", &[Word(1), Word(2)], " end"),
            ("%*.*.*d end", &[Word(1), Word(2), Word(3), Word(4)], "%*.*.*d end"),
            ("%n%d", &[Word(0x1234), Word(7)], "7"),
            ("%ls|%d", &[Text("wide"), Word(7)], "%ls|7"),
            ("%hs|%d", &[Text("narrow"), Word(7)], "%hs|7"),
            ("%m%d|%d", &[Word(7), Word(8)], "%m%d|8"),
            ("%1$d|%d", &[Word(7), Word(8)], "%1$d|8"),
            ("%5%d|%d", &[Word(7), Word(8)], "%5%d|8"),
            ("%zzd", &[Word(7)], "%zzd"),
        ];
        for (format, arguments, expected) in cases {
            let (text, result) = printed(&message(format, arguments));
            assert_eq!(text, *expected, "{format}");
            assert_eq!(result as usize, text.len(), "{format}");
        }
        // A string without an end, as a format and as an argument.
        assert_eq!(printed(&[u64::from_le_bytes(*b"no end..")]).0, "no end..");
        let mut open = message("%s|", &[]);
        open.push(u64::from_le_bytes(*b"no end.."));
        assert_eq!(printed(&open).0, "no end..|");
        assert_eq!((print(&[]), print(&[2]), print(&[u64::MAX, 0])), (-1, -1, -1));
    }

    #[test]
    fn a_stream_that_takes_nothing_is_an_error() {
        // SAFETY: constant names.
        let full = unsafe { libc::fopen(c"/dev/full".as_ptr(), c"w".as_ptr()) };
        assert!(!full.is_null());
        // SAFETY: the stream was opened above and nothing was written to it.
        unsafe { libc::setvbuf(full, ptr::null_mut(), libc::_IONBF, 0) };
        assert_eq!(print_to(full, &message("text", &[])), -1);
        assert_eq!(print_to(full, &message("%d", &[Word(1)])), -1);
        // SAFETY: opened above, and not used any more.
        unsafe { libc::fclose(full) };
    }
}
