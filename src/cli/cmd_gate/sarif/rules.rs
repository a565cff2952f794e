//! Rules: the kinds of results, with what a reader is told of them.

use serde_json::{Value, json};

/// A kind of result.
pub(super) struct Rule {
    pub id: &'static str,
    name: &'static str,
    /// One sentence.
    short: &'static str,
    /// Method by which it is found.
    full: &'static str,
    /// Advice on it.
    help: &'static str,
}

pub(super) const RULES: [Rule; 4] = [
    Rule {
        id: "spadkit/bank-conflict",
        name: "BankConflict",
        short: "Lanes of a warp access different words of one bank of shared memory.",
        full: "The kernel is run and the accesses of one block are counted: each takes one \
               wavefront, and one more for each further word of the bank that has most. A \
               result is a line of source with its conflicts.",
        help: "Change the address so that the lanes of a warp use different banks: by padding, \
               a swizzle, or another assignment of threads to data. The message says which \
               mapping removes the conflicts, and the fix changes the source. \
               `spadkit tune LAUNCH.toml --software` shows all of them with their costs.",
    },
    Rule {
        id: "spadkit/fault",
        name: "Fault",
        short: "The kernel does something that is undefined or wrong when it runs.",
        full: "The kernel is run, and its accesses are checked: races, accesses out of bounds, \
               reads of what was never written, misuse of barriers and of asynchronous copies. \
               A result is a line of source with the first threads for which it happens.",
        help: "`spadkit run LAUNCH.toml --races` shows both sides of a race and the barrier that \
               would order them, or the variable and the address of another fault.",
    },
    Rule {
        id: "spadkit/output",
        name: "WrongOutput",
        short: "An output of the kernel is not what its launch file expects.",
        full: "After the run, each buffer with `expect` is compared with the expected values, \
               within the tolerance of the launch file.",
        help: "`spadkit run LAUNCH.toml` shows the first values that differ.",
    },
    Rule {
        id: "spadkit/limit",
        name: "LimitExceeded",
        short: "A number of the kernel is above its limit.",
        full: "The number is one of conflicts, excess wavefronts, findings, warnings, simulated \
               cycles and area; the limit is that of `--fail-on` or of `spadkit-gate.toml`.",
        help: "The message has the command that shows where the number comes from. Change the \
               kernel, or the limit in `spadkit-gate.toml`.",
    },
];

impl Rule {
    pub fn json(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "shortDescription": {"text": self.short},
            "fullDescription": {"text": self.full},
            // Plain text has no place for the back quotes.
            "help": {"text": self.help.replace('`', ""), "markdown": self.help},
            "defaultConfiguration": {"level": "error"},
        })
    }
}
