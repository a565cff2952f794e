//! The answer in a sentence and four numbers.

mod price;

use super::choice::{ChoiceKind, ChoiceLine};
use super::flow_report::FlowReport;
use super::names::{self, PLAIN, capital};
use super::software_report::{Software, in_machine_code};
use super::source_page::{SourceLine, SourcePage};
use serde::Serialize;
use spadkit_compiler::suggest::InMachineCode;
use spadkit_mapping::trace::without_folder;
use std::fmt::{self, Display, Formatter};

/// A sentence, its reasons, and four numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// The problem.
    pub problem: String,
    /// Remedy of the problem, with the gain; empty without a problem.
    pub remedy: String,
    /// Details, a sentence or two each.
    pub detail: Vec<String>,
    /// The four headline numbers.
    pub numbers: Vec<Number>,
}

/// A number of the verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Number {
    /// Name of the number.
    pub what: String,
    /// Before the arrow; empty without one.
    pub from: String,
    /// The number.
    pub to: String,
    /// The reason for the number, or its meaning.
    pub note: String,
    /// The share of `from` that `to` is, in percent, for a bar.
    pub percent: Option<f64>,
}

/// A whole number in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A speed-up: a small one with more digits, so that it is not 1.00.
pub(super) fn ratio(speed_up: f64) -> String {
    match format!("{speed_up:.2}") {
        one if one == "1.00" => format!("{speed_up:.3}"),
        other => other,
    }
}

/// `1.15 times as fast`.
fn times(speed_up: f64) -> String {
    format!("{} times as fast", ratio(speed_up))
}

/// A share of a whole: `half`, `all`, `46 %`.
#[derive(Clone, Copy)]
enum Share {
    All,
    Percent(f64),
}

impl Share {
    fn of(part: u64, whole: u64) -> Self {
        if part == whole {
            Share::All
        } else {
            Share::Percent(100.0 * part as f64 / whole.max(1) as f64)
        }
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Share::All => f.write_str("all"),
            Share::Percent(p) if (49.0..51.0).contains(&p) => f.write_str("half"),
            Share::Percent(p) if p < 1.0 => f.write_str("less than 1 %"),
            Share::Percent(p) if p > 99.0 => f.write_str("more than 99 %"),
            Share::Percent(p) => write!(f, "{p:.0} %"),
        }
    }
}

/// The line with most conflicts.
pub(super) fn worst(pages: &[SourcePage]) -> Option<(&SourcePage, &SourceLine)> {
    let all = pages
        .iter()
        .flat_map(|p| p.lines.iter().map(move |l| (p, l)));
    let costly = all.filter(|(_, l)| l.conflicts > 0);
    // The first of equal ones.
    costly.fold(None, |best, next| match best {
        Some((_, line)) if line.conflicts >= next.1.conflicts => best,
        _ => Some(next),
    })
}

/// `fwt.cu:18`, `line 31 of k.ptx`, `access site 3`.
pub(super) fn place(page: &SourcePage, line: &SourceLine) -> String {
    let file = without_folder(&page.file);
    if file.is_empty() {
        return format!("access site {}", line.line);
    }
    if let [header] = &line.through[..] {
        return format!("{file}:{}, through {}", line.line, without_folder(header));
    }
    // An inlined line is changed where its function is called.
    match &line.inlined_at[..] {
        [stack] => {
            let call = stack.first().map(|c| without_folder(c));
            let call = call
                .map(|c| c.rsplit(':').next().unwrap_or(c))
                .unwrap_or_default();
            format!("{file}:{}, called in line {call}", line.line)
        }
        _ => format!("{file}:{}", line.line),
    }
}

impl FlowReport {
    /// The answer.
    pub fn verdict(&self) -> Verdict {
        let (conflicts, wavefronts) = (self.conflicts(), self.kernel.wavefronts);
        if conflicts == 0 {
            return self.no_conflicts();
        }
        let at = worst(&self.sources).map(|(page, line)| (place(page, line), line.conflicts));
        let mostly = match &at {
            Some((place, most)) if *most == conflicts => format!(", all at {place}"),
            Some((place, most)) if 2 * most > conflicts => format!(", most of them at {place}"),
            Some((place, most)) => format!(", {} of them at {place}", Share::of(*most, conflicts)),
            None => String::new(),
        };
        let problem = format!(
            "{} of this kernel's {} wavefronts are bank conflicts{mostly}.",
            grouped(conflicts),
            grouped(wavefronts)
        );
        let chosen = self.chosen().filter(|c| c.kind != ChoiceKind::Nothing);
        Verdict {
            problem,
            remedy: self.remedy(chosen),
            detail: self.detail(),
            numbers: self.numbers(chosen, at),
        }
    }

    /// Conflicts without a change.
    pub fn conflicts(&self) -> u64 {
        let plain = self.mappings.iter().find(|m| m.is_plain());
        plain.map_or(0, |m| m.conflicts)
    }

    fn no_conflicts(&self) -> Verdict {
        let cycles = self.choices.iter().find_map(|c| c.cycles);
        let mut numbers = vec![number(
            "Wavefronts",
            &grouped(self.kernel.wavefronts),
            "none of them a conflict",
        )];
        numbers.extend(cycles.map(|c| number("Cycles on one SM", &grouped(c.total), "simulated")));
        numbers.push(number(
            "Warp accesses",
            &grouped(self.kernel.accesses),
            "of one block, executed",
        ));
        Verdict {
            problem: format!(
                "No bank conflicts: each of the {} warp accesses is served as fast as it can be.",
                grouped(self.kernel.accesses)
            ),
            remedy: "There is nothing to change.".to_owned(),
            detail: Vec::new(),
            numbers,
        }
    }

    fn remedy(&self, chosen: Option<&ChoiceLine>) -> String {
        let Some(chosen) = chosen else {
            let of_chip = self.fastest_hardware().filter(|_| !self.hash_unit);
            let gains = of_chip.and_then(|c| c.speed_up).is_some_and(|s| s > 1.0);
            let what = if gains {
                "change of the kernel"
            } else {
                "mapping"
            };
            return match self.choice(ChoiceKind::Padding) {
                // Its gain is not known.
                Some(padding) if padding.speed_up.is_none() => {
                    format!("No {what} that was simulated makes it faster.")
                }
                _ => format!("No {what} makes it faster: leave it as it is."),
            };
        };
        let conflicts = self.conflicts();
        let removed = Share::of(conflicts.saturating_sub(chosen.conflicts), conflicts);
        let code = self.changed_source().filter(|_| is_software(chosen));
        // If all conflicts go in both, their numbers are shown with the change instead.
        let code = code.filter(|code| chosen.conflicts > 0 || code.conflicts > 0);
        let code = code.map_or(String::new(), |code| {
            let removed = code.conflicts_before.saturating_sub(code.conflicts);
            format!(
                " in the PTX and {} of {} in the machine code",
                Share::of(removed, code.conflicts_before),
                grouped(code.conflicts_before)
            )
        });
        let worth = chosen
            .speed_up
            .map_or(String::new(), |s| format!(": {}", times(s)));
        let subject = capital(&subject(chosen));
        format!("{subject} removes {removed} of them{code}{worth}.")
    }

    /// The effect of the source changes on the machine code, if it differs from that on the PTX.
    fn changed_source(&self) -> Option<InMachineCode> {
        in_machine_code(&self.software.as_ref()?.suggestions)
    }

    /// A sentence that says that the simulated accesses are not those of a GPU,
    /// where ptxas leaves clearly fewer conflicts than the PTX has.
    pub fn merged_by_ptxas(&self) -> Option<String> {
        let software = self.software.as_ref()?;
        let code = software.conflicts_in_machine_code()?;
        // The table may count the accesses of the machine code.
        let conflicts = software
            .conflicts_in_ptx()
            .unwrap_or(0)
            .max(self.conflicts());
        (20 * code < 19 * conflicts).then(|| {
            format!(
                "The simulation makes the accesses of the PTX. ptxas merges or removes some: its \
                 machine code has {} conflicts instead of {}, so a GPU gains less.",
                grouped(code),
                grouped(conflicts)
            )
        })
    }

    /// The fastest choice in hardware; without cycles the best unit.
    fn fastest_hardware(&self) -> Option<&ChoiceLine> {
        let hardware = self.choices.iter().filter(|c| c.kind.is_hardware());
        let order = |c: &&ChoiceLine| {
            let cycles = c.cycles.map_or(u64::MAX, |parts| parts.total);
            (cycles, c.kind != ChoiceKind::Best, c.conflicts)
        };
        hardware.min_by_key(order)
    }

    /// A choice for a new chip that is faster, where the machine has no hash unit.
    fn gaining_hardware(&self) -> Option<&ChoiceLine> {
        let gains = |c: &&ChoiceLine| c.speed_up.is_some_and(|s| s > 1.0);
        self.fastest_hardware()
            .filter(|_| !self.hash_unit)
            .filter(gains)
    }

    /// Another choice, in a sentence.
    fn other_text(&self, other: &ChoiceLine) -> String {
        let on = match other.kind {
            ChoiceKind::Software if self.hash_unit => "In software",
            ChoiceKind::Software => "On GPUs as they are",
            _ => "On a new chip",
        };
        let left = match other.conflicts {
            0 => "leaves no conflict".to_owned(),
            n if n >= self.conflicts() => "leaves them all".to_owned(),
            1 => "leaves 1 conflict".to_owned(),
            n => format!("leaves {} conflicts", grouped(n)),
        };
        let worth = other
            .speed_up
            .map_or(String::new(), |s| format!(": {}", times(s)));
        format!("{on}, {} {left}{worth}.", subject(other))
    }

    /// Padding in the declarations, a sentence or two.
    fn padding(&self) -> Option<String> {
        let padding = self.choice(ChoiceKind::Padding)?;
        let left = match padding.conflicts {
            0 => "leaves no conflict".to_owned(),
            1 => "leaves 1 conflict".to_owned(),
            n => format!("leaves {} conflicts", grouped(n)),
        };
        let bytes = grouped(padding.wasted_bytes.into());
        if padding.chosen {
            return Some(format!(
                "Longer rows add no instruction and take {bytes} bytes. They were simulated with \
                 the accesses of the run at their new addresses; the changed source was not \
                 compiled or run."
            ));
        }
        let known = match padding.speed_up {
            Some(speed_up) => format!("Simulated it is {}, but", times(speed_up)),
            None => "It was not simulated, and".to_owned(),
        };
        let subject = capital(&subject(padding));
        Some(format!(
            "{subject} {left} and adds no instruction, for {bytes} bytes. {known} it was not \
             compiled or run."
        ))
    }

    /// The gain of the other kind of choice, and the parts of the cycles.
    fn detail(&self) -> Vec<String> {
        let mut detail = Vec::new();
        let software = self.choice(ChoiceKind::Software);
        // Where no change of the kernel gains, a new chip may.
        let others = match self.chosen().map(|c| c.kind) {
            Some(ChoiceKind::Software) => [self.fastest_hardware(), None],
            Some(ChoiceKind::Padding | ChoiceKind::Nothing) => [software, self.gaining_hardware()],
            _ => [software, None],
        };
        let others = others.into_iter().flatten();
        detail.extend(others.map(|other| self.other_text(other)));
        if let Some(cheap) = self
            .choice(ChoiceKind::Cheapest)
            .or(self.choice(ChoiceKind::Fixed))
            .filter(|cheap| !cheap.chosen)
            && let (Some(gain), Some(cost)) =
                (self.gain_pct(cheap), cheap.cost.and_then(|c| c.nand2))
            && self.hash_unit
        {
            detail.push(format!(
                "{} gets {gain:.0} % of the gain for {} NAND2.",
                capital(&subject(cheap)),
                grouped(cost.round() as u64)
            ));
        }
        let software = self.software.as_ref();
        detail.extend(self.merged_by_ptxas());
        detail.extend(self.padding());
        detail.extend(self.source_change.clone());
        detail.extend(software.and_then(Software::nothing_to_rewrite));
        detail.extend(self.measured.clone());
        if self.gaining_phases() > 0 && self.phases.len() > 1 {
            detail.push(format!(
                "Conflicts arise in {} of {} stretches between barriers.",
                self.gaining_phases(),
                self.phases.len()
            ));
        }
        detail
    }

    fn gaining_phases(&self) -> usize {
        self.phases.iter().filter(|p| p.conflicts > 0).count()
    }

    /// The share of the best choice's saved cycles that a choice saves, in
    /// percent.
    pub(super) fn gain_pct(&self, choice: &ChoiceLine) -> Option<f64> {
        let total = |c: &ChoiceLine| Some(c.cycles?.total as f64);
        let nothing = total(self.choice(ChoiceKind::Nothing)?)?;
        let best = self
            .choices
            .iter()
            .filter_map(total)
            .min_by(f64::total_cmp)?;
        let saved = nothing - total(choice)?;
        // A choice that is slower has no share.
        (best < nothing && saved >= 0.0).then_some(100.0 * saved / (nothing - best))
    }

    fn numbers(&self, chosen: Option<&ChoiceLine>, at: Option<(String, u64)>) -> Vec<Number> {
        let conflicts = self.conflicts();
        let mut all = Vec::new();
        if let Some((place, most)) = at {
            let part = match Share::of(most, conflicts) {
                Share::All => Share::All.to_string(),
                part => format!("{part} of all"),
            };
            let note = format!("+{} conflicts, {part}; counted in the run", grouped(most));
            all.push(number("Worst line", &place, &note));
        }
        let nothing = self.choice(ChoiceKind::Nothing);
        let Some(chosen) = chosen else {
            all.push(number(
                "Wavefronts",
                &grouped(self.kernel.wavefronts),
                "counted in the run",
            ));
            let cycles = nothing.and_then(|n| n.cycles);
            all.extend(cycles.map(|c| number("Cycles on one SM", &grouped(c.total), "simulated")));
            return all;
        };
        let ideal = self.kernel.ideal_wavefronts;
        all.push(changed(
            "Wavefronts",
            self.kernel.wavefronts,
            chosen.wavefronts,
            if chosen.wavefronts == ideal {
                "none is a conflict: the fewest there can be".to_owned()
            } else {
                format!("{} without conflicts", grouped(ideal))
            },
        ));
        if let (Some(before), Some(after)) = (nothing.and_then(|n| n.cycles), chosen.cycles) {
            let note = chosen
                .speed_up
                .map_or(String::new(), |s| format!("{}, simulated", times(s)));
            let merged = self.merged_by_ptxas().is_some();
            let of_ptx = is_software(chosen) && chosen.added_per_access.is_some();
            let with = match (of_ptx, merged) {
                (true, _) => " with the rewritten PTX",
                (false, true) => " with the PTX's accesses",
                (false, false) => "",
            };
            let note = note + with;
            all.push(changed("Cycles on one SM", before.total, after.total, note));
        }
        all.push(price::of(chosen, self));
        all
    }
}

fn number(what: &str, to: &str, note: &str) -> Number {
    Number {
        what: what.to_owned(),
        to: to.to_owned(),
        note: note.to_owned(),
        ..Number::default()
    }
}

fn changed(what: &str, from: u64, to: u64, note: String) -> Number {
    Number {
        what: what.to_owned(),
        from: grouped(from),
        to: grouped(to),
        note,
        percent: Some(100.0 * to as f64 / from.max(1) as f64),
    }
}

fn is_software(choice: &ChoiceLine) -> bool {
    choice.kind == ChoiceKind::Software
}

/// A choice as the subject of a sentence.
fn subject(choice: &ChoiceLine) -> String {
    match choice.kind {
        ChoiceKind::Nothing => names::unit(PLAIN).subject,
        ChoiceKind::Software => names::software(&choice.hash).subject,
        ChoiceKind::Padding => names::padding().subject,
        _ => names::unit(&choice.hash).subject,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shares_are_words() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        let share = |part, whole| Share::of(part, whole).to_string();
        assert_eq!(
            [share(5, 5), share(1, 2), share(46, 100)],
            ["all", "half", "46 %"]
        );
        assert_eq!(
            [share(1, 1000), share(999, 1000)],
            ["less than 1 %", "more than 99 %"]
        );
    }
}
