//! The crossbars: requests from lanes to banks, read data back.

use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Signal};
use crate::spad_pick;
use crate::unit::{Index, UnitBuilder};

/// Emits `spad_crossbar` after its selector.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let u = UnitBuilder::new(doc(p));
    let l = u.machine_parameter(p, "L", Machine::LANES);
    let m = u.machine_parameter(p, "m", 1..=6);
    u.machine_parameter(p, "R", 1..=64);
    let bytes = u.machine_parameter(p, "DB", 1..=128);
    u.size("B", 1usize << m);
    u.size("D", bytes * 8);
    let s = &u.all_sizes(p);
    let io = Ports::new(&u, s);
    u.paragraph();
    u.note("Each byte position by itself: byte k of all lanes, and the lanes that write it.");
    let bytes = u.wire("bytes", s.DB * l * 8);
    let writes = u.wire("writes", s.DB * l);
    let indices = u.indices(["i", "j", "k"]);
    u.generate(|| {
        bytes_apart(&u, s, &io, bytes, writes, indices);
        to_banks(&u, s, &io, &pick, bytes, writes, indices);
        to_lanes(&u, s, &io, &pick, indices);
    });
    let module = u.emit()?;
    Ok(vec![pick, module])
}

ports! {
    /// The ports, by their names.
    Ports(s) {
        leader: input(s.L, "the group's leaders, at most one per bank"),
        lane_bank: input(s.L * s.m, "bank of each lane, m bits"),
        lane_row: input(s.L * s.R, "row, R bits per lane"),
        lane_data: input(s.L * s.D, "store data, D bits per lane"),
        lane_writes: input(
            s.L * s.DB,
            "bytes each lane writes, DB bits per lane; a byte of a bank is of one lane at most"
        ),
        bank_row: output(s.B * s.R, "row of the bank's leader; 0 if unused"),
        bank_wdata: output(s.B * s.D, "store data; 0 where nothing is written"),
        bank_wbe: output(s.B * s.DB, "bytes that are written"),
        sel_valid: input(s.L, "response: lanes to route to"),
        sel_bank: input(s.L * s.m, "response: bank of each, m bits"),
        bank_rdata: input(s.B * s.D, "read data, D bits per bank"),
        lane_rdata: output(s.L * s.D, "read data, D bits per lane; else 0"),
    }
}

/// `bytes` and `writes`: byte k of all lanes, and the lanes that write it.
fn bytes_apart(
    u: &UnitBuilder,
    s: &Sizes,
    io: &Ports,
    bytes: Signal,
    writes: Signal,
    [i, _, k]: [Index; 3],
) {
    let Sizes {
        L: l, D: d, DB: be, ..
    } = *s;
    u.each("of_byte", k, (0, be), |k| {
        u.each("of_lane", i, (0, l), |i| {
            let byte = io.lane_data.part(i * d + k * 8, 8);
            u.assign(bytes.part((k * l + i) * 8, 8), byte);
            u.assign(writes.at(k * l + i), io.lane_writes.at(i * be + k));
        });
    });
}

/// Rows and bytes of the lanes to each bank.
fn to_banks(
    u: &UnitBuilder,
    s: &Sizes,
    io: &Ports,
    pick: &Module,
    bytes: Signal,
    writes: Signal,
    [i, j, k]: [Index; 3],
) {
    let Sizes {
        L: l,
        m,
        B: banks,
        R: r,
        D: d,
        DB: be,
        ..
    } = *s;
    u.each("to_bank", j, (0, banks), |j| {
        let here = u.wire("here", l);
        u.each("lane_here", i, (0, l), |i| {
            u.assign(here.at(i), io.lane_bank.part(i * m, m).is(j));
        });
        let row = io.bank_row.part(j * r, r);
        spad_pick::instance(u, pick, "row_of", io.leader & here, io.lane_row, row);
        u.each("bank_byte", k, (0, be), |k| {
            let from = u.named("from", l, writes.part(k * l, l) & here);
            u.assign(io.bank_wbe.at(j * be + k), from.any());
            let bytes = bytes.part(k * l * 8, l * 8);
            let byte = io.bank_wdata.part(j * d + k * 8, 8);
            spad_pick::instance(u, pick, "byte_of", from, bytes, byte);
        });
    });
}

/// Words of the banks to each lane.
fn to_lanes(u: &UnitBuilder, s: &Sizes, io: &Ports, pick: &Module, [i, j, _]: [Index; 3]) {
    let Sizes {
        L: l,
        m,
        B: banks,
        D: d,
        ..
    } = *s;
    u.each("to_lane", i, (0, l), |i| {
        let from = u.wire("from", banks);
        u.each("bank_here", j, (0, banks), |j| {
            let here = io.sel_valid.at(i) & io.sel_bank.part(i * m, m).is(j);
            u.assign(from.at(j), here);
        });
        let word = io.lane_rdata.part(i * d, d);
        spad_pick::instance(u, pick, "read_of", from, io.bank_rdata, word);
    });
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_crossbar".into(),
        summary: "rows and store data from lanes to banks, read data from banks to lanes. All \
                  served lanes of a bank are on one word, and each byte of it is written by one \
                  of them at most."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "D", "DB"]),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    }
}
