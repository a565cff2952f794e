//! MEM0: the arbiter, and its outputs for each group.

use super::stages::{Group, Stage, ToBanks};
use super::{Parts, Ports, Request, Sizes, is_one_of};
use crate::codes::op;
use crate::module::{Module, top};
use crate::params::Params;
use crate::signal::{Bits, Signal};
use crate::unit::UnitBuilder;

/// The request in the arbiter, and the group that it serves.
pub(super) fn mem0(
    u: &UnitBuilder,
    p: &Params,
    io: &Ports,
    parts: &Parts,
    request: Request,
) -> (Group, ToBanks) {
    u.section("MEM0: the request in the arbiter.");
    let valid = u.wire("mem0_valid", 1);
    let mut registers = Stage::new(u, 0, valid);
    let op = registers.holds("op", io.req_op);
    let mask = registers.holds("mask", io.req_mask);
    let data = registers.holds("data", io.req_data);
    let tag = registers.holds("tag", io.req_tag);
    let error = registers.holds("error", request.refused);
    let locks = (p.LOCKS > 0).then(|| {
        let locking = request.accessing & is_one_of(io.req_op, &[op::LDLK, op::STUL]);
        [
            registers.holds("locking", locking),
            registers.holds("lock", io.req_lock),
        ]
    });
    registers.loaded_when(request.fire);
    let windows = windows(u, p, request.adv, valid, locks);
    let last = u.name("mem0_last", windows.grp_last & windows.last);
    u.assign(io.busy_more, valid & !last);
    u.assign(io.blocked, !request.adv);
    let served = arbitrate(u, io, top(&parts.arbiter), &request, &windows, valid);
    u.note("The banks that a group writes: one bit for all would have to drive every memory.");
    let stores = u.name("mem0_stores", is_one_of(op, &[op::STORE, op::STUL]));
    let bank_write = served.bank_valid.gated(stores);
    let group = Group {
        valid,
        last,
        served: served.lanes,
        bank: served.bank,
        degree: served.degree,
        op,
        mask,
        tag,
        error,
    };
    let to_banks = ToBanks {
        leader: served.leader,
        bank_valid: served.bank_valid,
        bank_write: u.named("mem0_bank_write", io.sizes.banks, bank_write),
        row: served.row,
        data,
        writes: served.writes,
        locks,
        window: windows.number,
    };
    (group, to_banks)
}

/// The windows of the lock unit in which a group stays in MEM0.
struct Windows {
    /// The group is the access's last.
    grp_last: Signal,
    /// The window of this cycle is the group's last.
    last: Signal,
    /// Present if a group has several windows.
    number: Option<Signal>,
}

/// A group that locks stays for several windows.
fn windows(
    u: &UnitBuilder,
    p: &Params,
    adv: Signal,
    valid: Signal,
    locks: Option<[Signal; 2]>,
) -> Windows {
    let several = p.LOCKS > 0 && p.LKG > 1;
    let number = several.then(|| u.register("mem0_window", p.LKW).reset(0));
    let grp_last = u.wire("grp_last", 1);
    let last = match (locks, number) {
        (Some([locking, _]), Some(number)) => {
            let locks = valid & adv & locking;
            u.at_clock().when(locks).next(number, number + 1);
            u.name("last_window", !locking | number.is(p.LKG - 1))
        }
        _ => u.named("last_window", 1, 1),
    };
    Windows {
        grp_last,
        last,
        number,
    }
}

/// The arbiter's outputs for a group.
struct Served {
    lanes: Signal,
    leader: Signal,
    writes: Signal,
    bank_valid: Signal,
    bank: Signal,
    row: Signal,
    degree: Signal,
}

fn arbitrate(
    u: &UnitBuilder,
    io: &Ports,
    arbiter: &Module,
    request: &Request,
    windows: &Windows,
    valid: Signal,
) -> Served {
    let Sizes {
        l,
        m,
        banks,
        r,
        be,
        dg,
        ..
    } = io.sizes;
    u.paragraph();
    let [lanes, leader] = u.wires(["mem0_served", "mem0_leader"], l);
    let served = Served {
        lanes,
        leader,
        writes: u.wire("mem0_writes", l * be),
        bank_valid: u.wire("mem0_bank_valid", banks),
        bank: u.wire("mem0_bank", l * m),
        row: u.wire("mem0_row", l * r),
        degree: u.wire("mem0_degree", dg),
    };
    u.instance(arbiter, "arbiter")
        .same([io.clk, io.rst, io.req_valid, io.req_ready, io.req_mask])
        .port("req_access", request.accessing)
        .same([io.req_bank, io.req_row])
        .port("req_be", request.stored)
        .port("adv", request.adv & windows.last)
        .port("grp_valid", valid)
        .same([windows.grp_last])
        .port("grp_served", served.lanes)
        .port("grp_leader", served.leader)
        .port("grp_writes", served.writes)
        .port("grp_bank_valid", served.bank_valid)
        .port("grp_bank", served.bank)
        .port("grp_row", served.row)
        .port("grp_degree", served.degree)
        .done();
    served
}
