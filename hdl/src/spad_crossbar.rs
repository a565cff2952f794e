//! The crossbars: requests from lanes to banks, read data back.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::Bits;
use crate::spad_pick;
use crate::unit::Unit;

/// Emits `spad_crossbar` behind its selector.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let u = Unit::new(UnitDoc {
        name: "spad_crossbar".into(),
        summary: "rows and store data from lanes to banks, read data from banks to lanes. All \
                  served lanes of a bank are on one word, and each byte of it is written by one \
                  of them at most."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "D", "BE"]),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    });
    let [l, m, banks, r, d, be] = u.sizes(p, ["L", "m", "B", "R", "D", "BE"]);
    let leader = u.input("leader", l, "the group's leaders, at most one per bank");
    let lane_bank = u.input("lane_bank", l * m, "bank of each lane, m bits");
    let lane_row = u.input("lane_row", l * r, "row, R bits per lane");
    let lane_data = u.input("lane_data", l * d, "store data, D bits per lane");
    let about = "bytes each lane writes, BE bits per lane; a byte of a bank is of one lane at most";
    let lane_writes = u.input("lane_writes", l * be, about);
    let bank_row = u.output(
        "bank_row",
        banks * r,
        "row of the bank's leader; 0 if unused",
    );
    let bank_wdata = u.output(
        "bank_wdata",
        banks * d,
        "store data; 0 where nothing is written",
    );
    let bank_wbe = u.output("bank_wbe", banks * be, "bytes that are written");
    let sel_valid = u.input("sel_valid", l, "response: lanes to route to");
    let sel_bank = u.input("sel_bank", l * m, "response: bank of each, m bits");
    let bank_rdata = u.input("bank_rdata", banks * d, "read data, D bits per bank");
    let lane_rdata = u.output("lane_rdata", l * d, "read data, D bits per lane; else 0");

    u.paragraph();
    u.note("The bytes of a word apart: byte k of all lanes, and the lanes that write it.");
    let bytes = u.wire("bytes", be * l * 8);
    let writes = u.wire("writes", be * l);
    let [i, j, k] = u.indices(["i", "j", "k"]);
    u.generate(|| {
        u.each("of_byte", k, (0, be), |k| {
            u.each("of_lane", i, (0, l), |i| {
                let byte = lane_data.part(i * d + k * 8, 8);
                u.assign(bytes.part((k * l + i) * 8, 8), byte);
                u.assign(writes.at(k * l + i), lane_writes.at(i * be + k));
            });
        });
        u.each("to_bank", j, (0, banks), |j| {
            let here = u.wire("here", l);
            u.each("lane_here", i, (0, l), |i| {
                u.assign(here.at(i), lane_bank.part(i * m, m).is(j));
            });
            let row = bank_row.part(j * r, r);
            spad_pick::instance(&u, &pick, "row_of", leader & here, lane_row, row);
            u.each("bank_byte", k, (0, be), |k| {
                let from = u.named("from", l, writes.part(k * l, l) & here);
                u.assign(bank_wbe.at(j * be + k), from.any());
                let bytes = bytes.part(k * l * 8, l * 8);
                let byte = bank_wdata.part(j * d + k * 8, 8);
                spad_pick::instance(&u, &pick, "byte_of", from, bytes, byte);
            });
        });
        u.each("to_lane", i, (0, l), |i| {
            let from = u.wire("from", banks);
            u.each("bank_here", j, (0, banks), |j| {
                let here = sel_valid.at(i) & sel_bank.part(i * m, m).is(j);
                u.assign(from.at(j), here);
            });
            let word = lane_rdata.part(i * d, d);
            spad_pick::instance(&u, &pick, "read_of", from, bank_rdata, word);
        });
    });
    let module = u.emit()?;
    Ok(vec![pick, module])
}
