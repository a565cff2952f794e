//! The passes of an instruction, one after the other into EX.

use crate::bundle::bundle;
use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::ports::ports;
use crate::signal::{Bits, Signal, code, when};
use crate::unit::{Index, UnitBuilder};
use crate::{spad_pass_count, spad_pick};

bundle! {
    /// The offer of a warp.
    Offer(s) { kind: 4, words: 2, tag: s.TG, pc: s.PCW }
}

/// Emits `spad_pass_issue`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let pick = spad_pick::emit_helper()?;
    let count = spad_pass_count::emit_kernel(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let issue = Issue {
        u: &u,
        p,
        io,
        at_once: p.AHEAD == 0,
    };
    let (taken, i) = issue.select(&pick);
    u.instance(&count, "count")
        .port("kind", taken.kind)
        .port("words", taken.words)
        .port("more", issue.io.take_np)
        .done();
    let current = issue.current(&taken);
    let pass = issue.pass(&taken, &current);
    issue.show(&current, &pass);
    issue.next_pass(&current, &pass);
    issue.busy(&current, i);
    issue.ex(&pass);
    let module = u.emit()?;
    Ok(vec![pick, count, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
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
        latency_cycles: if p.AHEAD == 0 { 1 } else { 2 },
    }
}

/// Shared by the parts of the description.
struct Issue<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    io: Ports,
    /// The first pass of what is taken goes in the same cycle.
    at_once: bool,
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        off_kind: input(s.W * 4, "kind that the warp offers, 4 bits per warp"),
        off_words: input(s.W * 2, "words per lane of loads and stores: 0 one, 1 two, 2 four"),
        off_tag: input(s.W * s.TG, "destination tag, TG bits per warp"),
        off_pc: input(s.W * s.PCW, "program counter, PCW bits per warp"),
        take: input(1, "an instruction is taken in this cycle; only with room"),
        take_sel: input(s.W, "whose offer, one-hot"),
        take_warp: input(s.WW, "number of the warp taken"),
        picked: input(s.W, "the warp between pick and take"),
        ex_fire: input(1, "the pass in EX leaves it"),
        room: output(1, "an instruction may be taken"),
        busy: output(s.W, "an instruction of the warp is on its way to EX; AHEAD = 0: none"),
        take_kind: output(4, "kind of the offer of take_sel"),
        take_pc: output(s.PCW, "program counter of the instruction taken"),
        take_np: output(s.PW, "passes of the instruction taken, less one"),
        iss_valid: output(1, "a pass enters EX at the end of this cycle"),
        iss_warp: output(s.WW, "warp of the pass issued; 0 if none"),
        iss_pass: output(s.PW, "number of the pass issued; 0 if none"),
        iss_last: output(1, "the pass issued is its instruction's last"),
        ex_valid: output_register(1, "a pass is in EX").reset(0),
        ex_warp: output_register(
            s.WW,
            "its warp; this and the next ones stay when it leaves"
        ).reset(0),
        ex_kind: output_register(4, "its kind").reset(code(&kind::FIELD, kind::ALU)),
        ex_tag: output_register(s.TG, "tag of the pass in EX").reset(0),
        ex_pc: output_register(s.PCW, "its program counter").reset(0),
        ex_pass: output_register(s.PW, "number of the pass in EX").reset(0),
        ex_last: output_register(1, "it is the instruction's last").reset(0),
    }
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let io = Ports::declared(u, p);
        u.unused(p.AHEAD == 0, io.picked, "picked and taken in one cycle");
        io
    }
}

/// The instruction whose passes are being issued.
struct Current {
    valid: Signal,
    warp: Signal,
    kind: Signal,
    tag: Signal,
    pc: Signal,
    np: Signal,
    next: Signal,
}

/// The pass that enters EX.
struct Pass {
    warp: Signal,
    kind: Signal,
    tag: Signal,
    pc: Signal,
    number: Signal,
    last: Signal,
    issue: Signal,
    ex_free: Signal,
}

impl Issue<'_> {
    /// The offer that is taken, and the index of warps.
    fn select(&self, pick: &Module) -> (Offer, Index) {
        let (u, io, s) = (self.u, &self.io, self.io.s);
        let of_offer = u.size("OFFER", Offer::bits(&s));
        u.section("What the warp that is taken offers, out of all offers.");
        let slots = self.p.W.next_power_of_two();
        let offers = u.wire("offers", slots * of_offer);
        let taken = Offer {
            kind: io.take_kind,
            words: u.wire("words", 2),
            tag: u.wire("tag", s.TG),
            pc: io.take_pc,
        };
        let [i] = u.indices(["i"]);
        u.generate(|| {
            u.each("warp", i, (0, s.W), |i| {
                let offer = Offer {
                    kind: io.off_kind.part(4 * i, 4),
                    words: io.off_words.part(2 * i, 2),
                    tag: io.off_tag.part(s.TG * i, s.TG),
                    pc: io.off_pc.part(s.PCW * i, s.PCW),
                };
                u.assign(offers.part(of_offer * i, of_offer), offer.joined(&s));
            });
            if slots > self.p.W {
                u.each("no_warp", i, (s.W, slots), |i| {
                    u.assign(offers.part(of_offer * i, of_offer), 0);
                });
            }
        });
        let pick_of = io.take_sel.extended(slots);
        let offer = taken.joined(&s).of_width(of_offer);
        spad_pick::instance(u, pick, "select_offer", pick_of, offers, offer);
        (taken, i)
    }

    fn current(&self, taken: &Offer) -> Current {
        let (u, io, s) = (self.u, &self.io, self.io.s);
        u.section(
            "I: the instruction whose passes are being issued, how many follow the first, and \
             which is next.",
        );
        let current = Current {
            valid: u.register("cur_valid", 1).reset(0),
            warp: u.register("cur_warp", s.WW).reset(0),
            kind: u
                .register("cur_kind", 4)
                .reset(code(&kind::FIELD, kind::ALU)),
            tag: u.register("cur_tag", s.TG).reset(0),
            pc: u.register("cur_pc", s.PCW).reset(0),
            np: u.register("cur_np", s.PW).reset(0),
            next: u.register("cur_next", s.PW).reset(0),
        };
        u.at_clock()
            .when(io.take)
            .next(current.warp, io.take_warp)
            .next(current.kind, taken.kind)
            .next(current.tag, taken.tag)
            .next(current.pc, taken.pc)
            .next(current.np, io.take_np);
        current
    }

    fn pass(&self, taken: &Offer, current: &Current) -> Pass {
        let (u, io, at_once) = (self.u, &self.io, self.at_once);
        let first = if at_once {
            ": the first of what is taken goes in the same cycle"
        } else {
            ""
        };
        u.section(&format!("The pass that enters EX{first}."));
        let ex_free = u.name("ex_free", !io.ex_valid | io.ex_fire);
        let goes_on = ex_free & current.valid;
        // Fields of the instruction.
        let own = |name: &str, held: Signal, taken: Signal| {
            if at_once {
                u.name(name, when(current.valid, held).otherwise(taken))
            } else {
                held
            }
        };
        let warp = own("warp_in", current.warp, io.take_warp);
        let kind = own("kind_in", current.kind, taken.kind);
        let tag = own("tag_in", current.tag, taken.tag);
        let pc = own("pc_in", current.pc, taken.pc);
        let np = own("np_in", current.np, io.take_np);
        let (number, issues) = if at_once {
            let number = when(current.valid, current.next).otherwise(0);
            (u.name("pass", number), io.take | goes_on)
        } else {
            (current.next, goes_on)
        };
        let issue = u.name("issue", issues);
        Pass {
            warp,
            kind,
            tag,
            pc,
            number,
            last: u.name("last_pass", number.is(np)),
            issue,
            ex_free,
        }
    }

    fn show(&self, current: &Current, pass: &Pass) {
        let (u, io) = (self.u, &self.io);
        let free = if self.at_once {
            pass.ex_free & !current.valid
        } else {
            !current.valid | (pass.ex_free & pass.last)
        };
        u.assign(io.room, free);
        u.assign(io.iss_valid, pass.issue);
        u.assign(io.iss_warp, pass.warp.gated(pass.issue));
        u.assign(io.iss_pass, pass.number.gated(pass.issue));
        u.assign(io.iss_last, pass.last & pass.issue);
    }

    fn next_pass(&self, current: &Current, pass: &Pass) {
        let (u, take, issue) = (self.u, self.io.take, pass.issue);
        u.section("Whether passes follow in the next cycle, and which.");
        let (follows, next) = if self.at_once {
            (when(issue, !pass.last), when(issue, pass.number + 1))
        } else {
            let (taken, first) = (when(take, 1), when(take, 0));
            let next = first.when(issue, pass.number + 1);
            (taken.when(issue, !pass.last), next)
        };
        u.at_clock().next(current.valid, follows);
        u.at_clock().next(current.next, next);
    }

    /// The warps with an instruction on its way to EX.
    fn busy(&self, current: &Current, i: Index) {
        let (u, io) = (self.u, &self.io);
        u.paragraph();
        if self.at_once {
            return u.assign(io.busy, 0);
        }
        u.note("The instruction on its way to EX is still offered by its warp, or is a RELSSP.");
        let release = current.kind.is(code(&kind::FIELD, kind::RELSSP));
        let holds = current.valid & (current.next.is(0) | release);
        let holds = u.name("holds", holds);
        u.generate(|| {
            u.each("on_its_way", i, (0, io.s.W), |i| {
                let held = holds & current.warp.is(i);
                u.assign(io.busy.at(i), io.picked.at(i) | held);
            });
        });
    }

    fn ex(&self, pass: &Pass) {
        let (u, io) = (self.u, &self.io);
        u.section("EX: control of the pass whose operands come in.");
        let valid = when(pass.issue, 1).when(io.ex_fire, 0);
        u.at_clock().next(io.ex_valid, valid);
        u.at_clock()
            .when(pass.issue)
            .next(io.ex_warp, pass.warp)
            .next(io.ex_kind, pass.kind)
            .next(io.ex_tag, pass.tag)
            .next(io.ex_pc, pass.pc)
            .next(io.ex_pass, pass.number)
            .next(io.ex_last, pass.last);
    }
}
