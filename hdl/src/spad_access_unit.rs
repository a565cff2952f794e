//! Decides which blocks may access the shared part of the scratchpad.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Signal, concat};
use crate::spad_access_pair;
use crate::unit::{Index, UnitBuilder};

/// Emits `spad_access_unit`, its slice first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pair = spad_access_pair::emit_kernel()?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    let pairs = Pairs::new(&u, &io);
    let warps = Warps::new(&u, io.s);
    let decision = decide(&u, &io, &warps);
    u.paragraph();
    let [q, b, i] = u.indices(["q", "b", "i"]);
    u.generate(|| {
        pairs.each_pair(&u, &io, &pair, q);
        pairs.each_slot(&u, &io, decision.takes, [b, i]);
        warps.each_warp(&u, &io, &pairs, &decision, [b, i]);
    });
    u.assign(io.locked, pairs.lock_now);
    u.assign(io.owner, pairs.owner_now);
    u.assertions(|| pairs.checks(&u, &io, q));
    let module = u.emit()?;
    Ok(vec![pair, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_access_unit".into(),
        summary: "per pair of thread-block slots (2p, 2p+1): who owns the shared part of the \
                  scratchpad, and which warps must wait. The first access takes it; it passes to \
                  the partner when the owner has released."
            .into(),
        parameters: p.text(&["n", "W", "WW", "T", "TW"]),
        timing: "decisions are combinational, ownership changes at the end of the cycle".into(),
        paper: "sharing paper, sections 3 and 7.1, Fig. 3; microarchitecture/access-unit.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_sharing: input(1, "scratchpad sharing is on"),
        cfg_limit: input(s.n, "first word of the shared part, block-relative"),
        launch_valid: input(1, "a block starts"),
        launch_block: input(s.TW, "slot of the block that starts"),
        launch_shared: input(1, "the block that starts runs in sharing mode"),
        rel_done: input(s.T, "every active thread of the block has released (this cycle included)"),
        live: input(s.T, "the block has an active thread (this cycle included)"),
        warp_blk: input(s.W * s.TW, "block slot of each warp, TW bits"),
        off_shmem: input(s.W, "the warp offers a scratchpad instruction"),
        off_hi: input(s.W * s.n, "its highest block-relative word address"),
        acq_valid: input(1, "an instruction is issued"),
        acq_warp: input(s.WW, "warp of the instruction taken"),
        allow: output(s.W, "may be issued"),
        wait_sh: output(s.W, "waits: the partner holds the shared part"),
        viol: output(s.W, "refused: its block has released"),
        cls: output(s.W * 2, "class per warp: 0 owner, 1 unshared, 2 non-owner"),
        locked: output(s.T / 2, "per pair: the shared part is held"),
        owner: output(s.T / 2, "per pair: 0 slot 2p, 1 slot 2p+1"),
    }
}

/// The state of pairs and of slots.
struct Pairs {
    /// Per slot: its block runs in sharing mode.
    sh: Signal,
    /// Per pair: the shared part is held.
    lk: Signal,
    /// Per pair: the slot that holds it, 0 or 1.
    own: Signal,
    lk_next: Signal,
    own_next: Signal,
    /// `lk` and `own` with the releases of this cycle, per pair and per slot.
    lock_now: Signal,
    owner_now: Signal,
    slot_locked: Signal,
    slot_owner: Signal,
    needs: Signal,
    acquires: Signal,
    launches: Signal,
}

impl Pairs {
    fn new(u: &UnitBuilder, io: &Ports) -> Self {
        let t = io.s.T;
        u.section("Per slot: its block runs in sharing mode.");
        let sh = u.register("sh", t).reset(0);
        u.about("Per pair: the shared part is held.");
        let lk = u.register("lk", t / 2).reset(0);
        u.about("Per pair: the slot that holds it, 0 or 1.");
        let own = u.register("own", t / 2).reset(0);
        let [lk_next, own_next] = [lk, own].map(|r| u.next_state_wire(r));
        u.section(
            "Releases of this cycle count: the lock and owner of a pair, and who needs the \
             shared part.",
        );
        let [lock_now, owner_now] = u.wires(["lock_now", "owner_now"], t / 2);
        let needs = u.named("needs", t, io.live & !io.rel_done);
        let [slot_locked, slot_owner] = u.wires(["slot_locked", "slot_owner"], t);
        u.about("Per slot: a warp of it takes the lock, a block starts in it.");
        let [acquires, launches] = u.wires(["acquires", "launches"], t);
        Pairs {
            sh,
            lk,
            own,
            lk_next,
            own_next,
            lock_now,
            owner_now,
            slot_locked,
            slot_owner,
            needs,
            acquires,
            launches,
        }
    }

    fn each_pair(&self, u: &UnitBuilder, io: &Ports, pair: &Module, q: Index) {
        u.each("pair", q, (0, io.s.T / 2), |q| {
            let slots = 2 * q;
            u.instance(pair, "slice")
                .port("lock", self.lk.at(q))
                .port("owner", self.own.at(q))
                .port("needs", self.needs.part(slots, 2))
                .port("live", io.live.part(slots, 2))
                .port("acquires", self.acquires.part(slots, 2))
                .port("starts", self.launches.part(slots, 2))
                .port("locked", self.lock_now.at(q))
                .port("owned_by", self.owner_now.at(q))
                .port("lock_next", self.lk_next.at(q))
                .port("owner_next", self.own_next.at(q))
                .done();
            let locked = self.lock_now.at(q).copies(2);
            u.assign(self.slot_locked.part(slots, 2), locked);
            let owners = concat([self.owner_now.at(q), !self.owner_now.at(q)]);
            u.assign(self.slot_owner.part(slots, 2), owners);
            u.at_clock()
                .next(self.lk.at(q), self.lk_next.at(q))
                .next(self.own.at(q), self.own_next.at(q));
        });
    }

    fn each_slot(&self, u: &UnitBuilder, io: &Ports, takes: Signal, [b, i]: [Index; 2]) {
        let (w, t, tw) = (io.s.W, io.s.T, io.s.TW);
        u.each("slot", b, (0, t), |b| {
            let mine = u.wire("mine", w);
            u.each("of_warp", i, (0, w), |i| {
                u.assign(mine.at(i), io.warp_blk.part(i * tw, tw).is(b));
            });
            let acquires = io.acq_valid & (takes & mine).any();
            u.assign(self.acquires.at(b), acquires);
            let launches = io.launch_valid & io.launch_block.is(b);
            u.assign(self.launches.at(b), launches);
            u.at_clock()
                .when(self.launches.at(b))
                .next(self.sh.at(b), io.launch_shared);
        });
    }
}

impl Pairs {
    /// Assertions about every pair: one slot at a time has its shared part, and needs it.
    fn checks(&self, u: &UnitBuilder, io: &Ports, q: Index) {
        u.about("What holds of every pair, checked in simulation.");
        u.generate(|| {
            u.each("pair_check", q, (0, io.s.T / 2), |q| {
                let slots = |all: Signal| all.part(2 * q, 2);
                u.property(
                    "one_acquires",
                    slots(self.acquires).any(),
                    !slots(self.acquires).all(),
                    "both slots take the shared part",
                );
                u.property(
                    "owner_acquires",
                    self.lock_now.at(q),
                    !(slots(self.acquires) & !slots(self.slot_owner)).any(),
                    "the shared part is taken from its owner",
                );
                u.property(
                    "owner_needs",
                    self.lock_now.at(q),
                    (slots(self.needs) & slots(self.slot_owner)).any(),
                    "a slot holds the shared part without a need",
                );
            });
        });
    }
}

/// The state of each warp's block, and the warp's offer.
struct Warps {
    in_sharing: Signal,
    owns: Signal,
    pair_locked: Signal,
    released: Signal,
    beyond: Signal,
    issues: Signal,
}

impl Warps {
    fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.section(
            "Per warp, of its block: it runs in sharing mode, it owns the shared part, the lock \
             of its pair is held, it has released.",
        );
        let of_block = ["in_sharing", "owns", "pair_locked", "released"];
        let [in_sharing, owns, pair_locked, released] = u.wires(of_block, s.W);
        u.about("Per warp: it offers an address in the shared part; it issues.");
        let [beyond, issues] = u.wires(["beyond", "issues"], s.W);
        Warps {
            in_sharing,
            owns,
            pair_locked,
            released,
            beyond,
            issues,
        }
    }

    fn each_warp(
        &self,
        u: &UnitBuilder,
        io: &Ports,
        pairs: &Pairs,
        decision: &Decision,
        [b, i]: [Index; 2],
    ) {
        let (w, t, tw, n) = (io.s.W, io.s.T, io.s.TW, io.s.n);
        u.each("warp", i, (0, w), |i| {
            let mine = u.wire("mine", t);
            u.each("of_slot", b, (0, t), |b| {
                u.assign(mine.at(b), io.warp_blk.part(i * tw, tw).is(b));
            });
            u.assign(self.in_sharing.at(i), (pairs.sh & mine).any());
            u.assign(self.owns.at(i), (pairs.slot_owner & mine).any());
            u.assign(self.pair_locked.at(i), (pairs.slot_locked & mine).any());
            u.assign(self.released.at(i), (io.rel_done & mine).any());
            let beyond = io.off_hi.part(i * n, n).at_least(io.cfg_limit);
            u.assign(self.beyond.at(i), beyond);
            u.assign(self.issues.at(i), io.acq_warp.is(i));
            let class = concat([decision.non_owner.at(i), decision.unshared.at(i)]);
            u.assign(io.cls.part(2 * i, 2), class);
        });
    }
}

/// The new owners of the shared parts, and the class of each warp.
struct Decision {
    takes: Signal,
    non_owner: Signal,
    unshared: Signal,
}

fn decide(u: &UnitBuilder, io: &Ports, warps: &Warps) -> Decision {
    u.paragraph();
    u.note(
        "Only what lies in the shared part needs it. After its release a block is refused; \
         before, it waits for the partner's.",
    );
    let shared = u.name("shared", warps.in_sharing.gated(io.cfg_sharing));
    let need = u.name("need", io.off_shmem & shared & warps.beyond);
    u.assign(io.viol, need & warps.released);
    let waits = need & !io.viol & (warps.pair_locked & !warps.owns);
    u.assign(io.wait_sh, waits);
    u.assign(io.allow, !io.wait_sh & !io.viol);
    Decision {
        takes: u.name("takes", warps.issues & need & io.allow),
        non_owner: u.name("non_owner", shared & !warps.owns),
        unshared: u.name("unshared", !shared),
    }
}
