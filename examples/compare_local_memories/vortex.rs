//! Vortex' local memory from the user's checkout of its sources: clock cycles by
//! Verilator, size by Yosys.

use super::checkout::{self, Bench};
use super::slang::{self, Reader, Size, Tools};
use super::traffic::{Pattern, Traffic};
use super::window::ACCESSES;
use spadkit::error::{Error, Result};
use spadkit::geometry::Geometry;
use std::path::{Path, PathBuf};

/// The test bench, and the ports of wires around the memory.
const BENCH: &str = include_str!("../../testbenches/compare/vortex.sv");
const PORTS: &str = include_str!("../../testbenches/compare/vortex_ports.sv");

/// The memory.
const MEMORY: &str = "hw/rtl/mem/VX_local_mem.sv";

/// Packages and modules that are read first; all others are found by name.
const SOURCES: [&str; 3] = [
    "hw/rtl/VX_gpu_pkg.sv",
    "hw/rtl/mem/VX_mem_bus_if.sv",
    MEMORY,
];

/// Headers of these files.
const HEADERS: [&str; 4] = [
    "hw/rtl/VX_define.vh",
    "hw/rtl/VX_platform.vh",
    "hw/rtl/VX_config.vh",
    "hw/rtl/VX_types.vh",
];

/// Folders in which modules are found by their names.
const LIBRARIES: [&str; 2] = ["hw/rtl/libs", "hw/rtl/mem"];

const HELP: &str = "VORTEX is the top of a checkout of github.com/vortexgpgpu/vortex with hw/rtl; \
     docs/explanation/local-memories.md names a commit that is known to work";

/// A checkout of Vortex.
pub struct Vortex {
    folder: PathBuf,
    /// Whether the lanes' ports are called lsu_bus_if, which versions with a DMA port do.
    lsu_bus: bool,
}

impl Vortex {
    /// The checkout that the environment variable VORTEX names.
    pub fn given() -> Result<Option<Self>> {
        checkout::named("VORTEX")
            .map(|folder| Vortex::at(&folder))
            .transpose()
    }

    /// The checkout in `folder`.
    pub fn at(folder: &Path) -> Result<Self> {
        let files = [&SOURCES[..], &HEADERS[..]].concat();
        let folder = checkout::with_files("VORTEX", folder, &files, HELP)?;
        let memory = folder.join(MEMORY);
        let text = std::fs::read_to_string(&memory);
        let text = text.map_err(|e| Error::io("read", &memory, e))?;
        let lsu_bus = text.contains("lsu_bus_if");
        if !lsu_bus && !text.contains("mem_bus_if [NUM_REQS]") {
            return Err(Error::usage(
                format!(
                    "{}: the ports for lanes have no known name",
                    memory.display()
                ),
                HELP,
            ));
        }
        Ok(Vortex { folder, lsu_bus })
    }

    /// The commit that is checked out.
    pub fn commit(&self) -> String {
        checkout::commit(&self.folder)
    }

    fn paths(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.folder.join(name)).collect()
    }

    fn macros(&self, kind: &'static str) -> Vec<&'static str> {
        let port = self.lsu_bus.then_some("VORTEX_LSU_BUS");
        [kind, "NDEBUG"].into_iter().chain(port).collect()
    }

    /// The memory with this number of lanes and of banks, under accesses of them. With
    /// `together`, through Vortex' own adapter, which takes an access of all lanes at
    /// once.
    pub fn bench(&self, lanes: u16, accesses: u16, together: bool) -> Result<VortexBench> {
        let sizes = [("LANES", lanes), ("BANKS", lanes), ("ACCESSES", accesses)];
        let sources = [("vortex_ports.sv", PORTS), ("vortex.sv", BENCH)];
        let libraries = self.paths(&LIBRARIES).into_iter();
        let bench = Bench::build("vortex_compare", &sources, |verilator| {
            verilator
                // Remarks that this Verilator does not know yet.
                .arg("-Wfuture-GENUNNAMED")
                .args(sizes.map(|(name, value)| format!("-G{name}={value}")))
                .args(
                    self.macros("SIMULATION")
                        .iter()
                        .map(|name| format!("-D{name}")),
                )
                .arg(format!("-I{}", self.folder.join("hw/rtl").display()))
                .args(libraries.flat_map(|folder| ["-y".into(), folder]))
                .args(together.then_some("-DVORTEX_ADAPTER"))
                .args(self.paths(&SOURCES))
        });
        bench.map(VortexBench)
    }

    /// The size of the memory with this number of lanes and of banks.
    pub fn size(&self, reader: &Reader, lanes: u16, tools: &Tools) -> Result<Size> {
        let design = slang::Design {
            top: "vortex_ports",
            parameters: vec![("LANES", lanes.into()), ("BANKS", lanes.into())],
            macros: self.macros("SYNTHESIS"),
            includes: self.paths(&["hw/rtl"]),
            libraries: self.paths(&LIBRARIES),
            files: self.paths(&SOURCES),
            own: vec![("vortex_ports.sv", PORTS)],
            geometry: Geometry::new(14, lanes.ilog2())?,
            memory: Some("VX_sp_ram"),
        };
        reader.size(&design, tools)
    }
}

/// The memory of one size, ready to run.
pub struct VortexBench(Bench);

impl VortexBench {
    /// Cycles from the first request to the last answer, both included; stores have no
    /// answers and end when they are taken. All loaded words are compared. Whether the lanes
    /// go on together is the bench's.
    pub fn cycles(&self, lanes: u16, traffic: &Traffic) -> Result<u32> {
        let mut arguments = Vec::new();
        if traffic.store {
            arguments.push("+stores".to_owned());
        }
        arguments.push(format!("+flight={}", traffic.flight));
        self.of_words(lanes, ACCESSES, traffic.pattern, &arguments)
    }

    /// Cycles of one load of all lanes.
    pub fn one_load(&self, lanes: u16, addr: Pattern) -> Result<u32> {
        self.of_words(lanes, 1, addr, &["+flight=1".to_owned()])
    }

    fn of_words(
        &self,
        lanes: u16,
        accesses: u16,
        addr: Pattern,
        arguments: &[String],
    ) -> Result<u32> {
        let words = (0..lanes).flat_map(|lane| (0..accesses).map(move |k| addr(lane, k)));
        let cycles = self.0.cycles(words, arguments, "words compared");
        cycles.map_err(|printed| {
            Error::usage(
                format!("Vortex' local memory does not answer as it should: {printed}"),
                "compare the commit with the one in docs/explanation/local-memories.md",
            )
        })
    }
}
