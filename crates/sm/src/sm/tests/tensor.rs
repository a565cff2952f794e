//! Tensor units: products whose time is a formula.

use super::*;
use spadkit_ptx::tensor::Work;

/// [`tiny`] with units of 256 multiplications of f16 a cycle.
fn units(more: &str) -> Config {
    tiny(&format!(
        "{more}[tensor]\nmacs_per_cycle = 256\nf64_macs_per_cycle = 16\nlatency = 17\n"
    ))
}

fn on_units(more: &str, body: &str) -> Statistics {
    run(&units(more), &warps(body)).unwrap()
}

/// Products that need each other take their latency each, others the cycles
/// that they occupy the unit.
#[test]
fn a_chain_takes_latencies_and_independent_products_take_turns() {
    for n in 1..=20 {
        let chain = "mma.16.2048 r1, r1\n".repeat(n);
        let n64 = n as u64;
        assert_eq!(on_units("", &chain).cycles, n64 * (17 + 8));
        let apart: String = (0..n).map(|r| format!("mma.16.2048 r{r}\n")).collect();
        assert_eq!(on_units("", &apart).cycles, (n64 - 1) * 8 + (17 + 8));
    }
}

/// The narrower the elements, the more of them; f64 have a rate of their own.
#[test]
fn elements_have_their_rates() {
    let each = |product: &str| {
        let of = |n: usize| on_units("", &format!("mma.{product} r1, r1\n").repeat(n)).cycles;
        of(3) - of(2) - 17
    };
    let cases = [
        ("16.2048", 8),
        ("32.1024", 8),
        ("8.4096", 8),
        ("4.8192", 8),
        ("1.32768", 8),
        ("64.256", 16),
        ("16.1", 1),
        ("16.257", 2),
    ];
    for (product, cycles) in cases {
        assert_eq!(each(product), cycles, "{product}");
    }
}

/// Two warps of one scheduler share its unit, those of several do not; other
/// instructions pass by.
#[test]
fn each_scheduler_has_a_unit() {
    let body = |n: usize| {
        let apart: String = (0..n).map(|r| format!("mma.16.2048 r{r}\n")).collect();
        format!(".warp_size 8\n.block 32\n{apart}")
    };
    let cycles = |schedulers: u32, n: usize| {
        let config = units(&format!("[scheduler]\ncount = {schedulers}\n"));
        let s = run(&config, &body(n)).unwrap();
        let slots = s.cycles * u64::from(schedulers);
        assert_eq!(s.issued + s.stalls.total(), slots);
        assert!(n == 1 || s.stalls.tensor_unit > 0, "{s:?}");
        s.cycles
    };
    for n in [1, 2, 5] {
        let products = 4 * n as u64;
        assert_eq!(cycles(1, n), (products - 1) * 8 + 25);
        assert_eq!(cycles(2, n), (products / 2 - 1) * 8 + 25);
        assert_eq!(cycles(4, n), (products / 4 - 1) * 8 + 25);
    }
    let beside = format!(
        ".warp_size 8\n.block 16\nwarp 0\n{}warp 1\n{}",
        "mma.16.2048 r1\nmma.16.2048 r2\n",
        "alu r1\n".repeat(4)
    );
    assert_eq!(run(&units(""), &beside).unwrap().cycles, 8 + 25);
}

/// Stages that decide the issue come before it, and cost no turn of the unit.
#[test]
fn stages_in_front_of_the_issue_hide_behind_the_unit() {
    let apart: String = (0..9).map(|r| format!("mma.16.2048 r{r}\n")).collect();
    let of = |ahead: u32| {
        let more = format!("[path]\nmem_stages = 4\nahead = {ahead}\n");
        on_units(&more, &apart).cycles
    };
    for ahead in 1..=3 {
        assert_eq!(of(ahead) - of(0), u64::from(ahead));
    }
}

#[test]
fn a_machine_without_units_refuses_products() {
    let error =
        |config: &Config, product: &str| run(config, &warps(product)).unwrap_err().to_string();
    let none = error(&tiny(""), "alu r1\nmma.16.2048 r1, r1\n");
    let expected = "block 0, warp 0, pc 1: mma on a machine without tensor units";
    assert!(none.contains(expected), "{none}");
    let volta = Config::preset("sm70").unwrap();
    let double = ".block 32\nmma.64.256 r1\n";
    let error = run(&volta, double).unwrap_err().to_string();
    assert!(error.contains("without tensor units for f64"), "{error}");
}

/// What others measured on these GPUs (docs/reference/microarchitecture/sm-model.md).
#[test]
fn the_presets_are_near_the_microbenchmarks() {
    for (preset, product, cycles) in [
        ("sm70", "16.4096", 54),
        ("sm80", "16.2048", 25),
        ("sm80", "16.1024", 21),
        ("sm90", "16.2048", 24),
    ] {
        let config = Config::preset(preset).unwrap();
        let text = |n: usize| format!(".block 32\n{}", format!("mma.{product} r1, r1\n").repeat(n));
        let of = |n| run(&config, &text(n)).unwrap().cycles;
        assert_eq!(of(5) - of(4), cycles, "{preset} {product}");
    }
}

/// Products of warpgroups have a rate of their own, where the machine has one:
/// m64n256k16 of f16 in 128 cycles on sm90, all of the whitepaper's 2048
/// multiplications a cycle.
#[test]
fn products_of_warpgroups_have_their_rate() {
    let of = |preset: &str, group| {
        let units = Config::preset(preset).unwrap().sm.tensor;
        units.occupied(16, 64 * 256 * 16 / 4, group).unwrap()
    };
    assert_eq!((of("sm90", true), of("sm90", false)), (128, 205));
    assert_eq!(of("sm80", true), of("sm80", false));
    let cycles = |group: u32, is_of_group| {
        let config = tiny(&format!(
            "[tensor]\nmacs_per_cycle = 256\nlatency = 17\ngroup_macs_per_cycle = {group}\n"
        ));
        copies::on(&config, vec![vec![product(is_of_group); 5]])
            .unwrap()
            .cycles
    };
    assert_eq!(cycles(512, true), 4 * 4 + 4 + 17);
    for (group, is_of_group) in [(512, false), (0, true), (0, false)] {
        let cycles = cycles(group, is_of_group);
        assert_eq!(cycles, 4 * 8 + 8 + 17, "{group} {is_of_group}");
    }
}

/// 2048 multiplications of 16 bits.
fn product(group: bool) -> Instr {
    let mut product = Instr::new(InstrKind::Mma, 0, 1);
    product.detail = Work {
        bits: 16,
        macs: 2048,
        group,
    }
    .into();
    product
}

/// Products of a warpgroup into one accumulator follow each other in the unit;
/// who reads it waits for the last. Those of a warp wait for each other.
#[test]
fn products_of_warpgroups_do_not_wait_for_their_accumulator() {
    let config = tiny("[tensor]\nmacs_per_cycle = 256\nlatency = 17\n");
    let cycles = |group, reads: bool| {
        let mut product = product(group);
        product.dst = Some(1);
        let mut program = vec![product; 5];
        let mut read = Instr::new(InstrKind::Alu, 0, 1);
        read.srcs = Sources::new(&[1]).unwrap();
        program.extend(reads.then_some(read));
        copies::on(&config, vec![program]).unwrap().cycles
    };
    assert_eq!(cycles(true, false), 5 * 8 + 17);
    assert_eq!(cycles(true, true), 5 * 8 + 17 + 1);
    assert_eq!(cycles(false, false), 5 * (8 + 17));
}
