//! Why values differ: a short list, each cause once.

use super::super::results::{Comparison, Verdict};

/// The subject of a cause.
struct Cause<'a> {
    text: &'a str,
    /// Quantities with their workloads.
    about: Vec<(&'a str, Vec<&'a str>)>,
}

/// The causes of what differs or has no number, in the order of the results.
pub(super) fn list(results: &[Comparison]) -> String {
    let mut causes: Vec<Cause> = Vec::new();
    for result in results.iter().filter(|r| is_explained(r)) {
        let Some(text) = result.reason.as_deref().map(str::trim) else {
            continue;
        };
        let index = causes.iter().position(|c| c.text == text);
        let index = index.unwrap_or_else(|| {
            causes.push(Cause {
                text,
                about: Vec::new(),
            });
            causes.len() - 1
        });
        causes[index].add(result);
    }
    causes.iter().map(Cause::line).collect()
}

fn is_explained(result: &Comparison) -> bool {
    match result.verdict {
        Verdict::Differs | Verdict::DirectionOnly | Verdict::NotModelled => true,
        Verdict::NothingPublished => result.measured.is_none(),
        Verdict::Reproduced => false,
    }
}

impl<'a> Cause<'a> {
    fn add(&mut self, result: &'a Comparison) {
        let quantity = result.quantity.as_str();
        let workload = result.workload.as_deref();
        match self.about.iter_mut().find(|a| a.0 == quantity) {
            Some(about) => about.1.extend(workload),
            None => self.about.push((quantity, workload.into_iter().collect())),
        }
    }

    /// `quantities, workloads: why`; the workloads once where all quantities have the same.
    fn line(&self) -> String {
        let quantities: Vec<&str> = self.about.iter().map(|a| a.0).collect();
        let same = self.about.iter().all(|a| a.1 == self.about[0].1);
        let about = match (same, self.about[0].1.is_empty()) {
            (true, true) => joined(&quantities),
            (true, false) => format!("{} ({})", self.about[0].1.join(", "), joined(&quantities)),
            (false, _) => {
                let one = |(quantity, workloads): &(&str, Vec<&str>)| {
                    if workloads.is_empty() {
                        (*quantity).to_owned()
                    } else {
                        format!("{} ({quantity})", workloads.join(", "))
                    }
                };
                self.about.iter().map(one).collect::<Vec<_>>().join("; ")
            }
        };
        format!("- **{about}**: {}\n", self.text)
    }
}

/// `STEM, A; B` of names `STEM, A` and `STEM, B`.
fn joined(names: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str)>> = names.iter().map(|n| n.rsplit_once(", ")).collect();
    match parts {
        Some(parts) if parts.iter().all(|p| p.0 == parts[0].0) => {
            let ends: Vec<&str> = parts.iter().map(|p| p.1).collect();
            format!("{}, {}", parts[0].0, ends.join("; "))
        }
        _ => names.join("; "),
    }
}
