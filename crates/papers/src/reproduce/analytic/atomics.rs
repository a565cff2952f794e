//! Formulas of the atomics paper.

use super::{Formula, Inputs, numbers};
use crate::reproduce::point::Numbers;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::hash::{BankFunction, HashSpec};
use spadkit_sm::model::LaneHash;
use std::collections::BTreeMap;

pub(super) const FORMULAS: &[Formula] = &[
    ("atomics.latency", latency),
    ("atomics.locks", locks),
    ("atomics.banks", banks),
    ("atomics.gates", gates),
    ("atomics.machine", machine),
    ("atomics.bank", bank),
];

/// Section III: the four states of an atomic without conflicts, and how far
/// that is from the `hardware`'s cycles.
fn latency(inputs: &Inputs) -> Result<Numbers> {
    let retry = inputs.machine()?.path.retry;
    let cycles = f64::from(retry.read + retry.update + retry.write + retry.branch);
    let error = 100.0 * (cycles - inputs.number("hardware")?).abs() / cycles;
    Ok(numbers([("latency", cycles), ("error", error)]))
}

/// Fig. 2: the word addresses of a warp's lanes, and how many of them share the
/// lock with the most (the rounds of the retry loop).
fn locks(inputs: &Inputs) -> Result<Numbers> {
    let machine = inputs.machine()?;
    let mut addr = [0u16; 64];
    let listed: Vec<u16> = addresses(inputs.word("addresses")?)?;
    let lanes = listed.len().min(addr.len());
    addr[..lanes].copy_from_slice(&listed[..lanes]);
    let mut lock = [0u16; 64];
    let mask = u64::MAX >> (64 - lanes as u32).min(63);
    let hash = machine.settings.lock_hash.code();
    LaneHash::new(machine).locks(mask, hash, &addr, &mut lock);
    let mut sharing: BTreeMap<u16, usize> = BTreeMap::new();
    for lock in &lock[..lanes] {
        *sharing.entry(*lock).or_default() += 1;
    }
    let most = sharing.values().max().copied().unwrap_or(0);
    let pairs = sharing.values().filter(|n| **n == 2).count();
    Ok(numbers([
        ("rounds", most as f64),
        ("locks shared by two", pairs as f64),
        ("locks", sharing.len() as f64),
    ]))
}

fn addresses(text: &str) -> Result<Vec<u16>> {
    let each = text.split_whitespace().map(str::parse);
    let all: std::result::Result<Vec<u16>, _> = each.collect();
    match all {
        Ok(list) if !list.is_empty() => Ok(list),
        _ => Err(Error::usage(
            format!("addresses '{text}'"),
            "expected word addresses with spaces between, as \"0 32 1 33\"",
        )),
    }
}

/// Fig. 6: `lanes` addresses from `start` on at `stride`, on a memory whose bank
/// index has `bits` bits: `LSB`, `LSB xor MSB` or `LSB + MSB` of Table I.
fn banks(inputs: &Inputs) -> Result<Numbers> {
    let whole = |name: &str| Ok::<u32, Error>(inputs.number(name)? as u32);
    let (bits, start, stride) = (whole("bits")?, whole("start")?, whole("stride")?);
    let hash = inputs.word("hash")?;
    let mask = (1u32 << bits.min(16)) - 1;
    let mut served: BTreeMap<u32, u32> = BTreeMap::new();
    for lane in 0..whole("lanes")? {
        let address = start + lane * stride;
        let (low, high) = (address & mask, address >> bits.min(16) & mask);
        let bank = match hash {
            "mod" => low,
            "xor" => low ^ high,
            "add" => (low + high) & mask,
            other => {
                return Err(Error::usage(
                    format!("hash '{other}'"),
                    "expected mod, xor or add",
                ));
            }
        };
        *served.entry(bank).or_default() += 1;
    }
    let degree = served.values().max().copied().unwrap_or(0);
    Ok(numbers([
        ("degree", f64::from(degree)),
        ("banks", served.len() as f64),
    ]))
}

/// Section IV: gates, or adders, of hashes of `bits` bits for banks and for
/// locks, and the gates that a signal passes in a ripple-carry adder.
fn gates(inputs: &Inputs) -> Result<Numbers> {
    let bits = inputs.number("bits")?;
    Ok(numbers([
        ("gates", 2.0 * bits),
        ("xor levels", 1.0),
        ("adder levels", 1.0 + 2.0 * (bits - 1.0)),
    ]))
}

/// Numbers of Fig. 3 and section III, as the machine of the figure has them.
fn machine(inputs: &Inputs) -> Result<Numbers> {
    let machine = inputs.machine()?;
    let retry = machine.path.retry;
    let (locks, banks) = (machine.path.locks, machine.parameters().B);
    let bytes = machine.capacity_words * machine.word_bytes();
    Ok(numbers([
        ("read", f64::from(retry.read)),
        ("update", f64::from(retry.update)),
        ("write", f64::from(retry.write)),
        ("branch", f64::from(retry.branch)),
        ("locks", f64::from(locks)),
        ("locks of a bank", f64::from(locks) / banks as f64),
        ("banks", banks as f64),
        ("scratchpad", f64::from(bytes) / 1024.0),
    ]))
}

/// Section V.A: the bank of word `address` under the XOR hash.
fn bank(inputs: &Inputs) -> Result<Numbers> {
    let geometry = inputs.machine()?.geometry;
    let banks = BankFunction::new(&HashSpec::Xor, geometry)?;
    let bank = banks.bank(inputs.number("address")? as u32, geometry);
    Ok(numbers([("bank", f64::from(bank))]))
}
