//! Operations on word indices, hardly more than a PTX instruction each.

/// The source of a step's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The word index.
    Index,
    /// The result of an earlier step.
    Step(usize),
}

/// One operation on 32-bit words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// value >> bits
    Right(Value, u32),
    /// value << bits
    Left(Value, u32),
    /// value & mask
    And(Value, u32),
    /// rest ^ (value & mask): one `lop3`.
    XorMasked {
        /// The value that is changed.
        rest: Value,
        /// The value that is XORed into it.
        value: Value,
        /// The bits that are XORed.
        mask: u32,
    },
    /// The bits of `mask` from `inside`, the others from `outside`: one `lop3`.
    Merge {
        /// Bits of the mask.
        inside: Value,
        /// Bits outside of the mask.
        outside: Value,
        /// The bits that are kept.
        mask: u32,
    },
    /// a + b
    Add(Value, Value),
    /// value * factor + add: one `mad`.
    MulAdd {
        /// Factor that varies.
        value: Value,
        /// Constant factor.
        factor: u32,
        /// The summand.
        add: Value,
    },
    /// The high word of value * factor.
    MulHigh(Value, u32),
    /// Word `index` of the layout's table: its address, and the load.
    Table(Value),
    /// value >> (shift * scale), of packed numbers.
    RightBy(Value, Value),
}

/// A layout as a straight line of operations; the last result is the index of the stored word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The operations in order.
    pub steps: Vec<Step>,
    /// Constants that [`Step::Table`] reads.
    pub table: Vec<u32>,
}

impl Steps {
    /// PTX instructions: one for each operation, three for a table's word.
    pub fn count(&self) -> usize {
        let instructions = |step: &Step| match step {
            Step::Table(_) => 3,
            _ => 1,
        };
        self.steps.iter().map(instructions).sum()
    }

    /// The index of the stored word: the last result, or the unmapped index if there is no step.
    pub fn result(&self) -> Value {
        match self.steps.len() {
            0 => Value::Index,
            n => Value::Step(n - 1),
        }
    }

    /// The word of the table that is loaded for `index`; `None` without a table.
    pub fn table_word(&self, index: u32) -> Option<u32> {
        let word = self.steps.iter().find_map(|step| match step {
            Step::Table(Value::Step(of)) => Some(*of),
            _ => None,
        })?;
        self.results(index).get(word).copied()
    }

    /// The result of the operations for `index`.
    pub fn evaluate(&self, index: u32) -> u32 {
        self.results(index).last().copied().unwrap_or(index)
    }

    fn results(&self, index: u32) -> Vec<u32> {
        let mut results: Vec<u32> = Vec::new();
        for step in &self.steps {
            let of = |v: &Value| match v {
                Value::Index => index,
                Value::Step(i) => results[*i],
            };
            let result = match step {
                Step::Right(v, bits) => of(v) >> bits,
                Step::Left(v, bits) => of(v) << bits,
                Step::And(v, mask) => of(v) & mask,
                Step::XorMasked { rest, value, mask } => of(rest) ^ (of(value) & mask),
                Step::Merge {
                    inside,
                    outside,
                    mask,
                } => of(inside) & mask | of(outside) & !mask,
                Step::Add(a, b) => of(a).wrapping_add(of(b)),
                Step::MulAdd { value, factor, add } => {
                    of(value).wrapping_mul(*factor).wrapping_add(of(add))
                }
                Step::MulHigh(v, factor) => ((u64::from(of(v)) * u64::from(*factor)) >> 32) as u32,
                Step::Table(i) => self.table[of(i) as usize],
                Step::RightBy(v, bits) => of(v) >> of(bits),
            };
            results.push(result);
        }
        results
    }

    pub(super) fn push(&mut self, step: Step) -> Value {
        self.steps.push(step);
        self.result()
    }
}
