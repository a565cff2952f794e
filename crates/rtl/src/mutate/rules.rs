//! Rules for the neighbours of a unit, as far as a proof of equivalence needs
//! them: a fault that only an illegal use shows does not count.

use super::aig::{AS_GATES, Aig, Builder, Literal};
use crate::error::{Error, Result};
use crate::output::Scratch;
use crate::rtl::{EmittedUnit, Port};
use crate::tool::{ToolKind, Toolbox, unexpected_output};

/// Circuits that look at a unit's ports and say in `broken` that a rule of
/// microarchitecture/sm-path.md is broken in this cycle.
const RULES: [(&str, &str); 3] = [
    (
        "spad_memory_entry",
        include_str!("../../testbenches/mutate/spad_memory_entry.v"),
    ),
    (
        "spad_retry_sequencer",
        include_str!("../../testbenches/mutate/spad_retry_sequencer.v"),
    ),
    (
        "spad_sm_path",
        include_str!("../../testbenches/mutate/spad_sm_path.v"),
    ),
];

/// The source of an input of the rules.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The unit's input of this number.
    Input(usize),
    /// The unit's output.
    Output(usize),
}

/// The rules of a unit's ports.
pub(super) struct Rules {
    /// A circuit whose one output is high if a rule is broken.
    pub(super) circuit: Aig,
    /// The sources of its inputs.
    pub(super) ports: Vec<Source>,
}

impl Rules {
    /// The rules of `unit`, whose circuit is `watched`; `None` if every use is
    /// legal, or if no proof has needed a rule.
    pub fn of(unit: &EmittedUnit, watched: &Aig, tools: &Toolbox) -> Result<Option<Self>> {
        match RULES.iter().find(|(name, _)| *name == unit.name) {
            None => Ok(None),
            Some((_, text)) => Self::read(unit, text, watched, tools).map(Some),
        }
    }

    fn read(unit: &EmittedUnit, text: &str, watched: &Aig, tools: &Toolbox) -> Result<Self> {
        let scratch = Scratch::new()?;
        let (verilog, written) = (scratch.path("rules.v"), scratch.path("rules.aig"));
        std::fs::write(&verilog, text).map_err(|e| Error::io("write", &verilog, e))?;
        let yosys = tools.get(ToolKind::Yosys)?;
        let run = yosys.command().args(["-q", "-s", "-"]);
        let output = run.stdin(script(unit, text)).cwd(scratch.dir()).run()?;
        let bytes = std::fs::read(&written).map_err(|e| Error::io("read", &written, e))?;
        let unexpected = |what: String| unexpected_output(ToolKind::Yosys, what, &output);
        let circuit = Aig::parse(&bytes)
            .filter(|circuit| circuit.outputs.len() == 1)
            .ok_or_else(|| unexpected("wrote rules that are not a circuit of one output".into()))?;
        let port = |name: &String| {
            let among = |names: &[String]| names.iter().position(|n| n == name);
            let input = among(&watched.inputs).map(Source::Input);
            let port = input.or_else(|| among(&watched.output_names).map(Source::Output));
            port.ok_or_else(|| unexpected(format!("wrote {} without the port {name}", unit.name)))
        };
        Ok(Rules {
            ports: circuit.inputs.iter().map(port).collect::<Result<_>>()?,
            circuit,
        })
    }

    /// The registers that [`copy`](Self::copy) needs.
    pub fn registers(&self) -> usize {
        self.circuit.next.len() + 1
    }

    /// Adds the rules to a unit with these `inputs` and `outputs`. Their
    /// registers are the inputs of the builder from `first` on. Returns the
    /// next states of the registers, and whether a rule is broken now or ever
    /// was.
    pub fn copy(
        &self,
        builder: &mut Builder,
        first: usize,
        inputs: &[Literal],
        outputs: &[Literal],
    ) -> (Vec<Literal>, Literal) {
        let port = |port: &Source| match *port {
            Source::Input(i) => inputs[i],
            Source::Output(i) => outputs[i],
        };
        let registers = (first..).map(Builder::input);
        let own = registers.take(self.circuit.next.len());
        let sources: Vec<_> = self.ports.iter().map(port).chain(own).collect();
        let (mut next, now) = builder.copy(&self.circuit, &sources);
        let before = Builder::input(first + self.circuit.next.len());
        let broken = builder.or(now[0], before);
        next.push(broken);
        (next, broken)
    }
}

/// Makes gates of the rules, with the widths of the unit's ports.
fn script(unit: &EmittedUnit, text: &str) -> String {
    let width = |port: &Port| {
        let name = format!("W_{}", port.name);
        let named = text.contains(&format!("parameter {name} "));
        named.then(|| format!(" -chparam {name} {}", port.width))
    };
    let widths: String = unit.ports.iter().filter_map(width).collect();
    format!(
        "read_verilog -defer rules.v\nhierarchy -check -top rules{widths}\nproc\n\
         {AS_GATES} rules.aig\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::rtl::Design;
    use crate::tool::required;
    use crate::units::{Chunk, Layout, PortSlot, Setup, Stimulus, bench_for};
    use std::collections::HashMap;

    const CYCLES: usize = 4000;

    /// The names of the bits of ports, as Yosys writes them, with the word and
    /// the bit in it.
    fn bits(slots: &[PortSlot]) -> impl Iterator<Item = (String, usize, usize)> {
        slots.iter().flat_map(|slot| {
            (0..slot.width).map(|bit| {
                let name = match slot.width {
                    1 => slot.name.clone(),
                    _ => format!("{}[{bit}]", slot.name),
                };
                (name, slot.offset + bit / 32, bit % 32)
            })
        })
    }

    /// The first of some cycles of its bench in which a rule of `unit` is
    /// broken, with the input `stuck` high all the time.
    fn first_broken(unit: &str, stuck: Option<&str>, tools: &Toolbox) -> Option<usize> {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&[unit.to_owned()], &config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let names = |slots| bits(slots).map(|(name, ..)| name).collect::<Vec<_>>();
        let mut watched = Aig {
            inputs: names(&layout.inputs),
            output_names: names(&layout.outputs),
            ..Aig::default()
        };
        watched.inputs.push("clk".to_owned());
        let rules = Rules::of(&design.units[0], &watched, tools)
            .unwrap()
            .unwrap();

        let setup = Setup::new(&config, &layout);
        let mut chunk = Chunk::new(&layout, CYCLES);
        let mut bench = bench_for(unit, &setup).unwrap();
        bench.cycles(&mut Stimulus::new(1), &mut chunk).unwrap();
        let mut state = vec![false; rules.circuit.next.len()];
        (0..CYCLES).find(|cycle| {
            let read = |words: &[u32], count: usize, slots: &[PortSlot]| {
                let word = |at: usize| words[cycle * count + at];
                let read = bits(slots).map(|(name, at, bit)| (name, word(at) >> bit & 1 == 1));
                read.collect::<HashMap<_, _>>()
            };
            let mut values = read(&chunk.inputs, layout.input_words, &layout.inputs);
            values.extend(read(&chunk.expected, layout.output_words, &layout.outputs));
            values.extend(stuck.map(|name| (name.to_owned(), true)));
            values.insert("clk".to_owned(), false);
            let inputs = rules.circuit.inputs.iter().map(|name| values[name]);
            let mut nodes: Vec<bool> = [false]
                .into_iter()
                .chain(inputs)
                .chain(state.clone())
                .collect();
            let at = |nodes: &[bool], l: Literal| nodes[l as usize / 2] ^ (l & 1 == 1);
            for &[left, right] in &rules.circuit.gates {
                nodes.push(at(&nodes, left) && at(&nodes, right));
            }
            state = rules.circuit.next.iter().map(|l| at(&nodes, *l)).collect();
            at(&nodes, rules.circuit.outputs[0])
        })
    }

    /// A rule that legal stimulus breaks would hide faults, one that nothing
    /// breaks would be none.
    #[test]
    fn benches_keep_the_rules_and_others_do_not() {
        let Some(tools) = required::toolbox(&[ToolKind::Yosys]) else {
            return;
        };
        let stuck = ["sr_valid", "sr_valid", "launch_valid"];
        for ((unit, _), stuck) in RULES.iter().zip(stuck) {
            assert_eq!(first_broken(unit, None, &tools), None, "{unit}");
            assert!(first_broken(unit, Some(stuck), &tools).is_some(), "{unit}");
        }
    }
}
