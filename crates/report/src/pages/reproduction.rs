//! The report of `reproduce`: how many published values are reproduced, which are
//! furthest off, and each published value with the measured one.

use super::{frame, prose};
use crate::draw::theme;
use crate::names::capital;
use crate::verdict::grouped;
use serde::Serialize;
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_rtl::template::defect;
use tera::Context;

const NAME: &str = "reproduction.html.tera";
const TEMPLATE: &str = include_str!("reproduction.html.tera");
/// Rows of a figure that are not reproduced and shown at once.
const SHOWN: usize = 12;

/// The outcome for a published value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Within its tolerance.
    Reproduced,
    /// Outside of it, and the published way.
    DirectionOnly,
    /// Outside of it.
    Differs,
    /// No model gives it.
    NotModelled,
}

impl Outcome {
    const ALL: [Outcome; 4] = [
        Outcome::Reproduced,
        Outcome::DirectionOnly,
        Outcome::Differs,
        Outcome::NotModelled,
    ];

    /// The outcome in words, and the class of its mark.
    fn word(self) -> (&'static str, &'static str) {
        match self {
            Outcome::Reproduced => ("reproduced", "good"),
            Outcome::DirectionOnly => ("direction only", "na"),
            Outcome::Differs => ("differs", "bad"),
            Outcome::NotModelled => ("not modelled", "none"),
        }
    }
}

/// The value of an agreement as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The models gave it.
    Own,
    /// An input or the machine was chosen to fit what the paper publishes.
    Fitted,
    /// The kit takes it from the paper.
    Identity,
}

/// A published value and the measured one, as text with units.
#[derive(Clone, Debug)]
pub struct ValueLine {
    /// The figure.
    pub figure: String,
    /// The measured quantity.
    pub quantity: String,
    /// Benchmark of the value; none for means and statements.
    pub workload: Option<String>,
    /// The paper's value.
    pub published: String,
    /// Whether the value is a number or a direction, and not a drawing alone.
    pub counts: bool,
    /// The models' value.
    pub measured: String,
    /// The measured less the published value; none where one is no number.
    pub difference: Option<String>,
    /// The tolerance.
    pub tolerance: String,
    /// The evidence of the measured value: `timed`.
    pub evidence: &'static str,
    /// The value of an agreement as evidence.
    pub basis: Basis,
    /// A mechanism that does nothing passes, too.
    pub no_mechanism_passes: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether it has no measured value because this run did not compute it.
    pub is_open: bool,
}

/// A table of text.
#[derive(Clone, Debug, Serialize)]
pub struct TextTable {
    /// The caption of its rows.
    pub caption: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// The first cell of a row names it.
    pub rows: Vec<Vec<String>>,
}

/// A table or figure of a paper.
#[derive(Clone, Debug)]
pub struct FigureLine {
    /// `hash.t6`.
    pub id: String,
    /// Subject of the figure.
    pub title: String,
    /// The page or table of the paper.
    pub source: String,
    /// The machine, where cycles are simulated.
    pub machine: Option<String>,
    /// SVG: published values on the measured ones, and what moves them.
    pub charts: Vec<String>,
    /// All published values: first those that are not reproduced, the furthest
    /// first.
    pub values: Vec<ValueLine>,
    /// Why some differ, the inputs that were fitted, and notes, in Markdown.
    pub notes: String,
    /// Further tables.
    pub tables: Vec<TextTable>,
}

/// A paper.
#[derive(Clone, Debug)]
pub struct PaperLine {
    /// `hash`.
    pub id: String,
    /// Name and authors.
    pub title: String,
    /// Headline numbers of the paper.
    pub headlines: Vec<ValueLine>,
    /// Tables and figures of the paper.
    pub figures: Vec<FigureLine>,
}

/// Mean absolute errors of gains, speed-ups and shares, in percentage points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanError {
    /// Error of the models.
    pub here: f64,
    /// The figure of a model without any effect on the workloads.
    pub no_mechanism: f64,
}

/// The content of the report.
#[derive(Clone, Debug)]
pub struct ReproductionReport {
    /// The papers or figures.
    pub subject: String,
    /// Measured over published values, SVG; none for a few values.
    pub overview: Option<String>,
    /// Values that are not reproduced, the furthest first, one of each quantity.
    pub furthest: Vec<ValueLine>,
    /// Number of all values that are not reproduced.
    pub all_furthest: usize,
    /// None if there is no gain and no share.
    pub error: Option<MeanError>,
    /// Errors by paper, the rules.
    pub tables: Vec<TextTable>,
    /// The papers.
    pub papers: Vec<PaperLine>,
    /// SHA-256 by file.
    pub digests: Vec<(String, String)>,
    /// The commands that make this page.
    pub commands: Vec<String>,
}

/// Values by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    of: [usize; 4],
    /// Reproduced with an input or a machine that was fitted to the paper: no independent evidence.
    fitted: usize,
    /// Reproduced with inputs of the kit that equal the paper's.
    identities: usize,
    /// Reproduced by a mechanism without any effect, too.
    no_mechanism: usize,
    /// Values without a model's one because this run did not compute it.
    open: usize,
}

impl Tally {
    fn of<'a>(values: impl Iterator<Item = &'a ValueLine>) -> Self {
        let mut tally = Tally::default();
        for value in values.filter(|v| v.counts) {
            tally.of[value.outcome as usize] += 1;
            tally.open += usize::from(value.is_open);
            if value.outcome == Outcome::Reproduced {
                tally.fitted += usize::from(value.basis == Basis::Fitted);
                tally.identities += usize::from(value.basis == Basis::Identity);
                tally.no_mechanism += usize::from(value.no_mechanism_passes);
            }
        }
        tally
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.of[outcome as usize]
    }

    fn all(&self) -> usize {
        self.of.iter().sum()
    }

    fn missed(&self) -> usize {
        self.count(Outcome::DirectionOnly) + self.count(Outcome::Differs)
    }

    /// Reproduced by the models alone.
    fn reproduced(&self) -> usize {
        self.count(Outcome::Reproduced) - self.fitted - self.identities
    }

    /// The agreements that are no evidence, in words: `3 fitted`.
    fn apart(&self, fitted: &str, identities: [&str; 2]) -> Vec<String> {
        let identities = identities[usize::from(self.identities != 1)];
        [(self.fitted, fitted), (self.identities, identities)]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{} {words}", whole(count)))
            .collect()
    }

    /// The number of an outcome; for reproduced values, those that are no evidence are
    /// stated separately.
    fn cell(&self, outcome: Outcome) -> String {
        if outcome != Outcome::Reproduced {
            return whole(self.count(outcome));
        }
        let apart = self.apart("fitted", ["identity", "identities"]);
        [vec![whole(self.reproduced())], apart].concat().join(" + ")
    }

    /// `12 of 14 reproduced, 1 by a fitted input, 1 differs, 1 not modelled`.
    fn text(&self) -> String {
        if self.all() == 0 {
            return "nothing published".to_owned();
        }
        let apart = self.apart("by a fitted input", APART);
        let apart: String = apart.iter().map(|part| format!(", {part}")).collect();
        let rest = Outcome::ALL[1..].iter().filter(|o| self.count(**o) > 0);
        let rest = rest.map(|o| match (*o, self.count(*o)) {
            (Outcome::Differs, count) if count > 1 => format!(", {} differ", whole(count)),
            (outcome, count) => format!(", {} {}", whole(count), outcome.word().0),
        });
        let rest: String = rest.collect();
        format!(
            "{} of {} reproduced{apart}{rest}",
            whole(self.reproduced()),
            whole(self.all())
        )
    }
}

/// Values that are inputs of the kit.
const APART: [&str; 2] = ["is an input", "are inputs"];

fn whole(count: usize) -> String {
    grouped(count as u64)
}

impl ReproductionReport {
    /// The page as an HTML file that refers to no other.
    pub fn render(&self) -> Result<String> {
        let figures = || self.papers.iter().flat_map(|p| &p.figures);
        let tally = Tally::of(figures().flat_map(|f| &f.values));
        let mut sections = vec![["overview".to_owned(), "Overview".to_owned()]];
        sections.extend(self.papers.iter().map(|p| [p.id.clone(), p.id.clone()]));
        sections.push(["again".to_owned(), "Reproduce".to_owned()]);
        let all = json!({
            "title": format!("reproduction: {}", self.subject),
            "sections": sections,
            "subject": self.subject,
            "verdict": verdict(&tally),
            "worst": self.furthest.first().map(value),
            "kpis": self.kpis(&tally),
            "overview": self.overview.as_deref().map(theme::with_variables),
            "furthest": self.furthest.iter().map(value).collect::<Vec<_>>(),
            "all_furthest": whole(self.all_furthest),
            "words": Outcome::ALL.map(|o| capital(o.word().0)),
            "by_paper": self.by_paper(),
            "tables": self.tables,
            "papers": self.papers.iter().map(paper).collect::<Vec<_>>(),
            "digests": self.digests,
            "commands": self.commands,
        });
        let context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
        frame::render(NAME, TEMPLATE, context)
    }

    /// The four headline numbers: `k` the caption, `v` the value, `n` the note.
    fn kpis(&self, tally: &Tally) -> Value {
        let of = |outcome| whole(tally.count(outcome));
        let beside_reproduced = format!(
            "and {} by an input fitted to the paper, and {} that the kit takes from it; a \
             mechanism that does nothing gives {} of all",
            whole(tally.fitted),
            whole(tally.identities),
            whole(tally.no_mechanism)
        );
        let missed = format!(
            "{} go the published way, {} differ",
            of(Outcome::DirectionOnly),
            of(Outcome::Differs)
        );
        let points = |v: f64| format!("{v:.1}");
        let (error, beside) = match self.error {
            Some(error) => (
                format!("{} points", points(error.here)),
                format!(
                    "of gains, speed-ups and shares; {} if no mechanism did anything",
                    points(error.no_mechanism)
                ),
            ),
            None => (
                "-".to_owned(),
                "no gain, speed-up or share is published".to_owned(),
            ),
        };
        let reproduced = format!("{} of {}", whole(tally.reproduced()), whole(tally.all()));
        json!([
            {"k": "reproduced", "v": reproduced, "n": beside_reproduced},
            {"k": "missed", "v": whole(tally.missed()), "n": missed},
            {"k": "not modelled", "v": of(Outcome::NotModelled), "n": "published, and no model here gives them"},
            {"k": "mean error", "v": error, "n": beside},
        ])
    }

    fn by_paper(&self) -> Value {
        let row = |p: &PaperLine| {
            let tally = Tally::of(p.figures.iter().flat_map(|f| &f.values));
            (tally.all() > 0).then(|| {
                json!({
                    "id": p.id,
                    "counts": Outcome::ALL.map(|o| (o.word().0, tally.cell(o))),
                    "parts": parts(&tally),
                })
            })
        };
        json!(self.papers.iter().filter_map(row).collect::<Vec<_>>())
    }
}

/// The answer of a reproduction in a sentence.
pub fn reproduction_verdict<'a>(values: impl Iterator<Item = &'a ValueLine>) -> String {
    verdict(&Tally::of(values))
}

/// `897 of 1,120 published values are reproduced, 20 more by a fitted input, 130 are
/// missed, 73 have no model.`
fn verdict(tally: &Tally) -> String {
    let all = tally.all();
    if all == 0 {
        return "The paper publishes no number for these figures.".to_owned();
    }
    let reproduced = tally.reproduced();
    let are = |n: usize, one: &str, more: &str| {
        let verb = if n == 1 { one } else { more };
        format!("{} {verb}", whole(n))
    };
    let mut parts = vec![format!(
        "{} of {} published values {} reproduced",
        whole(reproduced),
        whole(all),
        if reproduced == 1 { "is" } else { "are" }
    )];
    parts.extend(tally.apart("more by a fitted input", APART));
    if tally.missed() > 0 {
        parts.push(are(tally.missed(), "is missed", "are missed"));
    }
    let without = tally.count(Outcome::NotModelled) - tally.open;
    if without > 0 {
        parts.push(are(without, "has no model", "have no model"));
    }
    if tally.open > 0 {
        parts.push(are(tally.open, "is not computed", "are not computed"));
    }
    parts.join(", ") + "."
}

/// A bar that adds up to all values: class, percent and name of each part.
fn parts(tally: &Tally) -> Value {
    let all = tally.all().max(1) as f64;
    let part = |outcome: &Outcome| {
        let count = tally.count(*outcome);
        (count > 0).then(|| {
            let percent = 100.0 * count as f64 / all;
            let (name, class) = outcome.word();
            json!({"class": class, "percent": format!("{percent:.3}"), "name": name,
                   "label": (percent >= 9.0).then(|| whole(count))})
        })
    };
    json!(Outcome::ALL.iter().filter_map(part).collect::<Vec<_>>())
}

fn paper(paper: &PaperLine) -> Value {
    let tally = Tally::of(paper.figures.iter().flat_map(|f| &f.values));
    json!({
        "id": paper.id,
        "title": paper.title,
        "counts": tally.text(),
        "headlines": paper.headlines.iter().map(value).collect::<Vec<_>>(),
        "figures": paper.figures.iter().map(figure).collect::<Vec<_>>(),
    })
}

fn figure(figure: &FigureLine) -> Value {
    let missed = figure.values.iter();
    let missed = missed.filter(|v| v.outcome != Outcome::Reproduced).count();
    let values: Vec<Value> = figure.values.iter().map(value).collect();
    let (shown, folded) = values.split_at(missed.min(SHOWN));
    let still_missed = missed - shown.len();
    let what = match still_missed {
        0 => "all reproduced".to_owned(),
        n => format!("{} of them not reproduced", whole(n)),
    };
    json!({
        "id": figure.id,
        "title": figure.title,
        "counts": Tally::of(figure.values.iter()).text(),
        "class": match (figure.values.len(), missed) {
            (0, _) => "none",
            (_, 0) => "good",
            _ => "na",
        },
        "source": figure.source,
        "machine": figure.machine,
        "charts": figure.charts.iter().map(|c| theme::with_variables(c)).collect::<Vec<_>>(),
        "shown": shown,
        "folded": folded,
        "folded_are": what,
        "notes": prose::html(&figure.notes),
        "tables": figure.tables,
    })
}

fn value(line: &ValueLine) -> Value {
    let (word, class) = line.outcome.word();
    json!({
        "figure": line.figure,
        "quantity": line.quantity,
        "workload": line.workload,
        "published": line.published,
        "measured": line.measured,
        "difference": line.difference,
        "tolerance": line.tolerance,
        "evidence": line.evidence,
        "no_mechanism": line.no_mechanism_passes,
        "word": word,
        "class": class,
    })
}
