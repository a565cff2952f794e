//! The numbers that the hash paper derives by hand: sizes of search spaces
//! (Table 1, section 5.1), the heuristics' examples, the access patterns of
//! sections 2 and 3, and synthesised units.

use super::{Formula, Inputs, numbers};
use crate::reproduce::point::Numbers;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{BankFunction, HashKind, HashSpec, hash_kind};
use spadkit_mapping::search::bitvec::{all_pairs, pruned_pairs};
use spadkit_mapping::search::heuristic::Heuristic;
use spadkit_mapping::search::reference::{Candidates, ReferenceSet, Selection, of_accesses};
use spadkit_mapping::search::{Problem, imbalance, space};
use spadkit_mapping::trace::pattern::{Class, Pattern};
use spadkit_mapping::trace::{Access, ConflictProfile, Op};
use std::collections::BTreeMap;
use std::str::FromStr;

pub(super) const FORMULAS: &[Formula] = &[
    ("hash.space", space_size),
    ("hash.ranges", ranges),
    ("hash.pruned", pruned),
    ("hash.heuristic", heuristic),
    ("hash.imbalance", one_imbalance),
    ("hash.bank-bits", bank_bits),
    ("hash.pairs", pairs),
    ("hash.pattern", pattern),
    ("hash.synthesised", synthesised),
    ("hash.padded", padded),
];

/// 48 KB of 4-byte words in 32 banks, as in the paper's examples.
fn fermi() -> Result<Geometry> {
    Geometry::new(14, 5)
}

/// Table 1 in units of 10^`exponent`.
fn space_size(inputs: &Inputs) -> Result<Numbers> {
    let g = fermi()?;
    let exponent = inputs.number("exponent")?;
    let functions = match inputs.word("class")? {
        "all" => 10f64.powf(space::all_functions_log10(g) - exponent),
        "xor" => space::xor_functions(g) as f64 / 10f64.powf(exponent),
        "unique-xor" => space::of_unit(HashKind::Matrix, g) as f64 / 10f64.powf(exponent),
        unit => space::of_unit(hash_kind(unit)?, g) as f64 / 10f64.powf(exponent),
    };
    Ok(numbers([("functions", functions)]))
}

/// The size of the exhaustive search of section 5.1.
fn ranges(_: &Inputs) -> Result<Numbers> {
    let pairs = all_pairs(fermi()?);
    let largest = |of: fn(&spadkit_mapping::search::bitvec::Pair) -> u32| {
        f64::from(pairs.iter().map(of).max().unwrap_or(0))
    };
    let all: u64 = pairs.iter().map(|p| u64::from(p.masks)).sum();
    Ok(numbers([
        ("largest k1", largest(|p| p.k1)),
        ("largest k2", largest(|p| p.k2)),
        ("largest mask", largest(|p| p.masks) - 1.0),
        ("configurations", all as f64),
    ]))
}

/// The size that remains for the `strides` of a kernel.
fn pruned(inputs: &Inputs) -> Result<Numbers> {
    let strides: Vec<u64> = list(inputs, "strides")?;
    let (g, threads) = (fermi()?, inputs.number("threads")? as u32);
    let pairs = pruned_pairs(g, &strides, threads);
    let count = |pairs: &[spadkit_mapping::search::bitvec::Pair]| -> f64 {
        pairs.iter().map(|p| f64::from(p.masks)).sum()
    };
    let mut k1: Vec<u32> = pairs.iter().map(|p| p.k1).collect();
    k1.dedup();
    let k2 = || pairs.iter().map(|p| f64::from(p.k2));
    Ok(numbers([
        ("configurations", count(&pairs)),
        ("percent", 100.0 * count(&pairs) / count(&all_pairs(g))),
        (
            "smallest k1",
            f64::from(k1.iter().copied().min().unwrap_or(0)),
        ),
        (
            "largest k1",
            f64::from(k1.iter().copied().max().unwrap_or(0)),
        ),
        ("smallest k2", k2().fold(f64::INFINITY, f64::min)),
        ("largest k2", k2().fold(0.0, f64::max)),
    ]))
}

/// The `step`-th address bit that a heuristic takes, for `strides` of 32
/// threads or for one access to `addresses`.
fn heuristic(inputs: &Inputs) -> Result<Numbers> {
    let accesses = accesses(inputs)?;
    // The least geometry that has the example's bits: m bits are taken.
    let g = Geometry::new(14, inputs.number("bits")? as u32)?;
    let profile = profile(&accesses);
    let problem = Problem::new(&profile, g);
    let sets = of_accesses(accesses.into_iter(), g);
    let heuristic = match inputs.word("method")? {
        "givargis" => Heuristic::Givargis,
        _ => Heuristic::MinimumImbalance,
    };
    let found = heuristic.search(&problem, &sets, Candidates::Bits, Selection::Allowed)?;
    let text = found.spec.to_string();
    let bits = text.split_once(':').map_or("", |(_, bits)| bits);
    let step = inputs.number("step")? as usize;
    let bit: Option<f64> = bits.split(',').nth(step - 1).and_then(|b| b.parse().ok());
    Ok(numbers([("bit", bit.unwrap_or(f64::NAN))]))
}

/// Histogram and imbalance of address bit `bit` of `addresses`, after the bits
/// `taken` (Fig. 6); how many bins are the `printed` ones.
fn one_imbalance(inputs: &Inputs) -> Result<Numbers> {
    let addresses: Vec<u32> = list(inputs, "addresses")?;
    let taken: Vec<u32> = list(inputs, "taken")?;
    let printed: Vec<u32> = list(inputs, "printed")?;
    let bit = inputs.number("bit")? as u32;
    // Position (A_bit, b_n-1, ..., b_0): the new bit is the highest.
    let places: Vec<u32> = taken.iter().copied().chain([bit]).collect();
    let mut bins = vec![0; 1 << places.len()];
    for address in &addresses {
        let of = |(i, place): (usize, &u32)| (address >> place & 1) << i;
        let at: u32 = places.iter().enumerate().map(of).sum();
        bins[at as usize] += 1;
    }
    let equal = bins.iter().zip(&printed).filter(|(a, b)| a == b).count();
    let rows: Vec<u32> = taken.iter().map(|b| 1 << b).collect();
    let sets: Vec<ReferenceSet> = of_accesses(std::iter::once(addresses), fermi()?);
    Ok(numbers([
        ("bins", equal as f64),
        ("imbalance", imbalance::of_row(&sets, &rows, 1 << bit)),
    ]))
}

/// The address bits of bank bit `bank` under `mapping`, as a mask.
fn bank_bits(inputs: &Inputs) -> Result<Numbers> {
    let spec = HashSpec::from_str(inputs.word("mapping")?)?;
    let bank = inputs.number("bank")? as usize;
    let row = match BankFunction::new(&spec, fermi()?)? {
        BankFunction::Linear(matrix) => matrix.rows().get(bank).copied(),
        _ => None,
    };
    Ok(numbers([("address bits", row.map_or(f64::NAN, f64::from))]))
}

/// Single bits and pairs of the lowest `bits` address bits (Table 3).
fn pairs(inputs: &Inputs) -> Result<Numbers> {
    let below = 1u32 << inputs.number("bits")? as u32;
    let rows = Candidates::Pairs.rows(fermi()?);
    let count = rows.iter().filter(|&&row| row < below).count();
    Ok(numbers([("combinations", count as f64)]))
}

/// One warp access: thread t requests element y · (t / width) + x · (t mod
/// width) of 4 bytes (Eq. 4); with `way`, only the first `way` threads do, and
/// the others request element t (section 2). Banks are `bank_bytes` wide.
fn pattern(inputs: &Inputs) -> Result<Numbers> {
    let number = |name: &str| inputs.number(name).map(|n| n as u32);
    let (x, y, width) = (number("x")?, number("y")?, number("width")?);
    let (way, lanes) = (number("way").unwrap_or(u32::MAX), number("lanes")?);
    let (banks, bank_words) = (number("banks")?, number("bank_bytes")? / 4);
    let element = |t: u32| {
        if t < way {
            y * (t / width) + x * (t % width)
        } else {
            t
        }
    };
    let elements: Vec<u32> = (0..lanes).map(element).collect();
    let words: Vec<u32> = elements.iter().map(|e| e / bank_words).collect();
    let degree = profile(&[words]).count(|word| word % banks).max_degree;
    let access = Access {
        warp: 0,
        pc: 0,
        op: Op::Load,
        addrs: elements.iter().copied().map(Some).collect(),
        bytes: 4,
        increment: false,
        aggregated: false,
        extra: Default::default(),
    };
    let pattern = Pattern::of(&access, width).unwrap_or(Pattern::Random);
    let mut strides = pattern.strides().map(|s| s as f64);
    let printed: Vec<u32> = list(inputs, "printed").unwrap_or_default();
    let equal = printed.iter().zip(&elements).filter(|(a, b)| a == b);
    let class = inputs.word("class").unwrap_or_default();
    Ok(numbers([
        ("degree", f64::from(degree)),
        ("conflicts", f64::from(degree - 1)),
        ("addresses as printed", equal.count() as f64),
        (
            "class as stated",
            f64::from(u8::from(class == name_of(pattern.class()))),
        ),
        ("stride in x", strides.next().unwrap_or(0.0)),
        ("stride in y", strides.next().unwrap_or(0.0)),
    ]))
}

/// The percentage that a word of padding after each row of all `banks` adds to an array
/// of `words`. A hash permutes the words of a row, and adds none.
fn padded(inputs: &Inputs) -> Result<Numbers> {
    let (words, banks) = (inputs.number("words")?, inputs.number("banks")?);
    let last = words - 1.0;
    let with = last + (last / banks).floor() + 1.0;
    Ok(numbers([("added", 100.0 * (with / words - 1.0))]))
}

/// The paper's name of a class.
fn name_of(class: Class) -> &'static str {
    match class {
        Class::Linear => "linear",
        Class::Stride => "stride",
        Class::Block => "block",
        Class::Random => "random",
    }
}

/// Instances of a unit in Table 4: 32 banks of 16 SMs.
const INSTANCES: f64 = 512.0;

/// Numbers derived from the output of `synth` for a unit, alone and relative to the unit
/// of the configuration.
fn synthesised(inputs: &Inputs) -> Result<Numbers> {
    let super::Point { work, with, .. } = inputs.point;
    let own = of_synthesis(&work.numbers);
    let base = of_synthesis(&with.numbers);
    let over = base.iter().filter_map(|(name, base)| {
        let over = own.get(name)? / base;
        Some((format!("{name}, over the least"), over))
    });
    let over: Vec<(String, f64)> = over.collect();
    Ok(Numbers {
        values: own.into_iter().chain(over).collect(),
        ..Numbers::default()
    })
}

fn of_synthesis(printed: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    let mut add = |name: String, value: f64| values.insert(name, value);
    for (name, scale, value) in [("area_um2", 1e-6, "area"), ("power_mw", 1e-3, "power")] {
        let Some(one) = printed.get(name) else {
            continue;
        };
        add(value.to_owned(), INSTANCES * scale * one);
        for (period, other) in at_periods(printed, name) {
            let clock = 1000.0 / period;
            add(
                format!("{value} added at {clock:.1} GHz"),
                100.0 * (other / one - 1.0),
            );
        }
    }
    let mut least = f64::INFINITY;
    for (period, delay) in at_periods(printed, "sta_delay_ps") {
        let clock = 1000.0 / period;
        add(format!("latency at {clock:.1} GHz"), delay);
        add(
            format!("latency over the period at {clock:.1} GHz"),
            delay / period,
        );
        least = least.min(delay);
    }
    if least.is_finite() {
        add("least latency".to_owned(), least);
    }
    values
}

/// The target periods in ps for which the file has `NAME at PERIOD`, and what `synth`
/// prints for them.
fn at_periods<'a>(
    printed: &'a BTreeMap<String, f64>,
    name: &'a str,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    printed.iter().filter_map(move |(key, value)| {
        let period = key.strip_prefix(name)?.strip_prefix(" at ")?;
        Some((period.parse().ok()?, *value))
    })
}

/// The warp accesses of an example: `strides` of 32 threads, or `addresses`.
fn accesses(inputs: &Inputs) -> Result<Vec<Vec<u32>>> {
    if let Ok(addresses) = list(inputs, "addresses") {
        return Ok(vec![addresses]);
    }
    let strides: Vec<u32> = list(inputs, "strides")?;
    let access = |s: u32| (0..32).map(|t| s * t).collect();
    Ok(strides.into_iter().map(access).collect())
}

fn profile(accesses: &[Vec<u32>]) -> ConflictProfile {
    let lanes = |a: &Vec<u32>| a.iter().copied().map(Some).collect();
    let accesses: Vec<Vec<Option<u32>>> = accesses.iter().map(lanes).collect();
    ConflictProfile::of_accesses(accesses.iter().map(Vec::as_slice), 32)
}

/// Whole numbers, separated by spaces.
fn list<T: FromStr>(inputs: &Inputs, name: &str) -> Result<Vec<T>> {
    let text = inputs.word(name)?;
    let numbers = text.split_whitespace().map(str::parse);
    numbers.collect::<std::result::Result<_, _>>().map_err(|_| {
        Error::usage(
            format!("{name} '{text}'"),
            "expected whole numbers with spaces between them",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faster_target_adds_percents_of_area_and_power() {
        let printed = [
            ("area_um2", 80.0),
            ("area_um2 at 200", 100.0),
            ("power_mw", 2.0),
            ("power_mw at 400", 1.0),
            ("sta_delay_ps at 200", 150.0),
        ];
        let printed = printed.map(|(k, v)| (k.to_owned(), v)).into();
        let values = of_synthesis(&printed);
        assert!((values["area added at 5.0 GHz"] - 25.0).abs() < 1e-9);
        assert!((values["power added at 2.5 GHz"] + 50.0).abs() < 1e-9);
        assert_eq!(values["latency over the period at 5.0 GHz"], 0.75);
        assert!(!values.contains_key("area added at 2.5 GHz"));
    }
}
