//! The worst access of each access site, lane by bank, for pictures.

use crate::config::Config;
use crate::error::Result;
use crate::software::{Layout, LayoutSpec};
use crate::suggest::SourceFiles;
use crate::trace::{Access, AccessTrace, conflict_degree};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of access sites that have a picture, at most.
const MOST: usize = 8;

/// For each access site with conflicts, the worst first, its access with most
/// wavefronts:
/// `[{"pc", "ptx_line", "source", "text", "op", "warp", "bytes", "bank_count", "wavefronts",
/// "ideal_wavefronts", "lanes", "banks", "mappings", "before", "after"}]`.
/// `lanes` has for each lane null or its word addresses; `banks` has the same
/// shape, with their banks under `spec`. `before` is how the access is served under `spec`,
/// and `after` under the other mapping, null without one; `mappings` are these two.
pub(super) fn pictures(
    trace: &AccessTrace,
    spec: &LayoutSpec,
    other: Option<&LayoutSpec>,
    machine: &Config,
    input: &Path,
) -> Result<Value> {
    let layout = Layout::new(spec, machine.geometry)?;
    let mappings = [Some(spec), other].map(|spec| spec.map(LayoutSpec::to_string));
    let other = other.map(|spec| Layout::new(spec, machine.geometry));
    let other = other.transpose()?;
    let rule = machine.conflict_rule();
    let mut worst: BTreeMap<u32, (u64, u64, u64, &Access)> = BTreeMap::new();
    for access in &trace.accesses {
        let (wavefronts, ideal) = cost(access, &layout, machine);
        let excess = wavefronts - ideal;
        let site = worst.entry(access.pc).or_insert((0, 0, 0, access));
        if excess > site.0 {
            *site = (excess, wavefronts, ideal, access);
        }
    }
    let mut sites: Vec<_> = worst.into_iter().filter(|(_, site)| site.0 > 0).collect();
    sites.sort_by_key(|(pc, site)| (std::cmp::Reverse(site.0), *pc));
    sites.truncate(MOST);
    let places = trace.places();
    let mut text = SourceFiles::beside(input);
    let picture = |(pc, (_, wavefronts, ideal, access)): (u32, (u64, u64, u64, &Access))| {
        let place = places.of(pc);
        let words = |addr: &Option<u32>| addr.map(|a| (a..a + access.words()).collect::<Vec<_>>());
        let banks = |addr: &Option<u32>| {
            let words = words(addr)?;
            Some(words.iter().map(|&w| layout.bank(w)).collect::<Vec<_>>())
        };
        json!({
            "pc": pc,
            "ptx_line": place.ptx_line,
            "source": place.source,
            "text": place.source.as_ref().and_then(|s| text.line(s)),
            "op": access.op,
            "warp": access.warp,
            "bytes": access.bytes,
            "bank_count": machine.geometry.banks(),
            "wavefronts": wavefronts,
            "ideal_wavefronts": ideal,
            "lanes": access.addrs.iter().map(words).collect::<Vec<_>>(),
            "banks": access.addrs.iter().map(banks).collect::<Vec<_>>(),
            "mappings": mappings,
            "before": rule.served(access, |word| layout.bank(word)),
            "after": other.as_ref().map(|other| rule.served(access, |word| other.bank(word))),
        })
    };
    Ok(sites.into_iter().map(picture).collect())
}

/// The first mapping with the fewest conflicts, among those after the first of a
/// result.
pub(super) fn least_conflicting<'a>(
    found: &Value,
    others: &'a [LayoutSpec],
) -> Option<&'a LayoutSpec> {
    let conflicts = |at: usize| found["results"][at + 1]["conflicts"].as_u64();
    let least = (0..others.len()).min_by_key(|&at| conflicts(at))?;
    Some(&others[least])
}

/// Wavefronts of an access, and what they are without conflicts.
fn cost(access: &Access, layout: &Layout, machine: &Config) -> (u64, u64) {
    let (mut wavefronts, mut ideal) = (0, 0);
    for mut phase in machine.conflict_rule().phases(access) {
        phase.sort_unstable();
        phase.dedup();
        wavefronts += u64::from(conflict_degree(&phase, |word| layout.bank(word)));
        ideal += phase.len().div_ceil(machine.geometry.banks()) as u64;
    }
    (wavefronts, ideal)
}
