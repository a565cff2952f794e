//! The bursts of one address channel of AXI, beat by beat.

use crate::bundle::bundle;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, and_or, concat, number, or_all, when};
use crate::size::Size;
use crate::spad_skid::{self, Side};
use crate::unit::UnitBuilder;

/// Bursts do not leave the 4 KB that they begin in.
const PAGE_BITS: usize = 12;
/// Bits of the longest block in which a burst wraps: 16 beats, without the bits
/// of a byte in a word.
const MASK_TOP: usize = 4;
/// Kinds of bursts that are not INCR.
const FIXED: usize = 0;
const WRAP: usize = 2;

bundle! {
    /// A burst as it is offered.
    Burst(s) { burst: 2, size: 3, len: 8, addr: s.XA, id: s.XID }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        in_valid: input(1, "a burst is offered"),
        in_id: input(s.XID, "its identifier"),
        in_addr: input(s.XA, "address of its first byte"),
        in_len: input(8, "beats - 1"),
        in_size: input(3, "log2 of the bytes of a beat"),
        in_burst: input(2, "0 FIXED, 1 INCR, 2 WRAP"),
        in_ready: output(1, "a burst would be accepted; from a flip-flop"),
        valid: output(1, "a beat is offered"),
        next: input(1, "the beat is taken"),
        id: output(s.XID, "identifier of its burst"),
        add: output(place_bits(&s), "where its words are: their address without the bits of a lane"),
        last: output(1, "the last beat of its burst"),
        refused: output(2, "why it is refused: 2 there is no such burst, 3 no such address; else 0"),
        holds: output(1, "a burst is inside"),
    }
}

/// Bits of the number of a lane among those of the port.
fn lane_bits(p: &Params) -> usize {
    p.XL.trailing_zeros() as usize
}

/// Bits of a word address without those.
pub(crate) fn place_bits(s: &Sizes) -> Size {
    match s.XL.value().unwrap_or(1) {
        0 | 1 => s.n,
        lanes => s.n - lanes.trailing_zeros() as usize,
    }
}

/// Bits of the number of a byte in the data.
fn beat_bits(p: &Params) -> usize {
    (p.DB * p.XL).trailing_zeros() as usize
}

/// The burst that is performed.
struct Current {
    addr: Signal,
    left: Signal,
    /// Bit i: a beat has more than 2^i bytes.
    ones: Signal,
    /// The address bits that a beat changes; the highest stands for those above it.
    mask: Signal,
    bad: Signal,
}

/// Emits `spad_axi_burst`; `skid` is the buffer in front of it.
pub(crate) fn emit_helper(p: &Params, skid: &Module) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_axi_burst".into(),
        summary: "the bursts of one address channel of AXI as beats, each with its word address."
            .into(),
        parameters: p.text(&["XA", "XL", "XID", "n", "D"]),
        timing: "two cycles to the first beat; one beat a cycle, also from burst to burst".into(),
        paper: "microarchitecture/axi.md".into(),
        latency_cycles: 2,
    });
    let io = Ports::declared(&u, p);
    let s = &io.s;
    let word_bits = beat_bits(p);
    u.paragraph();
    let [waits, takes] = u.wires(["head_valid", "head_ready"], 1);
    let head = Burst::wires(&u, s, "head");
    requests(&u, &io, skid, (waits, takes), head);

    u.section("The burst that is performed.");
    let busy = u.register("busy", 1).reset(0);
    let id = u.register("id", s.XID).covered_by(busy);
    let now = Current {
        addr: u.register("addr", s.XA).covered_by(busy),
        left: u.register("left", 8).covered_by(busy),
        ones: u.register("ones", word_bits).covered_by(busy),
        mask: u
            .register("mask", word_bits + MASK_TOP + 1)
            .covered_by(busy),
        bad: u.register("bad", 1).covered_by(busy),
    };
    let last = u.name("ends", now.left.is(0));
    u.assign(takes, !busy | (io.next & last));
    u.assign(io.valid, busy);
    u.assign(io.id, id);
    u.assign(io.last, last);
    u.assign(io.holds, busy | waits);
    show(&u, &io, p, &now);

    let next = step(&u, s, &now, word_bits);
    u.paragraph();
    let taken = u.name("taken", waits & takes);
    u.at_clock().when(takes).next(busy, waits);
    let addr = when(taken, head.addr).when(io.next, next);
    u.at_clock().next(now.addr, addr);
    let left = when(taken, head.len).when(io.next, now.left - 1);
    u.at_clock().next(now.left, left);
    let (ones, mask, bad) = shape(&u, head, word_bits);
    u.at_clock()
        .when(taken)
        .next(id, head.id)
        .next(now.ones, ones)
        .next(now.mask, mask)
        .next(now.bad, bad);
    u.emit()
}

/// The bursts that wait.
fn requests(
    u: &UnitBuilder,
    io: &Ports,
    skid: &Module,
    (valid, ready): (Signal, Signal),
    head: Burst,
) {
    let offered = Burst {
        burst: io.in_burst,
        size: io.in_size,
        len: io.in_len,
        addr: io.in_addr,
        id: io.in_id,
    };
    let offered = offered.joined(&io.s);
    let from = Side::new(io.in_valid, offered, io.in_ready);
    let to = Side::new(valid, head.joined(&io.s), ready);
    let buffer = ("requests", "BURST", false);
    spad_skid::instance(u, skid, [io.clk, io.rst], buffer, from, to);
}

/// The address of the beat, and whether it is refused.
fn show(u: &UnitBuilder, io: &Ports, p: &Params, now: &Current) {
    u.paragraph();
    let word_bits = beat_bits(p);
    let add = p.n - lane_bits(p);
    u.assign(io.add, now.addr.part(word_bits, add));
    let end = word_bits + add;
    let refused = if p.XA > end {
        let beyond = u.name("beyond", now.addr.part(end, p.XA - end).any());
        when(now.bad, 2).when(beyond, 3).otherwise(0)
    } else {
        when(now.bad, 2).otherwise(0)
    };
    u.assign(io.refused, refused);
}

/// The address of the beat behind this one: the next multiple of the bytes of a
/// beat, in the bits that the kind of the burst lets change.
fn step(u: &UnitBuilder, s: &Sizes, now: &Current, word_bits: usize) -> Signal {
    u.section("The next beat begins at the next multiple of its bytes.");
    let low = now.addr.part(0, PAGE_BITS);
    let inside = now.ones.extended(PAGE_BITS);
    let sum = u.name("sum", (low.clone() | inside) + 1);
    let top = MASK_TOP + word_bits;
    let above = now.mask.at(top).copies(PAGE_BITS - top);
    let changes = u.name("changes", concat([above, now.mask.part(0, top)]));
    let low = (sum & changes) | (low & !changes);
    let low = u.name("next_low", low);
    let above = s.XA.value().unwrap_or(PAGE_BITS) - PAGE_BITS;
    if above == 0 {
        return low;
    }
    let page = now.addr.part(PAGE_BITS, above);
    u.named("next_addr", s.XA, concat([page, low.into()]))
}

/// The properties of an accepted burst.
fn shape(u: &UnitBuilder, head: Burst, word_bits: usize) -> (Signal, Signal, Signal) {
    u.section("The shape of the burst that is taken.");
    let ones = u.wire("head_ones", word_bits);
    for bit in 0..word_bits {
        u.assign(ones.at(bit), head.size.above(bit));
    }
    let wraps = u.name("wraps", head.burst.is(WRAP));
    let block = (0..=word_bits).map(|size| {
        let ones = (size > 0).then(|| number(size, (1 << size) - 1));
        let zeros = (size < word_bits).then(|| number(word_bits - size, 0));
        let parts = zeros
            .into_iter()
            .chain([head.len.part(0, MASK_TOP)])
            .chain(ones);
        let of_size = head.size.is(size).copies(word_bits + MASK_TOP);
        (of_size, concat(parts))
    });
    let block = u.name("block", and_or(block));
    let bits = word_bits + MASK_TOP + 1;
    let all = number(bits, (1 << bits) - 1);
    let mask = when(wraps, concat([number(1, 0), block.into()]))
        .when(head.burst.is(FIXED), 0)
        .otherwise(all);
    let mask = u.named("head_mask", bits, mask);

    let lengths = or_all([1, 3, 7, 15].map(|len| head.len.is(len)));
    let inexact = (head.addr.part(0, word_bits) & ones).any();
    let wraps_badly = wraps & (!lengths | inexact);
    let wide = head.size.above(word_bits);
    let bad: Expr = head.burst.all() | wide | wraps_badly;
    let bad = u.name("head_bad", bad);
    (ones, mask, bad)
}
