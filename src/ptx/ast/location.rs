//! Places in the source that a compiler has noted, by `.file` and `.loc`.

use super::{Function, Instruction, Module};

/// A place in the source, of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the `.file`.
    pub file: u32,
    /// 1-based line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Where the function that this place lies in was inlined: file, line and
    /// column of the call.
    pub inlined_at: Option<[u32; 3]>,
}

impl Module {
    /// `file:line` of the source of an instruction, where `.loc` gives one.
    pub fn source(&self, function: &Function, instruction: &Instruction) -> Option<String> {
        let location = function.locations.get(instruction.location? as usize)?;
        self.line_of_source(location.file, location.line)
    }

    /// The calls through which an instruction came into the function, as
    /// `file:line`, the innermost first; none where nothing was inlined.
    pub fn inlined_at(&self, function: &Function, instruction: &Instruction) -> Vec<String> {
        let location = instruction.location.map(|at| at as usize);
        let location = location.and_then(|at| function.locations.get(at));
        let (mut calls, mut next) = (Vec::new(), location.and_then(|l| l.inlined_at));
        // A call that was inlined itself has a `.loc` of its own. What a
        // compiler writes has no circle; a text by hand may.
        while let Some([file, line, column]) = next.filter(|_| calls.len() < Self::MOST_CALLS) {
            calls.extend(self.line_of_source(file, line));
            let of_call = |l: &&Location| [l.file, l.line, l.column] == [file, line, column];
            let found = function.locations.iter().find(of_call);
            next = found.and_then(|l| l.inlined_at);
        }
        calls
    }

    /// Inlined calls of one place.
    const MOST_CALLS: usize = 64;

    fn line_of_source(&self, file: u32, line: u32) -> Option<String> {
        let (_, name) = self.files.iter().find(|(n, _)| *n == file)?;
        Some(format!("{name}:{line}"))
    }
}
