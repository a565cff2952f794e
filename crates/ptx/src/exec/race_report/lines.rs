//! The lines of the source between which a barrier would stand.

use crate::exec::api::Finding;
use spadkit_base::quote::without_folder;
use spadkit_base::toolkit::{self, Users};

/// The lines by which the two sides of a pair are told from each other.
#[derive(Clone)]
pub struct Ends {
    pub lines: [String; 2],
    /// Number of calls around the access, from the kernel inwards, that lead to the line,
    /// if it is one that calls what accesses. None for the line of the access.
    pub calls: [Option<usize>; 2],
}

impl Ends {
    /// The lines at which the ways from the kernel to the two accesses part; none if they
    /// do not.
    pub fn of(sides: &[Finding; 2]) -> Option<Self> {
        let ways = sides.each_ref().map(way);
        let [one, other] = &ways;
        let common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
        let ends = [one.get(common), other.get(common)];
        let [Some(a), Some(b)] = ends else {
            // One line calls what the other is in.
            let longer = usize::from(ends[0].is_none());
            ends[longer]?;
            let outer = one.get(common.checked_sub(1)?)?;
            let mut lines = [without_folder(outer).to_owned(), String::new()];
            lines[1] = inside(&sides[longer], outer);
            if longer == 0 {
                lines.swap(0, 1);
            }
            return Some(Ends::without_calls(lines));
        };
        let users = one[..common]
            .iter()
            .rev()
            .find(|line| !toolkit::has_line(line));
        if let Some(users) = users.filter(|_| toolkit::has_line(a) || toolkit::has_line(b)) {
            let lines = sides.each_ref().map(|side| inside(side, users));
            return Some(Ends::without_calls(lines)).filter(|ends| ends.lines[0] != ends.lines[1]);
        }
        let call = |way: &[String]| (common + 1 < way.len()).then_some(common + 1);
        Some(Ends {
            lines: [a, b].map(|line| without_folder(line).to_owned()),
            calls: [call(one), call(other)],
        })
    }

    fn without_calls(lines: [String; 2]) -> Self {
        Ends {
            lines,
            calls: [None; 2],
        }
    }

    /// The lines as they are, or with the second one first (`back`).
    pub fn in_order(&self, back: bool) -> Self {
        let mut ends = self.clone();
        if back {
            ends.lines.swap(0, 1);
            ends.calls.swap(0, 1);
        }
        ends
    }
}

/// The lines that lead to an access, from the kernel inwards.
fn way(side: &Finding) -> Vec<String> {
    match &side.source {
        Some(source) => {
            let calls = side.inlined_at.iter().rev();
            calls.chain([source]).cloned().collect()
        }
        None => vec![users(side)],
    }
}

/// The line of an access, with one that leads to it.
fn inside(side: &Finding, outer: &str) -> String {
    let source = side.source.as_deref().unwrap_or_default();
    format!("{} (of {})", without_folder(source), without_folder(outer))
}

/// The user's line of a finding without its folder, or else the line of the PTX.
pub fn users(side: &Finding) -> String {
    match &side.source {
        Some(source) => without_folder(Users::of(source, &side.inlined_at).line).to_owned(),
        None => format!("PTX line {}", side.ptx_line),
    }
}
