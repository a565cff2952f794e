//! A unit as a shared object, built by Verilator and a C++ compiler.

use crate::error::{Error, Result};
use crate::rtl::{Reset, SourceFile, with_origins};
use crate::template::fill;
use crate::tool::{Cache, Key, KeyBuilder, ToolKind, Toolbox, product};
use crate::units::{Layout, PortSlot};
use libloading::Library;
use rayon::prelude::*;
use serde::Serialize;
use spadkit_hdl::RAM_ZEROS;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of a cached unit, with its version: raise it when the harness or the options
/// of the tools change.
const CACHED: &str = "verilated unit 7";
const HARNESS: &str = include_str!("../../testbenches/harness.cpp.tera");

type New = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Run = unsafe extern "C" fn(*mut c_void, u64, *const u32, *mut u32) -> *const c_char;
type EmptyLoop = unsafe extern "C" fn(*mut c_void, u64, *const u32, u64);

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
    fn option(self) -> &'static str {
        match self {
            Compiled::Quickly => "-O0",
            Compiled::Optimised => "-O1",
        }
    }
}

/// The loaded shared object of one unit.
pub struct VerilatedUnit {
    top: String,
    layout: Layout,
    files: Vec<SourceFile>,
    new: New,
    free: Free,
    run: Run,
    empty_loop: EmptyLoop,
    /// Keeps the code of the functions above loaded.
    _library: Library,
}

#[derive(Serialize)]
struct HarnessValues<'a> {
    inputs: &'a [PortSlot],
    outputs: &'a [PortSlot],
    input_words: usize,
    output_words: usize,
    clocked: bool,
    /// The reset of the Verilog, if it differs from that of the models: its style and its port.
    reset: Option<Reset>,
    reset_port: &'static str,
    reset_low: bool,
    /// The reset is asynchronous.
    reset_waits: bool,
}

impl VerilatedUnit {
    /// Builds (or finds in the cache) and loads the unit whose top module is
    /// `top`. Where a module is in SystemVerilog, assertions are checked: a run
    /// in which one does not hold fails, and names its line.
    pub fn build(
        top: &str,
        files: &[SourceFile],
        layout: Layout,
        compiled: Compiled,
        tools: &Toolbox,
        cache: &Cache,
    ) -> Result<Arc<Self>> {
        let reset = Reset::of(files.iter().map(|file| file.text.as_str()));
        let harness = render_harness(&layout, reset)?;
        let verilator = tools.get(ToolKind::Verilator)?;
        let compiler = tools.get(ToolKind::Cxx)?;
        let mut key = KeyBuilder::new(CACHED)
            .add("top", top)
            .add("option", compiled.option())
            .add("harness", &harness)
            .add("verilator", &verilator.build)
            .add("c++", &compiler.build);
        for file in files {
            key = key.add(&file.name, &file.text);
        }
        let asserts = files.iter().any(|file| file.name.ends_with(".sv"));
        let assertions = if asserts { "--assert" } else { "--noassert" };
        let key: Key = key.finish();
        let build = |dir: &Path| {
            for file in files {
                write(&dir.join(&file.name), &file.text)?;
            }
            write(&dir.join("harness.cpp"), &harness)?;
            verilator
                .command()
                .args([
                    "--cc",
                    "-O3",
                    assertions,
                    "-Wno-fatal",
                    "--prefix",
                    "Vunit",
                    // Small files, to be put together to pieces of like size.
                    "--output-split",
                    "5000",
                ])
                // The golden model's banks start with zeros.
                .arg(format!("-D{RAM_ZEROS}"))
                .args(["-Mdir", "obj", "--top-module", top])
                .args(files.iter().map(|f| f.name.as_str()))
                .cwd(dir)
                .run()
                .map_err(|error| with_origins(error, files))?;
            check_ports(top, &layout, reset, &dir.join("obj/Vunit.h"))?;
            let include = verilator_root(&dir.join("obj/Vunit.mk"), tools)?.join("include");
            let runtime = runtime(&include, compiled, tools, cache)?;
            compile(dir, &include, &runtime, compiled, tools)?;
            std::fs::remove_dir_all(dir.join("obj")).map_err(|e| Error::io("clear", dir, e))
        };
        cache
            .get_or_build(&key, build, |dir| {
                Self::load(&dir.join(OBJECT), top, &layout, files)
            })
            .map(Arc::new)
    }

    fn load(path: &Path, top: &str, layout: &Layout, files: &[SourceFile]) -> Result<Self> {
        product(ToolKind::Cxx, path)?;
        let broken = |e: libloading::Error| Error::ToolFailed {
            tool: "the shared object built by Verilator".into(),
            what: format!("cannot be loaded: {e}"),
            help: None,
        };
        // SAFETY: the object was built from our harness a moment ago, or found
        // intact (by digest) in the cache; its initialisers are Verilator's.
        let library = unsafe { Library::new(path) }.map_err(broken)?;
        // SAFETY: the harness defines these symbols with these signatures.
        unsafe {
            Ok(VerilatedUnit {
                top: top.to_owned(),
                layout: layout.clone(),
                files: files.to_vec(),
                new: *library.get::<New>(b"spad_new").map_err(broken)?,
                free: *library.get::<Free>(b"spad_free").map_err(broken)?,
                run: *library.get::<Run>(b"spad_run").map_err(broken)?,
                empty_loop: *library
                    .get::<EmptyLoop>(b"spad_empty_loop")
                    .map_err(broken)?,
                _library: library,
            })
        }
    }

    /// The ports.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A fresh instance, before reset.
    pub fn instance(self: &Arc<Self>) -> Instance {
        // SAFETY: spad_new takes nothing and returns an owned handle.
        let handle = unsafe { (self.new)() };
        Instance {
            unit: Arc::clone(self),
            handle,
        }
    }
}

/// One instance of a Verilated unit.
pub struct Instance {
    unit: Arc<VerilatedUnit>,
    handle: *mut c_void,
}

// SAFETY: an instance has its own Verilator context and no thread affinity; it
// is used by one thread at a time because `run` takes `&mut self`.
unsafe impl Send for Instance {}

impl Instance {
    /// Runs one cycle per frame of `inputs` and writes the sampled outputs.
    /// Fails where the Verilog ends the simulation or does not settle; the
    /// instance must not be used again then.
    pub fn run(&mut self, inputs: &[u32], outputs: &mut [u32]) -> Result<()> {
        let layout = &self.unit.layout;
        let cycles = outputs.len() / layout.output_words;
        assert_eq!(
            inputs.len(),
            cycles * layout.input_words,
            "one frame per cycle"
        );
        assert_eq!(outputs.len(), cycles * layout.output_words, "whole frames");
        // SAFETY: both slices hold `cycles` frames of the layout from which the
        // harness was rendered; the handle is live until drop.
        let failure = unsafe {
            (self.unit.run)(
                self.handle,
                cycles as u64,
                inputs.as_ptr(),
                outputs.as_mut_ptr(),
            )
        };
        if failure.is_null() {
            return Ok(());
        }
        // SAFETY: a C string that lives until the next run on this thread.
        let failure = unsafe { CStr::from_ptr(failure) }.to_string_lossy();
        let error = Error::CheckFailed {
            what: format!(
                "{}: the Verilog cannot be simulated: {failure}",
                self.unit.top
            ),
            help: Some(
                "expected a block that settles in every cycle and does not stop the simulation"
                    .into(),
            ),
        };
        Err(with_origins(error, &self.unit.files))
    }

    /// Runs `cycles` cycles over and over the frames of `inputs`, looking at
    /// nothing: the reference of the speed benchmark.
    pub fn run_empty(&mut self, cycles: u64, inputs: &[u32]) {
        let vectors = inputs.len() / self.unit.layout.input_words.max(1);
        assert!(vectors > 0, "at least one frame");
        // SAFETY: the harness reads whole frames below `vectors` only.
        unsafe { (self.unit.empty_loop)(self.handle, cycles, inputs.as_ptr(), vectors as u64) };
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle came from spad_new and is freed once.
        unsafe { (self.unit.free)(self.handle) };
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
const OBJECT: &str = "unit.so";

/// Verilator's run-time library and its header in `include`, compiled once for all
/// units.
fn runtime(include: &Path, compiled: Compiled, tools: &Toolbox, cache: &Cache) -> Result<PathBuf> {
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
fn verilator_root(makefile: &Path, tools: &Toolbox) -> Result<PathBuf> {
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
fn compile(
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

/// Refuses Verilog without the ports of `layout`, as Verilator declares them:
/// `VL_IN8(&addr,13,0);`. The compiler's error would be hard to read, and a
/// wrong width would not be one.
fn check_ports(top: &str, layout: &Layout, reset: Reset, header: &Path) -> Result<()> {
    let text = std::fs::read_to_string(header).map_err(|_| Error::ToolFailed {
        tool: ToolKind::Verilator.name().to_owned(),
        what: format!("ended well, but did not write the class of {top}"),
        help: Some(format!(
            "expected obj/Vunit.h; {} may be broken",
            ToolKind::Verilator.program()
        )),
    })?;
    let declared: HashMap<(bool, &str), usize> = text.lines().filter_map(declared_port).collect();
    let ports = |slots: &'_ [PortSlot], input| {
        let named = slots.iter().map(|p| (input, p.name.clone(), p.width));
        named.collect::<Vec<_>>()
    };
    let mut expected = ports(&layout.inputs, true);
    expected.extend(ports(&layout.outputs, false));
    for (input, name, width) in expected {
        let name = if name == "rst" {
            reset.port().to_owned()
        } else {
            name
        };
        let dir = if input { "input" } else { "output" };
        let what = match declared.get(&(input, name.as_str())) {
            Some(w) if *w == width => continue,
            Some(w) => format!("{dir} {name} of {top} has {w} bits in this Verilog"),
            None => format!("{top} has no {dir} {name} in this Verilog"),
        };
        let help = format!("expected {width} bits, as the model and manifest.json have");
        return Err(Error::usage(what, help));
    }
    Ok(())
}

fn declared_port(line: &str) -> Option<((bool, &str), usize)> {
    let line = line.trim();
    let input = line.starts_with("VL_IN");
    if !input && !line.starts_with("VL_OUT") {
        return None;
    }
    let (name, rest) = line.split_once("(&")?.1.split_once(',')?;
    let (high, low) = rest.split_once(')')?.0.split_once(',')?;
    // A wide port is followed by its word count.
    let low = low.split(',').next()?;
    let width = high.parse::<usize>().ok()?.checked_sub(low.parse().ok()?)? + 1;
    Some(((input, name), width))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}

fn render_harness(layout: &Layout, reset: Reset) -> Result<String> {
    let other = reset != Reset::Sync && layout.clocked;
    let values = HarnessValues {
        inputs: &layout.inputs,
        outputs: &layout.outputs,
        input_words: layout.input_words,
        output_words: layout.output_words,
        clocked: layout.clocked,
        reset: other.then_some(reset),
        reset_port: reset.port(),
        reset_low: reset.is_low(),
        reset_waits: other && reset.is_async(),
    };
    fill("harness.cpp.tera", HARNESS, &values)
}
