//! The numbers that the RAP paper derives by hand: the memory machine's times
//! (Fig. 3, section III), the examples of Figs 2 and 6, and accesses to larger
//! arrays.

use super::{Formula, Inputs, numbers};
use crate::reproduce::point::Numbers;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::rap::{
    AccessKind, Dmm, Experiment, Request, Scheme, Transpose, transpose_stats,
};
use std::str::FromStr;

pub(super) const FORMULAS: &[Formula] = &[
    ("rap.times", times),
    ("rap.requests", requests),
    ("rap.rotation", rotation),
    ("rap.growth", growth),
    ("rap.array", array),
    ("rap.rows", rows),
];

/// Section V: two elements in other rows and other columns of a matrix of w x w doubles
/// are in one bank if the shifts of their rows differ by the distance of the columns.
/// The part of all pairs of shifts for which they do, `independent` by RAS and `distinct`
/// by RAP; and what the matrix takes.
fn rows(inputs: &Inputs) -> Result<Numbers> {
    let width = whole(inputs, "width")?;
    let pairs = || (0..width).flat_map(|a| (0..width).map(move |b| (a, b)));
    let meet = |of: &dyn Fn(&(u64, u64)) -> bool| {
        let all = pairs().filter(of).count();
        let meeting = pairs().filter(of);
        let meeting = meeting.filter(|(a, b)| (a + width - b) % width == 1);
        meeting.count() as f64 / all as f64
    };
    Ok(numbers([
        ("independent", meet(&|_| true)),
        ("distinct", meet(&|(a, b)| a != b)),
        ("KB", (8 * width * width) as f64 / 1024.0),
    ]))
}

/// Time units of all warps' accesses to a w x w matrix, or of a transpose.
fn times(inputs: &Inputs) -> Result<Numbers> {
    let (width, latency) = (whole(inputs, "width")?, whole(inputs, "latency")?);
    Ok(numbers([("time", time(inputs, width, latency)?)]))
}

/// The growth of the time from width w to 2 w, as the exponent of w.
fn growth(inputs: &Inputs) -> Result<Numbers> {
    let (width, latency) = (whole(inputs, "width")?, whole(inputs, "latency")?);
    let [one, two] = [width, 2 * width].map(|w| time(inputs, w, latency));
    Ok(numbers([("exponent", (two? / one?).log2())]))
}

fn time(inputs: &Inputs, width: u64, latency: u64) -> Result<f64> {
    let address = |i: u64, j: u64| Some(i * width + j);
    let request = |i: u64| -> Option<Request> {
        let lanes = 0..width;
        Some(match inputs.word("access").ok()? {
            "contiguous" => lanes.map(|j| address(i, j)).collect(),
            "stride" => lanes.map(|j| address(j, i)).collect(),
            "diagonal" => lanes.map(|j| address(j, (i + j) % width)).collect(),
            _ => return None,
        })
    };
    let warps: Option<Vec<Vec<Request>>> = (0..width).map(|i| Some(vec![request(i)?])).collect();
    if let Some(warps) = warps {
        return Ok(Dmm::new(width, latency)?.run(&warps).time as f64);
    }
    let name = inputs.word("access")?;
    let named = |t: &Transpose| t.to_string().eq_ignore_ascii_case(name);
    let transpose = Transpose::ALL.into_iter().find(named).ok_or_else(|| {
        Error::usage(
            format!("access '{name}'"),
            "expected contiguous, stride, diagonal, crsw, srcw or drdw",
        )
    })?;
    Ok(transpose_stats(transpose, Scheme::Raw, width as u32, latency, 1, 1)?.time)
}

/// Requests of warps, `;` between them, as `7 5 15 0; 10 11 12 9`.
fn requests(inputs: &Inputs) -> Result<Numbers> {
    let dmm = Dmm::new(whole(inputs, "width")?, whole(inputs, "latency")?)?;
    let text = inputs.word("requests")?;
    let request =
        |warp: &str| -> Request { warp.split_whitespace().map(|a| a.parse().ok()).collect() };
    let warps: Vec<Vec<Request>> = text.split(';').map(|warp| vec![request(warp)]).collect();
    let congestions = warps.iter().map(|w| dmm.congestion(&w[0]));
    let stages: u64 = congestions.clone().sum();
    Ok(numbers([
        ("congestion", congestions.max().unwrap_or(0) as f64),
        ("stages", stages as f64),
        ("time", dmm.run(&warps).time as f64),
    ]))
}

/// The new position of element `element` of a 4 x 4 matrix when row i is
/// rotated by the i-th of `shifts` (Fig. 6).
fn rotation(inputs: &Inputs) -> Result<Numbers> {
    let shifts = inputs.word("shifts")?;
    let spec =
        spadkit_mapping::hash::HashSpec::from_str(&format!("rap:{}", shifts.replace(' ', ",")))?;
    let width = shifts.split_whitespace().count() as u64;
    let element = whole(inputs, "element")?;
    let spadkit_mapping::hash::HashSpec::Rap(table) = spec else {
        return Err(Error::usage(
            format!("shifts '{shifts}'"),
            "expected a permutation",
        ));
    };
    let values = table.values(width as usize, true)?;
    let row = element / width;
    let shift = u64::from(values[row as usize % values.len()]);
    let bank = (element + shift) % width;
    Ok(numbers([
        ("address", (row * width + bank) as f64),
        ("bank", bank as f64),
    ]))
}

/// Draws of an access to an array: fewer than of a table's mean, since only
/// how it grows with w is compared.
const SAMPLES: u64 = 4_000;

/// Mean congestion of `access` to an array of `dims` dimensions and size
/// `width` under `scheme`, also over w; and the random numbers that it takes.
fn array(inputs: &Inputs) -> Result<Numbers> {
    let scheme = Scheme::from_str(inputs.word("scheme")?)?;
    let (width, dims) = (whole(inputs, "width")?, whole(inputs, "dims")? as u32);
    let access = AccessKind::from_str(inputs.word("access")?)?;
    let experiment = Experiment::new(scheme, access, width as u32, dims)?;
    let stats = experiment.sample(SAMPLES, 1)?;
    Ok(numbers([
        ("congestion", stats.mean),
        ("largest congestion", f64::from(stats.max)),
        ("congestion over w", stats.mean / width as f64),
        ("random numbers", scheme.random_numbers(dims, width) as f64),
    ]))
}

fn whole(inputs: &Inputs, name: &str) -> Result<u64> {
    inputs.number(name).map(|n| n as u64)
}
