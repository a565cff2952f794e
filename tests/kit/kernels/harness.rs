//! Runs a kernel of kernels/, as its launch file says or with other sizes and
//! data, under every compiler and on one and two threads.

use crate::kernels::files::kernels_folder;
use spadkit::launch::{Arg, ArgKind, Buffer, Init, Launch, LaunchFile, Options, Placed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A number type of buffers.
pub trait Number: Copy + PartialEq + std::fmt::Debug {
    fn from_bytes(bytes: &[u8]) -> Self;
    fn to_bytes(self) -> Vec<u8>;
}

macro_rules! number {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn from_bytes(bytes: &[u8]) -> Self {
                <$t>::from_le_bytes(bytes.try_into().unwrap())
            }
            fn to_bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}
number!(u8 i16 u16 i32 u32 i64 f32 f64);

fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
    bytes
        .chunks_exact(size_of::<T>())
        .map(T::from_bytes)
        .collect()
}

/// A kernel with its launch.
#[derive(Clone)]
pub struct TestKernel {
    pub file: LaunchFile,
}

/// Buffers before and after a run.
#[derive(PartialEq)]
pub struct Run {
    before: BTreeMap<String, Vec<u8>>,
    after: BTreeMap<String, Vec<u8>>,
}

impl Run {
    /// What an argument's buffer or a symbol held before the run.
    pub fn before<T: Number>(&self, name: &str) -> Vec<T> {
        numbers(&self.before[name])
    }

    /// What an argument's buffer holds after the run.
    pub fn after<T: Number>(&self, name: &str) -> Vec<T> {
        numbers(&self.after[name])
    }
}

impl TestKernel {
    /// kernels/FAMILY/NAME.toml.
    pub fn load(family: &str, name: &str) -> Self {
        let path = kernels_folder().join(family).join(format!("{name}.toml"));
        TestKernel {
            file: LaunchFile::load(&path).unwrap_or_else(|e| panic!("{e}")),
        }
    }

    pub fn grid(mut self, grid: [u32; 3]) -> Self {
        self.file.first.grid = grid;
        self
    }

    pub fn block(mut self, block: [u32; 3]) -> Self {
        self.file.first.block = block;
        self
    }

    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.file.first.dynamic_shared = bytes;
        self
    }

    fn arg_mut(&mut self, name: &str) -> &mut Arg {
        let arg = self.file.args.iter_mut().find(|a| a.name == name);
        arg.unwrap_or_else(|| panic!("no argument {name}"))
    }

    fn buffer_mut(&mut self, name: &str) -> &mut Buffer {
        if let Some(symbol) = self.file.symbols.iter_mut().position(|s| s.name == name) {
            return &mut self.file.symbols[symbol].buffer;
        }
        match &mut self.arg_mut(name).kind {
            ArgKind::Buffer(buffer) => buffer,
            _ => panic!("{name} is no buffer"),
        }
    }

    /// Another value of a scalar.
    pub fn scalar(mut self, name: &str, value: impl Number) -> Self {
        match &mut self.arg_mut(name).kind {
            ArgKind::Value(_, bytes) => {
                let new = value.to_bytes();
                assert_eq!(bytes.len(), new.len(), "{name}");
                *bytes = new;
            }
            _ => panic!("{name} is no scalar"),
        }
        self
    }

    /// Another number of elements.
    pub fn count(mut self, name: &str, count: usize) -> Self {
        self.buffer_mut(name).count = count as u64;
        self
    }

    /// Another seed of a random buffer.
    pub fn seed(mut self, name: &str, seed: u64) -> Self {
        match &mut self.buffer_mut(name).init {
            Init::Random(random) => random.seed = seed,
            _ => panic!("{name} is not random"),
        }
        self
    }

    /// Given data.
    pub fn data<T: Number>(mut self, name: &str, values: &[T]) -> Self {
        let buffer = self.buffer_mut(name);
        assert_eq!(buffer.element.size(), size_of::<T>(), "{name}");
        buffer.count = values.len() as u64;
        buffer.init = Init::Bytes(values.iter().flat_map(|v| v.to_bytes()).collect());
        self
    }

    /// One more scalar, for launches behind the first.
    pub fn add_scalar(mut self, name: &str, like: &str, value: impl Number) -> Self {
        let mut arg = self.arg_mut(like).clone();
        arg.name = name.to_owned();
        self.file.args.push(arg);
        self.scalar(name, value)
    }

    /// One more launch.
    pub fn then(mut self, entry: &str, grid: [u32; 3], block: [u32; 3], args: &[&str]) -> Self {
        let index = |name: &&str| {
            self.file
                .args
                .iter()
                .position(|a| a.name == **name)
                .unwrap()
        };
        self.file.then.push(Launch {
            entry: Some(Placed {
                value: entry.to_owned(),
                offset: 0,
            }),
            grid,
            block,
            dynamic_shared: 0,
            cluster: None,
            cooperative: false,
            args: Some(args.iter().map(|name| index(name).into()).collect()),
            offset: 0,
        });
        self
    }

    /// Without the launches behind the first, and with the first `args`
    /// arguments only.
    pub fn alone(mut self, args: usize) -> Self {
        self.file.then.clear();
        self.file.args.truncate(args);
        self
    }

    /// The PTX of every compiler: FAMILY.ptx, FAMILY.sm80.ptx, ...
    fn variants(&self) -> Vec<PathBuf> {
        let folder = self.file.ptx.value.parent().unwrap();
        let is_ptx = |p: &PathBuf| p.extension().is_some_and(|e| e == "ptx");
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|f| f.unwrap().path());
        let mut variants: Vec<PathBuf> = files.filter(is_ptx).collect();
        variants.sort();
        assert!(!variants.is_empty());
        variants
    }

    fn run(&self, ptx: &Path, threads: usize) -> Run {
        let mut file = self.file.clone();
        file.ptx.value = ptx.to_owned();
        let mut prepared = file
            .prepare(&file.module().unwrap())
            .unwrap_or_else(|e| panic!("{}: {e}", ptx.display()));
        let args = file.args.iter().filter_map(|a| match &a.kind {
            ArgKind::Buffer(buffer) => Some((a.name.clone(), buffer.contents().unwrap())),
            _ => None,
        });
        let symbols = file
            .symbols
            .iter()
            .map(|s| (s.name.clone(), s.buffer.contents().unwrap()));
        let before: BTreeMap<_, _> = args.chain(symbols).collect();
        let options = Options {
            threads,
            races: true,
            ..Options::default()
        };
        let outcome = prepared
            .run(&options)
            .unwrap_or_else(|e| panic!("{}: {e}", ptx.display()));
        assert!(
            outcome.findings.is_empty(),
            "{}: {:?}",
            ptx.display(),
            outcome.findings
        );
        let outputs = prepared.outputs();
        Run {
            before,
            after: outputs
                .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
                .collect(),
        }
    }

    /// Runs the kernel in every way and hands the results to `check`.
    pub fn check(&self, check: impl Fn(&Run)) {
        for ptx in self.variants() {
            let run = self.run(&ptx, 1);
            check(&run);
            let again = self.run(&ptx, 2);
            assert!(
                run == again,
                "{}: another result on two threads",
                ptx.display()
            );
        }
    }
}
