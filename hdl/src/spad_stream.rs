//! The scratchpad behind one warp-wide valid/ready port, with the hash of the
//! lanes.

use crate::bus::{self, Bus};
use crate::hashed_lanes::Lanes;
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::property::{offer_is_held, stable};
use crate::signal::{Bits, Expr, concat};
use crate::unit::Unit;

/// Emits `spad_stream` behind its parts.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let bus = Bus::new(p, machine)?;
    let u = Unit::new(doc(p));
    let [l, m, r, lk, n] = u.sizes(p, ["L", "m", "R", "LK", "n"]);
    let [d, be] = u.sizes(p, ["D", "BE"]);
    let stg = u.size("STG", tag_bits(p));
    let [tgw, dg] = u.sizes(p, ["TGW", "DG"]);
    let [clk, rst] = u.clocked();
    let writing = bus.lanes.write_ports(&u, [clk, rst]);
    let about = "0 none, 1 XOR, 2 ADD; it and the hash change only while idle";
    let cfg_lock_hash = u.input("cfg_lock_hash", 2, about);
    let req_valid = u.input("req_valid", 1, "an access is offered");
    let req_ready = u.output(
        "req_ready",
        1,
        "the request is accepted at the end of this cycle",
    );
    let req_op = u.input("req_op", 3, "operation");
    let req_mask = u.input("req_mask", l, "active lanes");
    let req_addr = u.input("req_addr", l * n, "word address, n bits per lane");
    let req_data = u.input("req_data", l * d, "data, D bits per lane");
    let about = "byte enables of a store, BE bits per lane";
    let req_be = u.input("req_be", l * be, about);
    let req_tag = u.input("req_tag", stg, "comes back with the answer");
    let about = "an answer is offered; the rest is 0 if not";
    let rsp_valid = u.output("rsp_valid", 1, about);
    let rsp_ready = u.input("rsp_ready", 1, "the response is accepted");
    let rsp_op = u.output("rsp_op", 3, "operation of the access");
    let rsp_mask = u.output("rsp_mask", l, "active lanes of the response");
    let rsp_tag = u.output("rsp_tag", stg, "tag of the response");
    let about = "words read, or the data of a pass, D bits per lane; else 0";
    let rsp_data = u.output("rsp_data", l * d, about);
    let rsp_success = u.output("rsp_success", l, "lanes that took their lock");
    let about = "unsupported operation, or a row beyond the capacity: nothing was accessed";
    let rsp_error = u.output("rsp_error", 1, about);
    let rsp_degree = u.output("rsp_degree", dg, "conflict degree");
    let idle = u.output("idle", 1, "no access is inside");
    // Everything comes from registers.
    u.outputs_depend_on(|_| Vec::new());

    u.paragraph();
    let [head_valid, head_ready] = u.wires(["head_valid", "head_ready"], 1);
    let head_op = u.wire("head_op", 3);
    let head_mask = u.wire("head_mask", l);
    let head_addr = u.wire("head_addr", l * n);
    let head_data = u.wire("head_data", l * d);
    let head_be = u.wire("head_be", l * be);
    let head_tag = u.wire("head_tag", stg);
    let request = [req_tag, req_be, req_data, req_addr, req_mask, req_op];
    let request = concat(request.map(Expr::from));
    u.instance(&bus.skid, "requests")
        .parameter("WIDTH", u.size("REQUEST", request.width))
        .parameter("CLEAR", 0.into())
        .same([clk, rst])
        .port("in_valid", req_valid)
        .port("in_data", request)
        .port("in_ready", req_ready)
        .port("out_valid", head_valid)
        .port(
            "out_data",
            concat([head_tag, head_be, head_data, head_addr, head_mask, head_op].map(Expr::from)),
        )
        .port("out_ready", head_ready)
        .done();

    u.paragraph();
    let head_bank = u.wire("head_bank", l * m);
    let head_row = u.wire("head_row", l * r);
    let head_lock = u.wire("head_lock", l * lk);
    let places = Lanes {
        valid: head_valid,
        lock_hash: cfg_lock_hash.into(),
        addr: head_addr,
        bank: head_bank,
        row: head_row,
        lock: head_lock,
    };
    bus.lanes.instances(&u, p, &writing, places);

    u.paragraph();
    let stages = bus::unread(&u, "sp_stages", p.MS - 1);
    let busy_more = bus::unread(&u, "sp_busy_more", 1);
    let blocked = bus::unread(&u, "sp_blocked", 1);
    let reason = "the scratchpad's tag has room for more";
    let resp_tag = u.wire_in_part("sp_resp_tag", tgw, reason);
    let [resp_valid, resp_ready] = u.wires(["sp_resp_valid", "sp_resp_ready"], 1);
    let resp_op = u.wire("sp_resp_op", 3);
    let resp_mask = u.wire("sp_resp_mask", l);
    let resp_data = u.wire("sp_resp_data", l * d);
    let resp_success = u.wire("sp_resp_success", l);
    let resp_error = u.wire("sp_resp_error", 1);
    let resp_degree = u.wire("sp_resp_degree", dg);
    u.instance(top(&bus.scratchpad), "scratchpad")
        .same([clk, rst])
        .port("req_valid", head_valid)
        .port("req_ready", head_ready)
        .port("req_op", head_op)
        .port("req_mask", head_mask)
        .port("req_bank", head_bank)
        .port("req_row", head_row)
        .port("req_lock", head_lock)
        .port("req_data", head_data)
        .port("req_be", head_be)
        .port("req_tag", head_tag.extended(p.TGW))
        .port("resp_valid", resp_valid)
        .port("resp_ready", resp_ready)
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

    u.paragraph();
    let narrow = [resp_degree, resp_error, resp_success];
    let wide = [resp_data, resp_mask, resp_op];
    let fields = narrow.into_iter().chain(wide).map(Expr::from);
    let answer = concat([resp_tag.low(stg)].into_iter().chain(fields));
    u.instance(&bus.skid, "answers")
        .parameter("WIDTH", u.size("ANSWER", answer.width))
        .parameter("CLEAR", 1.into())
        .same([clk, rst])
        .port("in_valid", resp_valid)
        .port("in_data", answer)
        .port("in_ready", resp_ready)
        .port("out_valid", rsp_valid)
        .port(
            "out_data",
            concat(
                [
                    rsp_tag,
                    rsp_degree,
                    rsp_error,
                    rsp_success,
                    rsp_data,
                    rsp_mask,
                    rsp_op,
                ]
                .map(Expr::from),
            ),
        )
        .port("out_ready", rsp_ready)
        .done();

    u.section("Accesses inside.");
    let enters = u.name("enters", req_valid & req_ready);
    let leaves = u.name("leaves", rsp_valid & rsp_ready);
    let count = bus::inside(&u, enters, leaves);
    u.assign(idle, count.is(0));
    u.assertions(|| {
        u.about("Rules for the neighbours, checked in simulation.");
        offer_is_held(
            &u,
            "request_held",
            (req_valid, req_ready),
            &[req_op, req_mask, req_addr, req_data, req_be, req_tag],
            "an access changes before it is taken",
        );
        u.property(
            "cfg_static",
            !idle,
            stable([cfg_lock_hash]),
            "the lock hash changes with an access inside",
        );
        bus.lanes.writes_are_idle(
            &u,
            &writing,
            idle,
            "a hash is written with an access inside",
        );
    });
    let module = u.emit()?;
    Ok(bus.modules_of(module))
}

/// Bits of a tag on this port.
fn tag_bits(p: &Params) -> usize {
    p.WW + p.TG
}

fn doc(p: &Params) -> UnitDoc {
    let sizes = p.text(&["n", "m", "L", "D", "ROWS", "LOCKS", "LKG", "MS"]);
    UnitDoc {
        name: "spad_stream".into(),
        summary: "the scratchpad behind one warp-wide valid/ready port in and one out: word \
                  addresses are hashed here, every access is answered once, in order. No input \
                  has a combinational path to an output. Operations: 0 pass, 1 load, 2 store, \
                  3 load and lock, 4 store and unlock; others are answered with an error."
            .into(),
        parameters: format!("{sizes}, STG = {}", tag_bits(p)),
        timing: "taken in cycle t, an access of degree d is answered in t+1+MS+max(1, d) (with \
                 locks LKG * max(1, d)) if nothing is in the way; one access per cycle at d <= 1"
            .into(),
        paper: "microarchitecture/bus.md; hash paper, section 4".into(),
        latency_cycles: 2 + p.MS as u32,
    }
}
