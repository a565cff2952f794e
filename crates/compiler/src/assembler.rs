//! The machine code that `ptxas` makes of a kernel: registers and instructions
//! of the GPU, which PTX does not have.

mod cubin;
pub mod ledger;
mod log;
mod registers;
mod sass;

use serde::Serialize;
use spadkit_base::error::{Error, Result};
use spadkit_base::output::Scratch;
use spadkit_ptx::Module;
use spadkit_rtl::tool::{Tool, ToolKind, Toolbox};
use std::fmt;

pub use registers::{allocated, registers};
pub use sass::{MachineAccess, accesses as listed_accesses};

/// The oldest GPU that `ptxas` of today assembles for (CUDA 13).
const OLDEST: u32 = 75;

/// A kernel as the GPU runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Assembled {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Instructions of the entry, with the functions that it calls and without
    /// the padding after them.
    pub instructions: u64,
    /// Bytes of local memory that a thread stores registers to and loads them
    /// from, summed over the instructions.
    pub spilled_bytes: u64,
}

/// The machine code of a kernel, as it is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Accesses of the code to shared memory.
    pub accesses: Vec<MachineAccess>,
    /// 32-bit registers of a thread, where `ptxas` tells them.
    pub registers: Option<u32>,
}

/// `ptxas` for one GPU.
#[derive(Clone, Debug)]
pub struct Assembler {
    tool: Tool,
    arch: String,
}

/// The assembler of a result: `ptxas VERSION for ARCH` in texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AssemblerId {
    /// Version of `ptxas`.
    pub version: String,
    /// The GPU, such as `sm_80`.
    pub arch: String,
}

impl fmt::Display for AssemblerId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "ptxas {} for {}", self.version, self.arch)
    }
}

impl Assembler {
    /// The assembler for `module` on a GPU of compute capability `sm` (80 for
    /// 8.0); `None` where it is not installed. The GPU is at least that of the
    /// module's `.target`, and exactly that where its features are those of one
    /// GPU (`sm_90a`).
    pub fn find(tools: &Toolbox, module: &Module, sm: Option<u32>) -> Result<Option<Self>> {
        let tool = tools.get_optional(ToolKind::Ptxas)?;
        let arch = arch(module, sm);
        Ok(tool.map(|tool| Assembler { tool, arch }))
    }

    /// The assembler that [`Assembler::find`] finds; if it is not installed, an
    /// error that says how to install it.
    pub fn required(tools: &Toolbox, module: &Module, sm: Option<u32>) -> Result<Self> {
        let tool = tools.get(ToolKind::Ptxas)?;
        let arch = arch(module, sm);
        Ok(Assembler { tool, arch })
    }

    /// Identity of the assembler in results.
    pub fn id(&self) -> AssemblerId {
        AssemblerId {
            version: self.tool.version.to_string(),
            arch: self.arch.clone(),
        }
    }

    /// The accesses to shared memory that the machine code of `entry` of the PTX
    /// `text` makes, with their lines in `text`.
    pub fn accesses(&self, tools: &Toolbox, text: &str, entry: &str) -> Result<Vec<MachineAccess>> {
        self.listed(tools, text, entry)
            .map(|listed| listed.accesses)
    }

    /// The accesses to shared memory, as [`accesses`](Self::accesses), and the
    /// registers of a thread.
    pub fn listed(&self, tools: &Toolbox, text: &str, entry: &str) -> Result<Listed> {
        let disassembler = tools.get(ToolKind::Nvdisasm)?;
        let scratch = Scratch::new()?;
        let (ptx, cubin) = (scratch.path("k.ptx"), scratch.path("k.cubin"));
        std::fs::write(&ptx, text).map_err(|e| Error::io("write", &ptx, e))?;
        let arch = format!("-arch={}", self.arch);
        let command = self.tool.command();
        let assembled = command
            .args(["-v", "-lineinfo", &arch, "--entry", entry])
            .arg(&ptx)
            .arg("-o")
            .arg(&cubin)
            .run()?;
        let command = disassembler.command();
        let output = command.args(["-c", "-gp"]).arg(&cubin).run()?;
        let accesses = sass::accesses(&output.stdout, entry).ok_or_else(|| {
            let what = format!("does not list the code of {entry}");
            spadkit_rtl::tool::unexpected_output(ToolKind::Nvdisasm, what, &output)
        })?;
        Ok(Listed {
            accesses,
            registers: log::used(&assembled.log(), entry).map(|used| used.registers),
        })
    }

    /// Assembles `entry` of the PTX `text`.
    pub fn assemble(&self, text: &str, entry: &str) -> Result<Assembled> {
        let scratch = Scratch::new()?;
        let (ptx, cubin) = (scratch.path("k.ptx"), scratch.path("k.cubin"));
        std::fs::write(&ptx, text).map_err(|e| Error::io("write", &ptx, e))?;
        let arch = format!("-arch={}", self.arch);
        let command = self.tool.command();
        let output = command
            .args(["-v", &arch, "--entry", entry])
            .arg(&ptx)
            .arg("-o")
            .arg(&cubin)
            .run()?;
        let unexpected = |what: &str| {
            spadkit_rtl::tool::unexpected_output(
                ToolKind::Ptxas,
                format!("{what} of {entry}"),
                &output,
            )
        };
        let used = log::used(&output.log(), entry)
            .ok_or_else(|| unexpected("does not tell the registers"))?;
        let binary = std::fs::read(&cubin).map_err(|e| Error::io("read", &cubin, e))?;
        let instructions = cubin::instructions(&binary, entry)
            .ok_or_else(|| unexpected("wrote no code that can be read"))?;
        Ok(Assembled {
            registers: used.registers,
            instructions,
            spilled_bytes: used.spilled_bytes,
        })
    }
}

fn arch(module: &Module, sm: Option<u32>) -> String {
    let named = module.target.iter().find(|t| t.starts_with("sm_"));
    match named {
        Some(one) if one.ends_with(|c: char| c.is_ascii_lowercase()) => one.clone(),
        _ => {
            let least = module.sm().unwrap_or(0).max(OLDEST);
            format!("sm_{}", sm.unwrap_or(0).max(least))
        }
    }
}

#[cfg(test)]
mod tests;
