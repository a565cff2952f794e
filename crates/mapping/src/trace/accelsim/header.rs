//! The header of a kernel's trace: lines `-key = value`.

use super::source::{Bad, Lines};
use spadkit_base::cuda::{MAX_BLOCK, MAX_GRID};
use spadkit_base::error::Result;

/// The tracer's description of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Mangled name of the kernel.
    pub name: String,
    /// Thread blocks of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Static and dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Architecture: 70 for sm_70.
    pub binary_version: u32,
    /// Generic address at which shared memory begins.
    pub shared_base: u64,
    /// Generic address at which local memory begins.
    pub local_base: u64,
    /// Version of the tracer.
    pub version: u32,
    /// Whether each instruction begins with its source line.
    pub line_info: bool,
}

impl Header {
    /// Reads the header; the last line read is the first after it.
    pub(super) fn read(lines: &mut Lines) -> Result<Self> {
        let mut header = Header::default();
        let mut seen = Vec::new();
        while lines.advance()? {
            let line = lines.line();
            let Some(text) = line.strip_prefix('-') else {
                if line.trim().is_empty() {
                    continue;
                }
                break;
            };
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            let key = key.trim();
            let known = header.set(key, value.trim()).ok_or_else(|| {
                let what = format!("'{}' is not a value of '{key}'", value.trim());
                let at = line.len() - value.trim_start().len();
                lines.error(Bad::new(what, "expected what the tracer writes", at))
            })?;
            if known {
                seen.push(key.to_owned());
            }
        }
        for key in [
            "kernel name",
            "grid dim",
            "block dim",
            "shmem",
            "accelsim tracer version",
        ] {
            if !seen.iter().any(|s| s == key) {
                let what = format!("the header has no '-{key} = ...'");
                return Err(lines.error(Bad::new(
                    what,
                    "expected an Accel-Sim trace (.traceg)",
                    0,
                )));
            }
        }
        if !(3..=5).contains(&header.version) {
            let what = format!("tracer version {} is not supported", header.version);
            return Err(lines.error(Bad::new(what, "expected version 3, 4 or 5", 0)));
        }
        Ok(header)
    }

    /// Sets a field; false for keys that say nothing here, `None` where the
    /// value is wrong.
    fn set(&mut self, key: &str, value: &str) -> Option<bool> {
        match key {
            "kernel name" => self.name = value.to_owned(),
            "grid dim" => self.grid = triple(value, MAX_GRID)?,
            "block dim" => self.block = triple(value, MAX_BLOCK)?,
            "shmem" => self.shared_bytes = value.parse().ok()?,
            "nregs" => self.registers = value.parse().ok()?,
            "binary version" => self.binary_version = value.parse().ok()?,
            "shmem base_addr" => self.shared_base = hexadecimal(value)?,
            "local mem base_addr" => self.local_base = hexadecimal(value)?,
            "accelsim tracer version" => self.version = value.parse().ok()?,
            "enable lineinfo" => self.line_info = value.parse::<u32>().ok()? != 0,
            _ => return Some(false),
        }
        Some(true)
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// `(x,y,z)`, none of them 0 or above its limit.
fn triple(text: &str, limits: [u32; 3]) -> Option<[u32; 3]> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let numbers: Option<Vec<u32>> = inner.split(',').map(|n| n.trim().parse().ok()).collect();
    let triple: [u32; 3] = numbers?.try_into().ok()?;
    let within = |(n, limit): (u32, u32)| (1..=limit).contains(&n);
    let good = triple.into_iter().zip(limits).all(within);
    good.then_some(triple)
}
