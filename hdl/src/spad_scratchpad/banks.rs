//! The banks of the scratchpad, the lock unit, and the crossbar to and from the lanes.

use super::stages::{Group, ToBanks};
use super::{Answer, Parts, Ports, Sizes, is_one_of};
use crate::codes::op;
use crate::module::top;
use crate::params::Params;
use crate::signal::{Bits, Operand, Signal};
use crate::unit::UnitBuilder;

/// The ports of all banks.
pub(super) struct Banks {
    row: Signal,
    wdata: Signal,
    wbe: Signal,
    pub(super) rdata: Signal,
    /// A group accesses them in this cycle, and it reads.
    pub(super) access: Signal,
    pub(super) read: Signal,
}

pub(super) fn banks(
    u: &UnitBuilder,
    p: &Params,
    io: &Ports,
    parts: &Parts,
    adv: Signal,
    group: Group,
    to_banks: &ToBanks,
) -> Banks {
    let Sizes {
        banks,
        r,
        rw,
        d,
        be,
        ..
    } = io.sizes;
    u.section("The banks.");
    let reason = "rows beyond the capacity are refused before";
    let row = if p.RW < p.R {
        u.wire_in_part("bank_row", banks * r, reason)
    } else {
        u.wire("bank_row", banks * r)
    };
    let wdata = u.wire("bank_wdata", banks * d);
    let wbe = u.wire("bank_wbe", banks * be);
    let rdata = u.wire("bank_rdata", banks * d);
    let access = u.name("access", group.valid & adv);
    let read = u.name("read", is_one_of(group.op, &[op::LOAD, op::LDLK]));
    u.generate(|| {
        u.each("bank", io.j, (0, banks), |j| {
            u.instance(top(&parts.bank_ram), "ram")
                .same([io.clk, io.rst])
                .port("en", access & to_banks.bank_valid.at(j))
                .port("we", to_banks.bank_write.at(j))
                .port("be", wbe.part(j * be, be))
                .port("row", row.part(j * r, rw))
                .port("wdata", wdata.part(j * d, d))
                .port("dout", rdata.part(j * d, d))
                .done();
        });
    });
    Banks {
        row,
        wdata,
        wbe,
        rdata,
        access,
        read,
    }
}

/// The lock unit: returns the lanes of the access that have taken their lock so far.
pub(super) fn locks(
    u: &UnitBuilder,
    p: &Params,
    io: &Ports,
    parts: &Parts,
    banks: &Banks,
    group: Group,
    to_banks: &ToBanks,
) -> Option<Signal> {
    let l = io.sizes.l;
    let [locking, lock] = to_banks.locks?;
    u.section(
        "The lock bits are read and written in the cycle of the data. `success_q` has the \
         lanes of the access's earlier groups and windows.",
    );
    let success = u.register("success", l).reset(0);
    let lk_success = u.wire("lk_success", l);
    let reason = "for formal; refused operations never get here";
    let lk_error = u.wire_in_part("lk_error", 1, reason);
    let lk_held = u.wire_in_part("lk_held", p.LOCKS, reason);
    let window: Operand = to_banks.window.map_or(0.into(), Operand::from);
    u.instance(top(&parts.lock_unit), "locks")
        .same([io.clk, io.rst])
        .port("lk_valid", banks.access & locking)
        .port("lk_win", window)
        .port("lk_op", group.op)
        .port("lk_req", to_banks.leader)
        .port("lk_addr", lock)
        .same([lk_success, lk_error, lk_held])
        .done();
    let succeeded = u.named("succeeded", l, success | lk_success);
    u.at_clock()
        .when(banks.access)
        .next(success, succeeded.gated(!group.last));
    Some(succeeded)
}

/// The words of the banks by lane.
pub(super) fn crossbar(
    u: &UnitBuilder,
    io: &Ports,
    parts: &Parts,
    banks: &Banks,
    from_banks: Group,
    to_banks: &ToBanks,
    answer: &Answer,
) -> Signal {
    let Sizes { l, d, .. } = io.sizes;
    u.section("To the banks, and back to the lanes.");
    let lane_rdata = u.wire("lane_rdata", l * d);
    u.instance(top(&parts.crossbar), "crossbar")
        .port("leader", to_banks.leader)
        .port("lane_bank", from_banks.bank)
        .port("lane_row", to_banks.row)
        .port("lane_data", to_banks.data)
        .port("lane_writes", to_banks.writes)
        .same([banks.row, banks.wdata, banks.wbe])
        .port("sel_valid", answer.group.served)
        .port("sel_bank", answer.group.bank)
        .port("bank_rdata", answer.rdata)
        .same([lane_rdata])
        .done();
    lane_rdata
}
