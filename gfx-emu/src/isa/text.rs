//! Disassembly text, as LLVM writes it, so that LLVM can check the decoder.

use std::fmt::Write;

use super::inst::{Encoding, Form, Inst, Opnd, Run, Ty, flag};
use super::mem::MemOp;
use super::state::inline_value;
use super::{Target, sopk, vop2, vop3};

impl Inst {
    /// The instruction as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(self.row.name);
        let operands = match self.encoding {
            Encoding::Sop1 | Encoding::Sop2 => self.plain_operands(),
            Encoding::Sopk => self.sopk_operands(),
            Encoding::Sopc => self.sopc_operands(),
            Encoding::Sopp => return self.sopp_text(),
            Encoding::Smem => self.smem_operands(),
            Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc => {
                text.push_str(self.short_suffix());
                self.short_operands()
            }
            Encoding::Vop3 => {
                let own = self.words[0] >> 16 & 0x3ff >= 0x1c0;
                text.push_str(if own { "" } else { "_e64" });
                self.long_operands()
            }
            Encoding::Vop3p => self.packed_operands(),
            Encoding::Ds => self.ds_operands(),
            Encoding::Flat | Encoding::Global | Encoding::Scratch => self.flat_operands(),
            Encoding::Mubuf => self.mubuf_operands(),
            Encoding::Unknown => String::new(),
        };
        if !operands.is_empty() {
            text.push(' ');
            text.push_str(&operands);
        }
        text
    }

    fn source(&self, k: usize) -> String {
        operand(self.src[k], self.row.src[k])
    }

    fn plain_operands(&self) -> String {
        let mut list = Vec::new();
        if self.dst != Opnd::None {
            list.push(operand(self.dst, self.row.dst));
        }
        list.extend((0..2).filter(|&k| self.src[k] != Opnd::None).map(|k| self.source(k)));
        list.join(", ")
    }

    fn sopk_operands(&self) -> String {
        let constant = format!("{:#x}", self.imm as u32 & 0xffff);
        match self.row.name {
            "s_getreg_b32" => format!("{}, {}", operand(self.dst, Ty::B32), hardware(self)),
            "s_setreg_b32" => format!("{}, {}", hardware(self), self.source(0)),
            "s_setreg_imm32_b32" => format!("{}, {:#x}", hardware(self), self.words[1]),
            "s_call_b64" => format!("{}, {}", operand(self.dst, Ty::B64), self.imm),
            _other if self.dst != Opnd::None => {
                format!("{}, {constant}", operand(self.dst, Ty::B32))
            }
            _compare => format!("{}, {constant}", self.source(0)),
        }
    }

    fn sopc_operands(&self) -> String {
        if self.row.name == "s_set_gpr_idx_on" {
            return format!("{}, {}", self.source(0), gpr_idx(self.imm as u32));
        }
        format!("{}, {}", self.source(0), self.source(1))
    }

    fn sopp_text(&self) -> String {
        let name = self.row.name;
        let k = self.imm as u32 & 0xffff;
        match name {
            "s_endpgm" | "s_barrier" | "s_wakeup" | "s_icache_inv" | "s_ttracedata"
            | "s_endpgm_saved" | "s_set_gpr_idx_off"
                if k == 0 || name != "s_endpgm" =>
            {
                name.to_owned()
            }
            "s_waitcnt" => format!("{name} {}", wait_counts(k)),
            "s_set_gpr_idx_mode" => format!("{name} {}", gpr_idx(k)),
            "s_sendmsg" if k == 1 => format!("{name} sendmsg(MSG_INTERRUPT)"),
            branch if branch.contains("branch") => format!("{name} {k}"),
            _number => format!("{name} {}", literal(k, Ty::B64)),
        }
    }

    fn smem_operands(&self) -> String {
        let mut text = self.plain_smem();
        if self.flag(flag::GLC) {
            text.push_str(" glc");
        }
        text
    }

    fn plain_smem(&self) -> String {
        if self.dst == Opnd::None {
            return String::new();
        }
        let dst = operand(self.dst, self.row.dst);
        if self.src[0] == Opnd::None {
            return dst;
        }
        let base = self.source(0);
        let immediate = if self.imm < 0 {
            format!("-{:#x}", -i64::from(self.imm))
        } else {
            format!("{:#x}", self.imm)
        };
        match (self.flag(flag::SOFFSET), self.flag(flag::IMM)) {
            (true, true) => {
                format!("{dst}, {base}, {} offset:{immediate}", operand(self.src[1], Ty::B32))
            }
            (true, false) => format!("{dst}, {base}, {}", operand(self.src[1], Ty::B32)),
            _immediate => format!("{dst}, {base}, {immediate}"),
        }
    }

    fn short_suffix(&self) -> &'static str {
        match self.form {
            Form::Sdwa(_) => return "_sdwa",
            Form::Dpp(_) => return "_dpp",
            Form::Plain => {}
        }
        let bare = vop2::has_constant(self.row)
            || matches!(
                self.row.name,
                "v_nop" | "v_readfirstlane_b32" | "v_swap_b32" | "v_accvgpr_mov_b32"
            );
        if bare { "" } else { "_e32" }
    }

    /// Destination, and the sources that the text names.
    fn vector_list(&self, sources: usize, modify: impl Fn(usize) -> String) -> String {
        let mut list = Vec::new();
        if self.dst != Opnd::None {
            list.push(operand(self.dst, self.row.dst));
        }
        if self.sdst != Opnd::None {
            list.push(operand(self.sdst, Ty::Mask));
        }
        list.extend((0..sources).map(modify));
        list.join(", ")
    }

    fn source_count(&self) -> usize {
        self.row.src.iter().take(3).filter(|&&ty| ty != Ty::None).count()
    }

    fn short_operands(&self) -> String {
        if vop2::has_constant(self.row) {
            let middle = self.row.name.contains("mk");
            let order = if middle { [0, 2, 1] } else { [0, 1, 2] };
            let sources = order.map(|k| self.source(k)).join(", ");
            return format!("{}, {sources}", operand(self.dst, self.row.dst));
        }
        // An accumulator is not named twice; a carry is.
        let accumulates = self.row.src[2] != Ty::None && self.row.src[2] != Ty::Mask;
        let count = if accumulates { 2 } else { self.source_count() };
        match self.form {
            Form::Plain => self.vector_list(count, |k| self.source(k)),
            Form::Sdwa(word) => self.sdwa_operands(word, count),
            Form::Dpp(word) => {
                let list = self.vector_list(count, |k| self.modified_source(k));
                format!("{list} {}", dpp(word))
            }
        }
    }

    fn sdwa_operands(&self, word: u32, count: usize) -> String {
        let mut text = self.vector_list(count, |k| {
            let source = self.source(k);
            if k >= 2 {
                return source;
            }
            let field = word >> (16 + 8 * k);
            if field & 8 != 0 {
                format!("sext({source})")
            } else if self.row.src[k].is_float() {
                with_modifiers(&source, self.src[k], field & 16 != 0, field & 32 != 0)
            } else {
                source
            }
        });
        text.push_str(&self.result_modifiers());
        let select = |field: u32| {
            ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", ""]
                [(field & 7) as usize]
        };
        if self.row.dst != Ty::Mask {
            let unused = ["PAD", "SEXT", "PRESERVE", ""][(word >> 11 & 3) as usize];
            let dst = select(word >> 8);
            let _ = write!(text, " dst_sel:{dst} dst_unused:UNUSED_{unused}");
        }
        let _ = write!(text, " src0_sel:{}", select(word >> 16));
        if self.row.src[1] != Ty::None {
            let _ = write!(text, " src1_sel:{}", select(word >> 24));
        }
        text
    }

    fn modified_source(&self, k: usize) -> String {
        let bit = |field: u8| field >> k & 1 != 0;
        with_modifiers(&self.source(k), self.src[k], bit(self.mods.neg), bit(self.mods.abs))
    }

    fn result_modifiers(&self) -> String {
        let mut text = String::new();
        if self.mods.clamp {
            text.push_str(" clamp");
        }
        text.push_str(["", " mul:2", " mul:4", " div:2"][usize::from(self.mods.omod & 3)]);
        text
    }

    fn long_operands(&self) -> String {
        let accumulates = (0x100..0x140).contains(&(self.words[0] >> 16 & 0x3ff))
            && self.row.src[2] != Ty::None
            && self.row.src[2] != Ty::Mask;
        let count = if accumulates { 2 } else { self.source_count() };
        let mut text = self.vector_list(count, |k| {
            if self.row.src[k] == Ty::Mask { self.source(k) } else { self.modified_source(k) }
        });
        let sel = self.mods.op_sel;
        if sel != 0 && !vop3::is_vop3b(self.row) {
            let mut bits: Vec<String> = (0..count).map(|k| (sel >> k & 1).to_string()).collect();
            bits.push((sel >> 3).to_string());
            let _ = write!(text, " op_sel:[{}]", bits.join(","));
        }
        text.push_str(&self.result_modifiers());
        text
    }

    fn packed_operands(&self) -> String {
        if matches!(self.row.run, Run::Exec(_)) {
            return self.plain_operands();
        }
        let count = self.source_count();
        let mix = self.row.src[0] == Ty::Mix;
        let mut text = self.vector_list(count, |k| {
            if mix {
                let bit = |field: u8| field >> k & 1 != 0;
                let (neg, abs) = (bit(self.mods.neg), bit(self.mods.neg_hi));
                with_modifiers(&self.source(k), self.src[k], neg, abs)
            } else {
                self.source(k)
            }
        });
        let mut show = |name: &str, field: u8, default: u8| {
            let mask = (1 << count) - 1;
            if field & mask != default & mask {
                let bits: Vec<String> = (0..count).map(|k| (field >> k & 1).to_string()).collect();
                let _ = write!(text, " {name}:[{}]", bits.join(","));
            }
        };
        show("op_sel", self.mods.op_sel, 0);
        show("op_sel_hi", self.mods.op_sel_hi, if mix { 0 } else { 7 });
        if !mix {
            show("neg_lo", self.mods.neg, 0);
            show("neg_hi", self.mods.neg_hi, 0);
        }
        if self.mods.clamp {
            text.push_str(" clamp");
        }
        text
    }

    fn ds_operands(&self) -> String {
        if self.src[0] == Opnd::None {
            return String::new();
        }
        let (gives, data) = match self.row.run {
            Run::Mem(op) => (op.loaded(), self.ds_data(op)),
            Run::Exec(_) | Run::Scalar(_) | Run::Lanes(_) => {
                (self.row.dst.regs(), self.row.src[1].regs())
            }
        };
        let mut list = Vec::new();
        if self.dst != Opnd::None {
            list.push(registers(self.dst, gives));
        }
        list.push(operand(self.src[0], Ty::B32));
        for k in 1..3 {
            if self.src[k] != Opnd::None {
                list.push(registers(self.src[k], data));
            }
        }
        let mut text = list.join(", ");
        let two = self.row.name.contains("2_") || self.row.name.contains("2st64");
        if two {
            for (k, name) in [(0, "offset0"), (8, "offset1")] {
                if self.imm >> k & 0xff != 0 {
                    let _ = write!(text, " {name}:{}", self.imm >> k & 0xff);
                }
            }
        } else if self.imm != 0 {
            let _ = write!(text, " offset:{}", self.imm);
        }
        if self.row.name.starts_with("ds_gws_") {
            text.push_str(" gds");
        }
        text
    }

    /// Registers of one data operand of a DS instruction.
    fn ds_data(&self, op: MemOp) -> usize {
        match op {
            MemOp::Atomic { wide, .. } => 1 + usize::from(wide),
            MemOp::Load { .. } | MemOp::Store { .. } => op.given(),
        }
    }

    fn cache_flags(&self, order: &[(u16, &'static str, &'static str)]) -> String {
        // gfx940 renames the cache bits.
        let new = self.target == Target::Gfx942;
        let mut text = String::new();
        for &(flag, old_name, new_name) in order {
            if self.flag(flag) {
                text.push(' ');
                text.push_str(if new { new_name } else { old_name });
            }
        }
        text
    }

    fn flat_operands(&self) -> String {
        let Run::Mem(op) = self.row.run else { return String::new() };
        let mut list = Vec::new();
        let atomic = matches!(op, MemOp::Atomic { .. });
        if self.dst != Opnd::None && (!atomic || self.flag(flag::GLC)) {
            list.push(registers(self.dst, op.loaded()));
        }
        let narrow = self.encoding == Encoding::Scratch || self.src[2] != Opnd::None;
        list.push(match self.src[0] {
            Opnd::None => "off".to_owned(),
            address => registers(address, if narrow { 1 } else { 2 }),
        });
        if self.src[1] != Opnd::None {
            list.push(registers(self.src[1], op.given()));
        }
        if self.encoding != Encoding::Flat {
            let ty = if self.encoding == Encoding::Scratch { Ty::B32 } else { Ty::B64 };
            list.push(match self.src[2] {
                Opnd::None => "off".to_owned(),
                base => operand(base, ty),
            });
        }
        let mut text = list.join(", ");
        if self.imm != 0 {
            let _ = write!(text, " offset:{}", self.imm);
        }
        text.push_str(&self.cache_flags(&[
            (flag::GLC, "glc", "sc0"),
            (flag::SLC, "slc", "nt"),
            (flag::SCC, "scc", "sc1"),
            (flag::NV, "nv", "nv"),
        ]));
        text
    }

    fn mubuf_operands(&self) -> String {
        let order =
            [(flag::GLC, "glc", "sc0"), (flag::SLC, "slc", "nt"), (flag::SCC, "scc", "sc1")];
        let Run::Mem(op) = self.row.run else {
            return if self.target == Target::Gfx942 {
                self.cache_flags(&order).trim_start().to_owned()
            } else {
                String::new()
            };
        };
        let data = if self.dst != Opnd::None { self.dst } else { self.src[1] };
        let (indexed, offset) = (self.flag(flag::IDXEN), self.flag(flag::OFFEN));
        let address = match usize::from(indexed) + usize::from(offset) {
            0 => "off".to_owned(),
            count => registers(self.src[0], count),
        };
        let mut text = format!(
            "{}, {address}, {}, {}",
            registers(data, op.given().max(op.loaded())),
            operand(self.src[2], Ty::Regs(4)),
            operand(self.src[3], Ty::B32),
        );
        for (on, name) in [(indexed, " idxen"), (offset, " offen")] {
            if on {
                text.push_str(name);
            }
        }
        if self.imm != 0 {
            let _ = write!(text, " offset:{}", self.imm);
        }
        text.push_str(&self.cache_flags(&order));
        text
    }
}

fn with_modifiers(source: &str, operand: Opnd, neg: bool, abs: bool) -> String {
    let constant = matches!(operand, Opnd::Inline(_) | Opnd::Literal(_));
    match (neg, abs) {
        (false, false) => source.to_owned(),
        (true, false) if constant => format!("neg({source})"),
        (true, false) => format!("-{source}"),
        (false, true) => format!("|{source}|"),
        (true, true) => format!("-|{source}|"),
    }
}

/// A run of registers: `v3`, `v[2:5]`, `a[0:1]`.
fn registers(operand: Opnd, count: usize) -> String {
    match operand {
        Opnd::V(at) => {
            let (kind, at) = if at < super::inst::ACC {
                ('v', usize::from(at))
            } else {
                ('a', usize::from(at - super::inst::ACC))
            };
            if count <= 1 {
                format!("{kind}{at}")
            } else {
                format!("{kind}[{at}:{}]", at + count - 1)
            }
        }
        Opnd::S(at) => scalar_register(at, count),
        Opnd::None | Opnd::Inline(_) | Opnd::Special(_) | Opnd::Literal(_) => String::new(),
    }
}

fn scalar_register(at: u8, count: usize) -> String {
    let named = |name: &str| match (count, at % 2) {
        (2.., _) => name.to_owned(),
        (_, 0) => format!("{name}_lo"),
        (_, _) => format!("{name}_hi"),
    };
    let run = |kind: &str, at: usize| {
        if count <= 1 { format!("{kind}{at}") } else { format!("{kind}[{at}:{}]", at + count - 1) }
    };
    match at {
        102 | 103 => named("flat_scratch"),
        104 | 105 => named("xnack_mask"),
        106 | 107 => named("vcc"),
        108..=123 => run("ttmp", usize::from(at) - 108),
        124 => "m0".to_owned(),
        126 | 127 => named("exec"),
        _general => run("s", usize::from(at)),
    }
}

fn operand(operand: Opnd, ty: Ty) -> String {
    match operand {
        Opnd::None => String::new(),
        Opnd::S(_) | Opnd::V(_) => registers(operand, ty.regs()),
        Opnd::Inline(code) => inline(code, ty),
        Opnd::Literal(word) => literal(word, ty),
        Opnd::Special(code) => match code {
            235 => "src_shared_base",
            236 => "src_shared_limit",
            237 => "src_private_base",
            238 => "src_private_limit",
            251 => "src_vccz",
            252 => "src_execz",
            _condition => "src_scc",
        }
        .to_owned(),
    }
}

/// A literal; one that an inline constant could stand for looks like it.
fn literal(word: u32, ty: Ty) -> String {
    let half = ty.is_16() || matches!(ty, Ty::PkB16 | Ty::PkF16);
    let word = if half { word & 0xffff } else { word };
    let value = if half { i32::from(word as i16) } else { word as i32 };
    if (-16..=64).contains(&value) {
        return value.to_string();
    }
    let same = |code: &u8| ty.regs() == 1 && inline_value(*code, Ty::F32) == u64::from(word);
    (240..=248).find(same).map_or_else(|| format!("{word:#x}"), |code| inline(code, ty))
}

fn inline(code: u8, ty: Ty) -> String {
    match code {
        240..=248 if matches!(ty, Ty::B16 | Ty::PkB16) => format!("{:#x}", inline_value(code, ty)),
        128..=192 => (i32::from(code) - 128).to_string(),
        193..=208 => (192 - i32::from(code)).to_string(),
        240 => "0.5".to_owned(),
        241 => "-0.5".to_owned(),
        242 => "1.0".to_owned(),
        243 => "-1.0".to_owned(),
        244 => "2.0".to_owned(),
        245 => "-2.0".to_owned(),
        246 => "4.0".to_owned(),
        247 => "-4.0".to_owned(),
        _inverse_of_two_pi => match ty {
            Ty::F64 | Ty::B64 | Ty::Mask => "0.15915494309189532",
            _single => "0.15915494",
        }
        .to_owned(),
    }
}

fn hardware(inst: &Inst) -> String {
    let (id, shift, width) = sopk::hardware_field(inst);
    let name = sopk::HARDWARE
        .iter()
        .find(|(known, _)| *known == id)
        .map_or_else(|| id.to_string(), |(_, name)| (*name).to_owned());
    if (shift, width) == (0, 32) {
        format!("hwreg({name})")
    } else {
        format!("hwreg({name}, {shift}, {width})")
    }
}

fn gpr_idx(bits: u32) -> String {
    let names = ["SRC0", "SRC1", "SRC2", "DST"];
    let on: Vec<&str> = (0..4).filter(|k| bits >> k & 1 != 0).map(|k| names[k]).collect();
    format!("gpr_idx({})", on.join(","))
}

fn wait_counts(k: u32) -> String {
    let counts = [
        ("vmcnt", k & 15 | (k >> 14 & 3) << 4, 63),
        ("expcnt", k >> 4 & 7, 7),
        ("lgkmcnt", k >> 8 & 15, 15),
    ];
    let all = counts.iter().all(|(_, count, most)| count == most);
    let shown: Vec<String> = counts
        .iter()
        .filter(|(_, count, most)| all || count != most)
        .map(|(name, count, _)| format!("{name}({count})"))
        .collect();
    shown.join(" ")
}

fn dpp(word: u32) -> String {
    let control = word >> 8 & 0x1ff;
    let n = control & 15;
    let mut text = match control {
        0x000..=0x0ff => {
            let lane = |k: u32| control >> (2 * k) & 3;
            format!("quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))
        }
        0x101..=0x10f => format!("row_shl:{n}"),
        0x111..=0x11f => format!("row_shr:{n}"),
        0x121..=0x12f => format!("row_ror:{n}"),
        0x130 => "wave_shl:1".to_owned(),
        0x134 => "wave_rol:1".to_owned(),
        0x138 => "wave_shr:1".to_owned(),
        0x13c => "wave_ror:1".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 => "row_bcast:15".to_owned(),
        0x143 => "row_bcast:31".to_owned(),
        _newbcast => format!("row_newbcast:{n}"),
    };
    let _ = write!(text, " row_mask:{:#x} bank_mask:{:#x}", word >> 28 & 15, word >> 24 & 15);
    if word >> 19 & 1 != 0 {
        text.push_str(" bound_ctrl:1");
    }
    text
}
