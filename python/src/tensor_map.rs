//! Tensor maps of arrays.

use crate::failure::wrong_map;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spadkit::launch::{Element, GivenMap, TensorMapArg, check_inside};
use spadkit::ptx::exec::{Boxed, TensorMap};
use spadkit::ptx::tensor::Swizzle;

/// Of an image: the corners of its pixels, channels, and how many pixels.
type Pixels = (Vec<i32>, Vec<i32>, u32, u32);

/// The map of a tensor in an array of this many bytes, checked by all rules, as
/// the library encodes it; its address is an offset in the array. Lists begin
/// with the innermost dimension.
#[pyfunction]
#[pyo3(signature = (bytes, ty, offset, extent, strides, tile, pixels, element_strides, swizzle, nan))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn tensor_map<'py>(
    py: Python<'py>,
    bytes: u64,
    ty: &str,
    offset: u64,
    extent: Vec<u64>,
    strides: Option<Vec<u64>>,
    tile: Vec<u32>,
    pixels: Option<Pixels>,
    element_strides: Option<Vec<u32>>,
    swizzle: usize,
    nan: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let element = Element::parse(ty);
    let given = GivenMap {
        element: element.ok_or_else(|| PyValueError::new_err(format!("no element type {ty}")))?,
        offset,
        extent,
        strides,
        boxed: match pixels {
            None => Boxed::Tile(tile),
            Some((lower, upper, channels, count)) => Boxed::Pixels {
                lower,
                upper,
                channels,
                count,
            },
        },
        element_strides,
        swizzle: Swizzle::ALL[swizzle.min(Swizzle::ALL.len() - 1)],
        nan_fill: nan,
    };
    let map = given.map().and_then(|map| {
        check_inside(&map, bytes)?;
        Ok(map)
    });
    let map = map.map_err(|wrong| wrong_map(py, wrong))?;
    Ok(PyBytes::new(py, &map.encode()))
}

/// An argument with a map that [`tensor_map`] has made.
pub fn argument(buffer: usize, bytes: &[u8]) -> PyResult<TensorMapArg> {
    let bytes = bytes.try_into();
    let bytes = bytes.map_err(|_| PyValueError::new_err("a tensor map has 128 bytes"))?;
    let map = TensorMap::decode(bytes).map_err(|wrong| PyValueError::new_err(wrong.what))?;
    Ok(TensorMapArg { buffer, map })
}
