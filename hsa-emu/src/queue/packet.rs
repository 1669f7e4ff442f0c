//! AQL packets: 64 bytes, of which the header's low half is written last.

use crate::abi::{Answer, SignalHandle, Status};
use crate::signal::Condition;

/// `HSA_PACKET_TYPE_*`, the low byte of a header.
pub(super) const INVALID: u16 = 1;
const VENDOR_SPECIFIC: u16 = 0;
const KERNEL_DISPATCH: u16 = 2;
const BARRIER_AND: u16 = 3;
const AGENT_DISPATCH: u16 = 4;
const BARRIER_OR: u16 = 5;
/// `HSA_AMD_PACKET_TYPE_BARRIER_VALUE`, the third byte of a vendor packet.
const FORMAT_BARRIER_VALUE: u8 = 2;

/// The bytes of a packet.
pub(super) type Bytes = [u8; 64];

/// What a packet asks for. The completion signal is at the same place in all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Packet {
    Dispatch(DispatchPacket),
    BarrierAnd([SignalHandle; 5]),
    BarrierOr([SignalHandle; 5]),
    BarrierValue { signal: SignalHandle, value: i64, mask: i64, condition: Condition },
}

/// `hsa_kernel_dispatch_packet_t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DispatchPacket {
    pub(super) workgroup: [u32; 3],
    pub(super) grid: [u32; 3],
    pub(super) private_bytes: u32,
    pub(super) group_bytes: u32,
    pub(super) kernel_object: u64,
    pub(super) kernarg_address: u64,
}

/// The type in a header.
pub(super) fn kind(header: u16) -> u16 {
    header & 0xff
}

fn half(bytes: &Bytes, at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &Bytes, at: usize) -> u32 {
    u32::from(half(bytes, at)) | u32::from(half(bytes, at + 2)) << 16
}

fn quad(bytes: &Bytes, at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

/// The signal that the packet completes, if it names one.
pub(super) fn completion(bytes: &Bytes) -> SignalHandle {
    SignalHandle(quad(bytes, 56))
}

impl Packet {
    /// Decodes a packet that is not invalid.
    pub(super) fn parse(bytes: &Bytes) -> Answer<Self> {
        let signals = || [8, 16, 24, 32, 40].map(|at| SignalHandle(quad(bytes, at)));
        match kind(half(bytes, 0)) {
            KERNEL_DISPATCH => Ok(Self::Dispatch(DispatchPacket::parse(bytes)?)),
            BARRIER_AND => Ok(Self::BarrierAnd(signals())),
            BARRIER_OR => Ok(Self::BarrierOr(signals())),
            VENDOR_SPECIFIC if bytes[2] == FORMAT_BARRIER_VALUE => Ok(Self::BarrierValue {
                signal: SignalHandle(quad(bytes, 8)),
                value: quad(bytes, 16).cast_signed(),
                mask: quad(bytes, 24).cast_signed(),
                condition: Condition::from_raw(word(bytes, 32))
                    .map_err(|_| Status::ERROR_INVALID_PACKET_FORMAT)?,
            }),
            // Only processors take agent dispatches.
            AGENT_DISPATCH | VENDOR_SPECIFIC => Err(Status::ERROR_INVALID_PACKET_FORMAT),
            _unknown => Err(Status::ERROR_INVALID_PACKET_FORMAT),
        }
    }
}

impl DispatchPacket {
    fn parse(bytes: &Bytes) -> Answer<Self> {
        let dimensions = usize::from(half(bytes, 2) & 3);
        let mut workgroup = [4, 6, 8].map(|at| u32::from(half(bytes, at)));
        let mut grid = [12, 16, 20].map(|at| word(bytes, at));
        workgroup.iter_mut().skip(dimensions).for_each(|size| *size = 1);
        grid.iter_mut().skip(dimensions).for_each(|size| *size = 1);
        if dimensions == 0 || workgroup.contains(&0) || grid.contains(&0) {
            return Err(Status::ERROR_INVALID_PACKET_FORMAT);
        }
        Ok(Self {
            workgroup,
            grid,
            private_bytes: word(bytes, 24),
            group_bytes: word(bytes, 28),
            kernel_object: quad(bytes, 32),
            kernarg_address: quad(bytes, 40),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Packet, completion};
    use crate::abi::{SignalHandle, Status};
    use crate::signal::Condition;

    fn bytes(words: &[(usize, u32)]) -> Bytes {
        let mut bytes = [0; 64];
        for (at, word) in words {
            bytes[*at..*at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_dispatch_ignores_sizes_beyond_its_dimensions() {
        let packet = bytes(&[
            (0, 0x0001_1502),
            (4, 64),
            (12, 1000),
            (24, 16),
            (28, 2048),
            (32, 0x1234_5678),
            (36, 0x7f),
            (40, 0x5000),
            (56, 0x40),
        ]);
        let Ok(Packet::Dispatch(dispatch)) = Packet::parse(&packet) else { panic!("no dispatch") };
        assert_eq!((dispatch.workgroup, dispatch.grid), ([64, 1, 1], [1000, 1, 1]));
        assert_eq!((dispatch.private_bytes, dispatch.group_bytes), (16, 2048));
        assert_eq!(dispatch.kernel_object, 0x7f_1234_5678);
        assert_eq!(dispatch.kernarg_address, 0x5000);
        assert_eq!(completion(&packet), SignalHandle(0x40));
    }

    #[test]
    fn barriers_carry_their_signals() {
        let and = Packet::parse(&bytes(&[(0, 3), (8, 0x100), (40, 0x140)])).unwrap();
        let handles = [0x100, 0, 0, 0, 0x140].map(SignalHandle);
        assert_eq!(and, Packet::BarrierAnd(handles));
        assert_eq!(
            Packet::parse(&bytes(&[(0, 5)])).unwrap(),
            Packet::BarrierOr([0; 5].map(SignalHandle))
        );
        let value = bytes(&[(0, 0x0002_0000), (8, 0x80), (16, 7), (24, 0xff), (32, 3)]);
        let expected = Packet::BarrierValue {
            signal: SignalHandle(0x80),
            value: 7,
            mask: 0xff,
            condition: Condition::GreaterOrEqual,
        };
        assert_eq!(Packet::parse(&value).unwrap(), expected);
    }

    #[test]
    fn what_a_queue_does_not_take_is_an_error() {
        let no_dimensions = bytes(&[(0, 2), (4, 64), (12, 64)]);
        let empty_grid = bytes(&[(0, 0x0001_0002), (4, 64)]);
        let agent_dispatch = bytes(&[(0, 4)]);
        let other_vendor = bytes(&[(0, 0x0001_0000)]);
        for packet in [no_dimensions, empty_grid, agent_dispatch, other_vendor] {
            assert_eq!(Packet::parse(&packet), Err(Status::ERROR_INVALID_PACKET_FORMAT));
        }
    }
}
