//! PULP's network from the user's copy of its sources, measured by Verilator.

use spadkit::error::{Error, Result};
use spadkit::tool::{ToolKind, Toolbox};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The test bench around the network.
const BENCH: &str = include_str!("../../testbenches/compare/pulp.sv");

/// What is read, in this order.
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

/// A folder with `cluster_interconnect` and `common_cells`.
pub struct Pulp(PathBuf);

/// The network of one size, ready to run.
pub struct Network(TempDir);

impl Pulp {
    /// The folder that the environment variable PULP names.
    pub fn given() -> Result<Option<Self>> {
        match std::env::var_os("PULP") {
            Some(folder) if !folder.is_empty() => Pulp::at(Path::new(&folder)).map(Some),
            _ => Ok(None),
        }
    }

    /// The sources in `folder`.
    pub fn at(folder: &Path) -> Result<Self> {
        let missing = SOURCES.iter().find(|file| !folder.join(file).is_file());
        if let Some(file) = missing {
            return Err(Error::usage(
                format!("PULP={}: there is no {file}", folder.display()),
                "clone github.com/pulp-platform/cluster_interconnect and common_cells there, and \
                 check out a 1.x of common_cells (v1.37.0): later ones name their modules otherwise",
            ));
        }
        let folder = folder.canonicalize();
        folder
            .map(Pulp)
            .map_err(|e| Error::io("read", Path::new("PULP"), e))
    }

    /// The commits of both repositories, as far as Git knows them.
    pub fn commits(&self) -> String {
        let commit = |name: &str| {
            let git = Command::new("git")
                .arg("-C")
                .arg(self.0.join(name))
                .args(["rev-parse", "HEAD"])
                .output();
            let known = git.ok().filter(|output| output.status.success());
            let hash = known.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
            format!("{name} {}", hash.unwrap_or("of an unknown commit".into()))
        };
        format!(
            "{}, {}",
            commit("cluster_interconnect"),
            commit("common_cells")
        )
    }

    /// The network of so many lanes and banks, for `loads` words of each lane.
    pub fn network(&self, lanes: u16, banks: u16, loads: u16) -> Result<Network> {
        let folder = tempfile::tempdir().map_err(|e| Error::io("create", Path::new("/tmp"), e))?;
        let bench = folder.path().join("pulp.sv");
        std::fs::write(&bench, BENCH).map_err(|e| Error::io("write", &bench, e))?;
        let verilator = Toolbox::new().get(ToolKind::Verilator)?;
        verilator
            .command()
            .args(["--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-O3"])
            .args(["--top-module", "pulp_compare", "--Mdir", "built"])
            .args(
                [("LANES", lanes), ("BANKS", banks), ("LOADS", loads)]
                    .map(|(n, v)| format!("-G{n}={v}")),
            )
            .arg(format!(
                "-I{}",
                self.0.join("common_cells/include").display()
            ))
            .args(SOURCES.map(|file| self.0.join(file)))
            .arg("pulp.sv")
            .cwd(folder.path())
            .timeout(Duration::from_secs(1800))
            .run()?;
        Ok(Network(folder))
    }
}

impl Network {
    /// Cycles from the first request to the last answer, both included; `words`
    /// are the addresses, those of lane 0 first.
    pub fn cycles(&self, words: impl Iterator<Item = u16>) -> Result<u32> {
        let file = self.0.path().join("words.hex");
        let text: String = words.map(|word| format!("{word:x}\n")).collect();
        std::fs::write(&file, text).map_err(|e| Error::io("write", &file, e))?;
        let program = self.0.path().join("built/Vpulp_compare");
        let output = Command::new(&program)
            .arg(format!("+words={}", file.display()))
            .output()
            .map_err(|e| Error::io("run", &program, e))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let cycles = printed
            .lines()
            .find_map(|l| l.strip_prefix("cycles ")?.parse().ok());
        cycles.ok_or_else(|| {
            Error::usage(
                format!(
                    "PULP's network does not answer as it should: {}",
                    printed.trim()
                ),
                "compare the commit with the one in docs/guides/integration.md",
            )
        })
    }
}
