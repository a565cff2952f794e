//! The scratchpad behind a request/grant/valid port per lane, with the hash of
//! the lanes.

use crate::bus::{self, Bus};
use crate::codes::{lock_hash, op};
use crate::hashed_lanes::Lanes;
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::property::stable;
use crate::signal::{Bits, Expr, Operand, code, concat, when};
use crate::unit::Unit;

/// Emits `spad_tcdm` behind its parts.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine)?;
    let u = Unit::new(doc(p));
    let [l, m, r, lk, n] = u.sizes(p, ["L", "m", "R", "LK", "n"]);
    let [d, be] = u.sizes(p, ["D", "BE"]);
    let [clk, rst] = u.clocked();
    let writing = bus.lanes.write_ports(&u, [clk, rst]);
    let tcdm_req = u.input("tcdm_req", l, "the lane asks");
    let about = "a lane that asks is taken at the end of this cycle; the same for all lanes";
    let tcdm_gnt = u.output("tcdm_gnt", l, about);
    let tcdm_add = u.input("tcdm_add", l * n, "word address, n bits per lane");
    let tcdm_wen = u.input("tcdm_wen", l, "1 read, 0 write");
    let tcdm_wdata = u.input("tcdm_wdata", l * d, "data, D bits per lane");
    let about = "byte enables of a write, BE bits per lane";
    let tcdm_be = u.input("tcdm_be", l * be, about);
    let about = "the lane's oldest request is answered; there is no ready";
    let r_valid = u.output_register("tcdm_r_valid", l, about).reset(0);
    let about = "the word read; else 0";
    let r_rdata = u.output_register("tcdm_r_rdata", l * d, about).reset(0);
    let about = "the address is beyond the capacity: nothing was accessed";
    let r_opc = u.output_register("tcdm_r_opc", l, about).reset(0);
    let idle = u.output("idle", 1, "nothing is inside");
    // Everything comes from registers.
    u.outputs_depend_on(|_| Vec::new());

    u.section("The lanes that ask in one cycle are a batch.");
    let batch_ready = u.wire("batch_ready", 1);
    let [head_valid, head_done] = u.wires(["head_valid", "head_done"], 1);
    let [head_req, head_wen] = u.wires(["head_req", "head_wen"], l);
    let head_addr = u.wire("head_addr", l * n);
    let head_data = u.wire("head_data", l * d);
    let head_be = u.wire("head_be", l * be);
    let batch = [tcdm_be, tcdm_wdata, tcdm_add, tcdm_wen, tcdm_req];
    let batch = concat(batch.map(Expr::from));
    u.instance(&bus.skid, "batches")
        .parameter("WIDTH", u.size("BATCH", batch.width))
        .parameter("CLEAR", 0.into())
        .same([clk, rst])
        .port("in_valid", tcdm_req.any())
        .port("in_data", batch)
        .port("in_ready", batch_ready)
        .port("out_valid", head_valid)
        .port(
            "out_data",
            concat([head_be, head_data, head_addr, head_wen, head_req].map(Expr::from)),
        )
        .port("out_ready", head_done)
        .done();
    u.assign(tcdm_gnt, batch_ready.copies(l));

    u.paragraph();
    let head_bank = u.wire("head_bank", l * m);
    let head_row = u.wire("head_row", l * r);
    let reason = "no operation of this port takes locks";
    let head_lock = u.wire_in_part("head_lock", l * lk, reason);
    let places = Lanes {
        valid: head_valid,
        lock_hash: code(&lock_hash::FIELD, lock_hash::NONE).into(),
        addr: head_addr,
        bank: head_bank,
        row: head_row,
        lock: head_lock,
    };
    let i = bus.lanes.instances(&u, p, &writing, places);

    u.section(
        "Its reads are one access, its writes the next; lanes beyond the capacity are answered \
         behind both. A part without lanes takes no cycle.",
    );
    let did_loads = u.register("did_loads", 1).reset(0);
    let did_stores = u.register("did_stores", 1).reset(0);
    // There are row numbers without a row.
    let beyond = if p.ROWS == 1 << p.R {
        u.named("beyond", l, 0)
    } else {
        let beyond = u.wire("beyond", l);
        u.generate(|| {
            u.each("range", i, (0, l), |i| {
                let row = head_row.part(i * r, r);
                u.assign(beyond.at(i), head_req.at(i) & row.at_least(p.ROWS));
            });
        });
        beyond
    };
    let loads = u.name("loads", head_req & !beyond & head_wen);
    let stores = u.name("stores", head_req & !beyond & !head_wen);
    let loads_left = u.name("loads_left", loads.any() & !did_loads);
    let stores_left = u.name("stores_left", stores.any() & !did_stores);
    let errors_left = u.name("errors_left", beyond.any());
    let first = |loads: Operand, stores: Operand, errors: Operand| {
        let first = when(loads_left, loads).when(stores_left, stores);
        first.otherwise(errors)
    };
    let part = u.name("part", first(loads.into(), stores.into(), beyond.into()));
    let operation = |value| code(&op::FIELD, value).into();
    let [load, store, error] = [op::LOAD, op::STORE, op::UNSUPPORTED].map(operation);
    let part_op = u.name("part_op", first(load, store, error));
    let alone = !stores_left & !errors_left;
    let last = when(loads_left, alone).otherwise(!(stores_left & errors_left));
    let last = u.name("last", last);

    u.paragraph();
    let sp_req_ready = u.wire("sp_req_ready", 1);
    let goes = u.name("goes", head_valid & sp_req_ready);
    u.assign(head_done, last & sp_req_ready);
    let with_stores = stores_left & !loads_left;
    u.at_clock()
        .when(goes)
        .next(did_loads, !last & (did_loads | loads_left))
        .next(did_stores, !last & (did_stores | with_stores));

    u.paragraph();
    let unread = |name, width| bus::unread(&u, name, width);
    let resp_op = unread("sp_resp_op", 3);
    let resp_tag = unread("sp_resp_tag", p.TGW);
    let resp_success = unread("sp_resp_success", p.L);
    let resp_degree = unread("sp_resp_degree", p.DG);
    let stages = unread("sp_stages", p.MS - 1);
    let busy_more = unread("sp_busy_more", 1);
    let blocked = unread("sp_blocked", 1);
    let resp_valid = u.wire("sp_resp_valid", 1);
    let resp_mask = u.wire("sp_resp_mask", l);
    let resp_data = u.wire("sp_resp_data", l * d);
    let resp_error = u.wire("sp_resp_error", 1);
    u.instance(top(&bus.scratchpad), "scratchpad")
        .same([clk, rst])
        .port("req_valid", head_valid)
        .port("req_ready", sp_req_ready)
        .port("req_op", part_op)
        .port("req_mask", part)
        .port("req_bank", head_bank)
        .port("req_row", head_row)
        .port("req_lock", 0)
        .port("req_data", head_data)
        .port("req_be", head_be)
        .port("req_tag", 0)
        .port("resp_valid", resp_valid)
        .port("resp_ready", 1)
        .port("resp_op", resp_op)
        .port("resp_mask", resp_mask)
        .port("resp_tag", resp_tag)
        .port("resp_data", resp_data)
        .port("resp_success", resp_success)
        .port("resp_error", resp_error)
        .port("resp_degree", resp_degree)
        .port("stages", stages)
        .port("busy_more", busy_more)
        .port("blocked", blocked)
        .done();

    u.section("The answers, and the accesses inside the scratchpad.");
    u.at_clock()
        .next(r_valid, resp_mask)
        .next(r_rdata, resp_data)
        .next(r_opc, resp_mask & resp_error.copies(l));
    let count = bus::inside(&u, goes, resp_valid);
    u.assign(idle, !head_valid & count.is(0) & !r_valid.any());
    u.assertions(|| {
        u.about("Rules for the neighbours, checked in simulation.");
        u.generate(|| {
            u.each("asks", i, (0, l), |i| {
                let waits = u.register("waits", 1).reset(0);
                u.at_clock().next(waits, tcdm_req.at(i) & !tcdm_gnt.at(i));
                let kept = stable([
                    tcdm_wen.at(i),
                    tcdm_add.part(i * n, n),
                    tcdm_wdata.part(i * d, d),
                    tcdm_be.part(i * be, be),
                ]);
                u.property(
                    "ask_held",
                    waits,
                    tcdm_req.at(i) & kept,
                    "a lane's request changes before it is granted",
                );
            });
        });
        let message = "a hash is written with a request inside";
        bus.lanes.writes_are_idle(&u, &writing, idle, message);
    });
    let module = u.emit()?;
    Ok(bus.modules_of(module))
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_tcdm".into(),
        summary: "the scratchpad behind a request/grant/valid port per lane. The lanes that ask \
                  in one cycle are granted together; their reads are one access, their writes \
                  another one behind it. Answers come in the order of a lane's requests. No input \
                  has a combinational path to an output."
            .into(),
        parameters: p.text(&["n", "m", "L", "D", "ROWS", "MS"]),
        timing: "granted in cycle t, lanes of one kind and degree d are answered in \
                 t+1+MS+max(1, d) if nothing is in the way; one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 2 + p.MS as u32,
    }
}
