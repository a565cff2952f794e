//! Affine addresses as index expressions of CUDA C++: what a programmer would
//! write between the brackets of the array.

use super::notation::push;
use super::{Affine, Affines, Term};
use spadkit_base::quote::without_folder;

/// An address in a shared variable: `constant + sum of coefficient * factors`
/// bytes after its first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceIndex {
    /// The variable as the PTX names it.
    pub variable: String,
    /// Bytes.
    pub constant: i64,
    /// Bytes for each product of factors.
    pub terms: Vec<(i64, Vec<Factor>)>,
}

/// A factor of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Name of the factor in CUDA C++: `threadIdx.x`; of what has no name there, a
    /// name that [`Factor::stands_for`] explains.
    pub text: String,
    /// Dimension of the thread index: 0 for x.
    pub thread: Option<usize>,
    /// Dimension of the block size.
    pub block: Option<usize>,
    /// Meaning of a name that is not CUDA's.
    pub stands_for: Option<String>,
}

impl SourceIndex {
    /// Names that are not CUDA's, with what they stand for.
    pub fn stand_ins(&self) -> impl Iterator<Item = (&str, &str)> {
        let factors = self.terms.iter().flat_map(|(_, factors)| factors);
        factors.filter_map(|f| Some((f.text.as_str(), f.stands_for.as_deref()?)))
    }

    /// The index in elements of `bytes` bytes; none where the address is not
    /// always a multiple of that.
    pub fn elements(&self, bytes: u32) -> Option<SourceIndex> {
        let bytes = i64::from(bytes);
        let whole = |c: &i64| c % bytes == 0;
        let all = whole(&self.constant) && self.terms.iter().all(|(c, _)| whole(c));
        all.then(|| SourceIndex {
            variable: self.variable.clone(),
            constant: self.constant / bytes,
            terms: (self.terms.iter())
                .map(|(c, factors)| (c / bytes, factors.clone()))
                .collect(),
        })
    }

    /// The index as an expression of C.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let times = |number, product: &str| format!("{product} * {number}");
        for (coefficient, factors) in &self.terms {
            let names: Vec<&str> = factors.iter().map(|f| f.text.as_str()).collect();
            push(&mut text, *coefficient, &names.join(" * "), times);
        }
        if self.constant != 0 || text.is_empty() {
            push(&mut text, self.constant, "", times);
        }
        text
    }

    /// The value for one thread of a block with these dimensions; none where a
    /// factor is not known.
    pub fn of_thread(&self, thread: [u32; 3], block: [u32; 3]) -> Option<i64> {
        let values = self.terms.iter();
        let mut values = values.map(|(c, factors)| Self::product(*c, factors, thread, block));
        values.try_fold(self.constant, |sum, value| sum.checked_add(value?))
    }

    /// A term's value, the same.
    pub fn product(
        coefficient: i64,
        factors: &[Factor],
        thread: [u32; 3],
        block: [u32; 3],
    ) -> Option<i64> {
        factors.iter().try_fold(coefficient, |product, factor| {
            let value = match (factor.thread, factor.block) {
                (Some(axis), _) => thread[axis],
                (_, Some(axis)) => block[axis],
                _ => return None,
            };
            product.checked_mul(value.into())
        })
    }
}

impl Affines<'_> {
    /// An address in a shared variable as an index of that; none where it is
    /// not one variable's address plus something.
    pub fn source_index(&self, affine: &Affine) -> Option<SourceIndex> {
        let is_base = |t: &Term| matches!(t, Term::Base(_));
        let mut bases = affine.terms.iter().filter(|(t, _)| is_base(t));
        let (Some((Term::Base(symbol), 1)), None) = (bases.next(), bases.next()) else {
            return None;
        };
        // The y of a thread before the x, then what is the same for all.
        let mut terms: Vec<_> = affine.terms.iter().filter(|(t, _)| !is_base(t)).collect();
        terms.sort_by_key(|(t, _)| super::notation::order(t));
        let term = |(term, coefficient): &(Term, i64)| {
            let factors = term.factors().iter().map(|f| self.factor(f));
            Some((*coefficient, factors.collect::<Option<Vec<_>>>()?))
        };
        Some(SourceIndex {
            variable: self.module.variable(self.function, *symbol).name.clone(),
            constant: affine.constant,
            terms: terms.into_iter().map(term).collect::<Option<_>>()?,
        })
    }

    fn factor(&self, term: &Term) -> Option<Factor> {
        let line = |at: u32| {
            let instruction = self.function.instructions.get(at as usize);
            instruction.map_or(0, |i| i.span.line)
        };
        let named = |text: String, stands_for: Option<String>| Factor {
            text,
            thread: None,
            block: None,
            stands_for,
        };
        let axis = |of: &str, at: u8| format!("{of}.{}", ['x', 'y', 'z'][usize::from(at % 3)]);
        let short = self.name(term);
        Some(match term {
            Term::Tid(at) => Factor {
                thread: Some(usize::from(at % 3)),
                ..named(axis("threadIdx", *at), None)
            },
            Term::Ntid(at) => Factor {
                block: Some(usize::from(at % 3)),
                ..named(axis("blockDim", *at), None)
            },
            Term::Ctaid(at) => named(axis("blockIdx", *at), None),
            Term::Nctaid(at) => named(axis("gridDim", *at), None),
            Term::Laneid => named(short, Some("the lane of the thread in its warp".to_owned())),
            Term::Warpid => named(short, Some("the warp of the thread".to_owned())),
            Term::Parameter { index, .. } => {
                let what = format!("parameter {} of the kernel", index + 1);
                named(format!("p{index}"), Some(what))
            }
            Term::Trips(header) => {
                let first = self.cfg.blocks[*header as usize].start;
                let what = format!("rounds of the loop at PTX line {} so far", line(first));
                named(short, Some(what))
            }
            Term::Opaque(value) => {
                let at = self.reason(*value).at;
                let source = self
                    .function
                    .instructions
                    .get(at as usize)
                    .and_then(|i| self.module.source(self.function, i));
                let source = source.map_or(String::new(), |s| format!(", {}", without_folder(&s)));
                named(
                    short,
                    Some(format!("what PTX line {} computes{source}", line(at))),
                )
            }
            Term::Base(_) | Term::Product(_) => return None,
        })
    }
}
