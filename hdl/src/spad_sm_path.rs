//! The whole scratchpad path of an SM, from the issue port to the writeback port:
//! the wires between its parts, and a function for each concern, which has the
//! instances.

use crate::bundle::bundle;
use crate::codes::{kind, pipeline, stall};
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc, top};
use crate::params::{Params, Sizes};
use crate::payload::{Control, Passing, Response};
use crate::signal::{Bits, Expr, Signal, code, concat, when};
use crate::spad_hash_stage::HashStage;
use crate::unit::{Index, UnitBuilder};
use crate::{
    spad_conflict_predictor, spad_hash_stage, spad_memory_entry, spad_memory_exit,
    spad_nonmem_queue, spad_scratchpad, spad_writeback_mux,
};
use ports::{Io, Settings, depends_on};

mod issue;
mod ports;
mod rules;
mod sharing;

bundle! {
    /// The wires between the parts.
    Links(s) {
        // The pass in EX: there is one, it is a release, it leaves; who takes it.
        ex_valid: 1, ex_fire: 1, ex_mem: 1, ex_data: s.L * s.D, mem_ready: 1, nm_ready: 1,
        // The instruction that is taken, and whose warps may be.
        take: 1, take_sel: s.W, take_warp: s.WW, take_kind: 4, take_pc: s.PCW, take_np: s.PW,
        shares: s.W, allow: s.W, allowed_wait: s.W, allowed_viol: s.W, cls: 2 * s.W,
        mask: 1, mask_lasts: 1, mask_likely: 1, atom_infl: 1,
        // A predicted pass that has left the scratchpad.
        resolved_valid: 1, resolved_occ: s.OCW, resolved_last: 1, resolved_pc: s.PCW,
        // Stages that are occupied, and what holds the pass in MEM0.
        hx_valid: 1, seq_busy: 1, stages: (s.MS - 1).plain(), blocked: 1,
        // The result of the last memory stage.
        last_valid: 1, last_ready: 1, last_data: s.WBW,
    }
}

bundle! {
    /// A pass after the hash.
    Hashed(s) {
        valid: 1, ready: 1, ctl: s.CTL, mask: s.L, bank: s.L * s.m, row: s.L * s.R,
        lock: s.L * s.LK, data: s.L * s.D, be: s.L * s.DB, aop: 4,
    }
}

bundle! {
    /// A request to the scratchpad.
    Request(s) {
        valid: 1, ready: 1, op: 3, mask: s.L, bank: s.L * s.m, row: s.L * s.R,
        lock: s.L * s.LK, data: s.L * s.D, be: s.L * s.DB, tag: s.TGW,
    }
}

/// The ports, and the wires between the parts.
struct Path<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    s: &'a Sizes,
    clock: [Signal; 2],
    index: Index,
    cfg: Settings,
    hash_writes: &'a [Signal],
    hash_resets: &'a [Signal],
    io: Io,
    w: Links,
    /// The control of the pass in EX.
    ex: Control,
    ex_relssp: Signal,
    /// The block slot of each warp.
    warp_blk: Signal,
    mem0_valid: Signal,
    /// Stages after the scratchpad that are occupied.
    mem_valid: Option<Signal>,
}

/// Emits `spad_sm_path`, its parts first.
pub(crate) fn emit_unit(p: &Params, machine: &Machine) -> Result<Vec<Module>> {
    let hash = spad_hash_stage::emit_unit(p, machine)?;
    let u = UnitBuilder::new(doc(p));
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let cfg = Settings::new(&u, s);
    let writes = hash.writes.iter();
    let writes = writes.map(|port| u.input(&port.name, port.width, &port.doc));
    let hash_writes: &[_] = &writes.collect::<Vec<_>>();
    let resets = top(&hash.modules).vectors.iter();
    let hash_resets: &[_] = &resets.map(|vector| u.vector(vector)).collect::<Vec<_>>();
    let io = Io::new(&u, s);
    u.outputs_depend_on(|output| depends_on(output, p));

    u.section("The wires between the parts.");
    let w = Links::wires(&u, s, "");
    u.unused(p.H == 0, w.hx_valid, "the hash is in EX");
    let mem_valid = (p.M > 4).then(|| u.wire("mem_valid", p.M - 4));
    let ex = Control::wires(&u, s, "ex");
    let release = ex.kind.is(code(&kind::FIELD, kind::RELSSP));
    let [index] = u.indices(["i"]);
    let ex_relssp = u.name("ex_relssp", w.ex_valid & release);
    let warp_blk = u.register("warp_blk", s.W * s.TW).reset(0);
    let mem0_valid = u.register("mem0_valid", 1).reset(0);
    let pass = Hashed::wires(&u, s, "pre");
    let path = Path {
        u: &u,
        p,
        s,
        clock,
        index,
        cfg,
        hash_writes,
        hash_resets,
        io,
        w,
        ex,
        ex_relssp,
        warp_blk,
        mem0_valid,
        mem_valid,
    };
    let parts = [
        path.issue()?,
        path.sharing()?,
        path.prediction()?,
        path.hash(hash, &pass),
        path.memory(&pass)?,
        path.writeback()?,
    ];
    path.status();
    u.assertions(|| path.rules());
    let module = u.emit()?;
    Ok(parts.into_iter().flatten().chain([module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_sm_path".into(),
        summary: "the scratchpad path of an SM: scheduler, access control, hash, PREMEM queue, \
                  scratchpad with locks, atomics, NONMEM queue, writeback port, conflict \
                  prediction. Kinds: 0 ALU, 1 load, 2 store, 3 load and lock, 4 store and \
                  unlock, 5 atomic, 6 off-chip access, 7 relssp."
            .into(),
        parameters: p.text(&[
            "n", "m", "L", "D", "WS", "W", "T", "ROWS", "LOCKS", "LKG", "M", "AHEAD", "H", "NQ",
            "PQ", "SETS", "LR", "LU", "LWR", "LB",
        ]),
        timing: "issued in cycle s, a memory pass of degree d is written back in s+1+H+d+M, \
                 another one in s+2 (elastic) if nothing is in the way"
            .into(),
        paper: "microarchitecture/sm-path.md; all five papers".into(),
        latency_cycles: 2 + (p.M + p.H) as u32,
    }
}

impl Path<'_> {
    /// The memory warps to hold back, predicted from past conflicts.
    fn prediction(&self) -> Result<Vec<Module>> {
        let (u, p, clock, w) = (self.u, self.p, self.clock, self.w);
        u.section("Conflict prediction.");
        let predictor = spad_conflict_predictor::emit_unit(p)?;
        let [first, last] = [kind::LOAD, kind::STUL].map(|value| code(&kind::FIELD, value));
        let predicted = w.take_kind.at_least(first) & w.take_kind.at_most(last);
        u.instance(top(&predictor), "predictor")
            .same(clock)
            .port("clear", self.cfg.kernel_clear)
            .same([
                w.resolved_valid,
                w.resolved_occ,
                w.resolved_last,
                w.resolved_pc,
            ])
            .port("set_valid", w.take & predicted)
            .port("set_pc", w.take_pc)
            .port("set_base", w.take_np)
            .port("hold", self.io.ex_hold)
            .same([w.mask, w.mask_lasts, w.mask_likely])
            .done();
        Ok(predictor)
    }

    /// The path that the pass in EX takes; banks, rows and locks of its lanes.
    fn hash(&self, stage: HashStage, pass: &Hashed) -> Vec<Module> {
        let (u, s) = (self.u, self.s);
        let (cfg, io, w, ex) = (self.cfg, self.io, self.w, self.ex);
        u.section("EX: the path that the pass takes; data of idle lanes is 0.");
        self.of_active("lane", w.ex_data, (io.op_data, io.op_mask));
        let unified = code(&pipeline::FIELD, pipeline::UNIFIED);
        let [alu, release] = [kind::ALU, kind::RELSSP].map(|value| code(&kind::FIELD, value));
        let other = ex.kind.is(alu) | ex.kind.is(release);
        u.assign(w.ex_mem, cfg.cfg_pipeline.is(unified) | !other);
        let ready = when(w.ex_mem, w.mem_ready).otherwise(w.nm_ready);
        let ex_ready = u.name("ex_ready", ready);
        u.assign(w.ex_fire, w.ex_valid & ex_ready);
        u.assign(io.ex_hold, w.ex_valid & !ex_ready);

        u.section("HX: banks, rows and locks.");
        u.instance(top(&stage.modules), "hash_stage")
            .vectors(self.hash_resets)
            .same(self.clock)
            .same(self.hash_writes.iter().copied())
            .same([cfg.cfg_lock_hash])
            .port("in_valid", w.ex_valid & w.ex_mem)
            .port("in_ready", w.mem_ready)
            .port("in_ctl", ex.joined(s))
            .port("in_mask", io.op_mask)
            .port("in_addr", io.op_addr)
            .port("in_data", w.ex_data)
            .port("in_be", io.op_be)
            .port("in_aop", io.op_aop)
            .bundle("out", pass.values(s))
            .same([w.hx_valid])
            .done();
        stage.modules
    }

    /// Gives `to` the words of the lanes that are active, and 0 for the others.
    fn of_active(&self, label: &'static str, to: Signal, (words, mask): (Signal, Signal)) {
        let (u, s, index) = (self.u, self.s, self.index);
        u.generate(|| {
            u.each(label, index, (0, s.L), |i| {
                let word = |words: Signal| words.part(s.D * i, s.D);
                u.assign(word(to), word(words) & mask.at(i).copies(s.D));
            });
        });
    }

    /// Writes the memory stages, and what comes out of them.
    fn memory(&self, pass: &Hashed) -> Result<Vec<Module>> {
        let (u, p, s, clock) = (self.u, self.p, self.s, self.clock);
        let (io, w) = (self.io, self.w);
        u.section("PREMEM: passes and atomics become requests.");
        let req = Request::wires(u, s, "req");
        let [resp_valid, resp_ready] = u.wires(["resp_valid", "resp_ready"], 1);
        let reason = "the kind in the tag implies it";
        let resp_op = u.wire_in_part("resp_op", 3, reason);
        let resp = Response::wires(u, s, "resp");
        let sr_valid = u.wire("sr_valid", 1);
        let entry = spad_memory_entry::emit_unit(p)?;
        let atomic = w.take_kind.is(code(&kind::FIELD, kind::ATOMIC));
        u.instance(top(&entry), "memory_entry")
            .same(clock)
            .port("cfg_elastic", self.cfg.cfg_pipeline.at(1))
            .port("take_atomic", w.take & atomic)
            .bundle("in", pass.values(s))
            .bundle("req", req.values(s))
            .same([w.atom_infl, sr_valid])
            .port("sr_mask", resp.mask)
            .port("sr_data", resp.data)
            .port("sr_success", resp.success)
            .port("sr_error", resp.error)
            .port("sr_degree", resp.degree)
            .same([w.seq_busy, io.seq_state, io.pre_count])
            .done();

        u.section("MEM0 and on.");
        let busy_more = u.wire("busy_more", 1);
        let scratchpad = spad_scratchpad::emit_unit(p)?;
        u.instance(top(&scratchpad), "scratchpad")
            .same(clock)
            .bundle("req", req.values(s))
            .same([resp_valid, resp_ready, resp_op])
            .bundle("resp", resp.values(s))
            .same([w.stages, busy_more, w.blocked])
            .done();
        let stays = self.mem0_valid & (busy_more | w.blocked);
        u.at_clock()
            .next(self.mem0_valid, (req.valid & req.ready) | stays);

        let exit = self.exit([resp_valid, resp_ready], &resp, sr_valid)?;
        Ok([entry, scratchpad, exit].concat())
    }

    /// The scratchpad's answers: to the retry sequencer, to the history, to the writeback port.
    fn exit(
        &self,
        handshake: [Signal; 2],
        resp: &Response,
        sr_valid: Signal,
    ) -> Result<Vec<Module>> {
        let (u, p, s, clock, w) = (self.u, self.p, self.s, self.clock, self.w);
        u.section("What answers.");
        let exit = spad_memory_exit::emit_unit(p)?;
        u.instance(top(&exit), "memory_exit")
            .same(clock)
            .same(handshake)
            .bundle("resp", resp.values(s))
            .same([sr_valid])
            .same([
                w.resolved_valid,
                w.resolved_occ,
                w.resolved_last,
                w.resolved_pc,
            ])
            .port("out_valid", w.last_valid)
            .port("out_ready", w.last_ready)
            .port("out_data", w.last_data)
            .same(self.mem_valid)
            .done();
        Ok(exit)
    }

    /// The path around the memory stages, and the writeback port.
    fn writeback(&self) -> Result<Vec<Module>> {
        let (u, p, s, clock) = (self.u, self.p, self.s, self.clock);
        let (io, w, ex) = (self.io, self.w, self.ex);
        u.section("NONMEM: what goes past the memory stages.");
        let passing = Passing {
            warp: ex.warp,
            tag: ex.tag,
            kind: ex.kind,
            pass: ex.pass,
            last: ex.last,
            mask: io.op_mask,
            data: w.ex_data,
        };
        let [nm_out_valid, nm_out_ready] = u.wires(["nm_out_valid", "nm_out_ready"], 1);
        let nm_out = u.wire("nm_out", s.NMW);
        let nonmem = spad_nonmem_queue::emit_unit(p)?;
        u.instance(top(&nonmem), "nonmem")
            .same(clock)
            .port("cfg_elastic", self.cfg.cfg_pipeline.at(1))
            .port("in_valid", w.ex_valid & !w.ex_mem)
            .port("in_data", passing.joined(s))
            .port("in_ready", w.nm_ready)
            .port("out_valid", nm_out_valid)
            .port("out_data", nm_out)
            .port("out_ready", nm_out_ready)
            .port("stage_valid", io.nm_valid)
            .done();

        u.section("Data from off-chip, zero in idle lanes.");
        let far_data = u.wire("far_data", s.L * s.D);
        self.of_active("far", far_data, (io.icn_data, io.icn_mask));
        let far = io.off_chip(far_data);

        u.section("The writeback port. Only accesses have a degree, an error and a success mask.");
        let no_access = u.named("no_access", s.WBW - s.NMW, 0);
        let result = |passing: Expr| concat([no_access.into(), passing]);
        let writeback = spad_writeback_mux::emit_unit(p)?;
        u.instance(top(&writeback), "writeback")
            .same(clock)
            .same([io.icn_valid])
            .port("icn_data", result(far.joined(s)))
            .same([io.icn_ready])
            .port("mem_valid", w.last_valid)
            .port("mem_data", w.last_data)
            .port("mem_ready", w.last_ready)
            .port("nm_valid", nm_out_valid)
            .port("nm_data", result(nm_out.into()))
            .port("nm_ready", nm_out_ready)
            .same([io.wb_valid, io.wb_src])
            .port("wb_data", io.outcome().joined(s))
            .same([io.wb_ready])
            .done();
        Ok([nonmem, writeback].concat())
    }

    /// Why the pass in EX is held, and which stages are occupied.
    fn status(&self) {
        let (u, io, w) = (self.u, self.io, self.w);
        u.section("Status.");
        let reason = |value| code(&stall::FIELD, value);
        let stall = when(!io.ex_hold, reason(stall::NONE))
            .when(!w.ex_mem, reason(stall::WRITEBACK))
            .when(w.seq_busy, reason(stall::LOCK_RETRY))
            .when(w.blocked, reason(stall::WRITEBACK));
        u.assign(io.stall, stall.otherwise(reason(stall::BANK_CONFLICT)));
        let hash = (self.p.H == 1).then_some(w.hx_valid);
        let mut stages = vec![io.wb_valid];
        stages.extend(self.mem_valid);
        stages.extend([w.stages, self.mem0_valid]);
        stages.extend(hash);
        stages.push(w.ex_valid);
        u.assign(io.occ, concat(stages.into_iter().map(Expr::from)));
    }
}
