//! The decoder against LLVM's disassembler.
//!
//! Without `llvm-objdump-15` and `llvm-mc-15` (Debian package llvm-15) these tests say
//! `NOT RUN:` and check nothing.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::process::{Command, Stdio};

use gfx_emu::isa::{Opcode, Program, Target, opcodes};
use hip_code::CodeObject;

#[path = "gpu/mod.rs"]
#[allow(dead_code, reason = "only its data files are used here")]
mod gpu;

/// Whether LLVM's tool is here; says so if it is not.
fn have(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("NOT RUN: {tool} is not installed");
    }
    found
}

/// One space between words.
fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Compares each instruction of a listing: address, text.
fn compare(program: &Program, listing: &[(u64, String)]) {
    let mut wrong = Vec::new();
    for window in listing.windows(2) {
        let [(pc, theirs), (next, _)] = window else { continue };
        match program.disassemble(*pc) {
            // Between functions there are gaps.
            Ok((ours, bytes)) if ours == *theirs && pc + bytes <= *next => {}
            Ok((ours, bytes)) => wrong.push(format!("{pc:#x}: {theirs} | {ours} ({bytes} bytes)")),
            Err(kind) => wrong.push(format!("{pc:#x}: {theirs} | {kind}")),
        }
    }
    assert!(listing.len() > 500, "the listing has only {} instructions", listing.len());
    let shown = wrong.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} differ:\n{shown}", wrong.len(), listing.len());
}

fn compare_object(name: &str, target: Target) {
    let bytes = gpu::data(name);
    let object = CodeObject::parse(&bytes).unwrap();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let output = Command::new("llvm-objdump-15").arg("-d").arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let listing: Vec<(u64, String)> = text
        .lines()
        .filter_map(|line| {
            let (instruction, comment) = line.strip_prefix('\t')?.split_once("//")?;
            let address = comment.split(':').next()?.trim();
            Some((u64::from_str_radix(address, 16).unwrap(), normal(instruction)))
        })
        .collect();
    let (first, last) = (listing[0].0, listing[listing.len() - 1].0);
    let code = object.bytes_at(first, last + 4 - first).unwrap();
    compare(&Program::new(target, first, code), &listing);
}

#[test]
fn code_objects_decode_as_llvm_decodes_them() {
    if !have("llvm-objdump-15") {
        return;
    }
    compare_object("kernels.gfx90a.O2.co", Target::Gfx90a);
    compare_object("kernels.gfx90a.O0.co", Target::Gfx90a);
    compare_object("kernels.gfx906.O2.co", Target::Gfx906);
}

/// Disassembles with LLVM: one text for each candidate that is one instruction to LLVM.
fn disassemble(cpu: &str, candidates: &[Vec<u32>]) -> Vec<Option<String>> {
    let mut child = Command::new("llvm-mc-15")
        .args(["-triple=amdgcn", &format!("-mcpu={cpu}"), "-disassemble"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Markers after each candidate show which lines belong to it; two, since a candidate may
    // take one for its literal.
    const MARKERS: [u32; 2] = [0xbf80_7776, 0xbf80_7777];
    let mut input = String::new();
    for (i, words) in candidates.iter().enumerate() {
        let marker = MARKERS[i % 2];
        for part in [words.as_slice(), &[marker, marker]] {
            let bytes: Vec<String> = part
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .map(|byte| format!("{byte:#04x}"))
                .collect();
            input.push_str(&bytes.join(" "));
            input.push('\n');
        }
    }
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut results = Vec::new();
    let mut lines = Vec::new();
    let mut last = 1;
    for line in text.lines().map(normal).filter(|line| !line.is_empty() && !line.starts_with('.')) {
        let marker = ["s_nop 0x7776", "s_nop 0x7777"].iter().position(|marker| *marker == line);
        match marker {
            None => lines.push(line),
            Some(parity) if parity != last => {
                results.push(if lines.len() == 1 { lines.pop() } else { None });
                lines.clear();
                last = parity;
            }
            Some(_second) => {}
        }
    }
    assert_eq!(results.len(), candidates.len(), "a marker was lost");
    results
}

/// Whether a text is a valid instruction of the opcode.
fn is_of(opcode: &Opcode, text: &str) -> bool {
    let mnemonic = text.split(' ').next().unwrap_or_default();
    let suffix = ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|s| mnemonic.strip_suffix(s));
    suffix.unwrap_or(mnemonic) == opcode.name
        && !text.contains("/*")
        // LLVM spells patterns of lanes; here they are numbers.
        && !text.contains("swizzle(")
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }

    fn pick(&mut self, from: &[u32]) -> u32 {
        from[self.next(from.len() as u32) as usize]
    }

    fn bit(&mut self, one_in: u32) -> u32 {
        u32::from(self.next(one_in) == 0)
    }

    /// A vector register that any number of registers may start at.
    fn vector(&mut self) -> u32 {
        2 * self.next(100)
    }

    /// A scalar register that up to 16 may start at.
    fn scalar(&mut self) -> u32 {
        self.pick(&[0, 4, 8, 16, 32, 64])
    }

    fn scalar_source(&mut self) -> u32 {
        match self.next(4) {
            0 => self.pick(&[128, 129, 135, 192, 193, 208, 240, 241, 242, 243, 244, 246, 247, 248]),
            1 => self.pick(&[106, 126]),
            _ => self.scalar(),
        }
    }

    fn source(&mut self) -> u32 {
        if self.next(3) == 0 { self.scalar_source() } else { 256 + self.vector() }
    }
}

/// Words of one opcode with random operands.
fn candidate(opcode: &Opcode, r: &mut Random) -> Vec<u32> {
    let op = u32::from(opcode.number);
    match opcode.encoding {
        "SOP1" => vec![0xbe80_0000 | r.scalar() << 16 | op << 8 | r.scalar_source()],
        "SOP2" => {
            let first = 0x8000_0000 | op << 23 | r.scalar() << 16;
            match r.next(4) {
                0 => vec![first | 255 << 8 | r.scalar(), 0x1234_5678 ^ r.next(1 << 30)],
                _ => vec![first | r.scalar_source() << 8 | r.scalar()],
            }
        }
        "SOPK" => {
            let mut words = vec![0xb000_0000 | op << 23 | r.scalar() << 16 | r.next(0x10000)];
            if opcode.name.contains("reg") {
                words[0] = (words[0] & !0xffff) | r.next(32) << 11 | r.next(32) << 6 | r.next(8);
            }
            if opcode.name == "s_setreg_imm32_b32" {
                words[0] &= !0x007f_0000;
                words.push(0xf0 + r.next(1 << 20));
            }
            words
        }
        "SOPC" => {
            let second =
                if opcode.name == "s_set_gpr_idx_on" { r.next(16) } else { r.scalar_source() };
            vec![0xbf00_0000 | op << 16 | second << 8 | r.scalar()]
        }
        "SOPP" => {
            let plain = matches!(
                opcode.name,
                "s_endpgm"
                    | "s_barrier"
                    | "s_wakeup"
                    | "s_icache_inv"
                    | "s_ttracedata"
                    | "s_endpgm_saved"
                    | "s_set_gpr_idx_off"
            );
            let k = match opcode.name {
                _ if plain => 0,
                "s_sendmsg" => 1,
                "s_set_gpr_idx_mode" => r.next(16),
                "s_waitcnt" => r.next(0x10000) & 0xcf7f,
                _ => r.next(0x10000),
            };
            vec![0xbf80_0000 | op << 16 | k]
        }
        "SMEM" => {
            if op >= 0x20 {
                let dst = if opcode.name.contains("time") { r.scalar() << 6 } else { 0 };
                return vec![0xc000_0000 | op << 18 | dst, 0];
            }
            let first =
                0xc000_0000 | op << 18 | r.scalar() << 6 | (r.scalar() / 2) | r.bit(3) << 16;
            match r.next(3) {
                0 => vec![first, r.pick(&[0, 4, 33, 124])],
                _ => vec![first | 1 << 17, r.next(1 << 21)],
            }
        }
        "VOP1" => {
            let mut words = short(0x7e00_0000 | r.vector() << 17 | op << 9, opcode.name, r);
            match words[0] & 0x1ff {
                249 => words[1] &= 0x003f_ffff,
                250 => words[1] &= !(3 << 22),
                _plain => {}
            }
            words
        }
        "VOP2" => {
            let constant = ["v_madmk_f32", "v_madak_f32"].contains(&opcode.name);
            let first = op << 25 | r.vector() << 17 | r.vector() << 9;
            if constant {
                return vec![first | 256 | r.vector(), 0x4048_f5c3 ^ r.next(1 << 20)];
            }
            short(first, opcode.name, r)
        }
        "VOPC" => short(0x7c00_0000 | op << 17 | r.vector() << 9, opcode.name, r),
        "VOP3" => long(op, opcode.name, r),
        "VOP3P" => {
            let third = opcode.name.contains("fma")
                || opcode.name.contains("mad")
                || opcode.name.contains("dot");
            let sources = r.source() | r.source() << 9 | (u32::from(third) * r.source()) << 18;
            let accumulator = opcode.name.starts_with("v_accvgpr");
            if accumulator {
                return vec![0xd380_0000 | op << 16 | r.vector(), 256 | r.vector()];
            }
            let select = r.next(8) << 11 | r.bit(2) << 14 | r.bit(4) << 15;
            let neg = if r.bit(2) == 0 { 0 } else { r.next(8) << 8 };
            vec![
                0xd380_0000 | op << 16 | r.vector() | select | neg,
                sources | r.next(4) << 27 | r.next(8) << 29,
            ]
        }
        "DS" => {
            let offset = if r.bit(2) == 0 { 0 } else { r.next(0x10000) };
            // Which fields an opcode has is not known here; the others must be 0.
            let mut maybe = |shift: u32| (r.bit(2) * r.vector()) << shift;
            let registers = maybe(0) | maybe(8) | maybe(16) | maybe(24);
            let global = u32::from(opcode.name.starts_with("ds_gws_")) << 16;
            vec![0xd800_0000 | op << 17 | global | offset, registers]
        }
        encoding @ ("FLAT" | "GLOBAL" | "SCRATCH") => {
            let segment = match encoding {
                "FLAT" => 0,
                "SCRATCH" => 1,
                _ => 2,
            };
            let offset = if segment == 0 { r.next(0x1000) } else { r.next(0x2000) };
            let scalar = if segment == 0 { 0 } else { r.pick(&[0x7f, 0x7f, 4, 106]) };
            vec![
                0xdc00_0000 | op << 18 | segment << 14 | r.next(4) << 16 | offset,
                r.vector() | r.vector() << 8 | scalar << 16 | r.vector() << 24,
            ]
        }
        "MUBUF" if opcode.name.contains("inv") || opcode.name.contains("wb") => {
            vec![0xe000_0000 | op << 18, 0]
        }
        "MUBUF" => {
            let flags = r.next(2) << 12 | r.next(2) << 13 | r.bit(3) << 14 | r.bit(3) << 17;
            let offset = r.pick(&[0, 4, 32, 106, 128, 193]);
            vec![
                0xe000_0000 | op << 18 | flags | r.next(0x1000),
                r.vector() | r.vector() << 8 | (r.scalar() / 4) << 16 | offset << 24,
            ]
        }
        other => panic!("no candidates for encoding {other}"),
    }
}

/// Whether the sources of an operation are floats.
fn is_float(name: &str) -> bool {
    let source = match name.strip_prefix("v_cvt_") {
        // The last type is the source's.
        Some(conversion) => conversion.rsplit('_').next().unwrap_or_default(),
        None => name.rsplit('_').next().unwrap_or_default(),
    };
    // Not all sources of these are floats.
    let mixed = ["ldexp", "cvt_pk_u8", "trig_preop"].iter().any(|n| name.contains(n));
    matches!(source, "f16" | "f32" | "f64") && !mixed
}

/// VOP1, VOP2 and VOPC: plain, with a literal, SDWA or DPP.
fn short(first: u32, name: &str, r: &mut Random) -> Vec<u32> {
    let compare = name.starts_with("v_cmp");
    let float = is_float(name);
    if name == "v_nop" {
        return vec![0x7e00_0000];
    }
    if matches!(name, "v_swap_b32" | "v_accvgpr_mov_b32") {
        return vec![first | 256 | r.vector()];
    }
    match r.next(5) {
        0 => vec![first | 255, 0x4048_f5c3 ^ r.next(1 << 20)],
        1 => {
            let selects = r.next(7) << 16 | r.next(7) << 24;
            let signs = r.bit(3) << 19 | r.bit(3) << 27;
            let float_signs = r.bit(3) << 20 | r.bit(3) << 21 | r.bit(3) << 28 | r.bit(3) << 29;
            let modifiers = if float { float_signs } else { signs };
            let destination = if compare {
                r.bit(2) * (1 << 15 | r.scalar() << 8)
            } else {
                r.next(7) << 8 | r.next(3) << 11 | r.bit(4) << 13
            };
            vec![first | 249, r.vector() | selects | modifiers | destination]
        }
        2 => {
            let control = match r.next(6) {
                0 => r.next(256),
                1 => 0x101 + r.next(15),
                2 => 0x111 + r.next(15),
                3 => 0x121 + r.next(15),
                4 => r.pick(&[0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143]),
                _ => 0x150 + r.next(16),
            };
            let signs = r.bit(3) << 20 | r.bit(3) << 21 | r.bit(3) << 22 | r.bit(3) << 23;
            let masks = r.next(16) << 24 | r.next(16) << 28;
            let bound = r.bit(2) << 19;
            let modifiers = if float { signs } else { 0 };
            vec![first | 250, r.vector() | control << 8 | bound | modifiers | masks]
        }
        _ => vec![first | r.source()],
    }
}

/// VOP3 with the modifiers that its operands may have.
fn long(op: u32, name: &str, r: &mut Random) -> Vec<u32> {
    let lanes = name.contains("readlane") || name.contains("writelane");
    let second_destination =
        ["v_div_scale", "v_mad_u64", "v_mad_i64"].iter().any(|n| name.starts_with(n))
            || name.contains("_co_");
    let float = is_float(name);
    let mut first = 0xd000_0000 | op << 16;
    first |= if name.contains("readlane") { r.scalar() } else { r.vector() };
    if second_destination {
        first |= r.pick(&[4, 8, 106]) << 8;
    } else if float && r.bit(2) == 1 {
        first |= r.next(8) << 8;
    }
    let second_source = if lanes { r.scalar_source() } else { r.source() };
    let mut second = match name {
        "v_writelane_b32" => r.scalar_source(),
        _ => r.source(),
    };
    second |= second_source << 9 | r.source() << 18;
    if float && r.bit(2) == 1 {
        second |= r.next(8) << 29 | r.next(4) << 27;
        first |= r.bit(2) << 15;
    }
    // From here on the opcodes have two sources.
    if op >= 0x280 {
        second &= !(0x7fc0000 | 4 << 29);
        first &= if second_destination { !0 } else { !(4 << 8) };
    }
    vec![first, second]
}

#[test]
fn every_row_decodes_as_llvm_decodes_it() {
    if !have("llvm-mc-15") {
        return;
    }
    for (target, cpu) in [(Target::Gfx90a, "gfx90a"), (Target::Gfx906, "gfx906")] {
        let mut r = Random(42);
        let opcodes: Vec<Opcode> = opcodes(target).collect();
        let mut candidates = Vec::new();
        for opcode in &opcodes {
            candidates.extend((0..64).map(|_| (*opcode, candidate(opcode, &mut r))));
            // The long form of the short encodings.
            let (base, name) = match opcode.encoding {
                "VOP1" => (0x140, opcode.name),
                "VOP2" => (0x100, opcode.name),
                "VOPC" => (0, opcode.name),
                _ => continue,
            };
            if ["v_madmk_f32", "v_madak_f32", "v_pk_fmac_f16"].contains(&name) {
                continue;
            }
            let op = base + u32::from(opcode.number);
            candidates.extend((0..8).map(|_| {
                let mut words = long(op, name, &mut r);
                match opcode.encoding {
                    // Fields without an operand are 0.
                    "VOP1" => {
                        words[1] &= !(0x3fe00 | 0x7fc0000 | 6 << 29);
                        words[0] &= !(6 << 8);
                    }
                    "VOPC" => {
                        words[1] &= !(0x7fc0000 | 4 << 29 | 3 << 27);
                        words[0] &= !(4 << 8 | 1 << 15);
                    }
                    // A mask is in scalar registers.
                    _vop2 => {
                        words[1] &= !(0x7fc0000 | 4 << 29);
                        words[0] &= !(4 << 8);
                        let carried = ["v_addc", "v_subb", "v_cndmask"];
                        if carried.iter().any(|n| name.starts_with(n)) {
                            words[1] |= 4 << 18;
                        }
                    }
                }
                if base == 0 {
                    words[0] = (words[0] & !0xff) | 4;
                }
                (*opcode, words)
            }));
        }
        let words: Vec<Vec<u32>> = candidates.iter().map(|(_, words)| words.clone()).collect();
        let texts = disassemble(cpu, &words);
        let mut seen = HashSet::new();
        let mut compared = 0;
        let mut wrong = Vec::new();
        for ((opcode, words), theirs) in candidates.iter().zip(&texts) {
            let bytes: Vec<u8> =
                words.iter().flat_map(|word| word.to_le_bytes()).chain([0; 8]).collect();
            let ours = Program::new(target, 0x1000, &bytes).disassemble(0x1000);
            // Where LLVM rejects the first word, it goes on with the second one.
            let Some(theirs) = theirs.as_ref().filter(|text| is_of(opcode, text)) else {
                continue;
            };
            compared += 1;
            match ours {
                Ok((ours, size)) if ours == *theirs && size == 4 * words.len() as u64 => {
                    seen.insert((opcode.encoding, opcode.number));
                }
                Ok((ours, size)) => {
                    let text = format!("{words:08x?}: {theirs} | {ours} ({size} bytes)");
                    wrong.push((*opcode, text));
                }
                Err(kind) => wrong.push((*opcode, format!("{words:08x?}: {theirs} | {kind}"))),
            }
        }
        let unseen: Vec<&str> = opcodes
            .iter()
            .filter(|opcode| !seen.contains(&(opcode.encoding, opcode.number)))
            .map(|opcode| opcode.name)
            .collect();
        eprintln!("{cpu}: {} opcodes, {compared} of {} encodings", opcodes.len(), words.len());
        // Two of each mnemonic are enough to see.
        let mut counts = HashMap::new();
        let shown: Vec<String> = wrong
            .iter()
            .filter(|(opcode, _)| {
                let count = counts.entry((opcode.encoding, opcode.number)).or_insert(0);
                *count += 1;
                *count <= 2
            })
            .map(|(_, text)| text.clone())
            .take(80)
            .collect();
        let shown = shown.join("\n");
        assert!(wrong.is_empty(), "{cpu}: {} of {compared} differ:\n{shown}", wrong.len());
        assert!(unseen.is_empty(), "{cpu}: no encoding that LLVM accepts for {unseen:?}");
    }
}
