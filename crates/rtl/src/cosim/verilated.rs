//! A unit as a shared object, built by Verilator and a C++ compiler.

use super::compiled::{Compiled, OBJECT, compile, runtime, verilator_root, write};
use super::declared::check_ports;
use crate::error::{Error, Failure, Result};
use crate::rtl::{Reset, SourceFile, with_origins};
use crate::template::fill;
use crate::tool::{Cache, Key, KeyBuilder, ToolKind, Toolbox, product};
use crate::units::{Layout, PortSlot};
use libloading::Library;
use serde::Serialize;
use spadkit_hdl::RAM_ZEROS;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Arc;

/// The kind of a cached unit, with its version: raise it when the harness or the options
/// of the tools change.
const CACHED: &str = "verilated unit 7";
const HARNESS: &str = include_str!("../../testbenches/harness.cpp.tera");

type New = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Run = unsafe extern "C" fn(*mut c_void, u64, *const u32, *mut u32) -> *const c_char;
type EmptyLoop = unsafe extern "C" fn(*mut c_void, u64, *const u32, u64);

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
            failure: Failure::Output,
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
