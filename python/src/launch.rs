//! A kernel with its arguments.

use crate::failure::raise;
use crate::interrupted;
use crate::tensor_map::argument;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use spadkit::cli::answers::{self, Command, Races};
use spadkit::launch::{Arg, ArgKind, Buffer, Element, Init, MapMember, Pointer, Struct, Symbol};
use std::time::Duration;

/// Name, kind, bytes, and the arguments that `same`, `addresses` and `tensor_map`
/// name; of a `struct`, a byte and the argument that is there, in turn.
pub type Argument = (String, String, PyBackedBytes, Vec<usize>);
/// Name and bytes.
pub type SymbolValue = (String, PyBackedBytes);

/// The arguments of a launch file. Each array is a buffer of bytes.
pub fn args(given: Vec<Argument>) -> PyResult<Vec<Arg>> {
    let maps: Vec<bool> = given.iter().map(|g| g.1 == "tensor_map").collect();
    given.into_iter().map(|given| arg(given, &maps)).collect()
}

/// `maps` says of each argument whether it is a tensor map.
fn arg((name, kind, bytes, of): Argument, maps: &[bool]) -> PyResult<Arg> {
    let first = of.first().copied().unwrap_or(0);
    let kind = match kind.as_str() {
        "buffer" => ArgKind::Buffer(buffer(&bytes)),
        "same" => ArgKind::Same {
            arg: first,
            bytes: 0,
        },
        "addresses" => ArgKind::Addresses(of),
        "tensor_map" => ArgKind::TensorMap(argument(first, &bytes)?),
        "struct" => ArgKind::Struct(members(&bytes, &of, maps)),
        "value" => ArgKind::Value(Element::Bytes, bytes.to_vec()),
        "null" => ArgKind::Null,
        other => {
            let what = format!("an argument of kind '{other}'");
            return Err(PyValueError::new_err(what));
        }
    };
    Ok(Arg {
        name,
        kind,
        offset: 0,
    })
}

/// A struct; the package has checked what is in it.
fn members(bytes: &[u8], of: &[usize], maps: &[bool]) -> Struct {
    let mut given = Struct {
        bytes: bytes.to_vec(),
        ..Struct::default()
    };
    for pair in of.chunks_exact(2) {
        let (at, arg) = (pair[0], pair[1]);
        if maps[arg] {
            given.maps.push(MapMember { at, arg });
        } else {
            let bytes = 0;
            given.pointers.push(Pointer { at, arg, bytes });
        }
    }
    given
}

/// The symbols of a launch file.
pub fn symbols(given: Vec<SymbolValue>) -> Vec<Symbol> {
    let symbol = |(name, bytes): SymbolValue| Symbol {
        name,
        buffer: buffer(&bytes),
        keep: false,
        offset: 0,
    };
    given.into_iter().map(symbol).collect()
}

fn buffer(bytes: &[u8]) -> Buffer {
    Buffer {
        element: Element::Bytes,
        count: bytes.len() as u64,
        init: Init::Bytes(bytes.to_vec()),
        expect: None,
    }
}

/// What a command says: the JSON text, the sentence with which its text begins, warnings,
/// and the exception that it ends with.
#[derive(IntoPyObject)]
pub struct Answer(String, String, Vec<String>, Option<Py<PyAny>>);

impl Answer {
    pub fn new(py: Python<'_>, answer: answers::Answer) -> PyResult<Self> {
        let error = match answer.verdict {
            Ok(()) => None,
            Err(error) => Some(raise(py, error).into_value(py).into_any()),
        };
        let json = answer.json.to_string();
        Ok(Answer(json, answer.sentence, answer.warnings, error))
    }
}

/// A kernel with its arguments, as they are before it runs.
#[pyclass(frozen, module = "spadkit._native")]
pub struct Launch {
    pub inner: answers::Launch,
}

#[pymethods]
impl Launch {
    /// The answer of `spadkit run`, and each buffer's bytes after the run, with
    /// `changed` of those alone that it has changed.
    #[pyo3(signature = (races, threads, warp_order=None, changed=true))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        races: &str,
        threads: usize,
        warp_order: Option<u64>,
        changed: bool,
    ) -> PyResult<(Answer, Vec<Option<Bound<'py, PyBytes>>>)> {
        let races = match races {
            "no" => Races::No,
            "shared" => Races::Shared,
            "global" => Races::Global,
            other => {
                let what = format!("memory is '{other}', expected 'shared' or 'global'");
                return Err(PyValueError::new_err(what));
            }
        };
        let result =
            interrupted::run(py, || (self.inner).run(races, threads, warp_order, changed))?;
        let (answer, buffers) = result.map_err(|e| raise(py, e))?;
        let bytes = |buffer: &Vec<u8>| PyBytes::new(py, buffer);
        let buffers = buffers.iter().map(|b| b.as_ref().map(bytes));
        Ok((Answer::new(py, answer)?, buffers.collect()))
    }

    /// The answer of `spadkit conflicts`, and pictures as JSON.
    fn conflicts(
        &self,
        py: Python<'_>,
        machine: Option<String>,
        specs: Vec<String>,
        block: u64,
    ) -> PyResult<(Answer, String)> {
        let machine = machine.as_deref();
        let result = interrupted::run(py, || self.inner.conflicts(machine, &specs, block))?;
        let (answer, pictures) = result.map_err(|e| raise(py, e))?;
        Ok((Answer::new(py, answer)?, pictures.to_string()))
    }

    /// The answer of `spadkit tune --software`.
    #[pyo3(signature = (machine, kinds, budget, block, machine_code=None))]
    fn tune_software(
        &self,
        py: Python<'_>,
        machine: Option<String>,
        kinds: Vec<String>,
        budget: f64,
        block: u64,
        machine_code: Option<bool>,
    ) -> PyResult<Answer> {
        let budget = Duration::try_from_secs_f64(budget)
            .map_err(|why| PyValueError::new_err(format!("budget: {why}")))?;
        let machine = machine.as_deref();
        let tune = || (self.inner).tune_software(machine, &kinds, budget, block, machine_code);
        let answer = interrupted::run(py, tune)?.map_err(|e| raise(py, e))?;
        Answer::new(py, answer)
    }

    /// The answer of `spadkit sim`, `share` or `gate` with options of the command line.
    fn command(
        &self,
        py: Python<'_>,
        name: &str,
        machine: Option<String>,
        options: Vec<String>,
    ) -> PyResult<Answer> {
        let command = match name {
            "sim" => Command::Sim,
            "share" => Command::Share,
            "gate" => Command::Gate,
            other => {
                let what = format!("a command '{other}'");
                return Err(PyValueError::new_err(what));
            }
        };
        let run = || (self.inner).command(command, machine.as_deref(), &options);
        let answer = interrupted::run(py, run)?.map_err(|e| raise(py, e))?;
        Answer::new(py, answer)
    }
}
