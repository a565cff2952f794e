//! Each chapter of the contract lists the registers that a reset covers, and
//! those that it does not. These are the registers of the emitted Verilog.

use spadkit::config::Config;
use spadkit::rtl::Design;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Registers with a reset, and those without.
type Registers = [BTreeSet<String>; 2];

/// Machines with all registers that a unit can have, as differences from `fermi`.
const MACHINES: [&str; 16] = [
    "",
    "[stream]\nwindow = 2\n",
    "[stream]\nwindow = 2\natomics = true\n",
    "[geometry]\nwide = 'phases-merged'\n[stream]\nwindow = 2\natomics = true\n",
    "[tcdm]\nrequest_register = true\nresponse_register = true\nid_bits = 4\n",
    "[tcdm]\natomics = true\n",
    "[stream]\nposted = true\n[tcdm]\natomics = true\nposted = true\n",
    "[path]\nlock_owner = true\n",
    "[axi]\naddr_bits = 32\n",
    "[retry]\nread = 0\nupdate = 1\nwrite = 0\nbranch = 1\n",
    "[path]\nahead = 0\nmem_stages = 2\n",
    "[path]\nahead = 1\nmem_stages = 3\n",
    "[path]\nahead = 2\nmem_stages = 8\n",
    "[path]\nbroadcast = false\nmerge_bytes = false\n",
    "[geometry]\nlanes = 8\n[hash]\nstage = 1\n",
    "[geometry]\naddr_bits = 9\nbank_bits = 3\n",
];

/// The name that registers of one kind share: without the number at its end,
/// and `memN_x` for `mem1_x` and on.
fn kind(name: &str) -> String {
    let digit = |c: char| c.is_ascii_digit();
    let name = match name.strip_prefix("mem") {
        Some(rest) if rest.starts_with(|c| ('1'..='9').contains(&c)) => {
            format!("memN{}", rest.trim_start_matches(digit))
        }
        _ => name.to_owned(),
    };
    name.trim_end_matches(digit).to_owned()
}

/// The register that a line `... NAME_q <= VALUE;` assigns, with or without a range.
fn assigned(line: &str) -> Option<String> {
    let (target, _) = line.strip_suffix(';')?.split_once(" <= ")?;
    let target = target.rsplit(") ").next()?;
    let name = target.split('[').next()?.strip_suffix("_q")?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| kind(name))
}

/// The registers of a module. The printer writes a reset as `if (rst) x_q <= 0;`
/// or as a block that begins with `if (rst) begin`.
fn of_module(text: &str) -> Registers {
    let (mut with, mut all, mut resets) = (BTreeSet::new(), BTreeSet::new(), false);
    for line in text.lines().map(str::trim) {
        let alone = line.strip_prefix("if (rst) ");
        resets = alone == Some("begin") || resets && !line.starts_with("end");
        let Some(name) = assigned(line) else { continue };
        if resets || alone.is_some() {
            with.insert(name.clone());
        }
        all.insert(name);
    }
    let without = &all - &with;
    [with, without]
}

/// The registers of every unit, on all machines.
fn of_verilog() -> BTreeMap<String, Registers> {
    let mut found = BTreeMap::<String, Registers>::new();
    for text in MACHINES {
        let config = Config::from_toml(text, Path::new("test.toml")).unwrap();
        for file in Design::emit(&[], &config).unwrap().files {
            let unit = file.name.trim_end_matches(".v");
            // The contract has one section for both tables, and for both scratchpads.
            let unit = match unit {
                _ if unit.starts_with("spad_table_ram") => "spad_table_ram",
                "spad_stream_scratchpad" => "spad_scratchpad",
                _ => unit,
            };
            let entry = found.entry(unit.to_owned()).or_default();
            for (all, more) in entry.iter_mut().zip(of_module(&file.text)) {
                all.extend(more);
            }
        }
    }
    found.retain(|_, registers| registers.iter().any(|r| !r.is_empty()));
    found
}

/// The words in backticks, outside parentheses.
fn names(text: &str) -> BTreeSet<String> {
    let mut depth = 0;
    let outside = text.chars().filter(|c| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    });
    let outside: String = outside.collect();
    outside.split('`').skip(1).step_by(2).map(kind).collect()
}

/// The statements of a chapter: lines ``**Reset** of `UNIT`: `x`, `y`. **No
/// reset**: `z` (reason).``
fn of_chapter(text: &str) -> Vec<(String, Registers)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(line) = line.strip_prefix("**Reset** of ") else {
            continue;
        };
        let (units, registers) = line.split_once(": ").unwrap();
        let (with, without) = registers
            .split_once("**No reset**")
            .unwrap_or((registers, ""));
        let registers = [names(with), names(without)];
        found.extend(
            names(units)
                .into_iter()
                .map(|unit| (unit, registers.clone())),
        );
    }
    found
}

/// Where chapters and Verilog differ.
fn differences(chapters: &[String], built: &BTreeMap<String, Registers>) -> Vec<String> {
    let stated: Vec<_> = chapters.iter().flat_map(|text| of_chapter(text)).collect();
    let mut wrong: Vec<String> = Vec::new();
    for (unit, registers) in built {
        let of_unit: Vec<_> = stated.iter().filter(|s| s.0 == *unit).collect();
        if !matches!(of_unit[..], [(_, stated)] if stated == registers) {
            wrong.push(format!(
                "{unit}: Verilog {registers:?}, chapters {of_unit:?}"
            ));
        }
    }
    let unknown = stated.iter().filter(|s| !built.contains_key(&s.0));
    wrong.extend(unknown.map(|s| format!("{}: no such registers", s.0)));
    wrong
}

#[test]
fn the_chapters_list_the_registers_with_and_without_a_reset() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/microarchitecture");
    let pages = std::fs::read_dir(folder)
        .unwrap()
        .map(|item| item.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let chapters: Vec<String> = pages.map(|p| std::fs::read_to_string(p).unwrap()).collect();
    let built = of_verilog();
    let wrong = differences(&chapters, &built);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // Every way to be wrong is noticed.
    for (right, changed) in [
        (
            "**Reset** of `spad_relssp`: `active`",
            "**Reset** of `spad_relssp`: `active`, `old`",
        ),
        ("`sh`, `lk`, `own`", "`sh`, `lk`"),
        ("**No reset**: `released`", "Without: `released`"),
        ("**Reset** of `spad_lock_unit`", "Reset of `spad_lock_unit`"),
        ("**Reset** of `spad_tcdm`", "**Reset** of `spad_tcdn`"),
    ] {
        let edited: Vec<String> = chapters.iter().map(|t| t.replace(right, changed)).collect();
        assert_ne!(edited, chapters, "{right}");
        assert!(!differences(&edited, &built).is_empty(), "{changed}");
    }
}
