//! All mutants of a unit in one Verilog file, behind a select input.

use super::aig::{AS_GATES, Aig};
use crate::error::{Error, Result};
use crate::rtl::SourceFile;
use crate::tool::{Cache, KeyBuilder, ToolKind, Toolbox, product, product_text, unexpected_output};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The select input; 0 is the original.
pub(super) const SELECT: &str = "spad_mutant";

/// Everything but the ports of memories, which Yosys wants to belong together;
/// the logic in front of them is mutated.
const MUTABLE: &str = "* t:$mem* %d";

/// One injected fault.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mutant {
    /// Value of the select input.
    pub number: u32,
    /// `inv`, `const0`, `const1`, `cnot0` or `cnot1`.
    pub mode: String,
    /// The cell of the elaborated design and its port.
    pub cell: String,
    /// Position in the Verilog, `file:line.column`.
    pub place: String,
}

/// A unit with all its mutants.
pub struct Mutants {
    top: String,
    list: Vec<Mutant>,
    select_bits: usize,
    text: String,
    circuit: Aig,
    select: Vec<usize>,
}

impl Mutants {
    /// Injects up to `faults` faults, evenly sampled over the design.
    pub fn inject(
        top: &str,
        files: &[SourceFile],
        faults: u32,
        tools: &Toolbox,
        cache: &Cache,
    ) -> Result<Self> {
        let select_bits = (u32::BITS - faults.leading_zeros()) as usize;
        let read = |entry: &Path| Self::read(top, select_bits, entry);
        mutated((top, files), (faults, select_bits), (tools, cache), read)
    }

    /// The mutants in a folder that [`mutated`] has built.
    fn read(top: &str, select_bits: usize, entry: &Path) -> Result<Self> {
        let whole = |name: &str| product(ToolKind::Yosys, &entry.join(name));
        let list = whole("mutants.ys")?;
        let Some(circuit) = Aig::parse(&whole("mutated.aig")?) else {
            let what = "wrote a circuit that cannot be read (is a disk full?)";
            return Err(unexpected_output(
                ToolKind::Yosys,
                what,
                &Default::default(),
            ));
        };
        let text = product_text(ToolKind::Yosys, &entry.join("mutated.v"), "endmodule")?;
        Ok(Mutants {
            top: top.to_owned(),
            list: String::from_utf8_lossy(&list)
                .lines()
                .filter_map(parse_mutant)
                .collect(),
            select_bits,
            text,
            select: select_inputs(&circuit, select_bits)?,
            circuit,
        })
    }

    /// The mutants in the order of their numbers.
    pub fn list(&self) -> &[Mutant] {
        &self.list
    }

    /// Bits of the select input.
    pub fn select_bits(&self) -> usize {
        self.select_bits
    }

    /// The unit with its mutants as gates and registers that start at zero.
    pub(super) fn circuit(&self) -> &Aig {
        &self.circuit
    }

    /// The circuit's inputs that select the mutant, low bit first.
    pub(super) fn select(&self) -> &[usize] {
        &self.select
    }

    /// The one file; its module is named like the unit.
    pub fn verilog(&self) -> SourceFile {
        SourceFile::plain(format!("{}.v", self.top), self.text.clone())
    }
}

/// What `read` finds in the directory with what Yosys makes of the files of `top` with
/// `faults` faults, of which the select input has this many bits: the list, the Verilog
/// and the circuit.
fn mutated<T>(
    (top, files): (&str, &[SourceFile]),
    (faults, select_bits): (u32, usize),
    (tools, cache): (&Toolbox, &Cache),
    read: impl Fn(&Path) -> Result<T>,
) -> Result<T> {
    let read_verilog = |file: &SourceFile| {
        let language = if file.name.ends_with(".sv") {
            "-sv "
        } else {
            ""
        };
        format!("read_verilog {language}{}\n", file.name)
    };
    let sources: String = files.iter().map(read_verilog).collect();
    // `pmuxtree`: a fault can select two branches of a `case`, of which text
    // and circuit would else show different ones.
    let script = format!(
        "{sources}hierarchy -check -top {top}\nproc\nflatten\nopt_clean\n\
         mutate -list {faults} -seed 1 -ctrl {SELECT} {select_bits} 1 -o mutants.ys \
         {MUTABLE}\n\
         script mutants.ys\npmuxtree\nopt_clean\nwrite_verilog -noattr mutated.v\n\
         {AS_GATES} mutated.aig\n"
    );
    let yosys = tools.get(ToolKind::Yosys)?;
    let mut key = KeyBuilder::new("mutants 3")
        .add("script", &script)
        .add("yosys", &yosys.build);
    for file in files {
        key = key.add(&file.name, &file.text);
    }
    let build = |dir: &Path| {
        for file in files {
            let path = dir.join(&file.name);
            std::fs::write(&path, &file.text).map_err(|e| Error::io("write", &path, e))?;
        }
        yosys
            .command()
            .args(["-q", "-s", "-"])
            .stdin(script.clone())
            .cwd(dir)
            .run()
            .map(drop)
    };
    cache.get_or_build(&key.finish(), build, read)
}

fn select_inputs(circuit: &Aig, bits: usize) -> Result<Vec<usize>> {
    let bit = |i: usize| {
        let name = match bits {
            1 => SELECT.to_owned(),
            _ => format!("{SELECT}[{i}]"),
        };
        let place = circuit.inputs.iter().position(|input| *input == name);
        place.ok_or_else(|| {
            let what = format!("wrote a circuit without the input {name}");
            unexpected_output(ToolKind::Yosys, what, &Default::default())
        })
    };
    (0..bits).map(bit).collect()
}

/// One line of Yosys's list:
/// `mutate -ctrl NAME WIDTH NUMBER -mode MODE -module M -cell C -port P ... -src PLACE ...`.
fn parse_mutant(line: &str) -> Option<Mutant> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |option: &str, skip: usize| {
        let at = words.iter().position(|w| *w == option)?;
        words.get(at + skip).copied()
    };
    // The last source attribute is that of the cell itself.
    let src = words.iter().rposition(|w| *w == "-src");
    Some(Mutant {
        number: after("-ctrl", 3)?.parse().ok()?,
        mode: after("-mode", 1)?.to_owned(),
        cell: format!("{}.{}", after("-cell", 1)?, after("-port", 1)?),
        place: src
            .and_then(|i| words.get(i + 1))
            .unwrap_or(&"")
            .to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yosys_lines_are_read() {
        let line = "mutate -ctrl s 8 5 -mode inv -module m -cell $xor$m.v:65$136 -port Y \
                    -portbit 0 -wire bank -wirebit 1 -src m.v:24.22-24.26 -src m.v:65.20-67.47";
        let mutant = parse_mutant(line).unwrap();
        assert_eq!((mutant.number, mutant.mode.as_str()), (5, "inv"));
        assert_eq!(mutant.cell, "$xor$m.v:65$136.Y");
        assert_eq!(mutant.place, "m.v:65.20-67.47");
        assert!(parse_mutant("# nothing").is_none());
    }
}
