//! Dependences for accesses whose registers are unknown.
//!
//! A ring of N registers. The k-th access of a warp writes register k mod N,
//! which the N-th access before it wrote last. A write waits for the write
//! before. Strict barrel execution, where every instruction waits for the one
//! before it, does not change.

use super::{ATOMIC_RESULT, AccessWorkload};
use crate::sm::instr::{Instr, InstrKind, Sources};
use spadkit_base::error::{Error, Result};

/// The first register of the ring.
const RING: u8 = ATOMIC_RESULT + 1;

impl AccessWorkload {
    /// Largest N of [`dependent`](AccessWorkload::dependent).
    pub const MAX_DEPENDENT: u32 = (u8::MAX - RING) as u32 + 1;

    /// N where nothing else is said: a store waits for the operands that were
    /// loaded just before it, while two loads in a row overlap
    /// (docs/guides/simulation.md has the reasons).
    pub const DEPENDENT: u32 = 2;
}

pub(super) fn check(n: u32) -> Result<()> {
    let most = AccessWorkload::MAX_DEPENDENT;
    if n <= most {
        Ok(())
    } else {
        Err(Error::usage(
            format!("a dependence distance of {n} accesses is too large"),
            format!("expected 0 (back to back) to {most}"),
        ))
    }
}

/// `program`, in which an access waits for the `n`-th one before it.
pub(super) fn add(program: &[Instr], n: u32) -> Vec<Instr> {
    let mut program = program.to_vec();
    let accesses = program.iter_mut().filter(|i| i.kind.is_shared());
    for (k, access) in accesses.enumerate().filter(|_| n > 0) {
        let register = RING + (k % n as usize) as u8;
        if access.kind == InstrKind::AtomShared {
            // The following instructions wait for it in any case.
            access.srcs = Sources::new(&[ATOMIC_RESULT, register]).unwrap_or_default();
        } else {
            access.dst = Some(register);
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::sm::{Setup, Workload};
    use spadkit_mapping::trace::AccessTrace;
    use spadkit_mapping::trace::kernels::generate;
    use std::path::Path;

    /// On a machine with relaxed barrel execution.
    fn cycles(trace: &AccessTrace, n: u32) -> u64 {
        let workload = AccessWorkload::new(trace, 1).unwrap();
        let workload = workload.dependent(n).unwrap();
        let fermi = Config::of_figures("base = \"fermi\"\n");
        Setup::default().run(&fermi, &workload).unwrap().cycles
    }

    /// Loads of one warp without conflicts, one pass each.
    fn loads(count: usize) -> AccessTrace {
        let access = |_| r#"{"warp":0,"pc":0,"op":"load","addrs":[0,1,2,3,4,5,6,7]}"#;
        let accesses: Vec<_> = (0..count).map(access).collect();
        let text = format!(
            "{{\"name\":\"k\",\"source\":\"\",\"block_dim\":[8,1,1],\"shared_bytes\":32,\
             \"warp_size\":8,\"accesses\":[{}]}}",
            accesses.join(",")
        );
        AccessTrace::from_json(&text, Path::new("t.json")).unwrap()
    }

    #[test]
    fn an_access_waits_for_the_nth_before_it() {
        let small = Config::of_figures("base = \"small\"\n[geometry]\nwarp_size = 8\n");
        let cycles = |n| {
            let workload = AccessWorkload::new(&loads(12), 1).unwrap();
            let workload = workload.dependent(n).unwrap();
            Setup::default().run(&small, &workload).unwrap().cycles
        };
        // Back to back: one a cycle. With N, N of them per latency of a load.
        let (none, one) = (cycles(0), cycles(1));
        let latency = (one - none) / 11 + 1;
        assert!(latency >= 5 && (one - none) % 11 == 0, "{none} and {one}");
        for n in [2, 3, 4] {
            let rounds = 12 / n - 1;
            assert_eq!(cycles(n as u32), none + rounds * (latency - n), "{n}");
        }
        assert_eq!(cycles(12), none);
    }

    #[test]
    fn only_how_long_it_takes_changes() {
        let trace = generate("nw").unwrap();
        assert!(cycles(&trace, 1) > cycles(&trace, 2));
        assert!(cycles(&trace, 2) > cycles(&trace, 0));
        assert_eq!(
            cycles(&trace, AccessWorkload::MAX_DEPENDENT),
            cycles(&trace, 0)
        );
        let program = |n| {
            let workload = AccessWorkload::new(&trace, 1).unwrap();
            let workload = workload.dependent(n).unwrap();
            let mut stream = workload.open(0, 0).unwrap();
            let part = stream.next_part().unwrap().unwrap();
            let of = |i: &Instr| (i.kind, i.pc, i.mask, i.addrs.clone());
            part.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(program(0), program(3));
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        let error = workload.dependent(256).err().unwrap().to_string();
        assert!(error.contains("256 accesses"), "{error}");
    }

    /// An atomic waits for the access before it, and all wait for an atomic.
    #[test]
    fn atomics_wait_like_others() {
        let trace = generate("hist256").unwrap();
        assert!(cycles(&trace, 1) >= cycles(&trace, 0));
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        let workload = workload.dependent(1).unwrap();
        let part = workload.open(0, 0).unwrap().next_part().unwrap().unwrap();
        let atomic = part.iter().find(|i| i.kind == InstrKind::AtomShared);
        let atomic = atomic.unwrap();
        assert_eq!(atomic.dst, Some(ATOMIC_RESULT));
        assert_eq!(atomic.srcs.as_slice(), [ATOMIC_RESULT, RING]);
    }
}
