//! Goal: what this crate reads is what LLVM's own tools read. Method: the committed output of
//! llvm-readelf and llvm-objdump over the sample objects is parsed and compared, value by value.

use hip_code::{CodeObject, RelocationKind, SymbolKind, ValueKind, WorkitemId};

struct Sample {
    object: &'static [u8],
    readelf: &'static str,
    target: &'static str,
    version: u8,
}

macro_rules! sample {
    ($object:literal, $readelf:literal, $target:literal, $version:literal) => {
        Sample {
            object: include_bytes!(concat!("data/", $object)),
            readelf: include_str!(concat!("data/", $readelf)),
            target: $target,
            version: $version,
        }
    };
}

const SAMPLES: [Sample; 5] = [
    sample!("kernels.gfx90a.O2.co", "kernels.gfx90a.O2.readelf.txt", "gfx90a", 4),
    sample!("fs.gfx906.c15.co", "fs.gfx906.c15.readelf.txt", "gfx906", 4),
    sample!("fs.gfx90a-xnack.co", "fs.gfx90a-xnack.readelf.txt", "gfx90a:xnack+", 4),
    sample!("fs.gfx942.c19.co", "fs.gfx942.c19.readelf.txt", "gfx942", 5),
    sample!("fs.gfx90a.rel.o", "fs.gfx90a.rel.readelf.txt", "gfx90a", 4),
];

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn number(text: &str) -> u64 {
    if let Some(digits) = text.strip_prefix("0x") { hex(digits) } else { text.parse().unwrap() }
}

#[test]
fn headers_give_target_version_and_type() {
    for sample in &SAMPLES {
        let object = CodeObject::parse(sample.object).unwrap();
        assert_eq!(object.target.to_string(), sample.target);
        assert_eq!(object.version, sample.version);
        assert_eq!(object.relocatable, sample.readelf.contains("REL (Relocatable file)"));
    }
}

#[test]
fn segments_are_those_of_readelf() {
    for sample in &SAMPLES {
        let object = CodeObject::parse(sample.object).unwrap();
        let ours: Vec<[u64; 4]> = object
            .segments
            .iter()
            .map(|s| [s.address, s.data.len() as u64, s.memory_bytes, u64::from(s.executable)])
            .collect();
        let theirs: Vec<[u64; 4]> = sample
            .readelf
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("LOAD"))
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let executable = u64::from(words[5..].contains(&"E"));
                [hex(words[1]), hex(words[3]), hex(words[4]), executable]
            })
            .collect();
        assert_eq!(ours, theirs);
        assert_eq!(theirs.is_empty(), object.relocatable);
    }
}

#[test]
fn symbols_are_those_of_readelf() {
    for sample in &SAMPLES {
        let object = CodeObject::parse(sample.object).unwrap();
        let table = if object.relocatable { "'.symtab'" } else { "'.dynsym'" };
        let start = sample.readelf.find(table).unwrap();
        let rows = sample.readelf[start..].lines().skip(2);
        let theirs: Vec<Vec<&str>> = rows
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
            .take_while(|words| words.first().is_some_and(|word| word.ends_with(':')))
            .collect();
        assert!(theirs.len() > 8 && theirs.len() == object.symbols.len());
        for (ours, row) in object.symbols.iter().zip(&theirs) {
            assert_eq!(ours.value, hex(row[1]));
            assert_eq!(ours.bytes, number(row[2]));
            let kind = match row[3] {
                "OBJECT" => SymbolKind::Object,
                "FUNC" => SymbolKind::Function,
                "NOTYPE" => SymbolKind::Other(0),
                other => panic!("unexpected symbol type {other}"),
            };
            assert_eq!(ours.kind, kind);
            assert_eq!(ours.global, row[4] != "LOCAL");
            assert_eq!(ours.section, row[6].parse().ok());
            assert_eq!(ours.defined, row[6] != "UND");
            assert_eq!(ours.name, row.get(7).copied().unwrap_or_default());
        }
    }
}

#[test]
fn relocations_are_those_of_readelf() {
    let mut seen = 0;
    for sample in &SAMPLES {
        let object = CodeObject::parse(sample.object).unwrap();
        let theirs = sample.readelf.lines().filter(|line| line.contains(" R_AMDGPU_"));
        let theirs: Vec<Vec<&str>> = theirs.map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(object.relocations.len(), theirs.len());
        for (ours, row) in object.relocations.iter().zip(&theirs) {
            assert_eq!(ours.offset, hex(row[0]));
            let kind = match row[2] {
                "R_AMDGPU_REL64" => RelocationKind::Rel64,
                "R_AMDGPU_REL32_LO" => RelocationKind::Rel32Lo,
                "R_AMDGPU_REL32_HI" => RelocationKind::Rel32Hi,
                other => panic!("unexpected relocation {other}"),
            };
            assert_eq!(ours.kind, kind);
            assert_eq!(object.symbols[ours.symbol.unwrap()].name, row[4]);
            assert_eq!(ours.addend, i64::try_from(hex(row[6])).unwrap());
            seen += 1;
        }
    }
    assert_eq!(seen, 9);
}

/// The keys that we read, in the order in which readelf prints them.
const KEYS: [&str; 15] = [
    ".agpr_count",
    ".address_space",
    ".offset",
    ".size",
    ".value_kind",
    ".group_segment_fixed_size",
    ".kernarg_segment_align",
    ".kernarg_segment_size",
    ".max_flat_workgroup_size",
    ".name",
    ".private_segment_fixed_size",
    ".sgpr_count",
    ".symbol",
    ".vgpr_count",
    ".wavefront_size",
];

#[test]
fn metadata_is_that_of_readelf() {
    for sample in &SAMPLES {
        let metadata = CodeObject::parse(sample.object).unwrap().metadata().unwrap();
        let mut ours = Vec::new();
        for kernel in &metadata.kernels {
            let mut put = |key: &str, value: &dyn std::fmt::Display| {
                ours.push(format!("{key}={value}"));
            };
            if let Some(count) = kernel.agprs {
                put(".agpr_count", &count);
            }
            for arg in &kernel.args {
                if let Some(space) = &arg.address_space {
                    put(".address_space", space);
                }
                put(".offset", &arg.offset);
                put(".size", &arg.bytes);
                put(".value_kind", &kind_name(&arg.kind));
            }
            put(".group_segment_fixed_size", &kernel.group_segment_bytes);
            put(".kernarg_segment_align", &kernel.kernarg_align);
            put(".kernarg_segment_size", &kernel.kernarg_bytes);
            put(".max_flat_workgroup_size", &kernel.workgroup_max);
            put(".name", &kernel.name);
            put(".private_segment_fixed_size", &kernel.private_segment_bytes);
            put(".sgpr_count", &kernel.sgprs);
            put(".symbol", &kernel.symbol);
            put(".vgpr_count", &kernel.vgprs);
            put(".wavefront_size", &kernel.wavefront);
        }
        let theirs: Vec<String> = sample
            .readelf
            .lines()
            .filter_map(|line| {
                let (key, value) = line.trim_start_matches([' ', '-']).split_once(':')?;
                KEYS.contains(&key).then(|| format!("{key}={}", value.trim()))
            })
            .collect();
        assert!(theirs.len() > 50);
        assert_eq!(ours, theirs);
    }
}

fn kind_name(kind: &ValueKind) -> String {
    match kind {
        ValueKind::Other(text) => panic!("unknown value kind {text}"),
        known => {
            let mut name = String::new();
            for letter in format!("{known:?}").chars() {
                if letter.is_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
            }
            name
        }
    }
}

#[test]
fn hidden_arguments_are_those_that_say_so() {
    for sample in &SAMPLES {
        let metadata = CodeObject::parse(sample.object).unwrap().metadata().unwrap();
        for arg in metadata.kernels.iter().flat_map(|kernel| &kernel.args) {
            assert_eq!(arg.is_hidden(), kind_name(&arg.kind).starts_with("hidden_"));
        }
    }
}

#[test]
fn descriptors_are_those_of_objdump() {
    let object = CodeObject::parse(SAMPLES[0].object).unwrap();
    let text = include_str!("data/kernels.gfx90a.O2.objdump.txt");
    let mut kernels = 0;
    for block in text.split(".amdhsa_kernel ").skip(1) {
        let block = block.split(".end_amdhsa_kernel").next().unwrap();
        let (name, directives) = block.split_once('\n').unwrap();
        let value = |key: &str| {
            let line = directives.lines().find_map(|line| {
                let (found, value) = line.trim().strip_prefix(".amdhsa_")?.split_once(' ')?;
                (found == key).then(|| value.parse::<u32>().unwrap())
            });
            line.unwrap_or_else(|| panic!("{name} has no {key}"))
        };
        let kd = object.descriptor(&format!("{name}.kd")).unwrap();
        assert_eq!(kd.group_segment_fixed_size, value("group_segment_fixed_size"));
        assert_eq!(kd.private_segment_fixed_size, value("private_segment_fixed_size"));
        assert_eq!(kd.kernarg_size, value("kernarg_size"));
        // gfx90a: VGPRs in granules of 8; SGPRs in granules of 16, encoded in halves.
        assert_eq!((kd.granulated_workitem_vgpr_count() + 1) * 8, value("next_free_vgpr"));
        assert_eq!((kd.granulated_wavefront_sgpr_count() / 2 + 1) * 16, value("next_free_sgpr"));
        let float_mode = value("float_round_mode_32")
            | value("float_round_mode_16_64") << 2
            | value("float_denorm_mode_32") << 4
            | value("float_denorm_mode_16_64") << 6;
        assert_eq!(kd.float_mode(), float_mode);
        let flags = [
            (kd.dx10_clamp(), "dx10_clamp"),
            (kd.ieee_mode(), "ieee_mode"),
            (kd.fp16_overflow(), "fp16_overflow"),
            (kd.enable_private_segment(), "system_sgpr_private_segment_wavefront_offset"),
            (kd.workgroup_id_x(), "system_sgpr_workgroup_id_x"),
            (kd.workgroup_id_y(), "system_sgpr_workgroup_id_y"),
            (kd.workgroup_id_z(), "system_sgpr_workgroup_id_z"),
            (kd.workgroup_info(), "system_sgpr_workgroup_info"),
            (kd.private_segment_buffer(), "user_sgpr_private_segment_buffer"),
            (kd.dispatch_ptr(), "user_sgpr_dispatch_ptr"),
            (kd.queue_ptr(), "user_sgpr_queue_ptr"),
            (kd.kernarg_segment_ptr(), "user_sgpr_kernarg_segment_ptr"),
            (kd.dispatch_id(), "user_sgpr_dispatch_id"),
            (kd.flat_scratch_init(), "user_sgpr_flat_scratch_init"),
            (kd.private_segment_size(), "user_sgpr_private_segment_size"),
            (kd.uses_dynamic_stack(), "uses_dynamic_stack"),
        ];
        for (ours, key) in flags {
            assert_eq!(u32::from(ours), value(key), "{name} {key}");
        }
        let workitem_id = match value("system_vgpr_workitem_id") {
            0 => WorkitemId::X,
            1 => WorkitemId::Xy,
            2 => WorkitemId::Xyz,
            other => panic!("work-item id {other}"),
        };
        assert_eq!(kd.workitem_id(), workitem_id);
        kernels += 1;
    }
    assert_eq!(kernels, 5, "all that LLVM 15 can decode");
}

#[test]
fn descriptors_lead_to_the_code() {
    for sample in SAMPLES.iter().filter(|sample| !sample.readelf.contains("REL (Reloc")) {
        let object = CodeObject::parse(sample.object).unwrap();
        for kernel in object.metadata().unwrap().kernels {
            let descriptor = object.descriptor(&kernel.symbol).unwrap();
            let at = object.symbol(&kernel.symbol).unwrap().value;
            let entry = at.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
            assert_eq!(object.symbol(&kernel.name).unwrap().value, entry);
            assert_eq!(descriptor.kernarg_size, kernel.kernarg_bytes);
        }
    }
}
