//! The warp scheduler.

use crate::module::{Module, Result, UnitDoc, top};
use crate::params::Params;
use crate::ports::ports;
use crate::property::one_at_most;
use crate::signal::{Bits, Signal, when};
use crate::unit::UnitBuilder;
use crate::{spad_first_warp, spad_number};

/// Emits `spad_warp_scheduler`, its parts first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let first = spad_first_warp::emit_helper(p)?;
    let number = spad_number::of_warp(p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    u.section("The warps after the one that was taken last.");
    let behind = u.register("behind", io.s.W).reset(0);
    let search = Search::new(&u, &io);
    let unmasked = mask(&u, &io);
    u.note("If every candidate is put off, none of them is a memory warp.");
    let only_others = u.name("only_others", unmasked.held | !unmasked.warps.any());
    search.of(&u, &io, top(&first), behind, &unmasked);
    u.assign(
        io.sel,
        when(only_others, search.of_others).otherwise(search.of_all),
    );
    u.note(
        "found_sel has a bit for each warp at or after the selected one; shifted up by \
         one, it is the set of warps after it.",
    );
    let found_sel = when(only_others, search.of_others_found).otherwise(search.of_all_found);
    let found_sel = u.name("found_sel", found_sel);
    u.assign(io.sel_valid, found_sel.at(p.W - 1));
    let behind_next = u.next_state(behind, found_sel.up(1));
    u.instance(&number, "encode")
        .port("above", io.sel.high(1))
        .port("number", io.sel_warp)
        .done();

    u.paragraph();
    u.at_clock()
        .when(io.take & io.sel_valid)
        .next(behind, behind_next);
    u.assertions(|| {
        let (valid, sel) = (io.sel_valid, io.sel);
        let message = "two warps are selected";
        u.property("one_is_selected", valid, one_at_most([sel]), message);
        let message = "the selected warp is not ready";
        u.property("selected_is_ready", valid, (sel & io.ready).any(), message);
    });
    let module = u.emit()?;
    Ok(first.into_iter().chain([number, module]).collect())
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_warp_scheduler".into(),
        summary: "selects the warp that issues: loose round-robin, owner warps first, or lowest \
                  slot; bank-conflict-aware on top of each. Policies: 0 round-robin; 1 owner \
                  first, round-robin in a class; 2 owner first, lowest slot in a class; 3 lowest \
                  slot."
            .into(),
        parameters: p.text(&["W", "WW"]),
        timing: "the selection is combinational; the round-robin pointer moves with take".into(),
        paper: "elastic paper, section 5; sharing paper, section 4; \
                microarchitecture/warp-scheduler.md"
            .into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_policy: input(2, "policy"),
        cfg_aware: input(1, "apply the mask"),
        cfg_violate: input(1, "masked warps go when nothing else can"),
        ready: input(s.W, "warps that may issue"),
        is_mem: input(s.W, "the warp offers a memory instruction"),
        mask: input(1, "memory warps are masked"),
        put_off: input(
            s.W,
            "warps, none of is_mem, that wait for the others while nothing is masked"
        ),
        cls: input(2 * s.W, "class per warp: 0 owner, 1 unshared, 2 non-owner"),
        take: input(1, "the selection is issued in this cycle"),
        sel_valid: output(1, "a warp is selected"),
        sel: output(s.W, "the warp, one-hot; 0 if none"),
        sel_warp: output(s.WW, "number of the selected warp; 0 if none"),
        masked: output(1, "some ready warp is held back by the mask"),
    }
}

/// The warp to go with masked warps, and without, both searched in parallel.
struct Search {
    of_class: Signal,
    of_all: Signal,
    of_all_found: Signal,
    of_others: Signal,
    of_others_found: Signal,
}

/// The warps that the mask leaves.
struct Unmasked {
    /// Warps of which none is masked.
    others: Signal,
    /// Memory warps are held back.
    held: Signal,
    /// The candidates if nothing is masked.
    warps: Signal,
}

impl Search {
    fn new(u: &UnitBuilder, io: &Ports) -> Self {
        let warps = io.s.W;
        u.paragraph();
        let of_class = u.wire("of_class", 4 * warps);
        let [i, c] = u.indices(["i", "c"]);
        u.generate(|| {
            u.each("each_class", c, (0, 4), |c| {
                u.each("warp", i, (0, warps), |i| {
                    let is_in_class = io.cls.part(2 * i, 2).is(c);
                    u.assign(of_class.at(c * warps + i), is_in_class);
                });
            });
        });

        u.section(
            "Who would go with and without masked warps is found side by side, because the mask \
             comes late.",
        );
        let [of_all, of_all_found] = u.wires(["of_all", "of_all_found"], warps);
        let [of_others, of_others_found] = u.wires(["of_others", "of_others_found"], warps);
        Search {
            of_class,
            of_all,
            of_all_found,
            of_others,
            of_others_found,
        }
    }

    fn of(
        &self,
        u: &UnitBuilder,
        io: &Ports,
        first_warp: &Module,
        behind: Signal,
        unmasked: &Unmasked,
    ) {
        let all = (unmasked.warps, self.of_all, self.of_all_found);
        let others = (unmasked.others, self.of_others, self.of_others_found);
        let searches = [("first_of_all", all), ("first_of_others", others)];
        for (name, (cand, sel, found_sel)) in searches {
            u.instance(first_warp, name)
                .port("cfg_policy", io.cfg_policy)
                .port("cand", cand)
                .port("of_class", self.of_class)
                .port("behind", behind)
                .port("sel", sel)
                .port("found_sel", found_sel)
                .done();
        }
    }
}

fn mask(u: &UnitBuilder, io: &Ports) -> Unmasked {
    let others = u.name("others", io.ready & !io.is_mem);
    u.note("Masked warps go where violating is allowed and nothing else can.");
    let keeps = u.name("keeps", !io.cfg_violate | others.any());
    let held = u.name("held", io.cfg_aware & io.mask & keeps);
    let some_mem = u.name("some_mem", (io.ready & io.is_mem).any());
    u.assign(io.masked, held & some_mem);
    Unmasked {
        others,
        held,
        warps: u.name("unmasked", io.ready & !io.put_off),
    }
}
