//! Whether a mutant that no run caught can be told apart at all.

use super::inject::{Mutant, Mutants, SELECT};
use crate::error::{Error, Result};
use crate::rtl::{Dir, EmittedUnit};
use crate::tool::{Kind, Toolbox};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Longer proofs count as not found.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Tries to prove that `mutant` equals the original: first that every output
/// and every next state is the same for all inputs and states; then, by
/// property-directed reachability, that no input sequence from the state with
/// all registers zero makes an output differ.
///
/// All inputs are free, illegal configurations included, so a mutant that
/// only an illegal use can tell apart is not proved; the answer errs on the
/// side of "missed".
pub(super) fn is_equivalent(
    mutants: &Mutants,
    mutant: &Mutant,
    unit: &EmittedUnit,
    tools: &Toolbox,
) -> Result<bool> {
    let wrappers =
        wrapper("gold", 0, mutants, unit) + &wrapper("gate", mutant.number, mutants, unit);
    let scratch = tempfile::tempdir().map_err(|e| Error::io("create", &std::env::temp_dir(), e))?;
    let file = scratch.path().join("mutant.v");
    let text = mutants.verilog().text + &wrappers;
    std::fs::write(&file, text).map_err(|e| Error::io("write", &file, e))?;
    // With the registers turned into ports, equal outputs and equal next
    // states for all inputs and states are one combinational question.
    let next_states = "expose -dff -evert-dff gold gate\n\
                       miter -equiv -flatten gold gate miter\nhierarchy -top miter\nopt -full\n\
                       techmap\nabc -g AND,XOR\n\
                       sat -verify -set-def-inputs -prove trigger 0 miter\n";
    if yosys_succeeds(next_states, scratch.path(), tools)? {
        return Ok(true);
    }
    // Registers start at zero for the second question; `abc` says what it found.
    let reachable = "miter -equiv -flatten gold gate miter\nhierarchy -top miter\nopt -full\n\
                     techmap\nopt -fast\ndffunmap\nzinit -all\nabc -g AND\nopt_clean\n\
                     write_aiger -zinit miter.aig\n\
                     exec -expect-stdout Property.proved -- \
                     yosys-abc -q \"read_aiger miter.aig; scorr; pdr -T 90\"\n";
    yosys_succeeds(reachable, scratch.path(), tools)
}

/// Whether a script on `gold` and `gate` ends well, in time.
fn yosys_succeeds(script: &str, directory: &Path, tools: &Toolbox) -> Result<bool> {
    let start = "read_verilog mutant.v\nproc\nflatten gold gate\nmemory\nopt_clean\n";
    let run = tools
        .get(Kind::Yosys)?
        .command()
        .args(["-q", "-s", "-"])
        .stdin(format!("{start}{script}"))
        .cwd(directory)
        .timeout(TIMEOUT)
        .run_with_status();
    Ok(matches!(run, Ok((0, _))))
}

/// A module `name` with the unit's ports around the mutant `number`.
fn wrapper(name: &str, number: u32, mutants: &Mutants, unit: &EmittedUnit) -> String {
    let ports: Vec<_> = unit.ports.iter().map(|p| p.name.as_str()).collect();
    let mut text = format!("module {name}({});\n", ports.join(", "));
    for port in &unit.ports {
        let dir = match port.dir {
            Dir::In => "input",
            Dir::Out => "output",
        };
        let _ = writeln!(text, "  {dir} [{}:0] {};", port.width - 1, port.name);
    }
    let _ = write!(text, "  {} u(", unit.name);
    for port in &ports {
        let _ = write!(text, ".{port}({port}), ");
    }
    let _ = writeln!(
        text,
        ".{SELECT}({}'d{number}));\nendmodule",
        mutants.select_bits()
    );
    text
}
