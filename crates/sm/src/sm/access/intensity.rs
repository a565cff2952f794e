//! Intensity: other instructions between accesses that were recorded alone.
//!
//! The shared-memory intensity of the elastic paper (Table 5) is the share of all
//! instructions that access shared memory. A trace of accesses has 1; with g = 1 /
//! intensity - 1 ALU instructions per access, half of a gap of g in front of the
//! first access and half after the last, it has the kernel's. Barriers of the trace
//! count among the others.

use crate::sm::instr::Instr;
use spadkit_base::error::{Error, Result};

/// The least intensity: a thousand instructions per access.
const LEAST: f64 = 0.001;

pub(super) fn check(intensity: f64) -> Result<()> {
    if (LEAST..=1.0).contains(&intensity) {
        Ok(())
    } else {
        Err(Error::usage(
            format!("intensity {intensity} is not a share of the instructions"),
            format!("expected {LEAST} to 1: shared-memory instructions / all instructions"),
        ))
    }
}

/// `program` with copies of `alu` between its accesses.
pub(super) fn add(program: &[Instr], intensity: f64, alu: &Instr) -> Vec<Instr> {
    let gap = 1.0 / intensity - 1.0;
    let accesses = program.iter().filter(|i| i.kind.is_shared()).count();
    let mut out = Vec::with_capacity((accesses as f64 / intensity) as usize + program.len());
    let (mut shared, mut others) = (0, 0);
    for instr in program {
        if instr.kind.is_shared() {
            let due = ((shared as f64 + 0.5) * gap) as usize;
            while others < due {
                out.push(alu.clone());
                others += 1;
            }
            shared += 1;
        } else {
            others += 1;
        }
        out.push(instr.clone());
    }
    let due = (accesses as f64 * gap).round() as usize;
    out.extend((others..due).map(|_| alu.clone()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sm::instr::InstrKind;
    use crate::sm::{AccessWorkload, Workload};
    use spadkit_mapping::trace::kernels::generate;

    fn program(kernel: &str, intensity: f64, warp: u32) -> Vec<Instr> {
        let trace = generate(kernel).unwrap();
        let workload = AccessWorkload::new(&trace, 1).unwrap();
        let workload = workload.with_intensity(intensity).unwrap();
        let mut stream = workload.open(0, warp).unwrap();
        let part = stream.next_part().unwrap().unwrap();
        part.to_vec()
    }

    #[test]
    fn accesses_are_the_share_asked_for_evenly_spread() {
        for intensity in [0.037, 0.1, 0.216, 0.5] {
            let program = program("dct8x8", intensity, 0);
            let is_access: Vec<bool> = program.iter().map(|i| i.kind.is_shared()).collect();
            let accesses = is_access.iter().filter(|&&a| a).count() as f64;
            let share = accesses / program.len() as f64;
            assert!((share / intensity - 1.0).abs() < 0.02, "{share}");
            // The same number between any two accesses, except for rounding and barriers.
            let between: Vec<usize> = is_access.split(|&a| a).map(<[bool]>::len).skip(1).collect();
            let inner = &between[..between.len() - 1];
            let (least, most) = (inner.iter().min().unwrap(), inner.iter().max().unwrap());
            assert!(most - least <= 1, "{intensity}: {between:?}");
        }
    }

    #[test]
    fn one_adds_nothing_and_the_accesses_stay() {
        let plain = program("transpose", 1.0, 1);
        assert!(plain.iter().all(|i| i.kind != InstrKind::Alu));
        let mut spread = program("transpose", 0.037, 1);
        assert!(spread.len() > 10 * plain.len());
        spread.retain(|i| i.kind != InstrKind::Alu);
        assert_eq!(spread, plain);
    }

    #[test]
    fn an_intensity_is_a_share() {
        for wrong in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(check(1.0).is_ok() && check(LEAST).is_ok());
    }
}
