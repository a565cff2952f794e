//! The Pareto front: what nothing else beats in every respect.

use super::Choice;

/// Marks the choices that no other beats: as few conflicts, operations and
/// wasted words, and fewer of one. Of equal ones the first is marked.
pub fn mark_front(choices: &mut [Choice]) {
    let costs: Vec<_> = choices.iter().map(Choice::costs).collect();
    for (i, choice) in choices.iter_mut().enumerate() {
        let beaten = costs.iter().enumerate().any(|(j, other)| {
            let own = &costs[i];
            let no_worse = other.0 <= own.0 && other.1 <= own.1 && other.2 <= own.2;
            no_worse && (other != own || j < i)
        });
        choice.front = !beaten;
    }
}
