//! The Pareto front: what nothing else beats in every respect.

use super::Choice;

/// Marks the choices that no other beats: as few conflicts, operations and
/// wasted words, and fewer of one. Of equal ones the first is marked.
pub fn mark_front(choices: &mut [Choice]) {
    let costs: Vec<_> = choices.iter().map(Choice::costs).collect();
    for (choice, front) in choices.iter_mut().zip(on_front(&costs)) {
        choice.front = front;
    }
}

/// Whether each of these (conflicts, operations, wasted memory) is on the Pareto front.
pub fn on_front<Operations: PartialOrd>(costs: &[(u64, Operations, u32)]) -> Vec<bool> {
    let is_on_front = |(i, own): (usize, &(u64, Operations, u32))| {
        !costs.iter().enumerate().any(|(j, other)| {
            let no_worse = other.0 <= own.0 && other.1 <= own.1 && other.2 <= own.2;
            no_worse && (other != own || j < i)
        })
    };
    costs.iter().enumerate().map(is_on_front).collect()
}
