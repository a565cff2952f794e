//! What the calls of a description print, and what they refuse.

use super::*;
use crate::signal::Bits;

fn unit() -> UnitBuilder {
    UnitBuilder::new(UnitDoc::part("unit", "a unit.", "none".into(), "1"))
}

fn body(u: UnitBuilder) -> String {
    let text = u.emit().unwrap().file.text;
    let (_, body) = text.split_once(");\n").unwrap();
    let end = "\n`default_nettype wire\n";
    body.strip_suffix(end).unwrap().to_owned()
}

#[test]
fn a_register_is_printed_with_its_reset_and_enable() {
    let u = unit();
    let [_, _] = u.clocked();
    let (step, data) = (u.input("step", 1, "go on"), u.input("data", 4, "a number"));
    let out = u.output("out", 4, "the sum so far");
    let l = u.size("L", 4);
    let sum = u.register("sum", l).reset(0);
    u.assign(out, sum);
    u.at_clock().when(step).next(sum, sum + data);
    let expected = "    localparam L = 4;\n    reg [L-1:0] sum_q;\n    assign out = sum_q;\n    \
                    always @(posedge clk) begin\n        if (rst) sum_q <= {L{1'b0}};\n        \
                    else if (step) sum_q <= sum_q + data;\n    end\nendmodule\n";
    assert_eq!(body(u), expected);
}

#[test]
fn a_register_without_reset_says_why() {
    let u = unit();
    u.clocked();
    let (take, data) = (
        u.input("take", 1, "take it"),
        u.input("data", 4, "a number"),
    );
    let out = u.output("out", 4, "the number taken last");
    let valid = u.register("valid", 1).reset(0);
    let held = u.register("held", 4).covered_by(valid);
    u.at_clock().next(valid, take);
    u.at_clock().when(take).next(held, data);
    u.assign(out, held.gated(valid));
    let expected = "    reg valid_q;\n    reg [3:0] held_q; // no reset: `valid_q` covers it\n";
    assert!(body(u).starts_with(expected));
    let bare = refused(|u, _, _| {
        let bare = u.register("bare", 1).without_reset("nothing reads it");
        u.register("held", 1).covered_by(bare);
    });
    assert_eq!(bare, "bare_q, which covers held, has no reset");
}

#[test]
fn an_output_shows_its_register_and_the_next_state_has_the_name_of_that() {
    let part = || {
        let u = unit();
        let count = u.input("count", 4, "a number");
        let out = u.output("out", 4, "the same");
        u.assign(out, count);
        u.emit().unwrap()
    };
    let u = unit();
    u.clocked();
    let count = u.output_register("count", 4, "cycles").reset(0);
    let out = u.output("out", 4, "the same");
    u.instance(&part(), "part").same([count, out]).done();
    let next = u.next_state(count, count + 1);
    u.at_clock().next(count, next);
    let expected = "\n    // Outputs from registers.\n    reg [3:0] count_q;\n    \
                    assign count = count_q;\n    unit part (.count(count_q), .out(out));\n    \
                    wire [3:0] count_d = count_q + 4'd1;\n    \
                    always @(posedge clk) begin\n        if (rst) count_q <= 4'd0;\n        \
                    else count_q <= count_d;\n    end\nendmodule\n";
    assert_eq!(body(u), expected);
}

#[test]
fn sizes_and_indices_are_declared_where_they_are_used() {
    let u = unit();
    let [l, _unused] = [u.size("L", 4), u.size("M", 5)];
    let a = u.input("a", l, "bits");
    let out = u.output("out", l, "the same, backwards");
    let [i, _j] = u.indices(["i", "j"]);
    u.generate(|| u.each("bit", i, (0, l), |i| u.assign(out.at(l - 1 - i), a.at(i))));
    let expected = "    localparam L = 4;\n    genvar i;\n    generate\n        \
                    for (i = 0; i < L; i = i + 1) begin : bit\n            \
                    assign out[L-1-i] = a[i];\n        end\n    endgenerate\nendmodule\n";
    assert_eq!(body(u), expected);
}

/// A wire's bits by two lines, a register by what it becomes, an instance's output by
/// its connection and the line inside.
#[test]
fn outputs_name_the_lines_that_drive_them() {
    let line = line!();
    let part = {
        let u = unit();
        let out = u.output("shown", 1, "a number");
        u.assign(out, crate::signal::number(1, 1));
        u.emit().unwrap()
    };
    let u = unit();
    u.clocked();
    let pair = u.output("pair", 2, "two bits");
    let [first, shown] = ["first", "shown"].map(|name| u.output(name, 1, "a bit"));
    let count = u.output_register("count", 4, "cycles").reset(0);
    u.assign(pair.at(1), first);
    u.assign(pair.at(0), first);
    u.at_clock().next(count, count + 1);
    u.instance(&part, "part").same([shown]).done();
    u.assign(first, count.at(0));
    let ports = u.emit().unwrap().ports;
    let lines = |name: &str| {
        let port = ports.iter().find(|port| port.name == name).unwrap();
        let here = |at: &Origin| {
            assert_eq!(at.file, "hdl/src/unit/tests.rs");
            at.line - line
        };
        port.driven_by.iter().map(here).collect::<Vec<_>>()
    };
    let all = ["clk", "pair", "first", "count", "shown"].map(lines);
    assert_eq!(all, [vec![], vec![12, 13], vec![16], vec![14], vec![15, 4]]);
}

#[test]
fn what_nothing_drives_is_refused() {
    let u = unit();
    u.output("out", 1, "nothing");
    assert!(
        u.emit()
            .unwrap_err()
            .to_string()
            .contains("nothing drives out")
    );
}

/// The error of a unit with the input `two` and the output `out`, of 4 bits.
fn error(describe: impl FnOnce(&UnitBuilder, Signal, Signal)) -> String {
    let u = unit();
    let (two, out) = (u.input("two", 2, "bits"), u.output("out", 4, "bits"));
    describe(&u, two, out);
    u.emit().unwrap_err().to_string()
}

#[test]
fn a_bit_with_two_drivers_is_refused_with_their_lines() {
    let whole = error(|u, two, out| {
        u.assign(out, 3);
        u.assign(out.part(2, 2), two);
    });
    assert!(whole.contains("out[2] has two drivers: "), "{whole}");
    assert_eq!(whole.matches("unit/tests.rs:").count(), 2, "{whole}");
    let loops = error(|u, two, out| {
        let [i] = u.indices(["i"]);
        let last = u.size("LAST", 3);
        u.generate(|| {
            u.each("low", i, (0, 3), |i| u.assign(out.at(i), two.at(0)));
            u.each("high", i, (0, 2), |i| u.assign(out.at(last - i), 0));
        });
    });
    assert!(loops.contains("out[2] has two drivers"), "{loops}");
    let steps = error(|u, two, out| {
        let [i] = u.indices(["i"]);
        u.generate(|| u.each("pair", i, (0, 3), |i| u.assign(out.part(i, 2), two)));
    });
    assert!(steps.contains("out[1] has two drivers"), "{steps}");
    let register = error(|u, two, out| {
        u.clocked();
        let held = u.register("held", 2).reset(0);
        u.at_clock().next(held, two);
        u.at_clock().when(two.at(0)).next_bit(held, two.at(1), 1);
        u.assign(out, 3);
    });
    assert!(register.contains("held_q[0] has two drivers"), "{register}");
}

#[test]
fn a_bit_without_a_driver_is_refused() {
    let high = error(|u, two, out| u.assign(out.low(2), two));
    assert!(high.contains("nothing drives out[2]"), "{high}");
    let last = error(|u, _, out| {
        let [i] = u.indices(["i"]);
        u.generate(|| {
            u.each("bit", i, (0, 4), |i| {
                let not = |_| ();
                u.last(
                    (i, 4.into()),
                    ("inner", |i| u.assign(out.at(i), 0)),
                    ("last", not),
                );
            })
        });
    });
    assert!(last.contains("nothing drives out[3]"), "{last}");
}

#[test]
fn blocks_of_a_choice_and_iterations_have_bits_of_their_own() {
    let u = unit();
    let (two, out) = (u.input("two", 2, "bits"), u.output("out", 4, "bits"));
    let [i, j] = u.indices(["i", "j"]);
    let last = u.size("LAST", 1);
    u.generate(|| {
        u.each("pair", i, (0, 2), |i| {
            let own = u.wire("own", 2);
            u.each("bit", j, (0, 2), |j| u.assign(own.at(last - j), two.at(j)));
            let to = out.part(2 * i, 2);
            let first = |_| u.assign(to.clone(), own);
            u.first(i, ("first", first), ("others", |_| u.assign(to.clone(), 0)));
        });
    });
    u.emit().unwrap();
}

#[test]
fn names_that_differ_only_by_case_are_refused() {
    let u = unit();
    let (a, out) = (u.input("a", 1, "a bit"), u.output("out", 1, "the same"));
    let same = u.name("Out", a);
    u.assign(out, same);
    let error = u.emit().unwrap_err().to_string();
    assert!(error.contains("Out and out differ only by case"), "{error}");
}

/// What a description panics with.
fn refused(describe: impl FnOnce(&UnitBuilder, Signal, Signal) + std::panic::UnwindSafe) -> String {
    let caught = std::panic::catch_unwind(|| {
        let u = unit();
        let (two, out) = (u.input("two", 2, "bits"), u.output("out", 1, "a bit"));
        describe(&u, two, out);
    });
    let payload = caught.expect_err("it is refused");
    let text = payload.downcast_ref::<String>().cloned();
    text.or(payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
        .unwrap()
}

#[test]
fn what_does_not_fit_is_refused_where_it_is_written() {
    let wide = refused(|u, two, out| u.assign(out, two));
    assert_eq!(wide, "two has 2 bits beside 1");
    let both = refused(|_, two, out| drop(two & out));
    assert_eq!(both, "out has 1 bits beside 2");
    assert_eq!(refused(|_, two, _| drop(two.at(2))), "two has no bit 2");
    assert_eq!(
        refused(|u, two, _| u.assign(two.at(0), 0)),
        "two[0] is not a wire"
    );
    let register = refused(|u, two, out| {
        u.at_clock().next(out, two.at(0));
    });
    assert_eq!(register, "out is no register");
}

#[test]
fn bits_are_selected_of_a_name_only() {
    let both = |two: Signal| two & two;
    let what = "no bits can be selected of two & two";
    assert_eq!(refused(|_, two, _| drop(both(two).at(1))), what);
    assert_eq!(refused(|_, two, _| drop(both(two).high(1))), what);
    assert_eq!(
        refused(|_, two, out| drop(both(two).select(out))),
        what,
        "by another signal"
    );
    let part = refused(|u, _, _| drop(u.input("word", 4, "bits").part(1, 2).at(0)));
    assert_eq!(part, "no bits can be selected of word[2:1]");
    // All bits are the signal itself, and have its bits.
    let u = unit();
    let word = u.input("word", 4, "bits");
    assert_eq!(word.part(0, 4).at(2).to_string(), "word[2]");
}

#[test]
fn the_number_of_a_bit_can_be_of_no_bit_outside() {
    let outside = refused(|u, two, _| drop(u.input("word", 3, "bits").select(two)));
    assert_eq!(
        outside,
        "two has 2 bits, which number more than the 3 bits of word"
    );
    let written = refused(|u, two, _| {
        let bits = u.register("bits", 3).reset(0);
        u.at_clock().next_bit(bits, two, 1);
    });
    assert_eq!(
        written,
        "two has 2 bits, which number more than the 3 bits of bits_q"
    );
    let u = unit();
    let (word, index) = (u.input("word", 4, "bits"), u.input("index", 2, "which"));
    assert_eq!(word.select(index).to_string(), "word[index]");
}

#[test]
fn instances_connect_every_port_in_its_width_and_direction() {
    let part = || {
        let u = unit();
        let a = u.input("a", 2, "bits");
        let b = u.output("b", 1, "any");
        u.assign(b, a.any());
        u.emit().unwrap()
    };
    let missing = refused(|u, two, _| u.instance(&part(), "part").port("a", two).done());
    assert!(
        missing.contains("unit has an unconnected port"),
        "{missing}"
    );
    let order = refused(|u, _, out| u.instance(&part(), "part").port("b", out).done());
    assert!(order.contains("the next port of unit"), "{order}");
    let narrow = refused(|u, _, out| u.instance(&part(), "part").port("a", out).done());
    assert_eq!(narrow, "unit.a has 2 bits, out 1");
    let direction = refused(|u, two, out| {
        let part = part();
        let half = u.instance(&part, "part").port("a", two);
        half.port("b", out & out).done();
    });
    assert_eq!(direction, "out & out is no signal");
}

#[test]
fn a_port_is_as_wide_as_the_parameter_is_set_to() {
    let part = || {
        let u = unit();
        let width = u.parameter("WIDTH", 2, 1..=8);
        let a = u.input("a", width, "bits");
        let b = u.output("b", 1, "any");
        u.assign(b, a.any());
        u.emit().unwrap()
    };
    let set_to = |width: usize| {
        refused(move |u, two, out| {
            let part = part();
            let instance = u.instance(&part, "part").parameter("WIDTH", width.into());
            instance.port("a", two).port("b", out).done();
            panic!("it fits");
        })
    };
    assert_eq!(set_to(3), "unit.a has 3 bits, two 2");
    assert_eq!(set_to(2), "it fits");
}

#[test]
fn ports_have_their_widths_in_terms_of_parameters() {
    let u = unit();
    let bytes = u.parameter("BYTES", 4, 1..=8);
    let (word, lanes) = (u.size("WORD", bytes * 8), u.size("LANES", 2));
    let words = u.input("words", lanes * word, "a word per lane");
    let out = u.output("out", word, "that of lane 1");
    u.assign(out, words.part(word, word));
    let module = u.emit().unwrap();
    let expected = "module unit #(\n    parameter integer BYTES = 4 // 1 to 8\n) (\n    \
                    input wire [2*BYTES*8-1:0] words,\n    \
                    output wire [BYTES*8-1:0] out\n);\n    localparam WORD = BYTES*8;\n    \
                    assign out = words[WORD +: WORD];\nendmodule\n";
    assert!(module.file.text.contains(expected), "{}", module.file.text);
    let header = "// in  words 2*BYTES*8  a word per lane\n";
    assert!(module.file.text.contains(header), "{}", module.file.text);
    let widths: Vec<_> = module.ports.iter().map(|port| port.width).collect();
    assert_eq!(widths, [64, 32]);
}

#[test]
fn an_instance_sets_a_parameter_to_what_it_may_be() {
    let set_to = |name: &'static str, width: usize| {
        refused(move |u, _, _| {
            let part = unit();
            part.parameter("WIDTH", 2, 1..=8);
            let part = part.emit().unwrap();
            u.instance(&part, "part")
                .parameter(name, width.into())
                .done();
            panic!("it is set");
        })
    };
    assert_eq!(set_to("WIDTH", 9), "unit.WIDTH is 9, not 1 to 8");
    assert_eq!(set_to("DEPTH", 2), "unit has no parameter DEPTH");
    assert_eq!(set_to("WIDTH", 8), "it is set");
}

#[test]
fn ports_are_connected_by_name_to_numbers_and_to_wires_side_by_side() {
    let part = || {
        let u = unit();
        let (a, b) = (u.input("a", 2, "bits"), u.input("b", 3, "bits"));
        let c = u.output("c", 5, "the same");
        u.assign(c, crate::signal::concat([a.into(), b.into()]));
        u.emit().unwrap()
    };
    let u = unit();
    let a = u.input("a", 2, "bits");
    let (high, low) = (u.output("high", 2, "bits"), u.output("low", 3, "bits"));
    let part = part();
    let instance = u.instance(&part, "part").same([a]).port("b", 5);
    let both = crate::signal::concat([high.into(), low.into()]);
    instance.port("c", both).done();
    let expected = "    unit part (.a(a), .b(3'd5), .c({high, low}));\nendmodule\n";
    assert_eq!(body(u), expected);
}

#[test]
fn a_reset_is_of_all_bits_where_one_is_written_by_its_number() {
    let u = unit();
    u.clocked();
    let (set, index) = (u.input("set", 1, "set it"), u.input("index", 2, "which"));
    let out = u.output("out", 4, "the bits");
    let bits = u.register("bits", 4).reset(0);
    u.at_clock().when(set).next_bit(bits, index, 1);
    u.assign(out, bits);
    let expected = "    reg [3:0] bits_q;\n    always @(posedge clk) begin\n        \
                    if (rst) bits_q <= 4'd0;\n        \
                    else if (set) bits_q[index] <= 1'b1;\n    end\n    \
                    assign out = bits_q;\nendmodule\n";
    assert_eq!(body(u), expected);
}

#[test]
fn declarations_with_one_reason_share_its_waiver() {
    let u = unit();
    let part = |name, reason| {
        let wire = u.wire_in_part(name, 2, reason);
        u.drive(&wire.into());
    };
    part("a", "one reason");
    part("b", "one reason");
    part("c", "another");
    let waived = |reason: &str, wires: &str| {
        format!(
            "    /* verilator lint_off UNUSEDSIGNAL */ // {reason}\n{wires}    \
             /* verilator lint_on UNUSEDSIGNAL */\n"
        )
    };
    let one = waived("one reason", "    wire [1:0] a;\n    wire [1:0] b;\n");
    let another = waived("another", "    wire [1:0] c;\n");
    assert_eq!(body(u), one + &another + "endmodule\n");
}

#[test]
fn a_long_concatenation_is_broken_between_its_parts() {
    let u = unit();
    let names: [String; 4] = std::array::from_fn(|i| format!("a_rather_long_name_of_a_signal_{i}"));
    let parts = names.map(|name| u.input(&name, 1, "a bit").into());
    let out = u.output("out", 4, "the bits");
    u.assign(out, crate::signal::concat(parts));
    let expected = "    assign out = {a_rather_long_name_of_a_signal_0, \
                    a_rather_long_name_of_a_signal_1,\n        \
                    a_rather_long_name_of_a_signal_2, \
                    a_rather_long_name_of_a_signal_3};\nendmodule\n";
    assert_eq!(body(u), expected);
}

#[test]
#[should_panic(expected = "there are two signals 'word'")]
fn a_name_of_two_signals_is_refused() {
    let u = unit();
    let [i] = u.indices(["i"]);
    u.wire("word", 1);
    u.generate(|| {
        u.each("lane", i, (0, 2), |_| {
            // Its own block: another signal than that of the module.
            u.wire("word", 1);
            u.wire("word", 1);
        });
    });
}
