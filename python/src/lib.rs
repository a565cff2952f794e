//! `spadkit._native`: kernels and launches of the library for the Python package
//! in `python/spadkit`, which checks arguments and shows results. Results are the
//! JSON texts of the command line.

mod failure;
mod interrupted;
mod launch;
mod tensor_map;

use failure::raise;
use launch::{Argument, Launch, SymbolValue};
use pyo3::prelude::*;
use spadkit::cli::answers::{self, Given, Rewriting};
use std::sync::Arc;

/// An entry of a PTX text with a name, or of several that are linked.
#[pyclass(frozen, module = "spadkit._native")]
struct Kernel {
    inner: Arc<answers::Kernel>,
}

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (texts, entry=None))]
    fn new(py: Python<'_>, texts: Vec<(String, String)>, entry: Option<&str>) -> PyResult<Self> {
        let texts: Vec<(&str, &str)> = texts.iter().map(|(t, n)| (&**t, &**n)).collect();
        let parsed = py.detach(|| answers::Kernel::linked(&texts, entry));
        let inner = Arc::new(parsed.map_err(|e| raise(py, e))?);
        Ok(Kernel { inner })
    }

    #[getter]
    fn ptx(&self) -> &str {
        self.inner.text()
    }

    #[getter]
    fn file(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn entry(&self) -> &str {
        self.inner.entry()
    }

    #[getter]
    fn source_name(&self) -> String {
        self.inner.source_name()
    }

    /// Name, bytes and type of each parameter.
    fn params(&self, py: Python<'_>) -> PyResult<Vec<(String, u32, String)>> {
        let params = self.inner.params().map_err(|e| raise(py, e))?;
        let param = |p: spadkit::ptx::exec::Parameter| (p.name, p.bytes, type_name(p.ty));
        Ok(params.into_iter().map(param).collect())
    }

    /// Of each parameter that the mangled name says to be a pointer to numbers, the type in
    /// C++ and that of an element; empty where the name does not say.
    fn pointed_to(&self) -> Vec<Option<(String, String)>> {
        let pointed = self.inner.pointed_to().into_iter();
        let named = pointed.map(|found| found.map(|(text, ty)| (text, type_name(ty))));
        named.collect()
    }

    /// Name and bytes of each variable that the host can write.
    fn symbols(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let symbols = self.inner.symbols().map_err(|e| raise(py, e))?;
        Ok(symbols.into_iter().map(|s| (s.name, s.bytes)).collect())
    }

    /// The preset, and what says so, of the machine that answers are about.
    fn machine(&self, py: Python<'_>, named: Option<&str>) -> PyResult<(String, String)> {
        let note = self.inner.machine_note(named);
        let note = note.map_err(|e| raise(py, e))?;
        Ok((note.preset, note.from))
    }

    #[getter]
    fn required_block(&self) -> Option<[u32; 3]> {
        self.inner.required_block()
    }

    /// Raises what cannot be run.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.check()).map_err(|e| raise(py, e))
    }

    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    #[pyo3(signature = (grid, block, dynamic_shared, limit, args, symbols, cluster, cooperative, heap))]
    fn launch(
        &self,
        py: Python<'_>,
        grid: Vec<u64>,
        block: Vec<u64>,
        dynamic_shared: u64,
        limit: u64,
        args: Vec<Argument>,
        symbols: Vec<SymbolValue>,
        cluster: Option<Vec<u64>>,
        cooperative: bool,
        heap: Option<u64>,
    ) -> PyResult<Launch> {
        let given = Given {
            grid,
            block,
            dynamic_shared,
            cluster,
            cooperative,
            heap,
            limit,
            args: launch::args(args)?,
            symbols: launch::symbols(symbols),
        };
        let launch = py.detach(|| self.inner.launch(given));
        Ok(Launch {
            inner: launch.map_err(|e| raise(py, e))?,
        })
    }

    /// The answer of `spadkit rewrite` as JSON, warnings, the error that it ends
    /// with, and the rewritten PTX.
    #[pyo3(signature = (hashes, machine, launch, any_block, plain))]
    fn rewrite(
        &self,
        py: Python<'_>,
        hashes: Vec<String>,
        machine: Option<String>,
        launch: Option<Py<Launch>>,
        any_block: bool,
        plain: bool,
    ) -> PyResult<(launch::Answer, Option<String>)> {
        let how = Rewriting {
            machine,
            hashes,
            any_block,
            plain,
        };
        let launch = launch.as_ref().map(|l| &l.get().inner);
        let result = interrupted::run(py, || self.inner.rewrite(launch, &how))?;
        let (answer, text) = result.map_err(|e| raise(py, e))?;
        Ok((launch::Answer::new(py, answer)?, text))
    }
}

/// The machines that answers can be about, by name.
#[pyfunction]
fn presets() -> Vec<&'static str> {
    spadkit::config::PRESETS.to_vec()
}

/// As PTX writes it, without the dot.
fn type_name(ty: spadkit::ptx::Type) -> String {
    ty.text().to_owned()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Kernel>()?;
    module.add_function(wrap_pyfunction!(tensor_map::tensor_map, module)?)?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_class::<Launch>()
}
