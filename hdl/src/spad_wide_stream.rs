//! The scratchpad on one port that takes accesses of 4, 8 and 16 bytes a lane:
//! `spad_phases` in front of `spad_stream`. Its ports are theirs.

use crate::bus;
use crate::machine::Machine;
use crate::module::{Dir, Module, Port, Result, UnitDoc, top};
use crate::params::Params;
use crate::property::stable;
use crate::signal::{Expr, Signal};
use crate::unit::UnitBuilder;
use crate::{spad_phases, spad_stream};
use std::collections::BTreeMap;

/// The signals of the unit by their names.
type Signals = BTreeMap<String, Signal>;

/// Emits `spad_wide_stream`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let stream = spad_stream::emit_unit(p, machine)?;
    let phases = spad_phases::emit_unit(p)?;
    let u = UnitBuilder::new(doc(p));
    let mut signals: Signals = u.clocked().map(|clock| (clock.name.into(), clock)).into();
    let of_stream = top(&stream).ports.iter().filter(|port| configures(port));
    let of_phases = top(&phases).ports.iter().filter(|port| is_outer(port));
    for port in of_stream.chain(of_phases) {
        let signal = match port.dir {
            Dir::In => u.input(&port.name, port.width, &port.doc),
            Dir::Out => u.output(&port.name, port.width, &port.doc),
        };
        signals.insert(port.name.clone(), signal);
    }
    // Everything comes from registers.
    u.outputs_depend_on(|_| Vec::new());
    u.paragraph();
    for port in top(&phases).ports.iter().filter(|port| is_inner(port)) {
        signals.insert(port.name.clone(), u.wire(&port.name, port.width));
    }
    connect(&u, (top(&phases), "phases"), &[], |port| signals[port]);
    u.paragraph();
    let idle = bus::unread(&u, "stream_idle", 1);
    let mask = bus::unread(&u, "stream_mask", p.L);
    let resets = top(&stream).vectors.iter();
    let resets: Vec<Signal> = resets.map(|vector| u.vector(vector)).collect();
    connect(&u, (top(&stream), "stream"), &resets, |port| match port {
        "idle" => idle,
        "rsp_mask" => mask,
        port => signals[&inner_name(port)],
    });
    u.assertions(|| rules(&u, &signals));
    let module = u.emit()?;
    Ok(stream.into_iter().chain(phases).chain([module]).collect())
}

/// An instance of `module`, its vectors set to `resets`, each port at its signal.
fn connect(
    u: &UnitBuilder,
    (module, name): (&Module, &str),
    resets: &[Signal],
    signal: impl Fn(&str) -> Signal,
) {
    let ports = module.ports.iter();
    let instance = u.instance(module, name).vectors(resets);
    ports
        .fold(instance, |i, port| i.port(&port.name, signal(&port.name)))
        .done();
}

/// A port of the stream that this unit passes on: the mapping's.
fn configures(port: &Port) -> bool {
    !["req_", "rsp_", "clk", "rst", "idle"]
        .iter()
        .any(|start| port.name.starts_with(start))
}

/// A port between the two parts, as `spad_phases` calls it.
fn is_inner(port: &Port) -> bool {
    port.name.starts_with("mem_") || port.name.starts_with("ans_")
}

fn is_outer(port: &Port) -> bool {
    !is_inner(port) && !["clk", "rst"].contains(&port.name.as_str())
}

/// The name here of the signal at a port of the stream.
fn inner_name(port: &str) -> String {
    match port.split_once('_') {
        Some(("req", rest)) => format!("mem_{rest}"),
        Some(("rsp", rest)) => format!("ans_{rest}"),
        _ => port.to_owned(),
    }
}

/// The rules that a neighbour must keep: no phase may be in flight, either.
fn rules(u: &UnitBuilder, signals: &Signals) {
    let idle = signals["idle"];
    let message = "the lock hash changes with an access inside";
    let lock_hash = [signals["cfg_lock_hash"]];
    u.property("cfg_static", !idle, stable(lock_hash), message);
    let enables = signals.iter().filter(|(name, _)| name.ends_with("_wr_en"));
    let enables = enables.map(|(_, enable)| Expr::from(*enable));
    if let Some(any) = enables.reduce(|a, b| a | b) {
        let message = "a hash is written with an access inside";
        u.property("writes_idle", any, idle, message);
    }
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_wide_stream".into(),
        summary: "the scratchpad on one valid/ready port in and one out, for accesses of 4, 8 \
                  and 16 bytes a lane, which go in phases as on today's GPUs: spad_phases in \
                  front of spad_stream."
            .into(),
        parameters: p.text(&[
            "n", "m", "L", "D", "ROWS", "SMS", "SWIN", "STG", "PHM", "PHQ",
        ]),
        timing: "an access of one phase takes a cycle more than through spad_stream; then a phase \
                 per cycle, and per conflict"
            .into(),
        paper: "none; microarchitecture/phases.md".into(),
        latency_cycles: 3 + match p.SWIN {
            0 => p.SMS as u32,
            _ => 2,
        },
    }
}
