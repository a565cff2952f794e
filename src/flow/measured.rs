//! Measurements of an H100, on kernels of the kit with inputs that fill it, to
//! compare the model with.

use crate::config::Config;
use crate::readable::counted;
use crate::report::{ChoiceLine, grouped};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Launches and their times (docs/reference/gpu.md).
const TIMES: &str = include_str!("measured_times.csv");
/// Their entries, grids and PTX.
const KERNELS: &str = include_str!("measured.csv");

/// The measurement of an entry of `ptx` under `hash`, in a sentence; none for
/// any other kernel, which its PTX shows.
pub(super) fn measured(ptx: &Path, entry: &str, hash: &str) -> Option<String> {
    let text = std::fs::read(ptx).ok()?;
    let digest: String = Sha256::digest(&text)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let kernel = KERNELS
        .lines()
        .find(|line| line.ends_with(&digest) && line.split(',').next() == Some(entry))?;
    let grid = kernel.split(',').nth(1)?;
    let row = TIMES.lines().find_map(|line| {
        let rest = line.strip_prefix(entry)?.strip_prefix(',')?;
        rest.strip_prefix(&format!("\"{hash}\","))
    })?;
    let mut fields = row.split(',');
    let (before, after): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let mut conflicts = fields.skip(1).map(|n| n.parse::<u64>().ok());
    let conflicts = match (conflicts.next().flatten(), conflicts.next().flatten()) {
        (Some(before), Some(after)) => {
            format!(", {} and {} conflicts", grouped(before), grouped(after))
        }
        _ => String::new(),
    };
    Some(format!(
        "An H100 took {before} µs for a grid of {grid} blocks and {after} µs under {hash}{conflicts}: {:.2} times as fast.",
        before / after
    ))
}

/// Why the model gains something else with the same mapping; nothing where its cycles
/// are not known.
pub(super) fn beside(choice: &ChoiceLine, machine: &Config, blocks: Option<u32>) -> String {
    let (Some(simulated), Some(blocks)) = (choice.speed_up, blocks) else {
        return String::new();
    };
    let blocks = counted(blocks, "block");
    format!(
        " The simulation of {blocks} on one SM of {} has it {simulated:.2} times as fast: it \
         leaves out the other SMs, the blocks that a large grid keeps resident, and the latencies \
         of that GPU.",
        machine.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_kernels_of_the_kit() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for line in KERNELS.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let text = std::fs::read(root.join(fields[2])).unwrap();
            let digest: String = Sha256::digest(&text)
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            assert_eq!(
                digest, fields[3],
                "{} has changed: put its digest here",
                fields[2]
            );
        }
        let ptx = root.join("kernels/gemm/gemm.ptx");
        let text = measured(&ptx, "hgemm", "swizzle:3,2,3").unwrap();
        assert!(
            text.contains("525.6 µs for a grid of 64 x 64 blocks and 173.3 µs"),
            "{text}"
        );
        assert!(text.ends_with("3.03 times as fast."), "{text}");
        assert_eq!(measured(&ptx, "hgemm", "xor"), None);
        assert_eq!(
            measured(&root.join("kernels/fwt/fwt.ptx"), "hgemm", "swizzle:3,2,3"),
            None
        );
    }
}
