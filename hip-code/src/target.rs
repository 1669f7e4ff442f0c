//! Target ids: a processor, and whether XNACK and SRAM-ECC are on, off or anything.
//!
//! Facts: LLVM AMDGPUUsage, "Target ID", "Processors" and "ELF Code Object: Header"
//! (`EF_AMDGPU_*`).

use std::fmt;

/// `processor[:sramecc(+|-)][:xnack(+|-)]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The processor, such as `gfx90a`.
    pub processor: String,
    /// SRAM-ECC: on, off, or code that does not care.
    pub sramecc: Option<bool>,
    /// XNACK replay: on, off, or code that does not care.
    pub xnack: Option<bool>,
}

impl TargetId {
    /// Parses a target id; `None` for an unknown or repeated feature or an empty processor.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let processor = parts.next().filter(|name| !name.is_empty())?.to_owned();
        let mut target = Self { processor, sramecc: None, xnack: None };
        for part in parts {
            let (name, on) = match part.strip_suffix('+') {
                Some(name) => (name, true),
                None => (part.strip_suffix('-')?, false),
            };
            let feature = match name {
                "sramecc" => &mut target.sramecc,
                "xnack" => &mut target.xnack,
                _unknown => return None,
            };
            if feature.replace(on).is_some() {
                return None;
            }
        }
        Some(target)
    }

    /// Whether code for this target runs on `device`: the same processor, and each feature that
    /// the code fixes as the device has it.
    pub fn runs_on(&self, device: &Self) -> bool {
        let agrees = |code: Option<bool>, device: Option<bool>| code.is_none() || code == device;
        self.processor == device.processor
            && agrees(self.sramecc, device.sramecc)
            && agrees(self.xnack, device.xnack)
    }

    /// How many features are fixed: the more, the better code fits that runs at all.
    pub fn specificity(&self) -> usize {
        usize::from(self.sramecc.is_some()) + usize::from(self.xnack.is_some())
    }

    /// From `e_flags`. `version` is the code object version.
    pub(crate) fn from_elf_flags(flags: u32, version: u8) -> Option<Self> {
        let mach = flags & 0xff;
        let (_, processor) = MACHINES.iter().find(|(number, _)| *number == mach)?;
        let (sramecc, xnack) = if version <= 3 {
            // EF_AMDGPU_FEATURE_XNACK_V3 and _SRAMECC_V3: on or off. Processors that lack the
            // feature have the bit clear too, so "off" cannot be told from "not there".
            let on = |bit: u32| (flags & bit != 0).then_some(true);
            (on(0x200), on(0x100))
        } else {
            // EF_AMDGPU_FEATURE_*_V4: unsupported, any, off, on.
            let setting = |value: u32| match value {
                2 => Some(false),
                3 => Some(true),
                _unsupported_or_any => None,
            };
            (setting(flags >> 10 & 3), setting(flags >> 8 & 3))
        };
        Some(Self { processor: (*processor).to_owned(), sramecc, xnack })
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                Some(true) => write!(f, ":{name}+")?,
                Some(false) => write!(f, ":{name}-")?,
                None => {}
            }
        }
        Ok(())
    }
}

/// `EF_AMDGPU_MACH_AMDGCN_*`.
const MACHINES: &[(u32, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5f, "gfx9-4-generic"),
];

#[cfg(test)]
mod tests {
    use super::TargetId;

    fn id(text: &str) -> TargetId {
        TargetId::parse(text).unwrap()
    }

    #[test]
    fn features_must_agree_where_the_code_fixes_them() {
        let device = id("gfx90a:sramecc+:xnack-");
        for code in ["gfx90a", "gfx90a:xnack-", "gfx90a:sramecc+", "gfx90a:sramecc+:xnack-"] {
            assert!(id(code).runs_on(&device), "{code}");
        }
        for code in ["gfx90a:xnack+", "gfx90a:sramecc-", "gfx906", "gfx90a:sramecc+:xnack+"] {
            assert!(!id(code).runs_on(&device), "{code}");
        }
        assert!(!id("gfx90a:xnack-").runs_on(&id("gfx90a")), "a device must have a setting");
    }

    #[test]
    fn text_round_trips_and_nonsense_is_refused() {
        for text in ["gfx90a", "gfx90a:xnack+", "gfx90a:sramecc-:xnack+"] {
            assert_eq!(id(text).to_string(), text);
        }
        for text in ["", ":xnack+", "gfx90a:", "gfx90a:xnack", "gfx90a:xnack+:xnack-", "gfx90a:x+"]
        {
            assert_eq!(TargetId::parse(text), None, "{text}");
        }
    }
}
