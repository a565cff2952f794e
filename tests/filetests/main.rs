//! PTX files that say in comments what they do, what is wrong with them, or
//! what the analyses know of them. The README here says how to add one.

mod analyse;
mod conflicts;
mod expect;
mod file;
mod refuse;
mod run;
#[allow(dead_code, reason = "the tests of the kit use the rest")]
#[path = "../kit/common/tools.rs"]
mod tools;

use file::{Case, TestFile};
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};

/// An expectation that failed, with its 1-based line in the file.
pub struct Failure {
    line: usize,
    what: String,
}

impl Failure {
    fn new(line: usize, what: impl Into<String>) -> Self {
        let what = what.into();
        Failure { line, what }
    }
}

/// Whether a case does what is expected.
fn check(file: &TestFile, case: &Case) -> Result<(), Failure> {
    match file.command.as_str() {
        "run" => run::check(file, case),
        "refuse" => expect::annotations(file, &refuse::found(file)?),
        "analyse" | "bits" => expect::annotations(file, &analyse::found(file, case)?),
        "conflicts" => expect::annotations_of_ptx(file, &conflicts::found(file, case, false)?),
        other => Err(Failure::new(
            file.command_line,
            format!("there is no test {other}; expected run, refuse, analyse, bits or conflicts"),
        )),
    }
}

/// The file's lines with updated expectations.
fn updated(file: &TestFile) -> Result<Vec<String>, Failure> {
    match file.command.as_str() {
        "refuse" => Ok(expect::annotated(file, &refuse::found(file)?)),
        "analyse" | "bits" => {
            let found = analyse::found(file, &file.cases[0])?;
            Ok(expect::annotated(file, &found))
        }
        "conflicts" => {
            // Without the tools what is said of the machine code stays.
            if let Some(missing) = tools::absent_ptxas(tools::MACHINE_CODE) {
                let what = format!("{} is missing", missing.name());
                return Err(Failure::new(file.command_line, what));
            }
            let found = conflicts::found(file, &file.cases[0], true)?;
            Ok(expect::annotated(file, &found))
        }
        _ => run::updated(file),
    }
}

/// Rewrites the expectations of a file. They name lines, which they move: until
/// nothing changes.
fn update(path: &Path) {
    for _ in 0..4 {
        let before = std::fs::read_to_string(path).unwrap();
        let file = TestFile::parse(path, &before);
        let lines = match file.and_then(|f| updated(&f)) {
            Ok(lines) => lines,
            // The test itself reports it.
            Err(_) => return,
        };
        let after = lines.join("\n") + "\n";
        if after == before {
            return;
        }
        std::fs::write(path, after).unwrap();
    }
}

/// The `.ptx` files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if path.extension().is_some_and(|e| e == "ptx") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The tests of a file: one for each of its cases.
fn trials(root: &Path, path: PathBuf) -> Vec<Trial> {
    let name = path.strip_prefix(root).unwrap().with_extension("");
    let name = name.display().to_string();
    let shown = path.display().to_string();
    let failed = move |f: Failure| format!("{shown}:{}: {}", f.line, f.what);
    let text = std::fs::read_to_string(&path).unwrap();
    let file = match TestFile::parse(&path, &text) {
        Ok(file) => file,
        Err(f) => return vec![Trial::test(name, move || Err(failed(f).into()))],
    };
    let trial = |case: &Case| {
        let (file, case, failed) = (file.clone(), case.clone(), failed.clone());
        let name = match case.name.as_str() {
            "" => name.clone(),
            case => format!("{name}::{case}"),
        };
        Trial::test(name, move || {
            check(&file, &case).map_err(|f| failed(f).into())
        })
    };
    let mut trials: Vec<Trial> = file.cases.iter().map(trial).collect();
    if file.command == "conflicts" {
        trials.push(of_machine_code(&name, file.clone(), failed));
    }
    trials
}

/// The test of the machine code of a file; ignored where a tool is missing, unless
/// `SPADKIT_REQUIRE_PTXAS=1`.
fn of_machine_code(
    name: &str,
    file: TestFile,
    failed: impl Fn(Failure) -> String + Send + 'static,
) -> Trial {
    let check = move || {
        let found = conflicts::found(&file, &file.cases[0], true);
        found.and_then(|found| expect::annotations(&file, &found))
    };
    let test = move || check().map_err(|f| failed(f).into());
    let trial = Trial::test(format!("{name}::machine-code"), test);
    let absent = tools::absent_ptxas(tools::MACHINE_CODE);
    match absent.filter(|_| !tools::requires_ptxas()) {
        Some(tool) => {
            tools::count_skipped(trial.name(), tool.name());
            let trial = trial.with_kind(format!("without {}", tool.name()));
            trial.with_ignored_flag(true)
        }
        None => trial,
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let files = files_below(&root);
    if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
        let filter = arguments.filter.as_deref().unwrap_or("");
        let name = filter.split("::").next().unwrap_or("");
        let meant = files.iter().filter(|p| p.to_string_lossy().contains(name));
        meant.for_each(|path| update(path));
    }
    let tests = files.into_iter().flat_map(|path| trials(&root, path));
    libtest_mimic::run(&arguments, tests.collect()).exit();
}
