//! Checks the markers of an annotated kernel by walking its text, statement by
//! statement. It shares no code with the pass: where control goes it reads
//! from the instructions' text.

use spadkit::ptx::{LabelKind, Module, StatementKind};
use std::collections::HashMap;

/// A statement that a thread passes.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Label,
    Marker,
    /// Successors by index of steps; the number of steps is the end.
    Instruction {
        to: Vec<usize>,
        accesses: bool,
    },
}

/// The steps of an entry.
pub struct Walk {
    pub steps: Vec<Step>,
    /// An access to a shared variable is possible from here on.
    ahead: Vec<bool>,
}

impl Walk {
    /// `accesses` tells whether the instruction with this text and number
    /// accesses a shared variable.
    pub fn new(text: &str, entry: &str, accesses: &dyn Fn(&str, usize) -> bool) -> Self {
        let module = Module::parse(text, "annotated.ptx").unwrap();
        let index = module.function(entry).unwrap();
        let function = &module.functions[index as usize];
        let own = module
            .statements
            .iter()
            .filter(|s| s.function == Some(index));
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut texts: Vec<Option<&str>> = Vec::new();
        let mut steps = Vec::new();
        for statement in own {
            let text = module.text_of(statement.span);
            match statement.kind {
                StatementKind::Label(l) => {
                    labels.insert(&function.labels[l as usize].name, steps.len());
                    steps.push(Step::Label);
                    texts.push(None);
                }
                StatementKind::Directive if text == ".pragma \"spadkit.relssp\";" => {
                    steps.push(Step::Marker);
                    texts.push(None);
                }
                StatementKind::Instruction(number) => {
                    steps.push(Step::Instruction {
                        to: Vec::new(),
                        accesses: accesses(text, number as usize),
                    });
                    texts.push(Some(text));
                }
                _ => {}
            }
        }
        let tables: HashMap<&str, Vec<usize>> = function
            .labels
            .iter()
            .filter_map(|l| match &l.kind {
                LabelKind::Branches(list) => {
                    let place = |t: &u32| labels[function.labels[*t as usize].name.as_str()];
                    Some((l.name.as_str(), list.iter().map(place).collect()))
                }
                _ => None,
            })
            .collect();
        let end = steps.len();
        for (at, text) in texts.iter().enumerate() {
            let Some(text) = text else { continue };
            let ways = ways(text, at, end, &labels, &tables);
            if let Step::Instruction { to, .. } = &mut steps[at] {
                *to = ways;
            }
        }
        let ahead = ahead(&steps);
        Walk { steps, ahead }
    }

    fn next(&self, at: usize) -> Vec<usize> {
        match &self.steps[at] {
            Step::Instruction { to, .. } => to.clone(),
            _ => vec![at + 1],
        }
    }

    /// Every path, also around loops, as the states of a thread: its position,
    /// and whether it has released. `earliest`: only labels may be between the
    /// first safe point and the marker.
    pub fn check(&self, earliest: bool) -> Result<(), String> {
        if !self.ahead[0] {
            return if self.steps.contains(&Step::Marker) {
                Err("a marker where no access is possible".to_owned())
            } else {
                Ok(())
            };
        }
        let end = self.steps.len();
        let mut seen = vec![[false; 2]; end + 1];
        let mut stack = vec![(0, false)];
        while let Some((at, released)) = stack.pop() {
            if std::mem::replace(&mut seen[at][usize::from(released)], true) {
                continue;
            }
            let released = self.pass(at, released, earliest)?;
            if at < end {
                stack.extend(self.next(at).into_iter().map(|to| (to, released)));
            }
        }
        Ok(())
    }

    /// What a thread at `at` does; whether it has released afterwards.
    fn pass(&self, at: usize, released: bool, earliest: bool) -> Result<bool, String> {
        let Some(step) = self.steps.get(at) else {
            return if released {
                Ok(true)
            } else {
                Err("a path ends without a release".to_owned())
            };
        };
        match step {
            Step::Marker if released => Err(format!("step {at} releases for the second time")),
            Step::Marker if self.ahead[at] => Err(format!("step {at} releases too early")),
            Step::Marker => Ok(true),
            Step::Instruction { accesses: true, .. } if released => {
                Err(format!("step {at} accesses after the release"))
            }
            Step::Instruction { .. } if earliest && !released && !self.ahead[at] => {
                Err(format!("step {at} could already have released"))
            }
            _ => Ok(released),
        }
    }

    /// Paths from the entry to the end on which no way is gone more than
    /// twice, at most `most` of them: how many releases each has, and whether
    /// an access follows one.
    pub fn paths(&self, most: usize) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        let mut gone: HashMap<(usize, usize), u32> = HashMap::new();
        let mut budget = 50 * most;
        self.go_on(0, (0, false), &mut gone, &mut found, (most, &mut budget));
        found
    }

    fn go_on(
        &self,
        at: usize,
        (mut releases, mut late): (usize, bool),
        gone: &mut HashMap<(usize, usize), u32>,
        found: &mut Vec<(usize, bool)>,
        (most, budget): (usize, &mut usize),
    ) {
        if found.len() >= most || *budget == 0 {
            return;
        }
        *budget -= 1;
        match self.steps.get(at) {
            None => return found.push((releases, late)),
            Some(Step::Marker) => releases += 1,
            Some(Step::Instruction { accesses: true, .. }) => late |= releases > 0,
            _ => {}
        }
        for to in self.next(at) {
            let times = gone.entry((at, to)).or_default();
            if *times < 2 {
                *times += 1;
                self.go_on(to, (releases, late), gone, found, (most, budget));
                *gone.get_mut(&(at, to)).unwrap() -= 1;
            }
        }
    }

    pub fn needs_release(&self) -> bool {
        self.ahead[0]
    }
}

/// Where an instruction goes, by its words.
fn ways(
    text: &str,
    at: usize,
    end: usize,
    labels: &HashMap<&str, usize>,
    tables: &HashMap<&str, Vec<usize>>,
) -> Vec<usize> {
    let mut words = text.trim_end_matches(';').split_whitespace().peekable();
    let guarded = words.next_if(|w| w.starts_with('@')).is_some();
    let opcode = words.next().unwrap();
    let last = words.last().unwrap_or("");
    let mut to = match opcode.split('.').next().unwrap() {
        "bra" => vec![labels[last]],
        "brx" => tables[last].clone(),
        "ret" | "exit" | "trap" => vec![end],
        _ => return vec![at + 1],
    };
    if guarded {
        to.push(at + 1);
    }
    to
}

fn ahead(steps: &[Step]) -> Vec<bool> {
    let mut from = vec![Vec::new(); steps.len() + 1];
    let mut work = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Instruction { to, accesses } => {
                to.iter().for_each(|&t| from[t].push(at));
                if *accesses {
                    work.push(at);
                }
            }
            _ => from[at + 1].push(at),
        }
    }
    let mut ahead = vec![false; steps.len() + 1];
    while let Some(at) = work.pop() {
        if !std::mem::replace(&mut ahead[at], true) {
            work.extend(&from[at]);
        }
    }
    ahead
}

/// Statements, and what is between them without white space.
fn pieces(text: &str) -> (Vec<String>, String) {
    let module = Module::parse(text, "pieces.ptx").unwrap();
    let mut at = 0;
    let mut between = String::new();
    let mut list = Vec::new();
    for statement in &module.statements {
        between += &text[at..statement.span.start as usize];
        list.push(module.text_of(statement.span).to_owned());
        at = statement.span.end as usize;
    }
    between += &text[at..];
    between.retain(|c| !c.is_whitespace());
    (list, between)
}

/// `after` has every statement and comment of `before` in its order, but for
/// branches and exits that were split; what is added is markers, our labels,
/// and branches.
pub fn only_adds(before: &str, after: &str) -> Result<(), String> {
    let ((old, comments), (new, kept)) = (pieces(before), pieces(after));
    if comments != kept {
        return Err("comments have changed".to_owned());
    }
    let mut old = old.iter().map(String::as_str).peekable();
    // The branch or exit that was split last, without its guard.
    let mut split = String::new();
    for text in new.iter().map(String::as_str) {
        if old.next_if(|o| *o == text).is_some() {
            continue;
        }
        let ours = text.contains("$spadkit_");
        let guarded = text.starts_with('@');
        let turned = ours && guarded && text.contains(" bra $");
        let table = ours && text.contains("brx.idx");
        if table && split.contains("brx.idx") {
            split.clear();
            continue;
        }
        if turned || table {
            let gone = old.next().unwrap_or("nothing");
            if turned {
                split = gone.split_once(' ').map_or("", |g| g.1).trim().to_owned();
            }
            let same = if table {
                gone.contains("brx.idx")
            } else {
                gone.starts_with('@')
            };
            if !same {
                return Err(format!("{gone} became {text}"));
            }
            continue;
        }
        let branch = text.starts_with("bra.uni ") || text == split;
        if !(ours || branch || text.starts_with(".pragma \"spadkit.")) {
            return Err(format!("an added statement: {text}"));
        }
    }
    match old.next() {
        Some(text) => Err(format!("a statement is gone: {text}")),
        None => Ok(()),
    }
}
