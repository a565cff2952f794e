//! Derives a sentence about a kernel from the numbers of all subsets.

use super::super::number::number;
use super::{MECHANISMS, Subset, idle};

/// The least gain that counts: 1 %.
const COUNTS: f64 = 1.01;

/// The mechanism that helps most, the fastest subset, and pairs that cancel
/// each other: derived from the numbers alone.
pub fn sentence(workload: &str, subsets: &[Subset]) -> String {
    let of = |name: &str| subsets.iter().find(|s| s.name == name).map(|s| s.speed_up);
    let mut parts = vec![alone(&of), fastest(subsets, &of)];
    parts.extend(pairs().map(|(a, b)| together(a, b, &of)));
    let loses = MECHANISMS.iter().filter_map(|m| Some((m, of(m)?)));
    let loses = loses.filter(|m| m.1 * COUNTS < 1.0);
    parts.extend(loses.map(|(m, s)| Some(format!("{m} alone loses {} %", percent(1.0 / s)))));
    let idle = idle(subsets);
    if !idle.is_empty() {
        let one = idle.len() == 1 && !idle[0].ends_with('s');
        let verb = if one { "does" } else { "do" };
        parts.push(Some(format!("{} {verb} nothing here", idle.join(" and "))));
    }
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{workload}: {}.", parts.join("; "))
}

fn percent(speed_up: f64) -> String {
    let gain = 100.0 * (speed_up - 1.0);
    number((10.0 * gain).round() / 10.0)
}

/// The mechanism that gains most without the others.
fn alone(of: &dyn Fn(&str) -> Option<f64>) -> Option<String> {
    let alone = MECHANISMS.iter().filter_map(|m| Some((m, of(m)?)));
    let (most, speed_up) = alone.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(if speed_up >= COUNTS {
        format!("{most} helps most alone, {} %", percent(speed_up))
    } else {
        "no mechanism alone gains 1 %".to_owned()
    })
}

/// The fastest subset, where it is more than one mechanism.
fn fastest(subsets: &[Subset], of: &dyn Fn(&str) -> Option<f64>) -> Option<String> {
    let front = subsets.iter().filter(|s| s.front);
    let best = front.max_by(|a, b| a.speed_up.total_cmp(&b.speed_up))?;
    let parts = best.name.split('+').filter_map(of);
    let most = parts.fold(1.0, f64::max);
    let text = format!(
        "{} is the fastest, {} % for {} µm²",
        best.name,
        percent(best.speed_up),
        number(best.area_um2)
    );
    (best.speed_up >= most * COUNTS).then_some(text)
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let after = |(i, a)| MECHANISMS[i + 1..].iter().map(move |&b| (a, b));
    MECHANISMS.into_iter().enumerate().flat_map(after)
}

/// The interaction of two mechanisms that both have an effect.
fn together(a: &str, b: &str, of: &dyn Fn(&str) -> Option<f64>) -> Option<String> {
    let (alone, other, both) = (of(a)?, of(b)?, of(&format!("{a}+{b}"))?);
    let (most, product) = (f64::max(alone, other), alone * other);
    let gains = format!(
        "{} % together, {} and {} % alone",
        percent(both),
        percent(alone),
        percent(other)
    );
    if both * COUNTS < most && most >= COUNTS {
        Some(format!("{a} and {b} cancel: {gains}"))
    } else if both > f64::max(product, most) * COUNTS {
        Some(format!("{a} and {b} help each other: {gains}"))
    } else if both * COUNTS < product && f64::min(alone, other) >= COUNTS {
        Some(format!("{a} and {b} remove the same stalls: {gains}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subsets(speeds: &[(&str, f64)]) -> Vec<Subset> {
        let subset = |&(name, speed_up): &(&str, f64)| Subset {
            hash: None,
            elastic: name.contains("elastic"),
            sharing: name.contains("sharing"),
            locks: name.contains("locks"),
            cycles: 1000.0 / speed_up,
            bank_conflicts: 0.0,
            stalls: 0.0,
            stalls_shared_scratchpad: 0.0,
            area_um2: name.len() as f64,
            clock_ps: 900.0,
            time_ns: 1.0,
            speed_up,
            front: true,
            name: name.to_owned(),
        };
        speeds.iter().map(subset).collect()
    }

    #[test]
    fn the_sentence_names_the_best_and_what_cancels() {
        let text = sentence(
            "k",
            &subsets(&[
                ("none", 1.0),
                ("hash", 1.5),
                ("elastic", 1.2),
                ("hash+elastic", 1.1),
            ]),
        );
        assert!(text.contains("hash helps most alone, 50 %"), "{text}");
        assert!(text.contains("hash and elastic cancel: 10 % together, 50 and 20 % alone"));
        assert!(!text.contains("is the fastest"), "{text}");
    }

    #[test]
    fn the_same_stalls_are_removed_once() {
        let text = sentence(
            "k",
            &subsets(&[
                ("none", 1.0),
                ("hash", 1.5),
                ("elastic", 1.4),
                ("hash+elastic", 1.6),
            ]),
        );
        assert!(text.contains("hash+elastic is the fastest, 60 %"), "{text}");
        assert!(text.contains("remove the same stalls"), "{text}");
    }
}
