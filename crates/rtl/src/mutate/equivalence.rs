//! Proves mutants that no run caught equivalent to the original, if they are.

use super::aig::{Aig, Builder, FALSE, Literal};
use super::inject::{Mutant, Mutants};
use super::rules::Rules;
use crate::error::{Error, Result};
use crate::output::Scratch;
use crate::tool::{ToolKind, Toolbox};
use std::time::Duration;

/// Longer proofs count as not found.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Every output and next state is the same for all inputs and states.
const SAME_STEP: Question = Question {
    commands: "iprove",
    proved: "UNSATISFIABLE",
};

/// The steps for which the mutant's registers that a fault reaches are told
/// apart from the original's, before all that it can ever reach are.
const NEAR: usize = 10;

/// Since reset, whatever the fault does to registers near it, it changes no
/// output and no register farther off. Few registers exist twice, and the
/// invariant is often short: that a valid bit covers what differs.
const STAYS_NEAR: Question = Question {
    commands: "scleanup; pdr -T 45",
    proved: "Property.proved",
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

/// Tries to prove that `mutant` equals the original: for any inputs, and if
/// that fails for those that keep to the `rules`, which make the circuit larger.
///
/// Other illegal uses stay free, so a mutant that only such a use can tell
/// apart is not proved; the answer errs on the side of "missed".
pub(super) fn is_equivalent(
    mutants: &Mutants,
    rules: Option<&Rules>,
    mutant: &Mutant,
    tools: &Toolbox,
) -> Result<bool> {
    for rules in [None].into_iter().chain(rules.map(Some)) {
        let pair = Pair {
            circuit: mutants.circuit(),
            select: mutants.select(),
            rules,
            number: mutant.number,
        };
        if pair.is_equal(tools)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Mutants {
    /// Whether it is proved that no output shows the mutant, whatever the inputs.
    pub fn is_equivalent(&self, mutant: &Mutant, tools: &Toolbox) -> Result<bool> {
        is_equivalent(self, None, mutant, tools)
    }
}

/// The original and one mutant side by side, on the same inputs.
struct Pair<'a> {
    circuit: &'a Aig,
    select: &'a [usize],
    rules: Option<&'a Rules>,
    number: u32,
}

impl Pair<'_> {
    /// Tries to prove that both are the same: first in a step from any state,
    /// then that what differs since reset stays near the fault, then that it
    /// never shows.
    fn is_equal(&self, tools: &Toolbox) -> Result<bool> {
        if SAME_STEP.holds(&self.one_step(), tools)? {
            return Ok(true);
        }
        let reaches = self.reaches();
        let (all, near) = reaches.split_last().expect("its own step at least");
        for place in near.iter().take(NEAR + 1) {
            if STAYS_NEAR.holds(&self.told_apart(place), tools)? {
                return Ok(true);
            }
        }
        let since_reset = self.told_apart(all);
        for question in NEVER_DIFFERS {
            if question.holds(&since_reset, tools)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A circuit whose output says that an output or a next state differs, for
    /// any inputs and any state.
    fn one_step(&self) -> Aig {
        let Sides {
            builder, differs, ..
        } = self.sides(&self.shared());
        builder.finish(Vec::new(), vec![differs])
    }

    /// The mutant's register indices, for growing sets of registers that it
    /// does not share with the original: first none, then those that the fault
    /// reaches in one step, in two, and at last in any number of steps.
    fn reaches(&self) -> Vec<Vec<usize>> {
        let further = |place: &Vec<usize>| self.sides(place).apart(place);
        std::iter::successors(Some(self.shared()), further).collect()
    }

    /// A circuit whose output says that an output differs, or the next state of
    /// a register that both sides share.
    fn told_apart(&self, place: &[usize]) -> Aig {
        self.sides(place).finish(place)
    }

    /// The register indices of a mutant that shares all registers.
    fn shared(&self) -> Vec<usize> {
        (0..self.circuit.next.len()).collect()
    }

    /// Original and mutant; the mutant's register `i` is register `place[i]` of both together.
    fn sides(&self, place: &[usize]) -> Sides {
        let registers = self.circuit.next.len();
        let first = self.circuit.inputs.len();
        let behind = first + registers + own(place).count();
        let mut builder = Builder::new(behind + self.rules.map_or(0, Rules::registers));
        let register = |i| Builder::input(first + i);
        let (next, outputs) = self.copy(&mut builder, 0, register);
        let (mutant_next, mutant_outputs) =
            self.copy(&mut builder, self.number, |i| register(place[i]));
        let shared = (0..registers).filter(|&i| place[i] == i);
        let (these, those): (Vec<_>, Vec<_>) = shared
            .map(|i| (next[i], mutant_next[i]))
            .chain(outputs.iter().copied().zip(mutant_outputs))
            .unzip();
        let mut differs = differs(&mut builder, &these, &those);
        let mut rules_next = Vec::new();
        if let Some(rules) = self.rules {
            let broken;
            let inputs = self.inputs(0);
            (rules_next, broken) = rules.copy(&mut builder, behind, &inputs, &outputs);
            differs = builder.and(differs, broken ^ 1);
        }
        Sides {
            builder,
            next,
            mutant_next,
            rules_next,
            differs,
        }
    }

    /// The inputs, the select with the mutant's number.
    fn inputs(&self, number: u32) -> Vec<Literal> {
        let input = |i: usize| match self.select.iter().position(|s| *s == i) {
            Some(bit) => FALSE | (number >> bit & 1),
            None => Builder::input(i),
        };
        (0..self.circuit.inputs.len()).map(input).collect()
    }

    /// The circuit with this mutant selected: next states and outputs.
    fn copy(
        &self,
        builder: &mut Builder,
        number: u32,
        register: impl Fn(usize) -> Literal,
    ) -> (Vec<Literal>, Vec<Literal>) {
        let registers = (0..self.circuit.next.len()).map(register);
        let sources: Vec<_> = self.inputs(number).into_iter().chain(registers).collect();
        builder.copy(self.circuit, &sources)
    }
}

/// The original and the mutant in one circuit.
struct Sides {
    builder: Builder,
    next: Vec<Literal>,
    mutant_next: Vec<Literal>,
    rules_next: Vec<Literal>,
    /// An output, or the next state of a register that both share, differs, and
    /// no rule was broken.
    differs: Literal,
}

/// The registers that the mutant does not share, and their indices.
fn own(place: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let places = place.iter().copied().enumerate();
    places.filter(|(register, at)| register != at)
}

impl Sides {
    /// The register indices if shared registers that another gate feeds in the
    /// mutant are separated, too. `None` if there are none.
    fn apart(&self, place: &[usize]) -> Option<Vec<usize>> {
        let mut free = place.len() + own(place).count()..;
        let apart = |(i, &at): (usize, &usize)| {
            if at == i && self.next[i] != self.mutant_next[i] {
                free.next().expect("endless")
            } else {
                at
            }
        };
        let places: Vec<_> = place.iter().enumerate().map(apart).collect();
        (places != place).then_some(places)
    }

    /// The circuit, with its registers at their indices.
    fn finish(self, place: &[usize]) -> Aig {
        let taken = |(i, at)| (at, self.mutant_next[i]);
        let mut own: Vec<(usize, Literal)> = own(place).map(taken).collect();
        own.sort_unstable();
        let mut next = self.next;
        next.extend(own.into_iter().map(|(_, literal)| literal));
        next.extend(self.rules_next);
        self.builder.finish(next, vec![self.differs])
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

/// A question to ABC about a circuit.
struct Question {
    commands: &'static str,
    /// ABC's output if the circuit's output is never true.
    proved: &'static str,
}

impl Question {
    /// Whether the output is plainly false, or ABC proves it.
    fn holds(&self, circuit: &Aig, tools: &Toolbox) -> Result<bool> {
        Ok(circuit.outputs == [FALSE] || self.ask(circuit, tools)?)
    }

    /// Whether ABC proves it, in time.
    fn ask(&self, circuit: &Aig, tools: &Toolbox) -> Result<bool> {
        let scratch = Scratch::new()?;
        let file = scratch.path("miter.aig");
        std::fs::write(&file, circuit.write()).map_err(|e| Error::io("write", &file, e))?;
        let Question { commands, proved } = self;
        let abc = format!("yosys-abc -q \"read_aiger miter.aig; {commands}\"");
        let run = tools
            .get(ToolKind::Yosys)?
            .command()
            .args([
                "-q",
                "-p",
                &format!("exec -expect-stdout {proved} -- {abc}"),
            ])
            .cwd(scratch.dir())
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
    use super::super::rules::Source;
    use super::*;
    use crate::tool::required;

    /// A register that takes its inverse, one that follows input 1, and a fault
    /// on the output `kept & follows`, which input 0 selects.
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

    /// The answers of each question about a step, and about the time since reset.
    fn answers(circuit: &Aig) -> [Option<bool>; 3] {
        let pair = Pair {
            circuit,
            select: &[0],
            rules: None,
            number: 1,
        };
        let tools = Toolbox::new();
        let [first, second] = NEVER_DIFFERS;
        let since_reset = || pair.told_apart(pair.reaches().last().unwrap());
        [
            (SAME_STEP, pair.one_step()),
            (first, since_reset()),
            (second, since_reset()),
        ]
        .map(|(question, circuit)| {
            (circuit.outputs != [FALSE]).then(|| question.ask(&circuit, &tools).unwrap())
        })
    }

    #[test]
    fn faults_are_told_from_what_is_none() {
        if required::toolbox(&[ToolKind::Yosys]).is_none() {
            return;
        }
        // The same gate needs no solver.
        assert_eq!(answers(&pair(|_, never| never)), [None; 3]);
        // `follows` is only high after a high `toggles`, so never with it.
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

    /// A payload that differs only while its valid bit is low: its register is
    /// separated, and nothing behind it is.
    #[test]
    fn what_a_valid_bit_covers_stays_near() {
        if required::toolbox(&[ToolKind::Yosys]).is_none() {
            return;
        }
        let pair = |covered: bool| {
            let mut b = Builder::new(6);
            let [select, comes, data, valid, payload, shown] =
                [0, 1, 2, 3, 4, 5].map(Builder::input);
            let when = if covered { comes ^ 1 } else { comes };
            let differs = b.and(select, when);
            let (next, behind) = (b.xor(data, differs), b.and(valid, payload));
            b.finish(vec![comes, next, behind], vec![shown])
        };
        let (covered, seen) = (pair(true), pair(false));
        let pair = |circuit| Pair {
            circuit,
            select: &[0],
            rules: None,
            number: 1,
        };
        let tools = Toolbox::new();
        let stays = |circuit, steps: usize| {
            let (pair, mut reaches) = (pair(circuit), pair(circuit).reaches());
            let _all = reaches.pop();
            let near = reaches.get(steps).map(|place| pair.told_apart(place));
            near.map(|near| STAYS_NEAR.ask(&near, &tools).unwrap())
        };
        assert_eq!(stays(&covered, 0), Some(false), "the register differs");
        assert_eq!(stays(&seen, 0), Some(false));
        assert_eq!(stays(&covered, 1), Some(true), "what is behind it does not");
        assert_eq!(stays(&seen, 1), Some(false));
        assert_eq!(stays(&covered, 2), None, "there is no more to tell apart");
    }

    /// The fault is in what a register takes; the output shows the register.
    #[test]
    fn a_register_that_the_fault_reaches_is_not_shared() {
        if required::toolbox(&[ToolKind::Yosys]).is_none() {
            return;
        }
        let mut b = Builder::new(3);
        let [select, data, kept] = [0, 1, 2].map(Builder::input);
        let next = b.and(select ^ 1, data);
        let circuit = b.finish(vec![next], vec![kept]);
        assert_eq!(answers(&circuit), [Some(false); 3]);
    }

    /// The output shows a register that an illegal input sets for good, and the
    /// fault lets it.
    #[test]
    fn what_only_an_illegal_use_shows_is_no_fault() {
        if required::toolbox(&[ToolKind::Yosys]).is_none() {
            return;
        }
        let mut b = Builder::new(3);
        let [select, illegal, was] = [0, 1, 2].map(Builder::input);
        let (next, output) = (b.or(illegal, was), b.and(select, was));
        let circuit = b.finish(vec![next], vec![output]);
        let rules = Rules {
            circuit: Builder::new(1).finish(Vec::new(), vec![Builder::input(0)]),
            ports: vec![Source::Input(1)],
        };
        let tools = Toolbox::new();
        let proved = |rules| {
            let pair = Pair {
                circuit: &circuit,
                select: &[0],
                rules,
                number: 1,
            };
            let since_reset = pair.told_apart(pair.reaches().last().unwrap());
            NEVER_DIFFERS[0].ask(&since_reset, &tools).unwrap()
        };
        assert!(!proved(None));
        assert!(proved(Some(&rules)));
    }
}
