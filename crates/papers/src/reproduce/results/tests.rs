//! Verdicts of rows.

use super::super::fixture::{figure, table};
use super::*;

const TWO: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        [workload.a]
        input = "a"
        [workload.b]
        input = "b"
        [configuration.base]
        [configuration.new]
        [[quantity]]
        name = "speed-up"
        metric = "speed-up"
        of = "new"
        over = "base"
        mean = "geometric"
        evidence = "timed"
        published = { a = 2.0 }
        published_mean = 4.0
    "#;

#[test]
fn a_value_within_its_tolerance_is_reproduced_and_means_are_of_the_rows() {
    let cells = [
        ("a", "base", 20.0),
        ("a", "new", 10.0),
        ("b", "base", 80.0),
        ("b", "new", 10.0),
    ];
    let results = results(&figure(TWO), None, &table(&cells));
    assert_eq!(results.len(), 3);
    assert_eq!(
        (results[0].measured, results[0].verdict),
        (Some(2.0), Verdict::Reproduced)
    );
    assert_eq!(results[1].verdict, Verdict::NothingPublished);
    assert!((results[2].measured.unwrap() - 4.0).abs() < 1e-12);
    assert_eq!(results[2].quantity, "mean speed-up");
    assert_eq!(results[2].verdict, Verdict::Reproduced);
}

#[test]
fn a_value_outside_its_tolerance_differs() {
    let cells = [
        ("a", "base", 9.0),
        ("a", "new", 10.0),
        ("b", "base", 30.0),
        ("b", "new", 10.0),
    ];
    let results = results(&figure(TWO), None, &table(&cells));
    assert_eq!(results[0].verdict, Verdict::Differs);
    // The mean is 1.64: faster, but not by 4.
    assert_eq!(results[2].verdict, Verdict::DirectionOnly);
}

/// The rows of one workload by verdict, for a measured speed-up.
fn judged(quantity: &str, base: f64) -> Comparison {
    let text = format!(
        "id = 'x.f1'\ntitle = 't'\nsource = 's'\nworkload = {{ a = {{}} }}\n\
             configuration = {{ base = {{}}, new = {{}} }}\n[[quantity]]\nname = 'n'\n\
             of = 'new'\nover = 'base'\n{quantity}"
    );
    let cells = [("a", "base", base), ("a", "new", 100.0)];
    results(&figure(&text), None, &table(&cells)).remove(0)
}

#[test]
fn the_rule_follows_from_the_evidence() {
    let timed = "metric = 'speed-up'\nunit = 'x'\nevidence = 'timed'\npublished = { a = 1.20 }";
    assert_eq!(judged(timed, 117.5).verdict, Verdict::Reproduced);
    assert_eq!(judged(timed, 116.0).verdict, Verdict::DirectionOnly);
    // The printed decimals would not show this change.
    assert_eq!(judged(timed, 100.4).verdict, Verdict::Differs);
    let counted = timed.replace("timed", "counted");
    assert_eq!(judged(&counted, 120.4).verdict, Verdict::Reproduced);
    // Outside of the rounding of 1.20, within that of 1.2.
    assert_eq!(judged(&counted, 121.0).verdict, Verdict::Differs);
    assert_eq!(
        judged(&counted.replace("1.20", "1.2"), 121.0).verdict,
        Verdict::Reproduced
    );
}

#[test]
fn a_timed_change_must_go_the_published_way() {
    let gain = "metric = 'gain'\nunit = '%'\nevidence = 'timed'\npublished = { a = 2.0 }";
    let near = judged(gain, 100.5);
    assert_eq!(
        (near.verdict, near.no_mechanism_passes),
        (Verdict::Reproduced, true)
    );
    assert_eq!(judged(gain, 99.5).verdict, Verdict::Differs);
    assert_eq!(judged(gain, 100.0).verdict, Verdict::Differs);
    assert_eq!(judged(gain, 108.0).verdict, Verdict::DirectionOnly);
    let up = gain.replace("2.0", "'up'");
    let row = judged(&up, 101.0);
    assert_eq!(
        (row.check, row.verdict),
        (Check::Direction, Verdict::Reproduced)
    );
    assert_eq!(judged(&up, 100.0).verdict, Verdict::Differs);
}

#[test]
fn an_inferred_input_makes_values_and_sums_inferred() {
    let text = TWO.replace(
        "[workload.b]",
        "[workload.b]\n        inferred = 'its length'",
    );
    let cells = [("a", "base", 20.0), ("a", "new", 10.0)];
    let rows = results(&figure(&text), None, &table(&cells));
    let evidence: Vec<Evidence> = rows.iter().map(|r| r.evidence).collect();
    assert_eq!(
        evidence,
        [Evidence::Timed, Evidence::Inferred, Evidence::Inferred]
    );
}

/// A machine that was chosen to fit makes what is timed inferred, and nothing else.
#[test]
fn a_fitted_machine_makes_timed_values_inferred() {
    let text = format!("machine_inferred = 'its latency'\n{TWO}");
    let cells = [("a", "base", 20.0), ("a", "new", 10.0)];
    let rows = |text: &str| results(&figure(text), None, &table(&cells));
    let is = |rows: &[Comparison], evidence| rows.iter().all(|r| r.evidence == evidence);
    assert!(is(&rows(&text), Evidence::Inferred));
    assert!(is(
        &rows(&text.replace("\"timed\"", "\"counted\"")),
        Evidence::Counted
    ));
    // The mean is over one of two workloads.
    assert_eq!(rows(&text).last().unwrap().workloads, Some([1, 2]));
}

/// The largest value is as published, and of another workload.
#[test]
fn an_extreme_is_of_the_published_workload() {
    let cells = [
        ("a", "base", 20.0),
        ("a", "new", 10.0),
        ("b", "base", 11.0),
        ("b", "new", 10.0),
    ];
    let verdict = |at: &str| {
        let summary = "[[quantity.summary]]\nform = 'max'\npublished = 2.0";
        let text = format!("{TWO}{summary}\nat = '{at}'\n");
        results(&figure(&text), None, &table(&cells)).pop().unwrap()
    };
    assert_eq!(verdict("a").verdict, Verdict::Reproduced);
    let elsewhere = verdict("b");
    assert_eq!(elsewhere.verdict, Verdict::DirectionOnly);
    assert!(
        elsewhere
            .reason
            .unwrap()
            .contains("published of b, here of a")
    );
}

#[test]
fn counts_orders_and_what_is_not_modelled_are_rows() {
    let text = format!(
        "{TWO}{}",
        r#"
        [[quantity.summary]]
        form = "count-if"
        condition = "> 1"
        published = 2
        [[order]]
        name = "new is faster"
        evidence = "timed"
        ascending = ["new", "base"]
        published_count = 2
        [[order]]
        name = "b gains more"
        evidence = "timed"
        metric = "speed-up"
        over = "base"
        of = "new"
        descending = ["b", "a"]
        [[not_modelled]]
        quantity = "power"
        published = 1.5
        unit = "W"
        reason = "no library has it"
        "#
    );
    let cells = [
        ("a", "base", 20.0),
        ("a", "new", 10.0),
        ("b", "base", 9.0),
        ("b", "new", 10.0),
    ];
    let rows = results(&figure(&text), Some("m"), &table(&cells));
    let row = |name: &str| {
        let of = |r: &&Comparison| r.quantity == name && r.workload.is_none();
        rows.iter().find(of).unwrap_or_else(|| panic!("{name}"))
    };
    let count = row("count speed-up");
    assert_eq!(
        (count.measured, count.verdict),
        (Some(1.0), Verdict::Differs)
    );
    let holds = row("count new is faster");
    assert_eq!(
        (holds.measured, holds.verdict),
        (Some(1.0), Verdict::Differs)
    );
    let order = row("b gains more");
    assert_eq!(
        (order.check, order.verdict),
        (Check::Order, Verdict::Differs)
    );
    let power = row("power");
    assert_eq!(power.verdict, Verdict::NotModelled);
    assert_eq!(
        power.published.as_ref().and_then(Published::number),
        Some(1.5)
    );
}

#[test]
fn a_missing_point_is_no_number() {
    let results = results(&figure(TWO), None, &table(&[("a", "new", 10.0)]));
    assert!(results.iter().all(|r| r.measured.is_none()));
    assert_eq!(results[0].reason.as_deref(), Some("not computed"));
}

const STEPS: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        evidence = "timed"
        workload = { a = {}, "a, padded" = {} }
        configuration = { base = {}, half = {}, new = {} }
        [[quantity]]
        name = "what new adds"
        metric = "gain"
        of = "new"
        less = "half"
        over = "base"
        only = ["a"]
        unit = "%"
        published = { a = 80 }
        [[quantity]]
        name = "against another base"
        metric = "gain"
        of = "new"
        over = "base"
        less = "new"
        less_over = "half"
        only = ["a"]
        unit = "%"
        [[quantity]]
        name = "part of new"
        metric = "gain"
        of = "half"
        part_of = "new"
        over = "base"
        only = ["a"]
        unit = "%"
        [[quantity]]
        name = "padding"
        metric = "speed-up"
        of = "base"
        over = "base"
        over_without = ", padded"
        only = ["a, padded"]
        unit = "x"
    "#;

/// A step is what one configuration has beyond another, a part what it has of another's,
/// and a workload may be compared with another one.
#[test]
fn more_than_two_numbers_make_a_value() {
    let cells = [
        ("a", "base", 200.0),
        ("a", "half", 160.0),
        ("a", "new", 100.0),
        ("a, padded", "base", 50.0),
    ];
    let figure = figure(STEPS);
    let results = results(&figure, None, &table(&cells));
    let values: Vec<f64> = results.iter().filter_map(|r| r.measured).collect();
    let expected = [75.0, 40.0, 25.0, 4.0];
    assert_eq!(values.len(), expected.len());
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }
    assert_eq!(results[0].neutral, Some(0.0));
    assert_eq!(results[2].neutral, None);
    // Their points are computed.
    assert_eq!(figure.configurations_of("a"), ["base", "half", "new"]);
    assert_eq!(figure.configurations_of("a, padded"), ["base"]);
}

/// A value that the kit takes from the paper agrees, and is no evidence.
#[test]
fn an_identity_is_not_evidence_of_its_own() {
    let copied = "evidence = 'identity'\nmetric = 'ratio'\npublished = { a = 0.5 }";
    let row = judged(copied, 200.0);
    assert_eq!(row.verdict, Verdict::Reproduced);
    assert!(!row.evidence.is_own());
    assert_eq!(judged(copied, 150.0).verdict, Verdict::Differs);
}

/// The gap to a number of the configuration that is compared with, and the correlation of
/// two measured quantities.
#[test]
fn a_gap_is_to_a_number_of_the_baseline_and_ranks_against_another_quantity() {
    let text = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        evidence = "timed"
        workload = { a = {}, b = {}, c = {} }
        configuration = { base = {}, new = {} }
        [[quantity]]
        name = "demand"
        key = "demand"
        of = "base"
        [[quantity]]
        name = "gap"
        metric = "speed-up"
        of = "new"
        over = "base"
        gap_to = "bound"
        [[quantity.summary]]
        form = "rank"
        against = "demand"
        published = "up"
        [[quantity.summary]]
        form = "rank"
        name = "against nothing"
    "#;
    let mut table = Table::new();
    for (workload, demand, gain) in [("a", 3.0, 1.0), ("b", 1.0, 2.0), ("c", 2.0, 4.0)] {
        for (configuration, cycles) in [("base", 100.0), ("new", 100.0 / gain)] {
            let values = [("cycles", cycles), ("demand", demand), ("bound", 2.0)];
            let values = values.map(|(k, v)| (k.to_owned(), v)).into();
            let numbers = crate::reproduce::Numbers {
                values,
                ..Default::default()
            };
            table.insert((workload.to_owned(), configuration.to_owned()), numbers);
        }
    }
    let rows = results(&figure(text), None, &table);
    let gaps: Vec<_> = rows.iter().filter(|r| r.quantity == "gap").collect();
    let gaps: Vec<f64> = gaps.iter().filter_map(|r| r.measured).collect();
    assert_eq!(gaps, [2.0, 1.0, 0.5]);
    let rank = rows.iter().find(|r| r.quantity == "rank correlation gap");
    let rank = rank.unwrap();
    assert_eq!(
        (rank.measured, rank.verdict),
        (Some(0.5), Verdict::Reproduced)
    );
    assert_eq!(rows.last().unwrap().measured, None);
}
