//! Launch files, version 1: a kernel in PTX, its grid and its arguments.

use super::arg::{Arg, ArgKind, Tables, parse_args};
use super::contents::Buffer;
use super::init::Init;
use super::shared_parts::parse_parts;
use super::single::{Launch, parse_launch};
use super::symbol::{Symbol, parse_symbols};
use super::texture::{SamplerTable, TextureTable, names, parse_samplers, parse_textures};
use super::then::parse_all;
use super::uncompiled::refuse_ptx;
use spadkit_base::claims;
use spadkit_base::cuda::MAX_STATIC_SHARED;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::Limit;
use spadkit_base::input::section::{Placed, Section, Source};
use spadkit_mapping::trace::kernels;
use spadkit_ptx::exec::{DEFAULT_LIMIT, HEAP_BYTES, SharedPart};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::DeTable;

/// Registers of a thread.
const MAX_REGISTERS: u64 = 255;
/// The largest heap.
const MAX_HEAP: u64 = 1 << 30;

const TOP: [&str; 18] = [
    "ptx",
    "entry",
    "grid",
    "block",
    "dynamic_shared",
    "cluster",
    "cooperative",
    "registers",
    "trace_block",
    "limit",
    "heap",
    "shared",
    "arg",
    "symbol",
    "texture",
    "surface",
    "sampler",
    "then",
];

/// A launch file: everything that it says, checked as far as it can be without
/// the PTX.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// The text, for messages.
    pub source: Source,
    /// The PTX file, and where it is named.
    pub ptx: Placed<PathBuf>,
    /// Further PTX files that are linked with it.
    pub linked: Vec<PathBuf>,
    /// The first launch. Its arguments are the first of `args`, as many as the
    /// entry has parameters.
    pub first: Launch,
    /// Registers per thread after allocation; unknown: no limit on residency.
    pub registers: Option<u32>,
    /// Linear index of the block that access traces are of.
    pub trace_block: u64,
    /// Thread instructions after which a run ends.
    pub limit: u64,
    /// Bytes of the heap of device-side `malloc`.
    pub heap: u64,
    /// The arguments, in the order of the file.
    pub args: Vec<Arg>,
    /// Module variables that the host writes.
    pub symbols: Vec<Symbol>,
    /// Surfaces, then textures.
    pub textures: Vec<TextureTable>,
    /// Parts of dynamic shared memory with names, by offset.
    pub shared: Arc<[SharedPart]>,
    /// Samplers for textures without their own.
    pub samplers: Vec<SamplerTable>,
    /// Further launches on the same buffers, each round of a loop by itself.
    pub then: Vec<Launch>,
}

impl LaunchFile {
    /// Reads a launch file.
    pub fn load(path: &Path) -> Result<Self> {
        const LIMIT: Limit = Limit {
            bytes: 1 << 20,
            expected: "a launch file: TOML in UTF-8",
        };
        refuse_ptx(path)?;
        let name = path.to_string_lossy();
        if name.starts_with(kernels::PREFIX) {
            return Err(Error::usage(
                format!("{name} is a pattern of accesses, without a program"),
                "expected a launch file (.toml), such as those of kernels/",
            ));
        }
        let text = LIMIT.read_text(path)?;
        let file = Self::parse(text, path)?;
        file.claim_files()?;
        Ok(file)
    }

    /// The PTX files that it names, the first one first.
    pub fn ptx_files(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.ptx.value).chain(&self.linked)
    }

    /// Words of shared memory that its kernels may take where a block may have
    /// `block_words`: static arrays alone have a limit of their own.
    pub fn shared_room(&self, block_words: u32) -> u32 {
        let mut launches = std::iter::once(&self.first).chain(&self.then);
        if launches.all(|launch| launch.dynamic_shared == 0) {
            block_words.min(MAX_STATIC_SHARED / 4)
        } else {
            block_words
        }
    }

    /// The files that it names: PTX and the contents of buffers.
    pub fn files(&self) -> Vec<PathBuf> {
        let contents = self.buffers().filter_map(|buffer| match &buffer.init {
            Init::File(path) => Some(path),
            _ => None,
        });
        self.ptx_files().chain(contents).cloned().collect()
    }

    /// The buffers of the arguments, then those of the symbols, in the order of the outputs.
    pub fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let args = self.args.iter().filter_map(|arg| match &arg.kind {
            ArgKind::Buffer(buffer) => Some(buffer),
            _ => None,
        });
        args.chain(self.symbols.iter().map(|s| &s.buffer))
    }

    /// Ensures that no result overwrites a file that it names, whoever reads it.
    fn claim_files(&self) -> Result<()> {
        let expected = self.buffers().filter_map(|buffer| buffer.expect.as_ref());
        let mut files = self.files();
        files.extend(expected.map(|expect| expect.file.clone()));
        let mut there = files.iter().filter(|file| file.is_file());
        there.try_for_each(|file| claims::reads(file))
    }

    /// Parses a launch file's text. `path` is for messages, and the files that
    /// the text names are relative to its folder.
    pub fn parse(text: String, path: &Path) -> Result<Self> {
        let source = Source {
            path: path.to_owned(),
            text,
        };
        let table = DeTable::parse(&source.text).map_err(|e| {
            let offset = e.span().map_or(0, |s| s.start);
            source.error(e.message(), "expected a launch file in TOML", offset)
        })?;
        let top = Section::new(&source, table.get_ref(), 0, "the launch file", &TOP)?;
        let (ptx, linked) = parse_ptx(&top, &source)?;
        let first = parse_launch(&top, &source)?;
        let [surfaces, textures, samplers] = [
            top.tables("surface")?,
            top.tables("texture")?,
            top.tables("sampler")?,
        ];
        let others = Tables {
            textures: names(&[&surfaces[..], &textures].concat(), &source)?,
            surfaces: surfaces.len(),
            samplers: names(&samplers, &source)?,
        };
        let args = parse_args(&top.tables("arg")?, &source, &others)?;
        let textures = parse_textures(&surfaces, &textures, &source, &args)?;
        let samplers = parse_samplers(&samplers, &source)?;
        let symbols = parse_symbols(&top.tables("symbol")?, &source)?;
        let then = parse_all(&top.tables("then")?, &source, &args)?;
        let dynamic = std::iter::once(&first).chain(&then);
        let dynamic = dynamic
            .map(|launch| launch.dynamic_shared)
            .max()
            .unwrap_or(0);
        let shared = parse_parts(&top.tables("shared")?, &source, dynamic)?;
        let blocks: u64 = first.grid.iter().map(|&d| u64::from(d)).product();
        Ok(LaunchFile {
            ptx,
            linked,
            registers: top
                .integer("registers", 1, MAX_REGISTERS)?
                .map(|r| r as u32),
            trace_block: top.integer("trace_block", 0, blocks - 1)?.unwrap_or(0),
            limit: top
                .integer("limit", 1, i64::MAX as u64)?
                .unwrap_or(DEFAULT_LIMIT),
            heap: top.integer("heap", 0, MAX_HEAP)?.unwrap_or(HEAP_BYTES),
            shared: shared.into(),
            first,
            args,
            symbols,
            textures,
            samplers,
            then,
            source,
        })
    }

    /// The launches of the file, in order.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        std::iter::once(&self.first).chain(&self.then)
    }

    /// The argument of that name.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|a| a.name == name)
    }
}

/// Texts that a launch file links at most.
const MOST_PTX: usize = 64;

/// The PTX, and what is linked with it.
fn parse_ptx(top: &Section, source: &Source) -> Result<(Placed<PathBuf>, Vec<PathBuf>)> {
    const EXPECTED: &str =
        "\"FILE.ptx\", relative to the launch file, or [\"A.ptx\", \"B.ptx\"], linked";
    let files = top.one_or_more("ptx", EXPECTED)?;
    let mut known: Vec<&str> = Vec::new();
    for file in &files {
        let help = format!("expected {EXPECTED}");
        if file.value.is_empty() {
            return Err(source.error("'ptx' has an empty name", help, file.offset));
        }
        if known.contains(&file.value.as_str()) {
            let what = format!("'{}' is linked twice", file.value);
            return Err(source.error(what, help, file.offset));
        }
        known.push(&file.value);
    }
    if files.len() > MOST_PTX {
        let what = format!("'ptx' has {} files", files.len());
        return Err(top.wrong("ptx", &what, &format!("expected at most {MOST_PTX}")));
    }
    let mut files = files.into_iter();
    let Some(first) = files.next() else {
        return Err(if top.has("ptx") {
            let help = format!("expected {EXPECTED}");
            top.wrong("ptx", "'ptx' names no file", &help)
        } else {
            top.missing("ptx", EXPECTED)
        });
    };
    let first = Placed {
        value: source.resolve(&first.value),
        offset: first.offset,
    };
    Ok((first, files.map(|f| source.resolve(&f.value)).collect()))
}
