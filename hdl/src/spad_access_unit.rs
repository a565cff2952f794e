//! Who may touch the shared part of the scratchpad.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, concat};
use crate::spad_access_pair;
use crate::unit::Unit;

/// Emits `spad_access_unit` behind its slice.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pair = spad_access_pair::emit_kernel()?;
    let u = Unit::new(UnitDoc {
        name: "spad_access_unit".into(),
        summary: "per pair of thread-block slots (2p, 2p+1): who owns the shared part of the scratchpad, and which warps must wait. The first access takes it; it passes to the partner when the owner has released.".into(),
        parameters: p.text(&["n", "W", "WW", "T", "TW"]),
        timing: "decisions are combinational, ownership changes at the end of the cycle".into(),
        paper: "sharing paper, sections 3 and 7.1, Fig. 3; microarchitecture/access-unit.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [warps, t, tw, n] = u.sizes(p, ["W", "T", "TW", "n"]);
    u.clocked();
    let cfg_sharing = u.input("cfg_sharing", 1, "scratchpad sharing is on");
    let about = "first word of the shared part, block-relative";
    let cfg_limit = u.input("cfg_limit", n, about);
    let launch_valid = u.input("launch_valid", 1, "a block starts");
    let launch_block = u.input("launch_block", tw, "slot of the block that starts");
    let launch_shared = u.input(
        "launch_shared",
        1,
        "the block that starts runs in sharing mode",
    );
    let about = "every active thread of the block has released (this cycle included)";
    let rel_done = u.input("rel_done", t, about);
    let about = "the block has an active thread (this cycle included)";
    let live = u.input("live", t, about);
    let warp_blk = u.input("warp_blk", warps * tw, "block slot of each warp, TW bits");
    let about = "the warp offers a scratchpad instruction";
    let off_shmem = u.input("off_shmem", warps, about);
    let off_hi = u.input(
        "off_hi",
        warps * n,
        "its highest block-relative word address",
    );
    let acq_valid = u.input("acq_valid", 1, "an instruction is issued");
    let acq_warp = u.input("acq_warp", s.WW, "warp of the instruction taken");
    let allow = u.output("allow", warps, "may be issued");
    let wait_sh = u.output("wait_sh", warps, "waits: the partner holds the shared part");
    let viol = u.output("viol", warps, "refused: its block has released");
    let about = "class per warp: 0 owner, 1 unshared, 2 non-owner";
    let cls = u.output("cls", warps * 2, about);
    let locked = u.output("locked", t / 2, "per pair: the shared part is held");
    let owner = u.output("owner", t / 2, "per pair: 0 slot 2p, 1 slot 2p+1");

    u.section(
        "Per slot: its block runs in sharing mode. Per pair: the shared part is held, by which \
         slot.",
    );
    let sh = u.register("sh", t).reset(0);
    let lk = u.register("lk", t / 2).reset(0);
    let own = u.register("own", t / 2).reset(0);
    let [lk_next, own_next] = [lk, own].map(|r| u.next_state_wire(r));
    u.section(
        "Releases of this cycle count: the lock and owner of a pair, and who needs the shared \
         part.",
    );
    let [lock_now, owner_now] = u.wires(["lock_now", "owner_now"], t / 2);
    let needs = u.named("needs", t, live & !rel_done);
    let [slot_locked, slot_owner] = u.wires(["slot_locked", "slot_owner"], t);
    u.about("Per slot: a warp of it takes the lock, a block starts in it.");
    let [acquires, launches] = u.wires(["acquires", "launches"], t);
    u.section(
        "Per warp, of its block: it runs in sharing mode, it owns the shared part, the lock of \
         its pair is held, it has released.",
    );
    let of_block = ["in_sharing", "owns", "pair_locked", "released"];
    let [in_sharing, owns, pair_locked, released] = u.wires(of_block, warps);
    u.about("Per warp: it offers an address in the shared part; it issues.");
    let [beyond, issues] = u.wires(["beyond", "issues"], warps);

    u.paragraph();
    u.note(
        "Only what lies in the shared part needs it. Behind its release a block is refused; \
         before, it waits for the partner's.",
    );
    let shared = u.name("shared", in_sharing.gated(cfg_sharing));
    let need = u.name("need", off_shmem & shared & beyond);
    u.assign(viol, need & released);
    u.assign(wait_sh, need & !viol & (pair_locked & !owns));
    u.assign(allow, !wait_sh & !viol);
    let takes = u.name("takes", issues & need & allow);
    let non_owner = u.name("non_owner", shared & !owns);
    let unshared = u.name("unshared", !shared);

    u.paragraph();
    let [q, b, i] = u.indices(["q", "b", "i"]);
    u.generate(|| {
        u.each("pair", q, (0, t / 2), |q| {
            let slots = 2 * q;
            u.instance(&pair, "slice")
                .port("lock", lk.at(q))
                .port("owner", own.at(q))
                .port("needs", needs.part(slots, 2))
                .port("live", live.part(slots, 2))
                .port("acquires", acquires.part(slots, 2))
                .port("starts", launches.part(slots, 2))
                .port("locked", lock_now.at(q))
                .port("owned_by", owner_now.at(q))
                .port("lock_next", lk_next.at(q))
                .port("owner_next", own_next.at(q))
                .done();
            u.assign(slot_locked.part(slots, 2), lock_now.at(q).copies(2));
            let owners = concat([owner_now.at(q), !owner_now.at(q)]);
            u.assign(slot_owner.part(slots, 2), owners);
            u.at_clock()
                .next(lk.at(q), lk_next.at(q))
                .next(own.at(q), own_next.at(q));
        });
        u.each("slot", b, (0, t), |b| {
            let mine = u.wire("mine", warps);
            u.each("of_warp", i, (0, warps), |i| {
                u.assign(mine.at(i), warp_blk.part(i * tw, tw).is(b));
            });
            u.assign(acquires.at(b), acq_valid & (takes & mine).any());
            u.assign(launches.at(b), launch_valid & launch_block.is(b));
            u.at_clock()
                .when(launches.at(b))
                .next(sh.at(b), launch_shared);
        });
        u.each("warp", i, (0, warps), |i| {
            let mine = u.wire("mine", t);
            u.each("of_slot", b, (0, t), |b| {
                u.assign(mine.at(b), warp_blk.part(i * tw, tw).is(b));
            });
            u.assign(in_sharing.at(i), (sh & mine).any());
            u.assign(owns.at(i), (slot_owner & mine).any());
            u.assign(pair_locked.at(i), (slot_locked & mine).any());
            u.assign(released.at(i), (rel_done & mine).any());
            u.assign(beyond.at(i), off_hi.part(i * n, n).at_least(cfg_limit));
            u.assign(issues.at(i), acq_warp.is(i));
            let class = concat([non_owner.at(i), unshared.at(i)]);
            u.assign(cls.part(2 * i, 2), class);
        });
    });
    u.assign(locked, lock_now);
    u.assign(owner, owner_now);
    let module = u.emit()?;
    Ok(vec![pair, module])
}
