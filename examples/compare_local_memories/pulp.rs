//! PULP's network from the user's copy of its sources: clock cycles by Verilator,
//! size by Yosys.

use super::checkout::{self, Bench};
use super::slang::{self, Reader, Size, Tools};
use spadkit::error::{Error, Result};
use spadkit::geometry::Geometry;
use std::path::{Path, PathBuf};

/// The test bench around the network.
const BENCH: &str = include_str!("../../testbenches/compare/pulp.sv");

/// The source files, in the order in which they are read.
const SOURCES: [&str; 10] = [
    "common_cells/src/cf_math_pkg.sv",
    "common_cells/src/lzc.sv",
    "common_cells/src/rr_arb_tree.sv",
    "common_cells/src/lfsr.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/tcdm_interconnect_pkg.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/addr_dec_resp_mux.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/xbar.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/bfly_net.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/clos_net.sv",
    "cluster_interconnect/rtl/tcdm_interconnect/tcdm_interconnect.sv",
];

const HELP: &str = "clone github.com/pulp-platform/cluster_interconnect and common_cells there, and \
     check out a 1.x of common_cells (v1.37.0): later ones name their modules otherwise";

/// A folder with `cluster_interconnect` and `common_cells`.
pub struct Pulp(PathBuf);

/// The network of one size, ready to run.
pub struct Network(Bench);

impl Pulp {
    /// The folder that the environment variable PULP names.
    pub fn given() -> Result<Option<Self>> {
        checkout::named("PULP")
            .map(|folder| Pulp::at(&folder))
            .transpose()
    }

    /// The sources in `folder`.
    pub fn at(folder: &Path) -> Result<Self> {
        checkout::with_files("PULP", folder, &SOURCES, HELP).map(Pulp)
    }

    /// The commits of both repositories, as far as Git knows them.
    pub fn commits(&self) -> String {
        let names = ["cluster_interconnect", "common_cells"];
        let commits = names.map(|name| format!("{name} {}", checkout::commit(&self.0.join(name))));
        commits.join(", ")
    }

    fn paths(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.0.join(name)).collect()
    }

    /// The network with these numbers of lanes and banks, for `loads` words of each lane.
    pub fn network(&self, lanes: u16, banks: u16, loads: u16) -> Result<Network> {
        let sizes = [("LANES", lanes), ("BANKS", banks), ("LOADS", loads)];
        let include = self.0.join("common_cells/include");
        let bench = Bench::build("pulp_compare", &[("pulp.sv", BENCH)], |verilator| {
            verilator
                .args(sizes.map(|(name, value)| format!("-G{name}={value}")))
                .arg(format!("-I{}", include.display()))
                .args(self.paths(&SOURCES))
        });
        bench.map(Network)
    }

    /// Its size, without banks.
    pub fn size(&self, reader: &Reader, lanes: u16, tools: &Tools) -> Result<Size> {
        let bank_bits = lanes.ilog2();
        let design = slang::Design {
            top: "tcdm_interconnect",
            parameters: vec![
                ("NumIn", lanes.into()),
                ("NumOut", lanes.into()),
                ("AddrMemWidth", u64::from(14 - bank_bits)),
            ],
            macros: vec!["SYNTHESIS"],
            includes: self.paths(&["common_cells/include"]),
            libraries: Vec::new(),
            files: self.paths(&SOURCES),
            own: Vec::new(),
            geometry: Geometry::new(14, bank_bits)?,
            memory: None,
        };
        reader.size(&design, tools)
    }
}

impl Network {
    /// Cycles from the first request to the last answer, both included; `words`
    /// are the addresses, those of lane 0 first.
    pub fn cycles(&self, words: impl Iterator<Item = u16>) -> Result<u32> {
        self.0.cycles(words, &[], "").map_err(|printed| {
            Error::usage(
                format!("PULP's network does not answer as it should: {printed}"),
                "compare the commit with the one in docs/explanation/local-memories.md",
            )
        })
    }
}
