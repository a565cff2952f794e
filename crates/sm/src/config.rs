//! Machine configurations: the presets of the papers and configuration files.
//!
//! One [`Config`] describes one machine: the geometry and lanes that every part
//! of the kit uses, the parameters and settings of the scratchpad path, and the
//! SM around it (microarchitecture/parameters.md and
//! microarchitecture/presets.md).

mod blank;
mod check;
mod file;
mod given;
mod keys;
mod machine;
mod overlay;
mod path;
mod preset;
mod refusal;
mod reset;
mod sm;
mod trace;

pub use overlay::Overlay;
pub use path::{Barrel, LockHash, PathParams, PathSettings, Pipeline, Scheduler};
pub use preset::PRESETS;
pub use sm::{
    Dram, GlobalMemory, IssueIntervals, L1Cache, L2Cache, Latencies, Sharing, SmParams,
    TensorUnits, TextureUnit,
};
pub use spadkit_hdl::{AxiOptions, PC_BITS, PathHash, RetryLatencies, StreamOptions, TcdmOptions};

use serde::Serialize;
use spadkit_base::error::Result;
use spadkit_base::input::{self, Limit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{Configuration, HashKind, HashSpec};
use spadkit_mapping::trace::{Atomics, Wide};
use std::path::Path;

/// Everything that describes one machine.
///
/// A configuration file is TOML; keys that it omits come from its `base` preset
/// (`fermi` by default).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// Name of the preset or of the file's machine.
    pub name: String,
    /// The compute capability of the GPU, 80 for 8.0: that of the preset `smNN` that the
    /// machine is, or is based on. `None` for the papers' machines.
    #[serde(skip)]
    pub compute_capability: Option<u32>,
    /// Address and bank bits.
    pub geometry: Geometry,
    /// Lanes that access the scratchpad in one pass.
    pub lanes: u32,
    /// Threads of a warp; a warp access takes `warp_size / lanes` passes.
    pub warp_size: u32,
    /// Bits of one scratchpad word.
    pub word_bits: u32,
    /// Scratchpad capacity in words; at most 2^n.
    pub capacity_words: u32,
    /// The most words that one thread block may have; at most the capacity.
    pub block_words: u32,
    /// Rule of serving accesses wider than a word.
    pub wide: Wide,
    /// Rule of counting the conflict degree of an atomic.
    pub atomics: Atomics,
    /// The configurable hash unit that the SM has.
    pub hash_unit: HashKind,
    /// Parameters that are fixed when the path is emitted.
    pub path: PathParams,
    /// The values of the path's `cfg_*` ports.
    pub settings: PathSettings,
    /// The SM around the path.
    pub sm: SmParams,
}

/// A configuration file is never larger.
const LIMIT: Limit = Limit {
    bytes: 1 << 20,
    expected: "a configuration file (docs/reference/formats.md)",
};

impl Config {
    /// The name of the preset for PTX of `sm_SM`; none before sm_70.
    pub fn preset_of_target(sm: u32) -> Option<&'static str> {
        preset::of_target(sm)
    }

    /// A preset by name: `fermi` (hash and atomics papers), `gt200` (elastic
    /// paper, Table 4), `small` (for quick runs), `gpgpusim-16k`,
    /// `sharing-48k`, `sharing-64k` (sharing paper, Tables II and VIII), today's
    /// machines `sm70`, `sm80`, `sm90`, whose path has no RTL, with the limits of other
    /// compute capabilities `sm75`, `sm86`, `sm87`, `sm89`, `sm110`, `sm120`, `sm121`, and
    /// `bus` (for blocks behind a bus).
    pub fn preset(name: &str) -> Result<Self> {
        preset::preset(name)
    }

    /// Reads a configuration file, or standard input (`-`).
    pub fn load(path: &Path) -> Result<Self> {
        let text = LIMIT.read_text(path)?;
        Self::from_toml(&text, input::name_of(path))
    }

    /// Parses a configuration file's text; `path` is for messages.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self> {
        file::parse(text, path)
    }

    /// The first address bit that may not be a pivot
    /// (microarchitecture/hash-units.md): log2 of the largest power of two that
    /// divides the capacity. Rows beyond the capacity would be addressed
    /// otherwise.
    pub fn pivot_limit(&self) -> u32 {
        self.capacity_words
            .trailing_zeros()
            .min(self.geometry.addr_bits())
    }

    /// The register values for `spec`: of the unit of `kind`, or else the spec's
    /// own, and of the unit in this machine's path, if it has one.
    pub fn configuration(&self, spec: &HashSpec, kind: Option<HashKind>) -> Result<Configuration> {
        let configuration = Configuration::new(spec, kind, self.geometry)?;
        Ok(match self.path.hash {
            PathHash::Configurable => configuration.for_path(spec, self.hash_unit, self.geometry),
            _ => configuration,
        })
    }

    /// The path has a hash of the lanes' addresses.
    pub fn has_hash_unit(&self) -> bool {
        self.path.hash != PathHash::Mod
    }

    /// The cost of the lanes' hash in this machine, as text.
    pub fn hash_stage_text(&self) -> String {
        match (self.path.hash, self.path.hash_stage) {
            (PathHash::Mod, _) => "none; this machine has no hash unit".to_owned(),
            (PathHash::Configurable, 1) => format!(
                "a pipeline stage of its own, one cycle more per access, for the configurable \
                 unit ({}); mod, xor and add need none",
                self.hash_unit
            ),
            (hash, stage) => {
                let name = match hash {
                    PathHash::Configurable => format!("the configurable unit ({})", self.hash_unit),
                    PathHash::Xor => "the fixed XOR".to_owned(),
                    PathHash::Add => "the fixed ADD".to_owned(),
                    PathHash::Rap | PathHash::Mod => "RAP".to_owned(),
                };
                match stage {
                    0 => format!("none: {name} computes in the cycle of the address"),
                    _ => {
                        format!("a pipeline stage of its own for {name}, one cycle more per access")
                    }
                }
            }
        }
    }

    /// Bytes of one word.
    pub fn word_bytes(&self) -> u32 {
        self.word_bits / 8
    }
}

#[cfg(test)]
impl Config {
    /// A test's machine with the timing of the papers' figures, where the text
    /// does not say otherwise: two memory stages (gt200: four), no issue ahead.
    pub(crate) fn of_figures(text: &str) -> Self {
        let mut config = Self::from_toml(text, Path::new("test.toml")).unwrap();
        if !text.contains("ahead") {
            config.path.ahead = 0;
        }
        if !text.contains("mem_stages") && !text.contains("gt200") {
            config.path.mem_stages = 2;
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config> {
        Config::from_toml(text, Path::new("m.toml"))
    }

    #[test]
    fn fermi_forbids_pivots_above_the_capacity() {
        let fermi = Config::preset("fermi").unwrap();
        assert_eq!(fermi.pivot_limit(), 12);
        assert_eq!(Config::preset("gt200").unwrap().pivot_limit(), 12);
    }

    #[test]
    fn presets_are_machines_and_gt200_has_24_stages() {
        for name in PRESETS {
            let c = Config::preset(name).unwrap();
            c.check().unwrap();
            assert_eq!(c.name, name);
        }
        let gt200 = Config::preset("gt200").unwrap();
        assert_eq!(gt200.pipeline_stages(), 24);
        // Three of them may decide the issue; without a front end they are added.
        let mut ahead = gt200.clone();
        ahead.path.ahead = 3;
        assert_eq!(ahead.pipeline_stages(), 24);
        ahead.sm.frontend_stages = 0;
        assert_eq!(ahead.pipeline_stages(), 3 + 7);
        // Elastic paper, Table 4: queue depths of 3 and 4.
        let p = gt200.parameters();
        assert_eq!((p.PQ, p.NQ), (3, 4));
        assert_eq!((p.EX, p.DG), (5, 4));
        let fermi = Config::preset("fermi").unwrap();
        let p = fermi.parameters();
        assert_eq!((p.ROWS, p.LK), (384, 10));
        assert_eq!((p.PW, p.PQ), (2, 0));
    }

    #[test]
    fn todays_machines_are_one_table() {
        let (plain, merged) = (Wide::Phases, Wide::PhasesMerged);
        let (lanes, but_increments) = (Atomics::Lanes, Atomics::LanesButIncrements);
        for (name, kib, block_kib, addr_bits, rule) in [
            ("sm70", 96, 96, 15, (plain, lanes)),
            ("sm80", 164, 163, 16, (plain, but_increments)),
            ("sm90", 228, 227, 16, (merged, but_increments)),
        ] {
            let c = Config::preset(name).unwrap();
            assert_eq!(c.capacity_words, kib * 256);
            assert_eq!(c.block_words, block_kib * 256);
            assert_eq!(c.geometry, Geometry::new(addr_bits, 5).unwrap());
            assert_eq!((c.path.warps, c.path.blocks, c.path.locks), (64, 32, 0));
            assert_eq!((c.sm.schedulers, c.sm.registers), (4, 65536));
            assert_eq!((c.wide, c.atomics), rule);
            assert!(c.needs_rtl("spad_sm_path").is_err());
            c.needs_rtl("spad_wide_stream").unwrap();
        }
        // A capacity of one's own is a block's, too, unless said otherwise.
        let c = read("base = \"sm80\"\n[geometry]\naddr_bits = 14\n").unwrap();
        assert_eq!((c.capacity_words, c.block_words), (16384, 16384));
        let c = read("[geometry]\ncapacity_words = 8192\nblock_words = 4096\n").unwrap();
        assert_eq!((c.block_words, c.wide), (4096, Wide::FirstWord));
        c.needs_rtl("spad_sm_path").unwrap();
    }

    #[test]
    fn hardware_waits_only_where_a_file_asks_for_it() {
        let paper = Config::preset("fermi").unwrap();
        assert_eq!((paper.path.retry.read, paper.path.retry.branch), (32, 32));
        for name in ["fermi", "gt200", "small"] {
            let preset = Config::preset(name).unwrap();
            let hardware = preset.clone().for_hardware();
            assert_eq!(hardware.path.retry, RetryLatencies::NONE, "{name}");
            // Nothing else is another.
            let mut back = hardware;
            back.path.retry = preset.path.retry;
            assert_eq!(back, preset);
        }
        // One key is given; the others keep their values of a machine without it.
        let given = read("[retry]\nupdate = 18\n").unwrap();
        assert_eq!(given.path.retry, paper.path.retry);
        let hardware = given.for_hardware().path.retry;
        let expected = RetryLatencies {
            update: 18,
            ..RetryLatencies::NONE
        };
        assert_eq!(hardware, expected);
        assert!(read("[retry]\nupdate = 0\n").is_err());
        assert!(read("[retry]\nread = 0\nwrite = 0\n").is_ok());
    }

    #[test]
    fn the_hash_stage_is_said_in_words() {
        let text = |text: &str| read(text).unwrap().hash_stage_text();
        assert!(text("").contains("stage of its own"), "{}", text(""));
        assert!(text("base = \"small\"").contains("none: the configurable unit (matrix)"));
        assert!(text("base = \"gt200\"").contains("no hash"));
        assert!(text("[hash]\npath = \"xor\"").contains("none: the fixed XOR"));
    }

    #[test]
    fn a_file_overrides_its_base_and_errors_point_into_it() {
        let c = read("[geometry]\naddr_bits = 9\nbank_bits = 3\n").unwrap();
        assert_eq!((c.capacity_words, c.path.locks), (512, 512));
        let e = read("[geometry]\naddr_bitz = 9\n").unwrap_err();
        assert!(e.to_string().contains("m.toml:2:1"), "{e}");
        assert!(read("[geometry]\naddr_bits = 40\n").is_err());
        let based = read("base = \"sm90\"\nname = \"mine\"\n").unwrap();
        assert_eq!(based.compute_capability, Some(90));
        assert_eq!(c.compute_capability, None);
        let c = read(
            "base = \"gt200\"\n[pipeline]\nkind = \"split\"\nbarrel = \"relaxed\"\n\
             [scheduler]\npolicy = \"conflict-aware\"\nviolate = true\n\
             [path]\nlock_hash = \"xor\"\n[retry]\nread = 1\n[sharing]\non = true\nthreshold = 0.5\n",
        )
        .unwrap();
        assert_eq!(c.settings.pipeline, Pipeline::Split);
        assert_eq!(c.settings.barrel, Barrel::Relaxed);
        assert_eq!(c.settings.lock_hash, LockHash::Xor);
        assert!(c.settings.violate && c.sm.sharing.on);
        assert_eq!((c.path.retry.read, c.path.retry.write), (1, 36));
        // Without a configurable hash the extra cycle goes, unless asked for.
        assert_eq!(read("[hash]\npath = \"xor\"\n").unwrap().path.hash_stage, 0);
        let staged = read("[hash]\npath = \"xor\"\nstage = 1\n").unwrap();
        assert_eq!(staged.path.hash_stage, 1);
    }

    #[test]
    fn any_policy_may_be_aware_and_conflict_aware_is_one_that_is() {
        let settings = |text: &str| read(&format!("[scheduler]\n{text}")).unwrap().settings;
        for (text, aware) in [
            ("policy = \"lrr\"\n", false),
            ("policy = \"conflict-aware\"\nviolate = true\n", true),
            ("policy = \"owf\"\naware = true\nviolate = true\n", true),
            ("policy = \"owf\"\naware = false\n", false),
            ("aware = true\n", true),
        ] {
            assert_eq!(settings(text).is_aware(), aware, "{text}");
        }
        // Setting another policy removes the mask that came with the old one,
        // and the settings that depend on the mask.
        let machine = read("[scheduler]\npolicy = \"conflict-aware\"\nviolate = true\n");
        let mut overlay = Overlay::from(machine.unwrap());
        overlay.set("scheduler.policy", "gto").unwrap();
        let settings = overlay.config().unwrap().settings;
        assert!(!settings.is_aware() && !settings.violate);
    }

    #[test]
    fn contradictions_are_refused_with_the_value() {
        for (text, reason) in [
            ("[geometry]\nlanes = 64\n", "64 lanes do not divide"),
            ("[geometry]\nlanes = 1\n", "geometry.lanes 1 is not"),
            ("[geometry]\ncapacity_words = 1000\n", "32 banks evenly"),
            (
                "[path]\nblocks = 3\n",
                "3 block slots are not compatible with 48 warp slots at m.toml:2:10",
            ),
            (
                "[path]\nwarps = 4\n",
                "8 block slots are not compatible with 4 warp slots",
            ),
            ("[path]\nlocks = 48\n", "locks 48"),
            ("[geometry]\nblock_words = 0\n", "block_words 0"),
            ("[geometry]\nblock_words = 12289\n", "block_words 12289"),
            (
                "[geometry]\nwide = \"phases\"\nlanes = 16\n",
                "wide = \"phases\" with 16 lanes and warps of 32",
            ),
            (
                "base = \"sm90\"\n[geometry]\nlanes = 16\n",
                "wide = \"phases-merged\" with 16 lanes and warps of 32",
            ),
            (
                "base = \"fermi\"\nname = \"sm90\"\n",
                "name \"sm90\" is that of a preset, and the base is fermi at m.toml:2:8",
            ),
            (
                "[geometry]\nwide = \"phases\"\nword_bits = 64\n",
                "words of 64 bits",
            ),
            (
                "[geometry]\naddr_bits = 9\n[path]\nlocks = 1024\n",
                "locks 1024",
            ),
            ("[path]\nlock_group_cycles = 3\n", "lock_group_cycles 3"),
            (
                "[path]\nmem_stages = 1\n",
                "path.mem_stages 1 is not supported at m.toml:2:14",
            ),
            (
                "[hash]\nstage = 2\n",
                "hash.stage 2 is not supported at m.toml:2:9",
            ),
            ("[retry]\nread = 64\n", "retry.read 64"),
            (
                "base = \"small\"\n[path]\nwarps = 8\n[retry]\n  contexts = 0\n",
                "retry.contexts 0 is not supported at m.toml:5:14",
            ),
            (
                "[path]\nahead = 4\n",
                "path.ahead 4 is not supported at m.toml:2:9",
            ),
            (
                "[sm]\nshared_cycles = 1025\n",
                "sm.shared_cycles 1025 is not supported at m.toml:2:17",
            ),
            ("[scheduler]\nactive_warps = 0\n", "active_warps 0"),
            ("[scheduler]\nviolate = true\n", "violate contradicts"),
            (
                "[scheduler]\naware = false\npolicy = \"conflict-aware\"\n",
                "aware = false contradicts",
            ),
            ("[scheduler]\ncount = 0\n", "scheduler.count 0"),
            ("[sharing]\nthreshold = 1.5\n", "threshold 1.5"),
            ("[sharing]\nthreshold = nan\n", "threshold NaN"),
            ("[global]\nsegment_bytes = 48\n", "segment_bytes 48"),
            (
                "[global]\nbytes_per_cycle = 0\n",
                "global.bytes_per_cycle 0 is not supported at m.toml:2:19",
            ),
            ("[global]\nbytes_per_cycle = nan\n", "bytes_per_cycle NaN"),
            ("[global]\nbytes_per_cycle = 4097\n", "bytes_per_cycle 4097"),
            (
                "[global]\nbytes_per_cycle = 2.0005\n",
                "bytes_per_cycle 2.0005",
            ),
            (
                "[global]\ncycles_per_segment = 8\n",
                "unknown key 'cycles_per_segment'",
            ),
            ("[global]\nmerge = 1\n", "global.merge is an integer"),
            (
                "[l1]\nways = 0\n",
                "l1.ways 0 is not supported at m.toml:2:8",
            ),
            ("[l1]\nline_bytes = 96\n", "l1.line_bytes 96"),
            (
                "[l1]\nsize_bytes = 16384\nlatency = 0\n",
                "l1.latency 0 is not supported at m.toml:3:11",
            ),
            ("[l1]\nmshrs = 0\n", "l1.mshrs 0"),
            ("[l1]\nsize_bytes = 100000000\n", "l1.size_bytes 100000000"),
            (
                "[l1]\nsize_bytes = 16384\nline_bytes = 64\n",
                "less than a segment of 128 bytes",
            ),
            (
                "[l1]\nsize_bytes = 16384\nways = 3\n",
                "not a whole number of sets of 3 lines of 128 bytes",
            ),
            (
                "[l1]\nsize_bytes = 16384\nlatency = 401\n",
                "more than the 400 cycles of global memory",
            ),
            (
                "name = \"a\\nb\"\n",
                "name \"a\\nb\" is not supported at m.toml:1:8",
            ),
            ("name = \"\"\n", "'name' is empty at m.toml:1:8"),
            (
                "base = \"nope\"\n",
                "there is no preset 'nope' at m.toml:1:8",
            ),
        ] {
            let e = read(text).unwrap_err().to_string();
            assert!(e.contains(reason), "{text}: {e}");
        }
        assert!(read("[path]\nlocks = 0\n").is_ok());
        let memory = read(
            "[global]\nbytes_per_cycle = 2.5\nmerge = true\n\
             [l1]\nsize_bytes = 24576\nways = 6\nlatency = 30\nmshrs = 8\n",
        );
        let sm = memory.unwrap().sm;
        assert_eq!(sm.global.millibytes_per_cycle(), 2500);
        assert!(sm.global.merge && (sm.l1.size_bytes, sm.l1.mshrs) == (24576, 8));
        // Without a size there is no L1 that could contradict anything.
        assert!(read("[l1]\nways = 3\nline_bytes = 32\n").is_ok());
    }
}
