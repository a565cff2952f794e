//! Measurements of an H100, on kernels of the kit with inputs that fill it, to
//! compare the model with.

use crate::config::Config;
use crate::digest::sha256_hex;
use crate::readable::counted;
use crate::report::{ChoiceLine, grouped};
use std::path::Path;

/// Entries and their times under mappings (docs/reference/gpu.md).
const TIMES: &str = include_str!("measured_times.csv");
/// The entries, their grids and their PTX.
const KERNELS: &str = include_str!("measured.csv");

/// The fields of a line; one in double quotes may have commas.
fn fields(line: &str) -> Vec<&str> {
    let mut quoted = false;
    let ends = |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    line.split(ends).map(|f| f.trim_matches('"')).collect()
}

/// The rows of a list, without its header.
fn rows<const N: usize>(list: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let of_line = |line| fields(line).try_into().ok();
    list.lines().skip(1).filter_map(of_line)
}

/// The measurement of an entry of `ptx` under `hash`, in a sentence; none for
/// any other kernel, which its PTX shows.
pub(super) fn measured(ptx: &Path, entry: &str, hash: &str) -> Option<String> {
    let digest = sha256_hex(std::fs::read(ptx).ok()?);
    let [_, grid, ..] =
        rows::<4>(KERNELS).find(|[of, _, _, sha256]| *of == entry && *sha256 == digest)?;
    let [_, _, before, after, conflicts @ ..] =
        rows::<6>(TIMES).find(|[of, mapping, ..]| *of == entry && *mapping == hash)?;
    let (before, after): (f64, f64) = (before.parse().ok()?, after.parse().ok()?);
    let conflicts = match conflicts.map(|n| n.parse::<u64>().ok()) {
        [Some(before), Some(after)] => {
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

    /// No line is left out, and each measurement is shown for one kernel.
    #[test]
    fn every_measurement_can_be_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(rows::<4>(KERNELS).count() + 1, KERNELS.lines().count());
        assert_eq!(rows::<6>(TIMES).count() + 1, TIMES.lines().count());
        for [entry, mapping, before, after, ..] in rows::<6>(TIMES) {
            let [[_, _, ptx, _]] = rows::<4>(KERNELS)
                .filter(|[of, ..]| *of == entry)
                .collect::<Vec<_>>()[..]
            else {
                panic!("{entry} has not one row in measured.csv");
            };
            let text = measured(&root.join(ptx), entry, mapping).unwrap();
            let [before, after] = [before, after].map(|n| n.parse::<f64>().unwrap());
            let words = format!("took {before} µs for");
            assert!(text.contains(&words), "{entry} {mapping}: {text}");
            let words = format!("and {after} µs under {mapping}");
            assert!(text.contains(&words), "{entry} {mapping}: {text}");
        }
    }

    #[test]
    fn the_list_has_the_kernels_of_the_kit() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for [_, _, ptx, sha256] in rows(KERNELS) {
            let digest = sha256_hex(std::fs::read(root.join(ptx)).unwrap());
            assert_eq!(digest, sha256, "{ptx} has changed: put its digest here");
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
