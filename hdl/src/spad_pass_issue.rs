//! The passes of an instruction, one after the other into EX.

use crate::bundle::bundle;
use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal, code, when};
use crate::unit::Unit;
use crate::{spad_pass_count, spad_pick};

bundle! {
    /// What a warp offers.
    Offer(s) { kind: 4, words: 2, tag: s.TG, pc: s.PCW }
}

/// Emits `spad_pass_issue` behind its parts.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let count = spad_pass_count::emit_kernel(p)?;
    let at_once = p.AHEAD == 0;
    let u = Unit::new(UnitDoc {
        name: "spad_pass_issue".into(),
        summary: "issues the passes of the instruction that is taken, one a cycle, into EX, and \
                  holds the control of the pass that is there."
            .into(),
        parameters: p.text(&["W", "S", "PW", "PCW", "TG", "AHEAD"]),
        timing: match p.AHEAD {
            0 => "taken in cycle t, the first pass is in EX in t+1",
            _ => "taken in cycle t, the first pass issues in t+1 and is in EX in t+2",
        }
        .into(),
        paper: "microarchitecture/issue.md".into(),
        latency_cycles: if at_once { 1 } else { 2 },
    });
    let s = u.all_sizes(p);
    let [w, ww, tg, pcw, pw] = [s.W, s.WW, s.TG, s.PCW, s.PW];
    let of_offer = u.size("OFFER", Offer::bits(&s));
    u.clocked();
    let about = "kind that the warp offers, 4 bits per warp";
    let off_kind = u.input("off_kind", w * 4, about);
    let about = "words per lane of loads and stores: 0 one, 1 two, 2 four";
    let off_words = u.input("off_words", w * 2, about);
    let off_tag = u.input("off_tag", w * tg, "destination tag, TG bits per warp");
    let off_pc = u.input("off_pc", w * pcw, "program counter, PCW bits per warp");
    let about = "an instruction is taken in this cycle; only with room";
    let take = u.input("take", 1, about);
    let take_sel = u.input("take_sel", w, "whose offer, one-hot");
    let take_warp = u.input("take_warp", ww, "number of the warp taken");
    let picked = u.input("picked", w, "the warp between pick and take");
    let ex_fire = u.input("ex_fire", 1, "the pass in EX leaves it");
    let room = u.output("room", 1, "an instruction may be taken");
    let about = "an instruction of the warp is on its way to EX; AHEAD = 0: none";
    let busy = u.output("busy", w, about);
    let take_kind = u.output("take_kind", 4, "kind of the offer of take_sel");
    let take_pc = u.output("take_pc", pcw, "program counter of the instruction taken");
    let take_np = u.output("take_np", pw, "passes of the instruction taken, less one");
    let iss_valid = u.output("iss_valid", 1, "a pass enters EX at the end of this cycle");
    let iss_warp = u.output("iss_warp", ww, "warp of the pass issued; 0 if none");
    let iss_pass = u.output("iss_pass", pw, "number of the pass issued; 0 if none");
    let iss_last = u.output("iss_last", 1, "the pass issued is its instruction's last");
    let alu = code(&kind::FIELD, kind::ALU);
    let ex_valid = u.output_register("ex_valid", 1, "a pass is in EX").reset(0);
    let about = "its warp; this and the next ones stay when it leaves";
    let ex_warp = u.output_register("ex_warp", ww, about).reset(0);
    let ex_kind = u
        .output_register("ex_kind", 4, "its kind")
        .reset(alu.clone());
    let ex_tag = u
        .output_register("ex_tag", tg, "tag of the pass in EX")
        .reset(0);
    let ex_pc = u
        .output_register("ex_pc", pcw, "its program counter")
        .reset(0);
    let ex_pass = u
        .output_register("ex_pass", pw, "number of the pass in EX")
        .reset(0);
    let about = "it is the instruction's last";
    let ex_last = u.output_register("ex_last", 1, about).reset(0);
    u.unused(at_once, picked, "picked and taken in one cycle");

    u.section("What the warp that is taken offers, out of all offers.");
    let slots = p.W.next_power_of_two();
    let offers = u.wire("offers", slots * of_offer);
    let (words, tag) = (u.wire("words", 2), u.wire("tag", tg));
    let offer = Offer {
        kind: take_kind,
        words,
        tag,
        pc: take_pc,
    };
    let [i] = u.indices(["i"]);
    u.generate(|| {
        u.each("warp", i, (0, w), |i| {
            let offer = Offer {
                kind: off_kind.part(4 * i, 4),
                words: off_words.part(2 * i, 2),
                tag: off_tag.part(tg * i, tg),
                pc: off_pc.part(pcw * i, pcw),
            };
            u.assign(offers.part(of_offer * i, of_offer), offer.joined(&s));
        });
        if slots > p.W {
            u.each("no_warp", i, (w, slots), |i| {
                u.assign(offers.part(of_offer * i, of_offer), 0);
            });
        }
    });
    let pick_of = take_sel.extended(slots);
    let offer = offer.joined(&s).of_width(of_offer);
    spad_pick::instance(&u, &pick, "select_offer", pick_of, offers, offer);
    u.instance(&count, "count")
        .port("kind", take_kind)
        .port("words", words)
        .port("more", take_np)
        .done();

    u.section(
        "I: the instruction whose passes are being issued, how many follow the first, and which \
         is next.",
    );
    let cur_valid = u.register("cur_valid", 1).reset(0);
    let cur_warp = u.register("cur_warp", ww).reset(0);
    let cur_kind = u.register("cur_kind", 4).reset(alu);
    let cur_tag = u.register("cur_tag", tg).reset(0);
    let cur_pc = u.register("cur_pc", pcw).reset(0);
    let cur_np = u.register("cur_np", pw).reset(0);
    let cur_next = u.register("cur_next", pw).reset(0);
    u.at_clock()
        .when(take)
        .next(cur_warp, take_warp)
        .next(cur_kind, take_kind)
        .next(cur_tag, tag)
        .next(cur_pc, take_pc)
        .next(cur_np, take_np);

    let first = if at_once {
        ": the first of what is taken goes in the same cycle"
    } else {
        ""
    };
    u.section(&format!("The pass that enters EX{first}."));
    let ex_free = u.name("ex_free", !ex_valid | ex_fire);
    let goes_on = ex_free & cur_valid;
    // What belongs to the instruction.
    let own = |name: &str, current: Signal, taken: Signal| {
        if at_once {
            u.name(name, when(cur_valid, current).otherwise(taken))
        } else {
            current
        }
    };
    let warp_in = own("warp_in", cur_warp, take_warp);
    let kind_in = own("kind_in", cur_kind, take_kind);
    let tag_in = own("tag_in", cur_tag, tag);
    let pc_in = own("pc_in", cur_pc, take_pc);
    let np_in = own("np_in", cur_np, take_np);
    let pass = if at_once {
        u.name("pass", when(cur_valid, cur_next).otherwise(0))
    } else {
        cur_next
    };
    let issue = u.name("issue", if at_once { take | goes_on } else { goes_on });
    let last_pass = u.name("last_pass", pass.is(np_in));
    let free = if at_once {
        ex_free & !cur_valid
    } else {
        !cur_valid | (ex_free & last_pass)
    };
    u.assign(room, free);
    u.assign(iss_valid, issue);
    u.assign(iss_warp, warp_in.gated(issue));
    u.assign(iss_pass, pass.gated(issue));
    u.assign(iss_last, last_pass & issue);

    u.section("Whether passes follow in the next cycle, and which.");
    let follows = when(issue, !last_pass);
    let next = when(issue, pass + 1);
    let (follows, next) = if at_once {
        (follows, next)
    } else {
        let (taken, first) = (when(take, 1), when(take, 0));
        (taken.when(issue, !last_pass), first.when(issue, pass + 1))
    };
    u.at_clock().next(cur_valid, follows);
    u.at_clock().next(cur_next, next);

    u.paragraph();
    if at_once {
        u.assign(busy, 0);
    } else {
        u.note("On its way to EX with what it offers still, or with a release.");
        let release = cur_kind.is(code(&kind::FIELD, kind::RELSSP));
        let holds = u.name("holds", cur_valid & (cur_next.is(0) | release));
        u.generate(|| {
            u.each("on_its_way", i, (0, w), |i| {
                u.assign(busy.at(i), picked.at(i) | (holds & cur_warp.is(i)));
            });
        });
    }

    u.section("EX: control of the pass whose operands come in.");
    u.at_clock().next(ex_valid, when(issue, 1).when(ex_fire, 0));
    u.at_clock()
        .when(issue)
        .next(ex_warp, warp_in)
        .next(ex_kind, kind_in)
        .next(ex_tag, tag_in)
        .next(ex_pc, pc_in)
        .next(ex_pass, pass)
        .next(ex_last, last_pass);
    let module = u.emit()?;
    Ok(vec![pick, count, module])
}
