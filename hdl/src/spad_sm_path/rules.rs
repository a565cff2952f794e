//! The rules that the neighbours of the path must keep, as assertions
//! (microarchitecture/sm-path.md).

use super::Path;
use crate::codes::{kind, source};
use crate::property::{offer_is_held, stable};
use crate::signal::{Bits, Expr, Signal, code};

/// Bits of the count of a warp's accesses in flight, and of all instructions.
const OF_A_WARP: usize = 5;
const OF_ALL: usize = 16;

/// Counters of instructions in flight.
struct InFlight {
    /// An instruction is issued.
    starts: Signal,
    /// Per warp: an access or a relssp.
    barring: Signal,
    /// An instruction of any warp, or an offer that stands.
    busy: Signal,
}

impl Path<'_> {
    /// Writes the rules as assertions.
    pub(super) fn rules(&self) {
        self.u
            .about("Rules for the neighbours, checked in simulation.");
        self.launches();
        let flight = self.in_flight();
        self.exits(&flight);
        self.operands();
        if self.p.AHEAD > 0 {
            self.offers(&flight);
        }
        self.configuration(&flight);
        self.off_chip();
    }

    /// Blocks start in empty slots, with threads.
    fn launches(&self) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("Blocks with threads, as far as the cycle before has shown.");
        let occupied = u.register("occupied", s.T).reset(0);
        let [launched, vacant] = u.wires(["launched", "vacant"], s.T);
        let [slot] = u.indices(["s"]);
        u.generate(|| {
            u.each("slot", slot, (0, s.T), |t| {
                let here = io.launch_block.is(t);
                u.assign(launched.at(t), io.launch_valid & here.clone());
                u.assign(vacant.at(t), here & !occupied.at(t));
            });
        });
        u.at_clock().next(occupied, io.live | launched);
        u.property(
            "launch_slot",
            io.launch_valid,
            vacant.any(),
            "a block is launched into a slot that is not empty",
        );
        let below_highest = io.launch_wmask & (io.launch_wmask - 1);
        let threads = io.launch_last.any() | below_highest.any();
        u.property(
            "launch_threads",
            io.launch_valid,
            io.launch_wmask.any() & threads,
            "a block is launched without a thread",
        );
    }

    /// Counts instructions in flight: accesses and relssp by warp, and all.
    fn in_flight(&self) -> InFlight {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("Instructions in flight: of the memory path and relssp by warp, and all.");
        let alu = code(&kind::FIELD, kind::ALU);
        let starts = u.name("starts", io.iss_valid & io.iss_pass.is(0));
        let from_path = !io.wb_src.is(code(&source::FIELD, source::ICN));
        let retires = io.wb_valid & io.wb_ready & io.wb_last;
        let ends = u.name("ends", retires & from_path);
        let ends_barring = u.name("ends_barring", ends & !io.wb_kind.is(alu.clone()));
        let barring = u.wire("barring", s.W);
        let [warp] = u.indices(["x"]);
        u.generate(|| {
            u.each("flight", warp, (0, s.W), |w| {
                let is_alu = io.off_kind.part(4 * w, 4).is(alu);
                let up = u.name("up", starts & io.iss_warp.is(w) & !is_alu);
                let down = u.name("down", ends_barring & io.wb_warp.is(w));
                let count = u.counter("accesses", OF_A_WARP, up, down);
                u.assign(barring.at(w), count.any());
            });
        });
        let all = u.counter("instructions", OF_ALL, starts, ends);
        let busy = if self.p.AHEAD == 0 {
            u.name("rules_busy", all.any())
        } else {
            let offered = u.register("offered", 1).reset(0);
            u.at_clock().next(offered, io.off_valid.any());
            u.name("rules_busy", all.any() | offered)
        };
        InFlight {
            starts,
            barring,
            busy,
        }
    }

    /// Threads exit when nothing of their warp is under way.
    fn exits(&self, flight: &InFlight) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("Threads exit when nothing of their warp is under way.");
        let exits = u.wire("exits", s.W);
        let [warp] = u.indices(["z"]);
        u.generate(|| {
            u.each("exit", warp, (0, s.W), |w| {
                u.assign(exits.at(w), io.exit_warp.is(w));
            });
        });
        let of_the_warp = |bits: Signal| (exits & bits).any();
        let barred = u.name("exit_barred", of_the_warp(flight.barring));
        u.property(
            "exit_drained",
            io.exit_valid,
            !barred,
            "threads exit with an access or a relssp in flight",
        );
        if self.p.AHEAD > 0 {
            let offers = u.name("exit_offers", of_the_warp(io.off_valid));
            u.property(
                "exit_no_offer",
                io.exit_valid,
                !offers,
                "threads exit while their warp offers an instruction",
            );
        }
    }

    /// Operands belong to the pass in EX, and stay while it does.
    fn operands(&self) {
        let (u, io) = (self.u, self.io);
        u.section("A pass in EX, and one that stayed there.");
        let in_ex = u.register("in_ex", 1).reset(0);
        let held = u.register("held", 1).reset(0);
        u.at_clock()
            .next(in_ex, io.iss_valid | io.ex_hold)
            .next(held, io.ex_hold);
        let operands = [io.op_mask, io.op_addr, io.op_data, io.op_be, io.op_aop];
        let any = operands.map(Bits::any).into_iter().reduce(|a, b| a | b);
        let driven = u.name("operands_driven", any.expect("there are operands"));
        u.property(
            "operands_zero",
            !in_ex,
            !driven,
            "operands are driven while no pass is in EX",
        );
        u.property(
            "operands_held",
            held,
            stable(operands),
            "operands change while the pass is held in EX",
        );
    }

    /// Offers stand until they are taken.
    fn offers(&self, flight: &InFlight) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("Offers stand until they are taken.");
        let [warp] = u.indices(["y"]);
        u.generate(|| {
            u.each("offer", warp, (0, s.W), |w| {
                let taken = flight.starts & io.iss_warp.is(w);
                offer_is_held(
                    u,
                    ("offer_held", "an offer changes before it is taken"),
                    "waits",
                    (io.off_valid.at(w), taken),
                    [
                        io.off_kind.part(4 * w, 4),
                        io.off_words.part(2 * w, 2),
                        io.off_tag.part(s.TG * w, s.TG),
                        io.off_pc.part(s.PCW * w, s.PCW),
                        io.off_hi.part(s.n * w, s.n),
                    ],
                );
            });
        });
    }

    /// The configuration and the hash change only while nothing is in flight.
    fn configuration(&self, flight: &InFlight) {
        let (u, cfg) = (self.u, self.cfg);
        u.section("The configuration changes while nothing is in flight.");
        u.property(
            "cfg_static",
            flight.busy,
            stable([
                cfg.cfg_pipeline,
                cfg.cfg_barrel,
                cfg.cfg_policy,
                cfg.cfg_aware,
                cfg.cfg_violate,
                cfg.cfg_lock_hash,
                cfg.cfg_sharing,
                cfg.cfg_limit,
            ]),
            "the configuration changes with something in flight",
        );
        let enables = self.hash_writes.iter().copied();
        let enables = enables.filter(|port| port.name.ends_with("_wr_en"));
        let clear = Expr::from(cfg.kernel_clear);
        let writes = enables.fold(clear, |all, enable| all | enable);
        u.property(
            "writes_idle",
            writes,
            !flight.busy,
            "a kernel starts or a hash is written with something in flight",
        );
    }

    /// Data from off-chip stand until they are taken.
    fn off_chip(&self) {
        let (u, io) = (self.u, self.io);
        u.section("Data from off-chip stand until they are taken.");
        offer_is_held(
            u,
            ("icn_held", "data from off-chip changes before it is taken"),
            "icn_valid_waits",
            (io.icn_valid, io.icn_ready),
            [
                io.icn_warp,
                io.icn_tag,
                io.icn_pass,
                io.icn_last,
                io.icn_mask,
                io.icn_data,
            ],
        );
    }
}
