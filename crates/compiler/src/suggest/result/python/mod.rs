//! Kernels of Python. In Numba, CuTe DSL and Gluon the author lays arrays out: there the
//! mapping is longer rows, a stride, a layout or a function of Python. The arrays of Triton are
//! laid out by its compiler.

mod cute;
mod gluon;
mod numba;
mod text;

use super::language::Python;
use super::left_alone::LeftAlone;
use crate::suggest::array::target::Target;
use crate::suggest::source::files::{SourceFiles, split};
use crate::suggest::{LineChange, Suggestion, Tuned};
use spadkit_mapping::geometry::WORD_BYTES;
use std::collections::BTreeSet;

/// Who lays out the arrays of a kernel.
enum LaidOut {
    Author(Python),
    Triton,
    /// By a compiler of Python that is not known.
    Compiler,
}

/// What the source of a kernel is, if it is Python: the names in the PTX tell its compiler.
fn laid_out(tuned: &Tuned, s: &Suggestion, sources: &mut SourceFiles) -> Option<LaidOut> {
    let variables = tuned.trace.shared_variables();
    let of_trace = variables.iter().flat_map(|v| v.name.split(", "));
    let names: BTreeSet<&str> = of_trace.chain(tuned.indices.variables()).collect();
    let named = |start: &str| names.iter().any(|name| name.starts_with(start));
    let files = files(&s.lines);
    let is_python = |file: &&str| file.ends_with(".py");
    if !files.iter().all(is_python) {
        return None;
    }
    if named("_cudapy_smem") {
        return Some(LaidOut::Author(Python::Numba));
    }
    if named("__dynamic_shmem__") || tuned.trace.name.starts_with("kernel_cutlass_") {
        return Some(LaidOut::Author(Python::Cute));
    }
    if !named("global_smem") && files.is_empty() {
        return None;
    }
    let mut has = |word: &str| {
        let mut all = files.iter();
        all.any(|file| sources.text(file).text.contains(word))
    };
    Some(if has("gluon") {
        LaidOut::Author(Python::Gluon)
    } else if has("shared.array(") {
        LaidOut::Author(Python::Numba)
    } else if named("global_smem") {
        LaidOut::Triton
    } else {
        LaidOut::Compiler
    })
}

/// The files of some lines.
fn files(lines: &[LineChange]) -> BTreeSet<&str> {
    let places = lines.iter().filter_map(|l| l.source.as_deref());
    places.filter_map(|place| Some(split(place)?.0)).collect()
}

/// Whether all lines of a change are Python.
pub(in crate::suggest) fn is_python(s: &Suggestion) -> bool {
    let files = files(&s.lines);
    !files.is_empty() && files.iter().all(|file| file.ends_with(".py"))
}

/// The file of the lines of `s`, if it is one: its name, their numbers, and all of its lines.
fn lines_of(
    s: &Suggestion,
    sources: &mut SourceFiles,
) -> Option<(String, Vec<usize>, Vec<String>)> {
    let files = files(&s.lines);
    let file = files.first().filter(|_| files.len() == 1)?;
    let lines = sources.lines(file)?.to_vec();
    let places = s.lines.iter().filter_map(|l| split(l.source.as_deref()?));
    let numbers = places.map(|(_, number)| number as usize).collect();
    Some(((*file).to_owned(), numbers, lines))
}

/// The change in Python that takes the place of `s`, or the array as one that is left alone;
/// `s` itself if the source is not Python.
pub(in crate::suggest) fn translated(
    target: &Target,
    tuned: &Tuned,
    s: Suggestion,
    sources: &mut SourceFiles,
) -> Result<Suggestion, Box<LeftAlone>> {
    let kernel = Kernel {
        // The size of elements is that of the narrowest access.
        target: &target.as_declared(sources),
        tuned,
    };
    match laid_out(tuned, &s, sources) {
        None => Ok(s),
        Some(LaidOut::Author(python)) => {
            let change = match python {
                Python::Numba => Some(kernel.in_numba(s.clone(), sources)),
                Python::Cute => kernel.in_cute(s.clone(), sources),
                Python::Gluon => kernel.in_gluon(s.clone(), sources),
            };
            change.ok_or_else(|| {
                Box::new(LeftAlone {
                    python: Some(python),
                    ..LeftAlone::from(s)
                })
            })
        }
        Some(by) => Err(Box::new(LeftAlone {
            by_compiler: true,
            by_triton: matches!(by, LaidOut::Triton),
            ..LeftAlone::from(s)
        })),
    }
}

/// An array of a kernel of Python.
struct Kernel<'a> {
    target: &'a Target<'a>,
    tuned: &'a Tuned<'a>,
}

impl Kernel<'_> {
    /// Whether all accesses are to the first so many elements of these bytes.
    fn is_within(&self, elements: u32, bytes: u32) -> bool {
        let end = (elements * bytes).div_ceil(WORD_BYTES);
        let accesses = &self.target.accesses.accesses;
        let mut words = accesses.iter().flat_map(|a| a.addrs.iter().flatten());
        words.all(|word| *word < end)
    }

    /// Whether the function around the accesses has a word.
    fn has(&self, s: &Suggestion, word: &str, sources: &mut SourceFiles) -> bool {
        let Some((_, numbers, lines)) = lines_of(s, sources) else {
            return false;
        };
        let own = text::function_around(&numbers, &lines).unwrap_or(0..lines.len());
        lines[own].iter().any(|line| line.contains(word))
    }
}

impl Suggestion {
    /// The change without what is C++.
    fn in_python(self, python: Python) -> Self {
        Suggestion {
            python: Some(python),
            torn: Vec::new(),
            keeps_merged: false,
            parted: None,
            declarations: Vec::new(),
            dynamic_shared: None,
            is_part: false,
            beside: None,
            function: String::new(),
            function_name: String::new(),
            lines: Vec::new(),
            padding: None,
            cute: None,
            triton: None,
            ..self
        }
    }
}
