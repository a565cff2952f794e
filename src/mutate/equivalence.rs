//! Whether a mutant that no run caught can be told apart at all.

use super::aig::{Aig, Builder, FALSE, Literal};
use super::inject::{Mutant, Mutants};
use crate::error::{Error, Result};
use crate::tool::{Kind, Toolbox};
use std::time::Duration;

/// Longer proofs count as not found.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Every output and next state is the same for all inputs and states.
const SAME_STEP: Question = Question {
    commands: "iprove",
    proved: "UNSATISFIABLE",
};

/// No input sequence from the state with all registers zero makes an output
/// differ: by property-directed reachability, once registers that never change
/// are gone (`scleanup`). What follows from few registers it finds at once among
/// many; for the others gates that are equal since the reset are put together
/// first.
const NEVER_DIFFERS: [Question; 2] = [
    Question {
        commands: "scleanup; pdr -T 30",
        proved: "Property.proved",
    },
    Question {
        commands: "scleanup; &get; &scorr; &put; pdr -T 90",
        proved: "Property.proved",
    },
];

/// Tries to prove that `mutant` equals the original: first that a step from
/// any state is the same, then that none from reset on shows a difference.
///
/// All inputs are free, illegal configurations included, so a mutant that
/// only an illegal use can tell apart is not proved; the answer errs on the
/// side of "missed".
pub(super) fn is_equivalent(mutants: &Mutants, mutant: &Mutant, tools: &Toolbox) -> Result<bool> {
    let pair = Pair {
        circuit: mutants.circuit(),
        select: mutants.select(),
        number: mutant.number,
    };
    if SAME_STEP.holds(&pair.one_step(), tools)? {
        return Ok(true);
    }
    let since_reset = pair.since_reset();
    for question in NEVER_DIFFERS {
        if question.holds(&since_reset, tools)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The original and one mutant side by side, on the same inputs.
struct Pair<'a> {
    circuit: &'a Aig,
    select: &'a [usize],
    number: u32,
}

impl Pair<'_> {
    /// A circuit whose output says that an output or a next state differs, for
    /// any inputs and any state.
    fn one_step(&self) -> Aig {
        let (inputs, registers) = (self.circuit.inputs.len(), self.circuit.next.len());
        let mut builder = Builder::new(inputs + registers);
        let register = |i| Builder::input(inputs + i);
        let (next, outputs) = self.copy(&mut builder, 0, register);
        let (mutant_next, mutant_outputs) = self.copy(&mut builder, self.number, register);
        let differs = differs(
            &mut builder,
            next.iter().chain(&outputs),
            mutant_next.iter().chain(&mutant_outputs),
        );
        builder.finish(Vec::new(), vec![differs])
    }

    /// A circuit whose output says that an output differs, each side with its
    /// own registers. Registers that the fault cannot reach are shared: those
    /// that have the same next state as long as they all are.
    fn since_reset(&self) -> Aig {
        let (inputs, registers) = (self.circuit.inputs.len(), self.circuit.next.len());
        // Where the mutant's register is among the registers.
        let mut place: Vec<usize> = (0..registers).collect();
        let mut all = registers;
        loop {
            let mut builder = Builder::new(inputs + all);
            let register = |i| Builder::input(inputs + i);
            let (mut next, outputs) = self.copy(&mut builder, 0, register);
            let (mutant_next, mutant_outputs) =
                self.copy(&mut builder, self.number, |i| register(place[i]));
            let before = all;
            for i in 0..registers {
                if place[i] == i && next[i] != mutant_next[i] {
                    place[i] = all;
                    all += 1;
                }
            }
            if all == before {
                let own = (0..registers).filter(|&i| place[i] != i);
                let mut own: Vec<(usize, Literal)> =
                    own.map(|i| (place[i], mutant_next[i])).collect();
                own.sort_unstable();
                next.extend(own.into_iter().map(|(_, literal)| literal));
                let differs = differs(&mut builder, &outputs, &mutant_outputs);
                return builder.finish(next, vec![differs]);
            }
        }
    }

    /// The circuit with this mutant selected: next states and outputs.
    fn copy(
        &self,
        builder: &mut Builder,
        number: u32,
        register: impl Fn(usize) -> Literal,
    ) -> (Vec<Literal>, Vec<Literal>) {
        let input = |i: usize| match self.select.iter().position(|s| *s == i) {
            Some(bit) => FALSE | (number >> bit & 1),
            None => Builder::input(i),
        };
        let inputs = (0..self.circuit.inputs.len()).map(input);
        let registers = (0..self.circuit.next.len()).map(register);
        let sources: Vec<_> = inputs.chain(registers).collect();
        builder.copy(self.circuit, &sources)
    }
}

/// Whether any of the literals differs from its counterpart.
fn differs<'a>(
    builder: &mut Builder,
    these: impl IntoIterator<Item = &'a Literal>,
    those: impl IntoIterator<Item = &'a Literal>,
) -> Literal {
    let pairs = these.into_iter().zip(those);
    pairs.fold(FALSE, |any, (&a, &b)| {
        let differs = builder.xor(a, b);
        builder.or(any, differs)
    })
}

/// What ABC is asked about a circuit.
struct Question {
    commands: &'static str,
    /// What it prints if the output is never true.
    proved: &'static str,
}

impl Question {
    /// Whether the output is plainly false, or ABC proves it.
    fn holds(&self, circuit: &Aig, tools: &Toolbox) -> Result<bool> {
        Ok(circuit.outputs == [FALSE] || self.ask(circuit, tools)?)
    }

    /// Whether ABC proves it, in time.
    fn ask(&self, circuit: &Aig, tools: &Toolbox) -> Result<bool> {
        let scratch =
            tempfile::tempdir().map_err(|e| Error::io("create", &std::env::temp_dir(), e))?;
        let file = scratch.path().join("miter.aig");
        std::fs::write(&file, circuit.write()).map_err(|e| Error::io("write", &file, e))?;
        let Question { commands, proved } = self;
        let abc = format!("yosys-abc -q \"read_aiger miter.aig; {commands}\"");
        let run = tools
            .get(Kind::Yosys)?
            .command()
            .args([
                "-q",
                "-p",
                &format!("exec -expect-stdout {proved} -- {abc}"),
            ])
            .cwd(scratch.path())
            .timeout(TIMEOUT)
            .run_with_status();
        match run {
            Ok((status, _)) => Ok(status == 0),
            Err(error @ Error::Interrupted { .. }) => Err(error),
            Err(_) => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register that takes its inverse, one that follows input 1, and a
    /// fault selected by input 0 on the output `kept & follows`.
    fn pair(fault: impl Fn(&mut Builder, Literal) -> Literal) -> Aig {
        let mut b = Builder::new(4);
        let [select, data, toggles, follows] = [0, 1, 2, 3].map(Builder::input);
        let never = b.and(toggles, follows);
        let faulty = fault(&mut b, never);
        let (with, without) = (b.and(select, faulty), b.and(select ^ 1, never));
        let output = b.or(with, without);
        let next = b.and(data, toggles);
        b.finish(vec![toggles ^ 1, next], vec![output])
    }

    /// What is said of a step, and of the time since reset by each question.
    fn answers(circuit: &Aig) -> [Option<bool>; 3] {
        let pair = Pair {
            circuit,
            select: &[0],
            number: 1,
        };
        let tools = Toolbox::new();
        let [first, second] = NEVER_DIFFERS;
        [
            (SAME_STEP, pair.one_step()),
            (first, pair.since_reset()),
            (second, pair.since_reset()),
        ]
        .map(|(question, circuit)| {
            (circuit.outputs != [FALSE]).then(|| question.ask(&circuit, &tools).unwrap())
        })
    }

    #[test]
    fn faults_are_told_from_what_is_none() {
        if Toolbox::new().get(Kind::Yosys).is_err() {
            println!("skipped: Yosys is missing");
            return;
        }
        // The same gate needs no solver.
        assert_eq!(answers(&pair(|_, never| never)), [None; 3]);
        // `follows` is only high behind a high `toggles`, so never with it.
        assert_eq!(
            answers(&pair(|_, _| FALSE)),
            [Some(false), Some(true), Some(true)],
            "only from reset on"
        );
        assert_eq!(answers(&pair(|_, _| 1)), [Some(false); 3]);
        // Equal, but not by the same gates.
        let again = |b: &mut Builder, never: Literal| {
            let data = Builder::input(1);
            let (high, low) = (b.and(never, data), b.and(never, data ^ 1));
            b.or(high, low)
        };
        assert_eq!(answers(&pair(again))[0], Some(true));
    }

    /// The fault is in what a register takes; the output shows the register.
    #[test]
    fn a_register_that_the_fault_reaches_is_not_shared() {
        if Toolbox::new().get(Kind::Yosys).is_err() {
            println!("skipped: Yosys is missing");
            return;
        }
        let mut b = Builder::new(3);
        let [select, data, kept] = [0, 1, 2].map(Builder::input);
        let next = b.and(select ^ 1, data);
        let circuit = b.finish(vec![next], vec![kept]);
        assert_eq!(answers(&circuit), [Some(false); 3]);
    }
}
