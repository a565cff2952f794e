//! Places in the source that a compiler has noted, by `.file` and `.loc`.

use super::{Function, Instruction, Module};
use spadkit_base::toolkit;

/// A place in the source, of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the `.file`.
    pub file: u32,
    /// 1-based line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Place where the function around it was inlined: file, line and column of the
    /// call.
    pub inlined_at: Option<[u32; 3]>,
}

impl Module {
    /// `file:line` of the source of an instruction, where `.loc` gives one.
    pub fn source(&self, function: &Function, instruction: &Instruction) -> Option<String> {
        let (_, location) = Self::place(function, instruction)?;
        self.line_of_source(location.file, location.line)
    }

    /// The calls through which an instruction came into the function, as
    /// `file:line`, the innermost first; none where nothing was inlined.
    pub fn inlined_at(&self, function: &Function, instruction: &Instruction) -> Vec<String> {
        let calls = Self::calls(function, instruction);
        let line = |[file, line, _]: &[u32; 3]| self.line_of_source(*file, *line);
        let mut calls: Vec<String> = calls.iter().filter_map(line).collect();
        if calls.is_empty() {
            calls.extend(self.users_line(function, instruction));
        }
        calls
    }

    /// File, line and column of these calls, where the compiler gives them.
    pub(crate) fn calls(function: &Function, instruction: &Instruction) -> Vec<[u32; 3]> {
        let mut calls = Vec::new();
        let mut inner = Self::place(function, instruction);
        // A call that was inlined itself has a `.loc` of its own. What a
        // compiler writes has no circle; a text by hand may.
        while let Some((at, call)) = inner.and_then(|(at, l)| Some((at, l.inlined_at?)))
            && calls.len() < Self::MOST_CALLS
        {
            calls.push(call);
            let of_call = |l: &Location| [l.file, l.line, l.column] == call;
            inner = nearest(function, at, of_call);
        }
        calls
    }

    /// The user's line before an instruction that lies in a header of the toolkit,
    /// where the compiler does not say at which call that came in.
    fn users_line(&self, function: &Function, instruction: &Instruction) -> Option<String> {
        let is_users = |l: &Location| {
            let file = self.files.iter().find(|(n, _)| *n == l.file);
            l.line != 0 && file.is_some_and(|(_, name)| !toolkit::has(name))
        };
        let (at, own) = Self::place(function, instruction)?;
        if is_users(&own) || own.inlined_at.is_some() {
            return None;
        }
        let (_, users) = nearest(function, at, is_users)?;
        self.line_of_source(users.file, users.line)
    }

    /// Inlined calls of one place.
    const MOST_CALLS: usize = 64;

    /// The place of an instruction, with its index. Compilers write line 0 for
    /// what is of no one line, such as a load moved out of a loop: that has the
    /// last place before it that is of the same function, inlined at the same
    /// call.
    fn place(function: &Function, instruction: &Instruction) -> Option<(usize, Location)> {
        let at = instruction.location? as usize;
        let own = *function.locations.get(at)?;
        if own.line != 0 {
            return Some((at, own));
        }
        let beside = |l: &Location| l.line != 0 && l.inlined_at == own.inlined_at;
        nearest(function, at, beside).or_else(|| {
            let [file, line, column] = own.inlined_at?;
            let call = |l: &Location| [l.file, l.line, l.column] == [file, line, column];
            nearest(function, at, call)
        })
    }

    fn line_of_source(&self, file: u32, line: u32) -> Option<String> {
        let (_, name) = self.files.iter().find(|(n, _)| *n == file)?;
        Some(format!("{name}:{line}"))
    }
}

/// The last place before `at` that is `wanted`, or else the first after it, with
/// its index. A function that is inlined twice has its places twice, each after
/// those of its own call.
fn nearest(
    function: &Function,
    at: usize,
    wanted: impl Fn(&Location) -> bool,
) -> Option<(usize, Location)> {
    let mut all = function.locations.iter().copied().enumerate();
    let (before, after) = (at, at + 1);
    let last = function.locations[..before].iter().rposition(&wanted);
    match last {
        Some(found) => Some((found, function.locations[found])),
        None => all.find(|(n, l)| *n >= after && wanted(l)),
    }
}
