//! The crossbars: requests from lanes to banks, read data back.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal};
use crate::size::Size;
use crate::spad_pick;
use crate::unit::{Index, Unit};

/// Emits `spad_crossbar` after its selector.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let u = Unit::new(doc(p));
    let io = Ports::new(&u, p);
    let Sizes { l, be, .. } = io.sizes;
    u.paragraph();
    u.note("The bytes of a word apart: byte k of all lanes, and the lanes that write it.");
    let bytes = u.wire("bytes", be * l * 8);
    let writes = u.wire("writes", be * l);
    let indices = u.indices(["i", "j", "k"]);
    u.generate(|| {
        bytes_apart(&u, &io, bytes, writes, indices);
        to_banks(&u, &io, &pick, bytes, writes, indices);
        to_lanes(&u, &io, &pick, indices);
    });
    let module = u.emit()?;
    Ok(vec![pick, module])
}

/// Sizes, by their names in the contract.
#[derive(Clone, Copy)]
struct Sizes {
    l: Size,
    m: Size,
    banks: Size,
    r: Size,
    d: Size,
    be: Size,
}

/// The ports, by their names.
struct Ports {
    sizes: Sizes,
    leader: Signal,
    lane_bank: Signal,
    lane_row: Signal,
    lane_data: Signal,
    lane_writes: Signal,
    bank_row: Signal,
    bank_wdata: Signal,
    bank_wbe: Signal,
    sel_valid: Signal,
    sel_bank: Signal,
    bank_rdata: Signal,
    lane_rdata: Signal,
}

impl Ports {
    fn new(u: &Unit, p: &Params) -> Self {
        let [l, m, banks, r, d, be] = u.sizes(p, ["L", "m", "B", "R", "D", "BE"]);
        let leader = "the group's leaders, at most one per bank";
        let writes =
            "bytes each lane writes, BE bits per lane; a byte of a bank is of one lane at most";
        let row = "row of the bank's leader; 0 if unused";
        let stored = "store data; 0 where nothing is written";
        let routed = "response: lanes to route to";
        let read = "read data, D bits per lane; else 0";
        Ports {
            sizes: Sizes {
                l,
                m,
                banks,
                r,
                d,
                be,
            },
            leader: u.input("leader", l, leader),
            lane_bank: u.input("lane_bank", l * m, "bank of each lane, m bits"),
            lane_row: u.input("lane_row", l * r, "row, R bits per lane"),
            lane_data: u.input("lane_data", l * d, "store data, D bits per lane"),
            lane_writes: u.input("lane_writes", l * be, writes),
            bank_row: u.output("bank_row", banks * r, row),
            bank_wdata: u.output("bank_wdata", banks * d, stored),
            bank_wbe: u.output("bank_wbe", banks * be, "bytes that are written"),
            sel_valid: u.input("sel_valid", l, routed),
            sel_bank: u.input("sel_bank", l * m, "response: bank of each, m bits"),
            bank_rdata: u.input("bank_rdata", banks * d, "read data, D bits per bank"),
            lane_rdata: u.output("lane_rdata", l * d, read),
        }
    }
}

/// `bytes` and `writes`: byte k of all lanes, and the lanes that write it.
fn bytes_apart(u: &Unit, io: &Ports, bytes: Signal, writes: Signal, [i, _, k]: [Index; 3]) {
    let Sizes { l, d, be, .. } = io.sizes;
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
    u: &Unit,
    io: &Ports,
    pick: &Module,
    bytes: Signal,
    writes: Signal,
    [i, j, k]: [Index; 3],
) {
    let Sizes {
        l,
        m,
        banks,
        r,
        d,
        be,
    } = io.sizes;
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
fn to_lanes(u: &Unit, io: &Ports, pick: &Module, [i, j, _]: [Index; 3]) {
    let Sizes { l, m, banks, d, .. } = io.sizes;
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
        parameters: p.text(&["n", "m", "L", "B", "R", "D", "BE"]),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    }
}
