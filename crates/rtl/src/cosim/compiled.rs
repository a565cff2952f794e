//! The C++ that Verilator wrote for a unit, compiled to a shared object.

use crate::error::{Error, Result};
use crate::tool::{Cache, KeyBuilder, ToolKind, Toolbox, product};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The way in which the C++ of a unit is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiled {
    /// Compiled without optimisation, for short runs: in half the time.
    Quickly,
    /// Compiled with optimisation, for a run that takes longer than that.
    Optimised,
}

impl Compiled {
    /// Number of cycles from which on the optimised unit saves the time of its
    /// compilation. It differs little between units: a large one takes long to
    /// compile and to run.
    const LONG_RUN: u64 = 100_000;

    /// The best choice for a run of this many cycles.
    pub fn for_cycles(cycles: u64) -> Self {
        match cycles {
            ..Self::LONG_RUN => Compiled::Quickly,
            _ => Compiled::Optimised,
        }
    }

    /// Option of the compiler. More than -O1 would make building the SM path take
    /// minutes.
    pub(super) fn option(self) -> &'static str {
        match self {
            Compiled::Quickly => "-O0",
            Compiled::Optimised => "-O1",
        }
    }
}

/// The harness has handlers of its own; what the Verilog prints goes where it
/// does not get into the result.
const COMPILE: [&str; 8] = [
    "-fno-gnu-unique",
    "-std=c++17",
    "-fPIC",
    "-fvisibility-inlines-hidden",
    "-DVL_USER_FINISH",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
    "-DVL_PRINTF(...)=fprintf(stderr,__VA_ARGS__)",
];

/// The header that each file of a unit begins with. Next to it is its
/// precompiled form; a compiler that cannot use that one reads this one.
const HEADER: &str = "header.h";
const PRECOMPILED: &str = "header.h.gch";

/// The objects of Verilator's run-time library.
const RUNTIME: [&str; 2] = ["verilated.o", "verilated_threads.o"];
/// The shared object of a unit.
pub(super) const OBJECT: &str = "unit.so";

/// Verilator's run-time library and its header in `include`, compiled once for all
/// units.
pub(super) fn runtime(
    include: &Path,
    compiled: Compiled,
    tools: &Toolbox,
    cache: &Cache,
) -> Result<PathBuf> {
    let verilator = tools.get(ToolKind::Verilator)?;
    let compiler = tools.get(ToolKind::Cxx)?;
    let key = KeyBuilder::new("verilator runtime 5")
        .add("option", compiled.option())
        .add("verilator", &verilator.build)
        .add("c++", &compiler.build)
        .finish();
    let build = |dir: &Path| {
        let dirs = include_dirs(include);
        let compile = || {
            compiler
                .command()
                .arg(compiled.option())
                .args(COMPILE)
                .args(&dirs)
                .cwd(dir)
        };
        compile()
            .arg("-c")
            .arg(include.join("verilated.cpp"))
            .arg(include.join("verilated_threads.cpp"))
            .run()?;
        write(&dir.join(HEADER), "#include \"verilated.h\"\n")?;
        compile()
            .args(["-x", "c++-header", "-o", PRECOMPILED])
            .arg(include.join("verilated.h"))
            .run()?;
        Ok(())
    };
    cache.get_or_build(&key, build, |dir| {
        // Without the precompiled header, the header itself is read.
        for name in RUNTIME {
            product(ToolKind::Cxx, &dir.join(name))?;
        }
        Ok(dir.to_owned())
    })
}

/// Verilator's own folder, as the makefile that it wrote names it. If that has no
/// header files (spaces in a name are escaped), Verilator is asked, which starts its
/// Perl script once more.
pub(super) fn verilator_root(makefile: &Path, tools: &Toolbox) -> Result<PathBuf> {
    let text = std::fs::read_to_string(makefile).unwrap_or_default();
    let named = text
        .lines()
        .find_map(|l| l.strip_prefix("VERILATOR_ROOT = "));
    let named = named.map(|root| PathBuf::from(root.trim()));
    if let Some(root) = named.filter(|root| root.join("include/verilated.h").is_file()) {
        return Ok(root);
    }
    let output = tools
        .get(ToolKind::Verilator)?
        .command()
        .args(["--getenv", "VERILATOR_ROOT"])
        .run()?;
    Ok(output.stdout.trim().into())
}

fn include_dirs(include: &Path) -> [String; 2] {
    [include.to_owned(), include.join("vltstd")].map(|dir| format!("-I{}", dir.display()))
}

/// Bytes of C++ after which a new piece begins. The compiler needs as long for
/// Verilator's precompiled header as for 60 KB of the generated code, so pieces
/// should not be small. They are compiled in parallel, so a large unit needs
/// several.
const PIECE_BYTES: u64 = 300_000;

/// Puts the harness and Verilator's C++ together to files of like size, and
/// returns their names.
fn pieces(dir: &Path) -> Result<Vec<String>> {
    let obj = dir.join("obj");
    let entries = std::fs::read_dir(&obj).map_err(|e| Error::io("read", &obj, e))?;
    let mut files: Vec<(String, u64)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            name.ends_with(".cpp")
                .then(|| Some((name, entry.metadata().ok()?.len())))?
        })
        .collect();
    files.sort();
    let mut pieces = vec![("#include \"../harness.cpp\"\n".to_owned(), 0)];
    for (name, bytes) in files {
        if pieces.last().is_some_and(|piece| piece.1 > PIECE_BYTES) {
            pieces.push((String::new(), 0));
        }
        if let Some((text, sum)) = pieces.last_mut() {
            text.push_str(&format!("#include \"{name}\"\n"));
            *sum += bytes;
        }
    }
    let mut names = Vec::new();
    for (i, (text, _)) in pieces.iter().enumerate() {
        let name = format!("obj/piece{i}.cpp");
        write(&dir.join(&name), text)?;
        names.push(name);
    }
    Ok(names)
}

/// Compiles what Verilator wrote in `dir` to `unit.so`.
pub(super) fn compile(
    dir: &Path,
    include: &Path,
    runtime: &Path,
    compiled: Compiled,
    tools: &Toolbox,
) -> Result<()> {
    let compiler = tools.get(ToolKind::Cxx)?;
    let sources = pieces(dir)?;
    let include = include_dirs(include);
    let header = runtime.join(HEADER);
    let objects = sources
        .par_iter()
        .map(|source| {
            let object = format!("{source}.o");
            compiler
                .command()
                .arg(compiled.option())
                .args(COMPILE)
                .arg("-include")
                .arg(&header)
                .args(["-Iobj", "-c", source, "-o", &object])
                .args(&include)
                .cwd(dir)
                .run()?;
            Ok(object)
        })
        .collect::<Result<Vec<_>>>()?;
    compiler
        .command()
        .args(["-shared", "-Wl,-Bsymbolic"])
        .args(&objects)
        .args(RUNTIME.map(|name| runtime.join(name)))
        .args(["-pthread", "-o", OBJECT])
        .cwd(dir)
        .run()?;
    Ok(())
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}
