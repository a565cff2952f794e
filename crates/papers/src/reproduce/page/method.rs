//! The page of rules: how far a value may be off, and how the pages are made.

use super::super::rules::{RULES, Rule};
use super::table::table;

/// The page, in `reproduction`.
pub(super) fn markdown() -> String {
    format!("# Rules and method\n\n## Rules\n\n{}{HOW}", rules())
}

fn rules() -> String {
    let line = |r: &Rule| {
        vec![
            r.evidence.word().to_owned(),
            r.what.to_owned(),
            r.width_text(),
            r.reason.to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = RULES.iter().map(line).collect();
    format!(
        "How far a value may be off depends only on its evidence; no figure can change it. An \
         inferred value has the tolerance that it would have without the fitted input. A timed \
         change must also have the published direction. If it has, but is off by more than the \
         tolerance, the verdict is *direction only*. ° marks rows that a mechanism without effect \
         would also pass.\n\n{}",
        table(&["evidence", "value", "may be off by", "because"], &lines)
    )
}

const HOW: &str = "## How the pages are made and checked

```
spadkit reproduce                        # all of it; an ID for one figure
spadkit reproduce --check docs           # these pages against the tree
spadkit reproduce rap --report rap.html  # a paper as one HTML page; without rap, all
spadkit compose kernels/fwt/fwt.toml     # all mechanisms on a kernel of your own
make reproduction                        # computes all and writes these pages
```

`reproduce/` has a file per figure with workloads, machines and published values. \
`docs/reproduction/points.jsonl` has every computed point under the digest of its inputs: kernel, \
launch file, data, machine, configuration. `--check` fails if a point is missing in this file, if \
the file has a point that is no longer used, or if a page, a chart or the table of README.md \
differs in a byte from what the points give. A digest covers inputs, not the program. To catch a \
changed program, `--check ID` computes the points of these figures again, and `--recompute N` a \
sample of the others. `make test` does both for the quick figures, `make campaign` for all.
";
