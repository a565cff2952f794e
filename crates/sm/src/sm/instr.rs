//! Warp instructions: what a warp program consists of
//! (microarchitecture/sm-model.md).

mod detail;

pub use detail::{AGGREGATED, BulkGroupOp, Detail, INCREMENT, Meeting, Unit};

use super::transfer::Transfer;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// The kind of an instruction, which decides its pipeline and its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum InstrKind {
    /// Integer and floating-point arithmetic.
    Alu,
    /// Register move.
    Mov,
    /// Special function.
    Sfu,
    /// Branch: the next instruction waits for it.
    Branch,
    /// Load from shared memory.
    #[strum(serialize = "ld.shared")]
    LdShared,
    /// Store to shared memory.
    #[strum(serialize = "st.shared")]
    StShared,
    /// Atomic on shared memory: the whole retry loop.
    #[strum(serialize = "atom.shared")]
    AtomShared,
    /// Load and lock. Its destination holds the lanes that took their lock.
    #[strum(serialize = "ldlk")]
    LdLock,
    /// Store and unlock. If a source is the destination of a load-and-lock,
    /// only the lanes that took their lock store.
    #[strum(serialize = "stul")]
    StUnlock,
    /// Load from global memory.
    #[strum(serialize = "ld.global")]
    LdGlobal,
    /// Store to global memory.
    #[strum(serialize = "st.global")]
    StGlobal,
    /// Barrier of the thread block.
    Bar,
    /// Release of the shared part of the scratchpad (sharing paper, section 6).
    RelSsp,
    /// The lanes of the mask end. The end of a program ends all.
    Exit,
    /// A product of matrices, by the tensor unit of the warp's scheduler.
    Mma,
    /// An operation on an `mbarrier`.
    Mbarrier,
    /// A bulk copy, by the copy engine.
    #[strum(serialize = "cp.async.bulk")]
    BulkCopy,
    /// Closes a bulk group or waits for some ([`BulkGroupOp`]).
    #[strum(serialize = "cp.async.bulk group")]
    BulkGroup,
    /// Waits for the loads of `cp.async` copies, which are its sources.
    #[strum(serialize = "cp.async wait")]
    CopyWait,
    /// A fetch of texels, by the texture unit.
    #[strum(serialize = "tex")]
    Texture,
    /// An access to shared memory of other blocks of the cluster.
    #[strum(serialize = "shared::cluster")]
    Remote,
}

impl InstrKind {
    /// Every kind; the position is the code in recorded traces.
    pub const ALL: &[InstrKind] = <InstrKind as VariantArray>::VARIANTS;

    /// Name in program texts and messages.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the kind addresses the scratchpad.
    pub fn is_shared(self) -> bool {
        use InstrKind::{AtomShared, LdLock, LdShared, StShared, StUnlock};
        matches!(self, LdShared | StShared | AtomShared | LdLock | StUnlock)
    }

    /// Whether the kind addresses global memory.
    pub fn is_global(self) -> bool {
        matches!(self, InstrKind::LdGlobal | InstrKind::StGlobal)
    }

    /// Whether the kind begins bulk copies, counts copies, or waits for a count.
    pub fn is_asynchronous(self) -> bool {
        use InstrKind::{BulkCopy, BulkGroup, Mbarrier};
        matches!(self, Mbarrier | BulkCopy | BulkGroup)
    }

    /// Program texts have a word for it.
    pub(super) fn has_word(self) -> bool {
        !self.is_asynchronous() && !matches!(self, InstrKind::CopyWait | InstrKind::Remote)
    }

    /// Whether the kind accesses memory, lane by lane.
    pub fn is_memory(self) -> bool {
        self.is_shared() || self.is_global()
    }

    /// [`Instr::addrs`] has addresses of lanes.
    pub(super) fn has_address(self) -> bool {
        self.is_memory() || self == InstrKind::Mbarrier
    }

    /// Whether the width is one word on machines with a lock unit, whatever
    /// [`Instr::bytes`] is.
    pub fn is_word_only(self) -> bool {
        use InstrKind::{AtomShared, LdLock, StUnlock};
        matches!(self, AtomShared | LdLock | StUnlock)
    }
}

/// Most source registers of one instruction.
pub const MAX_SOURCES: usize = 4;

/// Source registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    count: u8,
    registers: [u8; MAX_SOURCES],
}

impl Sources {
    /// The given registers; `None` if there are more than [`MAX_SOURCES`].
    pub fn new(registers: &[u8]) -> Option<Self> {
        let mut sources = Sources::default();
        sources
            .registers
            .get_mut(..registers.len())?
            .copy_from_slice(registers);
        sources.count = registers.len() as u8;
        Some(sources)
    }

    /// The registers.
    pub fn as_slice(&self) -> &[u8] {
        &self.registers[..usize::from(self.count)]
    }
}

/// Byte addresses of the lanes, from the block's shared memory or global.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// The instruction has none.
    #[default]
    None,
    /// Lane l is at `base + stride * l` (modulo 2^64).
    Affine {
        /// Address of lane 0, active or not.
        base: u64,
        /// Distance of neighbouring lanes.
        stride: i64,
    },
    /// An address per lane of the warp; those of inactive lanes are 0.
    List(Box<[u64]>),
    /// The two sides of a bulk copy.
    Copy(Box<Transfer>),
}

impl Addresses {
    /// The address of `lane`.
    pub fn of(&self, lane: usize) -> u64 {
        match self {
            Addresses::None | Addresses::Copy(_) => 0,
            Addresses::Affine { base, stride } => {
                base.wrapping_add(stride.wrapping_mul(lane as i64) as u64)
            }
            Addresses::List(list) => list.get(lane).copied().unwrap_or(0),
        }
    }

    /// The addresses of the lanes from `first` on, for as many as `out` has
    /// room.
    pub(super) fn write(&self, first: usize, out: &mut [u64]) {
        match self {
            Addresses::None | Addresses::Copy(_) => out.fill(0),
            Addresses::Affine { stride, .. } => {
                let mut address = self.of(first);
                for out in out {
                    *out = address;
                    address = address.wrapping_add_signed(*stride);
                }
            }
            Addresses::List(list) => {
                let list = list.get(first..).unwrap_or_default();
                let (known, beyond) = out.split_at_mut(list.len().min(out.len()));
                known.copy_from_slice(&list[..known.len()]);
                beyond.fill(0);
            }
        }
    }

    /// The highest address of the lanes in `mask`, where it is seen at a
    /// glance: they lie on a rising line.
    pub(super) fn highest(&self, mask: u64) -> Option<u64> {
        let &Addresses::Affine { base, stride } = self else {
            return None;
        };
        let last = mask.checked_ilog2()?;
        let rise = u64::try_from(stride).ok()?.checked_mul(last.into())?;
        base.checked_add(rise)
    }

    /// The shortest form of one address per lane: affine if the lanes of
    /// `mask` lie on a line, else a list.
    pub fn from_lanes(mask: u64, address: impl Fn(usize) -> u64, lanes: usize) -> Self {
        let active = || (0..lanes).filter(|&l| mask >> l & 1 == 1);
        let mut firsts = active();
        let (first, second) = (firsts.next(), firsts.next());
        let (Some(first), Some(second)) = (first, second.or(first)) else {
            return Addresses::Affine { base: 0, stride: 0 };
        };
        let step = address(second).wrapping_sub(address(first)) as i64;
        let lanes_between = (second - first).max(1) as i64;
        if step % lanes_between == 0 {
            let stride = step / lanes_between;
            let base = address(first).wrapping_sub(stride.wrapping_mul(first as i64) as u64);
            let line = Addresses::Affine { base, stride };
            if active().all(|l| line.of(l) == address(l)) {
                return line;
            }
        }
        let one = |l: usize| if mask >> l & 1 == 1 { address(l) } else { 0 };
        Addresses::List((0..lanes).map(one).collect())
    }
}

/// An instruction of one warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instr {
    /// Kind of the instruction.
    pub kind: InstrKind,
    /// Program counter: the static instruction.
    pub pc: u32,
    /// Active lanes.
    pub mask: u64,
    /// Register that it writes. A wide load names the group by its first.
    pub dst: Option<u8>,
    /// Registers that it reads.
    pub srcs: Sources,
    /// Bytes per lane of an access: 1, 2, 4, 8 or 16; 0 for other kinds.
    pub bytes: u8,
    /// Details of the instruction's kind.
    pub detail: Detail,
    /// Byte addresses of memory kinds, of an `mbarrier` that of the object.
    pub addrs: Addresses,
}

impl Instr {
    /// Whether it increments a word of shared memory, and the result is not used.
    pub fn is_increment(&self) -> bool {
        self.detail == Detail::Atomic(INCREMENT)
    }

    /// Whether one lane performs the atomic for all.
    pub fn is_aggregated(&self) -> bool {
        self.detail == Detail::Atomic(AGGREGATED)
    }

    /// The part of a warp in a product of a warpgroup.
    pub fn is_of_group(&self) -> bool {
        matches!(self.detail, Detail::Product { group: true, .. })
    }

    /// An instruction of `kind` without registers and addresses.
    pub fn new(kind: InstrKind, pc: u32, mask: u64) -> Self {
        Instr {
            kind,
            pc,
            mask,
            dst: None,
            srcs: Sources::default(),
            bytes: if kind.is_memory() { 4 } else { 0 },
            detail: Detail::of(kind),
            addrs: Addresses::None,
        }
    }
}

/// The properties of a kernel, without its programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelInfo {
    /// Name of the kernel.
    pub name: String,
    /// Source of the programs.
    pub source: String,
    /// Threads of a block in x, y, z.
    pub block_dim: [u32; 3],
    /// Thread blocks of the grid.
    pub blocks: u32,
    /// Shared memory of a block in bytes.
    pub shared_bytes: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// 32-bit registers of a thread; 0 if unknown.
    pub registers: u32,
    /// The GPU that it was compiled for: `sm_80`, of the `.target` of its PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What its blocks do together, in a clause: they may not take turns with a part of
    /// the scratchpad then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<String>,
}

impl KernelInfo {
    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        let dims = self.block_dim.iter().map(|&d| u64::from(d));
        dims.fold(1, u64::saturating_mul)
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        let warps = self.threads().div_ceil(u64::from(self.warp_size.max(1)));
        u32::try_from(warps).unwrap_or(u32::MAX)
    }

    /// The threads that the block's warp `warp` has.
    pub fn warp_mask(&self, warp: u32) -> u64 {
        let before = u64::from(warp) * u64::from(self.warp_size);
        match self.threads().saturating_sub(before) {
            0 => 0,
            left => full_mask(left.min(u64::from(self.warp_size)) as u32),
        }
    }

    /// The first limit that the kernel exceeds: the problem, and what was expected.
    pub fn problem(&self) -> Option<(String, &'static str)> {
        if !(1..=64).contains(&self.warp_size) {
            let what = format!("a warp of {} threads is not supported", self.warp_size);
            return Some((what, "expected 1 to 64 threads"));
        }
        if !(1..=4096).contains(&self.threads()) {
            let what = format!("a block of {} threads is not supported", self.threads());
            return Some((what, "expected 1 to 4096 threads"));
        }
        if self.blocks == 0 {
            return Some(("the grid has no block".to_owned(), "expected at least one"));
        }
        None
    }
}

/// The lowest `lanes` lanes.
pub fn full_mask(lanes: u32) -> u64 {
    match lanes {
        0 => 0,
        64.. => u64::MAX,
        lanes => (1 << lanes) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_a_line_become_affine_and_others_a_list() {
        let mask = 0b1010;
        let line = Addresses::from_lanes(mask, |l| 100 - 4 * l as u64, 8);
        assert_eq!(
            line,
            Addresses::Affine {
                base: 100,
                stride: -4
            }
        );
        let single = Addresses::from_lanes(0b100, |_| 7, 8);
        assert_eq!(single, Addresses::Affine { base: 7, stride: 0 });
        let bent = Addresses::from_lanes(0b111, |l| (l * l) as u64, 4);
        assert_eq!(bent, Addresses::List(Box::new([0, 1, 4, 0])));
        assert_eq!(bent.of(2), 4);
        for addresses in [line, bent, Addresses::None] {
            let mut written = [9; 6];
            addresses.write(1, &mut written);
            assert_eq!(written, std::array::from_fn(|i| addresses.of(i + 1)));
        }
    }

    #[test]
    fn the_last_warp_may_be_short() {
        let info = KernelInfo {
            name: String::new(),
            source: String::new(),
            block_dim: [33, 2, 1],
            blocks: 1,
            shared_bytes: 0,
            warp_size: 32,
            registers: 0,
            target: None,
            together: None,
        };
        assert_eq!(info.warps(), 3);
        assert_eq!((info.warp_mask(1), info.warp_mask(2)), (0xffff_ffff, 3));
        assert_eq!(info.warp_mask(3), 0);
    }
}
