//! Clocked blocks: what a reset writes, and what changes otherwise.

use super::Body;
use crate::item::{Next, Update};
use crate::print::Line;
use crate::signal::{Expr, Signal};
use crate::tree::Tree;

impl Body {
    /// A clocked block: reset, clear, and what changes otherwise.
    pub(super) fn update(&mut self, update: &Update, depth: usize) {
        let mut branches = Vec::new();
        let resets = self.resets(update);
        if !resets.is_empty() {
            branches.push((Some(&Tree::Name("rst")), resets.clone()));
        }
        if let Some(clear) = &update.clear {
            branches.push((Some(&clear.tree), resets));
        }
        for next in &update.next {
            let alone = next.cases.is_empty() || update.next.len() == 1 && update.when.is_none();
            assert!(
                alone,
                "a register by cases has a block of its own: {update:?}"
            );
            for (when, to) in &next.cases {
                branches.push((Some(&when.tree), vec![self.write(next, to)]));
            }
        }
        let mut writes = Vec::new();
        for next in &update.next {
            match (&next.value, next.bytes) {
                (None, _) => {}
                (Some(value), None) => writes.push(self.write(next, value)),
                (Some(value), Some(enable)) => writes.extend(self.bytes(next, enable, value)),
            }
        }
        if !writes.is_empty() {
            branches.push((update.when.as_ref().map(|when| &when.tree), writes));
        }
        if update.next.iter().any(|next| next.bytes.is_some()) {
            self.line(depth, "integer k;");
        }
        let or_edge = match branches.first() {
            Some((Some(condition), _)) if condition.is_reset() => self.style.reset.or_edge(),
            _ => "",
        };
        self.line(depth, &format!("always @(posedge clk{or_edge}) begin"));
        self.branches(&branches, depth + 1);
        self.line(depth, "end");
    }

    /// The assignments of a reset.
    fn resets(&mut self, update: &Update) -> Vec<Line> {
        let mut resets = Vec::new();
        for next in &update.next {
            if let Some((target, value)) = &next.reset {
                let [target, value] = [target, value].map(|tree| self.text(tree));
                resets.push((format!("{target} <= {value};"), Some(next.at)));
            }
        }
        assert!(
            resets.is_empty() || resets.len() == update.next.len(),
            "registers with and without reset in one block: {update:?}"
        );
        resets
    }

    /// `register <= value;`
    fn write(&mut self, next: &Next, value: &Expr) -> Line {
        let [register, value] = [&next.register, value].map(|part| self.text(&part.tree));
        (format!("{register} <= {value};"), Some(next.at))
    }

    /// The bytes of `data` that `enable` has, into the register.
    fn bytes(&mut self, next: &Next, enable: Signal, data: &Expr) -> [Line; 3] {
        let [word, data] = [&next.register, data].map(|part| self.text(&part.tree));
        let (count, enable) = (self.size(enable.width), enable.name);
        [
            format!("for (k = 0; k < {count}; k = k + 1) begin"),
            format!("    if ({enable}[k]) {word}[k*8 +: 8] <= {data}[k*8 +: 8];"),
            "end".to_owned(),
        ]
        .map(|line| (line, Some(next.at)))
    }

    /// `if`, `else if` and `else`; a branch without a condition is the last.
    fn branches(&mut self, branches: &[(Option<&Tree>, Vec<Line>)], depth: usize) {
        let one = branches.iter().all(|(_, writes)| writes.len() == 1);
        for (i, (condition, writes)) in branches.iter().enumerate() {
            let text = condition.map(|condition| {
                if condition.is_reset() {
                    self.style.reset.active().to_owned()
                } else {
                    self.text(condition)
                }
            });
            let opening = match (i, text) {
                (0, None) => return self.writes(writes, "", depth),
                (0, Some(condition)) => format!("if ({condition})"),
                (_, Some(condition)) => format!("else if ({condition})"),
                (_, None) => "else".to_owned(),
            };
            if one {
                self.writes(writes, &format!("{opening} "), depth);
                continue;
            }
            let end = if i == 0 { "" } else { "end " };
            let mixed = i == 0 && condition.is_some_and(reads_reset);
            if mixed {
                let off = "/* verilator lint_off SYNCASYNCNET */";
                let reason = "// no write beside a reset, of any style";
                self.line(depth, &format!("{off} {reason}"));
            }
            self.line(depth, &format!("{end}{opening} begin"));
            if mixed {
                self.line(depth, "/* verilator lint_on SYNCASYNCNET */");
            }
            self.writes(writes, "", depth + 1);
        }
        if !one {
            self.line(depth, "end");
        }
    }

    /// The statements of a branch, which come from lines of their own.
    fn writes(&mut self, writes: &[Line], opening: &str, depth: usize) {
        let block = self.at;
        for (write, origin) in writes {
            self.at = *origin;
            self.line(depth, &format!("{opening}{write}"));
        }
        self.at = block;
    }
}

/// Whether a condition reads the reset together with other signals. If a user
/// makes the resets asynchronous, `rst` is then both a reset and an ordinary
/// signal.
fn reads_reset(condition: &Tree) -> bool {
    let mut reads = false;
    condition.names(&mut |name| reads |= name == "rst");
    reads && !condition.is_reset()
}
