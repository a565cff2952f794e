//! The part of `classify` that is derived from the PTX.

use super::strides_text::{Stride, show_strides};
use crate::capture::statics::{Disagreement, StaticAddress, StaticSite, Statics};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::trace::pattern::{self, Class};
use crate::trace::{ConflictProfile, Op, Place};
use serde::Serialize;
use std::collections::BTreeMap;

/// Titles of the columns.
pub(super) const HEADER: [&str; 4] = ["PTX: address", "PTX: class", "per access", "disagrees"];

/// The `static` field of an instruction.
#[derive(Serialize)]
pub(super) struct KnownSite<'a> {
    affine: bool,
    #[serde(flatten)]
    address: Option<KnownAddress<'a>>,
    #[serde(flatten)]
    unknown: Option<Reason<'a>>,
    /// The first address that is not as the expression says.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<&'a Disagreement>,
}

/// An affine address.
#[derive(Serialize)]
struct KnownAddress<'a> {
    address: &'a str,
    /// What it counts: words or bytes.
    unit: &'static str,
    /// `known`, or `uniform`: the same for all lanes.
    offset: &'static str,
    class: Option<Class>,
    strides: Vec<Stride>,
    wavefronts_per_access: Option<f64>,
    checked: u64,
    disagrees: u64,
}

/// Why an address or its offset is not known.
#[derive(Serialize)]
struct Reason<'a> {
    reason: &'static str,
    #[serde(flatten)]
    place: &'a Place,
}

/// A site that did not run.
#[derive(Serialize)]
struct OtherSite<'a> {
    pc: u32,
    op: Op,
    #[serde(flatten)]
    place: &'a Place,
    #[serde(rename = "static")]
    known: KnownSite<'a>,
}

/// The `static` field of the whole.
#[derive(Serialize)]
pub(super) struct StaticSummary<'a> {
    instructions: usize,
    /// Addresses that are affine, and those that are but for an offset that all
    /// lanes share.
    affine: usize,
    uniform: usize,
    /// Addresses of the run that were compared, and those that differ.
    checked: u64,
    disagrees: u64,
    not_executed: Vec<OtherSite<'a>>,
}

/// The static side of all instructions.
pub(super) struct StaticView {
    statics: Statics,
    /// Wavefronts of the accesses of whole warps, and how many accesses, by pc.
    wavefronts: BTreeMap<u32, (u64, u64)>,
}

impl StaticView {
    pub fn new(statics: Statics, machine: &Config) -> Self {
        let mask = machine.geometry.bank_mask();
        let per_pc = ConflictProfile::per_pc(&statics.warps, machine.conflict_rule());
        let wavefronts = per_pc.into_iter().map(|(pc, profile)| {
            let count = profile.count(|addr| addr & mask);
            (pc, (count.wavefronts(), profile.accesses))
        });
        StaticView {
            wavefronts: wavefronts.collect(),
            statics,
        }
    }

    /// The site with that number.
    pub fn site(&self, pc: u32) -> Option<&StaticSite> {
        let at = self
            .statics
            .sites
            .binary_search_by_key(&pc, |s| s.pc)
            .ok()?;
        Some(&self.statics.sites[at])
    }

    /// Sites of no instruction in `traced`, which ascends.
    pub fn others(&self, traced: &[u32]) -> impl Iterator<Item = &StaticSite> {
        let sites = self.statics.sites.iter();
        sites.filter(|s| traced.binary_search(&s.pc).is_err())
    }

    /// Mean wavefronts of an access by all threads of a warp.
    fn per_access(&self, pc: u32) -> Option<f64> {
        let (wavefronts, accesses) = self.wavefronts.get(&pc)?;
        (*accesses > 0).then(|| *wavefronts as f64 / *accesses as f64)
    }

    /// The facts about a site.
    pub fn known<'a>(&'a self, site: &'a StaticSite) -> KnownSite<'a> {
        KnownSite {
            affine: site.address.is_some(),
            address: site.address.as_ref().map(|address| KnownAddress {
                address: &address.text,
                unit: if address.words { "words" } else { "bytes" },
                offset: if site.is_affine() { "known" } else { "uniform" },
                class: address.class,
                strides: Stride::all(&strides_of([address].into_iter())),
                wavefronts_per_access: self.per_access(site.pc),
                checked: site.checked.addresses,
                disagrees: site.checked.disagreements,
            }),
            unknown: site.unknown.as_ref().map(|unknown| Reason {
                reason: unknown.reason,
                place: &unknown.place,
            }),
            first: site.checked.first.as_ref(),
        }
    }

    /// The columns of [`HEADER`].
    pub fn cells(&self, site: Option<&StaticSite>) -> [String; 4] {
        let Some(site) = site else {
            return Default::default();
        };
        let Some(address) = &site.address else {
            let unknown = site.unknown.as_ref();
            let text = unknown.map(|u| format!("not affine: {}, {}", u.reason, u.place.text()));
            return [
                text.unwrap_or_default(),
                String::new(),
                String::new(),
                String::new(),
            ];
        };
        let unit = if address.words { "" } else { " (bytes)" };
        let per_access = self.per_access(site.pc).map(|w| format!("{w:.1}"));
        let disagrees = match (site.checked.addresses, site.checked.disagreements) {
            (0, _) => String::new(),
            (_, 0) => "no".to_owned(),
            (_, n) => format!("YES, {n}"),
        };
        [
            format!("{}{unit}", address.text),
            address.class.map(|c| c.to_string()).unwrap_or_default(),
            per_access.unwrap_or_default(),
            disagrees,
        ]
    }

    /// Number of affine sites, and of sites that are affine except for an
    /// offset that all lanes share.
    fn affine(&self) -> (usize, usize) {
        let sites = self.statics.sites.iter();
        let all = sites.clone().filter(|s| s.address.is_some()).count();
        let affine = sites.filter(|s| s.is_affine()).count();
        (affine, all - affine)
    }

    fn checked(&self) -> (u64, u64) {
        let sites = self.statics.sites.iter().map(|s| &s.checked);
        sites.fold((0, 0), |(all, bad), c| {
            (all + c.addresses, bad + c.disagreements)
        })
    }

    /// The summary of all sites, and of those whose instruction is not in
    /// `traced`, which is sorted.
    pub fn summary(&self, traced: &[u32]) -> StaticSummary<'_> {
        let (checked, disagrees) = self.checked();
        let (affine, uniform) = self.affine();
        let others = self.others(traced).map(|site| OtherSite {
            pc: site.pc,
            op: site.op,
            place: &site.place,
            known: self.known(site),
        });
        StaticSummary {
            instructions: self.statics.sites.len(),
            affine,
            uniform,
            checked,
            disagrees,
            not_executed: others.collect(),
        }
    }

    /// A line for people.
    pub fn line(&self) -> String {
        let (checked, disagrees) = self.checked();
        let all = self.statics.sites.len();
        let (affine, uniform) = self.affine();
        let mut line = format!("{affine} of {all} instructions affine");
        if uniform > 0 {
            line += &format!(", {uniform} more but for an offset that all lanes share");
        }
        if checked > 0 {
            line += &format!("; {checked} addresses compared, {disagrees} disagree");
        }
        line
    }

    /// Strides of the affine instructions, for a header.
    pub fn strides(&self) -> String {
        let sites = self.statics.sites.iter();
        let strides = strides_of(sites.filter_map(|s| s.address.as_ref()));
        show_strides(&Stride::all(&strides))
    }

    /// An error where the PTX and the run disagree: one of them is understood
    /// wrongly.
    pub fn verdict(&self) -> Result<()> {
        let (_, disagrees) = self.checked();
        let first = self
            .statics
            .sites
            .iter()
            .find_map(|s| Some((s, s.checked.first.as_ref()?)));
        let Some((site, first)) = first else {
            return Ok(());
        };
        Err(Error::CheckFailed {
            what: format!(
                "{disagrees} addresses differ from the expression derived from the PTX; the first: {}, thread {:?}, byte \
                 {} where {} was expected",
                site.place.text(),
                first.thread,
                first.traced,
                first.expected
            ),
            help: Some("this is a bug in spadkit: please report it".to_owned()),
        })
    }
}

/// The strides of addresses that are not random, ascending.
fn strides_of<'a>(addresses: impl Iterator<Item = &'a StaticAddress>) -> Vec<u64> {
    let regular = addresses.filter(|a| a.class != Some(pattern::Class::Random));
    let all = regular.flat_map(|a| a.patterns.iter().flat_map(|(p, _)| p.strides()));
    let mut all: Vec<u64> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}
