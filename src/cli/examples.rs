//! Examples at the end of the help of each command.

use clap::Command;
use std::fmt::Write;

/// What an example is for, and its arguments.
type Example = (&'static str, &'static str);

/// In alphabetical order.
const EXAMPLES: [(&str, &[Example]); 23] = [
    (
        "classify",
        &[
            (
                "strides of a recorded kernel",
                "classify kernels/fwt/fwt.toml",
            ),
            (
                "of PTX that does not run",
                "classify k.ptx --entry k --block 16,16",
            ),
        ],
    ),
    (
        "completions",
        &[
            ("for this shell", "completions bash"),
            ("man pages", "completions --man man/man1"),
        ],
    ),
    (
        "compose",
        &[("all subsets on one kernel", "compose kernel:transpose")],
    ),
    (
        "conflicts",
        &[
            ("by source line", "conflicts k.toml --source --preset sm80"),
            ("two mappings", "conflicts kernel:transpose --hash mod xor"),
            ("each instruction", "conflicts k.toml --per-pc"),
        ],
    ),
    (
        "congestion",
        &[
            (
                "one access",
                "congestion --mapping rap --access stride --width 32",
            ),
            ("a table of the paper", "congestion --table 2"),
        ],
    ),
    (
        "cosim",
        &[
            ("all units", "cosim --preset small"),
            (
                "edited Verilog, with a waveform",
                "cosim spad_row_map --rtl rtl --wave w.vcd",
            ),
        ],
    ),
    ("doctor", &[("what is missing", "doctor --strict")]),
    (
        "emit",
        &[
            ("all units", "emit -o rtl"),
            (
                "a scratchpad behind a bus",
                "emit -o rtl --wrapper stream --preset small",
            ),
        ],
    ),
    (
        "encode",
        &[
            ("values of the ports", "encode xor"),
            ("as CUDA", "encode swizzle:3,1,4 --as cuda"),
        ],
    ),
    (
        "flow",
        &[
            (
                "from a kernel to hardware",
                "flow k.toml --preset fermi -o out",
            ),
            ("the mappings only", "flow kernel:transpose --fast"),
        ],
    ),
    (
        "gate",
        &[
            (
                "no conflicts, no faults",
                "gate k.toml --fail-on 'conflicts > 0'",
            ),
            (
                "what the hash may cost",
                "gate k.toml --hash xor --fail-on 'area > 400'",
            ),
            (
                "nothing worse than before",
                "gate kernels/*/*.toml --baseline gate.json",
            ),
            (
                "for code review",
                "gate k.toml --sarif gate.sarif --junit gate.xml",
            ),
        ],
    ),
    (
        "init",
        &[
            ("a file to fill in", "init k.ptx"),
            ("filled in", "init k.ptx --grid 16 --block 256 --arg 0=4096"),
        ],
    ),
    ("merge", &[("two shards", "merge shard1 shard2 -o all")]),
    (
        "mutate",
        &[
            (
                "a unit on a small machine",
                "mutate spad_row_map --preset small --faults 50",
            ),
            (
                "all units; what an interrupted run has done is kept",
                "mutate --preset small --points mutate.jsonl",
            ),
        ],
    ),
    (
        "prove",
        &[
            ("one unit", "prove spad_hash_matrix"),
            ("edited Verilog", "prove spad_row_map --rtl rtl"),
        ],
    ),
    (
        "reproduce",
        &[
            ("a table", "reproduce hash.t6"),
            (
                "a page of a paper",
                "reproduce rap --points points.jsonl --report rap.html",
            ),
            ("a quarter of all points", "reproduce --shard 1/4 -o shard1"),
        ],
    ),
    (
        "rewrite",
        &[(
            "measured with its launch",
            "rewrite k.toml --hash swizzle:3,1,4 -o fast.ptx",
        )],
    ),
    (
        "run",
        &[
            ("outputs and faults", "run k.toml"),
            ("races, too", "run k.toml --races"),
            ("a buffer to a file", "run k.toml --dump out=out.npy"),
        ],
    ),
    (
        "share",
        &[
            (
                "what it gains",
                "share kernels/srad/srad.toml --preset sharing-48k",
            ),
            ("annotated PTX", "share k.ptx --block 256 -o shared.ptx"),
        ],
    ),
    (
        "sim",
        &[
            ("cycles by source line", "sim k.toml --source"),
            (
                "all choices",
                "sim kernel:transpose --sweep --report sweep.html",
            ),
            (
                "a quarter of them, on one of four machines",
                "sim kernel:transpose --sweep --shard 1/4 --points shard-1.jsonl",
            ),
        ],
    ),
    (
        "synth",
        &[
            ("one unit", "synth spad_hash_xor"),
            (
                "two clock periods",
                "synth spad_sm_path --preset small --period 2000,1000",
            ),
        ],
    ),
    (
        "trace",
        &[
            ("what a block accesses", "trace k.toml -o k.json"),
            ("generated kernels", "trace --list"),
        ],
    ),
    (
        "tune",
        &[
            ("the best hash of each unit", "tune kernel:transpose"),
            ("without hardware", "tune k.toml --software --preset sm80"),
            (
                "a quarter of all kernels",
                "tune kernels/*/*.toml --shard 1/4 --points 1.jsonl",
            ),
        ],
    ),
];

/// `command` with examples for each of its subcommands.
pub(super) fn with_examples(command: Command) -> Command {
    let mut command = command;
    for (name, examples) in EXAMPLES {
        if command.find_subcommand(name).is_some() {
            let text = text(examples);
            command = command.mut_subcommand(name, |c| c.after_help(text));
        }
    }
    command
}

fn text(examples: &[Example]) -> String {
    let width = examples.iter().map(|(_, line)| line.len()).max();
    let width = width.unwrap_or(0);
    let mut text = "Examples:".to_owned();
    for (what, line) in examples {
        if width + what.len() <= 62 {
            let _ = write!(text, "\n  spadkit {line:width$}  # {what}");
        } else {
            let _ = write!(text, "\n  # {what}\n  spadkit {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::full_command;

    /// The words of a line, as a shell splits them.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        let command = full_command();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let with: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        assert_eq!(with, names);
        for (name, examples) in EXAMPLES {
            assert!(!examples.is_empty(), "{name}");
            for (_, line) in examples {
                let words = words(line);
                assert_eq!(words[0], name);
                let all = std::iter::once("spadkit".to_owned()).chain(words);
                let parsed = command.clone().try_get_matches_from(all);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn the_help_of_every_command_ends_with_its_examples_within_80_columns() {
        for (name, examples) in EXAMPLES {
            let mut command = full_command();
            let command = command.find_subcommand_mut(name).unwrap();
            let help = command.render_long_help().to_string();
            assert!(help.trim_end().ends_with(&text(examples)), "{help}");
            let widest = text(examples).lines().map(str::len).max();
            assert!(widest <= Some(80), "{name}");
        }
    }
}
