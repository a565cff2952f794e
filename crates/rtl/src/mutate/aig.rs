//! And-inverter graphs, read and written as binary AIGER files: the form in
//! which a mutant is compared with its original.

use std::collections::HashMap;

/// A node or its complement: twice the node's number, plus one if inverted.
/// Node 0 is the constant false.
pub(super) type Literal = u32;

/// The constant false.
pub(super) const FALSE: Literal = 0;

/// Yosys' commands from an elaborated design to a file that [`Aig::parse`]
/// reads, `write_aiger` and its name after them. Registers start at zero, and
/// ports have names.
pub(super) const AS_GATES: &str = "memory_map\nopt_clean\nsimplemap\ntechmap\ndffunmap\n\
    zinit -all\nopt_clean\naigmap\nsetundef -zero\nwrite_aiger -symbols";

/// A circuit of two-input AND gates, inverters, and registers that start at
/// zero. Nodes are numbered: inputs, registers, gates.
#[derive(Clone, Debug, Default)]
pub(super) struct Aig {
    /// Names of the inputs, as far as the file gives them.
    pub inputs: Vec<String>,
    /// Names of the outputs, as far as the file gives them.
    pub output_names: Vec<String>,
    /// The next state of each register.
    pub next: Vec<Literal>,
    /// The outputs.
    pub outputs: Vec<Literal>,
    /// The gates; each looks at lower nodes only.
    pub gates: Vec<[Literal; 2]>,
}

impl Aig {
    /// Reads a binary AIGER file of registers that start at zero.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut file = Reader { bytes };
        let header = file.line()?;
        let counts = header.strip_prefix("aig ")?.split(' ');
        let counts: Vec<usize> = counts.map_while(|n| n.parse().ok()).collect();
        let [nodes, inputs, registers, outputs, gates] = counts[..] else {
            return None;
        };
        if nodes != inputs + registers + gates {
            return None;
        }
        let mut literals = |n: usize| -> Option<Vec<Literal>> {
            (0..n).map(|_| file.line()?.parse().ok()).collect()
        };
        let (next, outputs) = (literals(registers)?, literals(outputs)?);
        let gates = (inputs + registers + 1..=nodes).map(|node| {
            let left = (2 * node as Literal).checked_sub(file.delta()?)?;
            Some([left, left.checked_sub(file.delta()?)?])
        });
        let mut aig = Aig {
            gates: gates.collect::<Option<_>>()?,
            inputs: vec![String::new(); inputs],
            output_names: vec![String::new(); outputs.len()],
            next,
            outputs,
        };
        while let Some(line) = file.line() {
            let Some((place, name)) = line.split_once(' ') else {
                break;
            };
            let names = match place.get(..1) {
                Some("i") => &mut aig.inputs,
                Some("o") => &mut aig.output_names,
                _ => continue,
            };
            if let Some(named) = place[1..]
                .parse()
                .ok()
                .and_then(|i: usize| names.get_mut(i))
            {
                *named = name.to_owned();
            }
        }
        let all = aig.next.iter().chain(&aig.outputs);
        let in_range = |l: &Literal| (*l as usize) / 2 <= nodes;
        all.chain(aig.gates.iter().flatten())
            .all(in_range)
            .then_some(aig)
    }

    /// The circuit as a binary AIGER file.
    pub fn write(&self) -> Vec<u8> {
        let first = self.inputs.len() + self.next.len();
        let mut bytes = format!(
            "aig {} {} {} {} {}\n",
            first + self.gates.len(),
            self.inputs.len(),
            self.next.len(),
            self.outputs.len(),
            self.gates.len()
        )
        .into_bytes();
        for literal in self.next.iter().chain(&self.outputs) {
            bytes.extend(format!("{literal}\n").bytes());
        }
        for (gate, &[left, right]) in (first + 1..).zip(&self.gates) {
            write_delta(&mut bytes, 2 * gate as Literal - left);
            write_delta(&mut bytes, left - right);
        }
        bytes
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn line(&mut self) -> Option<&'a str> {
        let end = self.bytes.iter().position(|b| *b == b'\n')?;
        let (line, rest) = self.bytes.split_at(end);
        self.bytes = &rest[1..];
        std::str::from_utf8(line).ok()
    }

    /// Seven bits a byte, the low ones first; the top bit says that more come.
    fn delta(&mut self) -> Option<u32> {
        let mut value = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn write_delta(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Builds a circuit without duplicate gates.
#[derive(Default)]
pub(super) struct Builder {
    inputs: usize,
    gates: Vec<[Literal; 2]>,
    known: HashMap<[Literal; 2], Literal>,
}

impl Builder {
    /// A builder on `inputs` inputs and registers, nodes 1, 2, ...
    pub fn new(inputs: usize) -> Self {
        Builder {
            inputs,
            ..Builder::default()
        }
    }

    /// The literal of input or register `i`.
    pub fn input(i: usize) -> Literal {
        2 * (i as Literal + 1)
    }

    pub fn and(&mut self, a: Literal, b: Literal) -> Literal {
        let (left, right) = (a.max(b), a.min(b));
        match (left, right) {
            (_, FALSE) => FALSE,
            (_, 1) => left,
            _ if left == right => left,
            _ if left == right ^ 1 => FALSE,
            _ => *self.known.entry([left, right]).or_insert_with(|| {
                self.gates.push([left, right]);
                2 * (self.inputs + self.gates.len()) as Literal
            }),
        }
    }

    pub fn or(&mut self, a: Literal, b: Literal) -> Literal {
        self.and(a ^ 1, b ^ 1) ^ 1
    }

    /// Whether the two differ.
    pub fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        let (neither, both) = (self.and(a ^ 1, b ^ 1), self.and(a, b));
        self.and(neither ^ 1, both ^ 1)
    }

    /// Puts the gates of `aig` in, on these literals as its inputs and
    /// registers; gives the next states and the outputs.
    pub fn copy(&mut self, aig: &Aig, sources: &[Literal]) -> (Vec<Literal>, Vec<Literal>) {
        let mut map = vec![FALSE];
        map.extend(sources);
        let at = |map: &[Literal], l: Literal| map[l as usize / 2] ^ (l & 1);
        for &[left, right] in &aig.gates {
            let (left, right) = (at(&map, left), at(&map, right));
            map.push(self.and(left, right));
        }
        let all = |literals: &[Literal]| literals.iter().map(|l| at(&map, *l)).collect();
        (all(&aig.next), all(&aig.outputs))
    }

    /// The circuit; the last of its inputs are the registers that take `next`.
    pub fn finish(self, next: Vec<Literal>, outputs: Vec<Literal>) -> Aig {
        Aig {
            inputs: vec![String::new(); self.inputs - next.len()],
            output_names: vec![String::new(); outputs.len()],
            next,
            outputs,
            gates: self.gates,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut builder = Builder::new(300);
        let mut last = Builder::input(0);
        for i in 1..300 {
            last = builder.xor(last, Builder::input(i));
        }
        let aig = builder.finish(vec![last ^ 1, last], vec![last, FALSE, 1]);
        let mut bytes = aig.write();
        bytes.extend(b"i3 select[1]\no0 out\nc\ncomment\n");
        let read = Aig::parse(&bytes).unwrap();
        assert_eq!((read.inputs.len(), &*read.inputs[3]), (298, "select[1]"));
        assert_eq!(read.output_names, ["out", "", ""]);
        assert_eq!((&read.next, &read.outputs), (&aig.next, &aig.outputs));
        assert_eq!(read.gates, aig.gates);
    }

    #[test]
    fn a_damaged_file_is_none() {
        let mut builder = Builder::new(2);
        let both = builder.and(Builder::input(0), Builder::input(1));
        let bytes = builder.finish(vec![], vec![both]).write();
        assert!(Aig::parse(&bytes).is_some());
        for length in 0..bytes.len() {
            assert!(Aig::parse(&bytes[..length]).is_none());
        }
        assert!(Aig::parse(b"aig 1 1 0 1 0\n9\n").is_none());
        assert!(Aig::parse(b"aig 9 1 0 1 0\n2\n").is_none());
    }

    #[test]
    fn equal_gates_are_one() {
        let mut builder = Builder::new(2);
        let (a, b) = (Builder::input(0), Builder::input(1));
        let (one, other) = (builder.and(a, b), builder.and(b, a));
        assert_eq!(one, other);
        assert_eq!(builder.and(a, a ^ 1), FALSE);
        assert_eq!((builder.and(a, 1), builder.and(a, a)), (a, a));
        assert_eq!((builder.or(a, FALSE), builder.or(a, 1)), (a, 1));
        let differs = builder.xor(a, b);
        assert_eq!(builder.xor(b, a), differs);
        assert_eq!(builder.xor(a, a), FALSE);
    }
}
