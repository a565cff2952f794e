//! The launches of a file on the GPU: buffers and variables there, each entry
//! assembled, and what the buffers hold afterwards.

use super::driver::{Gpu, GpuFunction, Loaded};
use spadkit::error::{Error, Result};
use spadkit::launch::{ArgKind, Buffer, LaunchFile, Prepared};
use spadkit::ptx::Module;
use spadkit::ptx::exec::Launch;

/// The launches of a file, ready to run on a GPU.
pub struct OnGpu<'a> {
    gpu: &'a Gpu,
    prepared: Prepared<'a>,
    kernels: Vec<GpuFunction>,
    /// The address of each buffer and its content before the first launch, in
    /// the order of [`Prepared::buffers`], then tables of addresses.
    buffers: Vec<(u64, Vec<u8>)>,
}

impl<'a> OnGpu<'a> {
    /// Copies the buffers to the GPU and assembles the PTX there.
    pub fn new(gpu: &'a Gpu, file: &'a LaunchFile, module: &Module) -> Result<Self> {
        refuse(file)?;
        let mut buffers: Vec<(u64, Vec<u8>)> = Vec::new();
        let prepared = file.prepare_at(module, &mut |bytes| {
            let address = gpu.alloc(bytes.len())?;
            buffers.push((address, bytes.to_vec()));
            Ok(address)
        })?;
        let loaded = gpu.load(&module.text)?;
        let of_args = file
            .args
            .iter()
            .filter(|a| matches!(a.kind, ArgKind::Buffer(_)));
        let variables = variables(gpu, file, &loaded)?;
        let at = of_args.count();
        buffers.splice(at..at, variables);
        let launches = prepared.launches().iter();
        let kernels = launches
            .map(|launch| gpu.kernel(&loaded, launch))
            .collect::<Result<_>>()?;
        Ok(OnGpu {
            gpu,
            prepared,
            kernels,
            buffers,
        })
    }

    /// Restores the contents that the buffers had before the first launch.
    pub fn reset(&self) -> Result<()> {
        let mut all = self.buffers.iter();
        all.try_for_each(|(address, bytes)| self.gpu.write(*address, bytes))
    }

    /// Runs the launches in order.
    pub fn run(&self) -> Result<()> {
        self.launches()
            .try_for_each(|(kernel, launch)| self.gpu.run(kernel, launch))
    }

    /// Microseconds that all launches take, without the time between them.
    pub fn time(&self) -> Result<f64> {
        self.launches()
            .map(|(kernel, launch)| self.gpu.time(kernel, launch))
            .sum()
    }

    /// The description of each buffer and symbol, and its present content.
    pub fn outputs(&self) -> Result<Vec<(&'a str, &'a Buffer, Vec<u8>)>> {
        let described = self.prepared.buffers().zip(&self.buffers);
        described
            .map(|((name, buffer, _), (address, bytes))| {
                Ok((name, buffer, self.gpu.read(*address, bytes.len())?))
            })
            .collect()
    }

    fn launches(&self) -> impl Iterator<Item = (&GpuFunction, &Launch)> {
        self.kernels.iter().zip(self.prepared.launches())
    }
}

/// Address and contents of the module variables that the file names.
fn variables(gpu: &Gpu, file: &LaunchFile, loaded: &Loaded) -> Result<Vec<(u64, Vec<u8>)>> {
    let variable = |symbol: &spadkit::launch::Symbol| {
        let address = gpu.variable(loaded, &symbol.name)?;
        let bytes = if symbol.keep {
            gpu.read(address, symbol.buffer.bytes() as usize)?
        } else {
            symbol.buffer.contents()?
        };
        Ok((address, bytes))
    };
    file.symbols.iter().map(variable).collect()
}

/// Textures and tensor maps are objects of the driver, which this program does
/// not make.
fn refuse(file: &LaunchFile) -> Result<()> {
    let tensor_map = |arg: &spadkit::launch::Arg| matches!(arg.kind, ArgKind::TensorMap(_));
    let what = match () {
        () if !file.textures.is_empty() => "textures or surfaces",
        () if file.args.iter().any(tensor_map) => "tensor maps",
        () => return Ok(()),
    };
    let what = format!("{} has {what}", file.source.path.display());
    Err(Error::usage(what, "expected a launch file without them"))
}
