//! Access traces as programs.

mod dependences;
mod intensity;

use super::instr::{
    AGGREGATED, Addresses, Detail, INCREMENT, Instr, InstrKind, KernelInfo, Sources,
};
use super::workload::{OnePart, ProgramStream, Workload};
use spadkit_base::error::{Error, Result};
use spadkit_mapping::trace::{AccessTrace, Op, Places};
use std::sync::Arc;

/// The register through which what follows an atomic waits for it.
const ATOMIC_RESULT: u8 = 0;

/// An access trace that runs, once per block of the grid.
///
/// It has no registers: a warp issues its accesses back to back, and waits only
/// for its last atomic, unless [`dependent`](AccessWorkload::dependent) sets
/// dependences. Barriers of the trace are barriers of the block.
pub struct AccessWorkload {
    info: KernelInfo,
    programs: Vec<Arc<[Instr]>>,
    places: Places,
}

impl AccessWorkload {
    /// The programs of `trace`, in a grid of `blocks` equal blocks.
    pub fn new(trace: &AccessTrace, blocks: u32) -> Result<Self> {
        trace.check()?;
        let info = KernelInfo {
            name: trace.name.clone(),
            source: trace.source.clone(),
            block_dim: trace.block_dim,
            blocks,
            shared_bytes: trace.shared_bytes,
            warp_size: trace.warp_size,
            registers: 0,
            target: trace.target().map(str::to_owned),
            together: None,
        };
        if let Some((what, help)) = info.problem() {
            return Err(Error::usage(format!("{}: {what}", trace.name), help));
        }
        let mut programs = vec![Vec::new(); info.warps() as usize];
        let mut barriers: Vec<u32> = trace.barriers.clone();
        barriers.sort_unstable();
        let mut barriers = barriers.into_iter().peekable();
        let mut bar_pc = trace.accesses.iter().map(|a| a.pc).max().unwrap_or(0);
        let mut barrier = |programs: &mut Vec<Vec<Instr>>| {
            bar_pc = bar_pc.wrapping_add(1);
            for (warp, program) in programs.iter_mut().enumerate() {
                let mask = info.warp_mask(warp as u32);
                program.push(Instr::new(InstrKind::Bar, bar_pc, mask));
            }
        };
        for (i, access) in trace.accesses.iter().enumerate() {
            while barriers.next_if(|&b| b as usize <= i).is_some() {
                barrier(&mut programs);
            }
            let Some(program) = programs.get_mut(access.warp as usize) else {
                return Err(Error::usage(
                    format!(
                        "{}: accesses[{i}] is of warp {}, but a block has {} warps",
                        trace.name,
                        access.warp,
                        info.warps()
                    ),
                    "expected warps of the block: block_dim / warp_size",
                ));
            };
            program.push(instr(access));
        }
        barriers.for_each(|_| barrier(&mut programs));
        Ok(AccessWorkload {
            programs: programs.into_iter().map(Arc::from).collect(),
            places: trace.places(),
            info,
        })
    }

    /// The access before it in its warp that an access waits for: the `n`-th,
    /// at most [`MAX_DEPENDENT`](Self::MAX_DEPENDENT); 0: none.
    pub fn dependent(self, n: u32) -> Result<Self> {
        dependences::check(n)?;
        Ok(self.with_programs(|program, _| dependences::add(program, n)))
    }

    /// ALU instructions between the accesses, so that a share `intensity` of
    /// each warp's instructions are accesses; above 0, at most 1.
    pub fn with_intensity(self, intensity: f64) -> Result<Self> {
        intensity::check(intensity)?;
        let pcs = self.programs.iter().flat_map(|p| p.iter().map(|i| i.pc));
        let alu_pc = pcs.max().unwrap_or(0).wrapping_add(1);
        Ok(self.with_programs(|program, mask| {
            let alu = Instr::new(InstrKind::Alu, alu_pc, mask);
            intensity::add(program, intensity, &alu)
        }))
    }

    /// Every warp's program by another one, made of it and its threads' mask.
    fn with_programs(mut self, change: impl Fn(&[Instr], u64) -> Vec<Instr>) -> Self {
        for (warp, program) in self.programs.iter_mut().enumerate() {
            let mask = self.info.warp_mask(warp as u32);
            *program = Arc::from(change(program, mask));
        }
        self
    }
}

fn instr(access: &spadkit_mapping::trace::Access) -> Instr {
    let active = access.addrs.iter().enumerate();
    let mask = active.fold(0, |m, (l, a)| m | u64::from(a.is_some()) << l);
    let kind = match access.op {
        Op::Load => InstrKind::LdShared,
        Op::Store => InstrKind::StShared,
        Op::Atomic => InstrKind::AtomShared,
    };
    let mut instr = Instr::new(kind, access.pc, mask);
    instr.srcs = Sources::new(&[ATOMIC_RESULT]).unwrap_or_default();
    if access.op == Op::Atomic {
        instr.dst = Some(ATOMIC_RESULT);
        if access.increment {
            instr.detail = Detail::Atomic(INCREMENT);
        }
        if access.aggregated {
            instr.detail = Detail::Atomic(AGGREGATED);
        }
    }
    instr.bytes = if kind.is_word_only() {
        // Machines without a lock unit serve all words of a lane.

        access.bytes.max(4) as u8
    } else {
        access.bytes as u8
    };
    let address = |lane: usize| u64::from(access.addrs[lane].unwrap_or(0)) * 4;
    instr.addrs = Addresses::from_lanes(mask, address, access.addrs.len());
    instr
}

impl Workload for AccessWorkload {
    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn open(&self, _block: u32, warp: u32) -> Result<Box<dyn ProgramStream + '_>> {
        let program = self.programs.get(warp as usize).cloned();
        Ok(Box::new(OnePart(program)))
    }

    fn places(&self) -> Places {
        self.places.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_mapping::trace::kernels::generate;

    #[test]
    fn barriers_and_accesses_come_in_the_order_of_the_trace() {
        let trace = generate("transpose:tile=16").unwrap();
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        assert_eq!(workload.info().warps(), 8);
        let mut stream = workload.open(0, 3).unwrap();
        let program = stream.next_part().unwrap().unwrap();
        let kinds: Vec<InstrKind> = program.iter().map(|i| i.kind).collect();
        use InstrKind::{Bar, LdShared, StShared};
        assert_eq!(kinds, [StShared, Bar, LdShared]);
        assert!(stream.next_part().unwrap().is_none());
    }

    #[test]
    fn a_warp_beyond_the_block_is_refused() {
        let mut trace = generate("transpose:tile=16").unwrap();
        trace.accesses[0].warp = 8;
        let error = AccessWorkload::new(&trace, 1).err().unwrap();
        assert!(error.to_string().contains("is of warp 8"), "{error}");
    }
}
