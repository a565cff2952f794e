//! A mapping for each variable of shared memory.

use super::*;

/// Two variables with different strides: one mapping cannot serve both, two can.
#[test]
fn each_variable_has_its_own_mapping() {
    let column = |first: u32, stride: u32| (4, (0..32).map(|l| first + l * stride).collect());
    // Rows of 8 words, read by eight columns of a row; and rows of 32.
    let mut accesses: Vec<(u32, Vec<u32>)> = (0..4).map(|c| column(c, 8)).collect();
    accesses.extend((0..4).map(|c| column(256 + c, 6)));
    // Lanes on both variables.
    accesses.push((
        4,
        (0..32)
            .map(|l| if l < 16 { 8 * l } else { 256 + 6 * l })
            .collect(),
    ));
    let mut trace = trace(512, accesses);
    let variables = serde_json::json!([
        {"name": "a", "offset": 0, "bytes": 1024},
        {"name": "b", "offset": 1024, "bytes": 1024},
        {"name": "idle", "offset": 2048, "bytes": 0},
    ]);
    trace.extra.insert("shared_variables".to_owned(), variables);
    let kinds = [MappingKind::Swizzle, MappingKind::Pad];
    let room = 600;
    let found = per_variable(&trace, geometry(), phases(), room, &kinds, &effort());
    let found = found.unwrap().unwrap();
    let names: Vec<&str> = found
        .variables
        .iter()
        .map(|v| v.variable.name.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(found.variables[0].array.accesses(), 5);
    let banks = |word: u32| {
        let v = &found.variables[usize::from(word >= 256)];
        v.choices.best().layout.bank(word % 256)
    };
    let counted = Plainly(&trace).count(banks);
    assert_eq!(found.count.conflicts, counted);
    let added: u64 = found
        .variables
        .iter()
        .map(|v| 5 * v.choices.best().added as u64)
        .sum();
    assert_eq!(found.added, added as f64 / 10.0);
    // What another tool means by the name, or is outside, is no variable.
    for other in [
        serde_json::json!("tile"),
        serde_json::json!([{"name": "a", "offset": -1, "bytes": 4}]),
        serde_json::json!([{"name": "a", "offset": 0, "bytes": 4}, {"name": "b", "offset": 2045, "bytes": 4}]),
        serde_json::json!([{"name": "a", "offset": u32::MAX, "bytes": u32::MAX}]),
    ] {
        trace.extra.insert("shared_variables".to_owned(), other);
        let none = per_variable(&trace, geometry(), phases(), room, &kinds, &effort());
        assert!(none.unwrap().is_none());
    }
    // One variable alone is no choice between variables.
    let one = serde_json::json!([{"name": "a", "offset": 0, "bytes": 2048}]);
    trace.extra.insert("shared_variables".to_owned(), one);
    assert!(
        per_variable(&trace, geometry(), phases(), room, &kinds, &effort())
            .unwrap()
            .is_none()
    );
}

/// A variable in the middle of a vector: what comes after it stays aligned.
#[test]
fn variables_in_the_middle_of_a_vector_keep_theirs_whole() {
    let vectors = |first: u32| (16, (0..32).map(|l| first + 4 * l).collect());
    let words = |first: u32| (4, (0..32).map(|l| first + l % 2).collect());
    let mut trace = trace(512, vec![words(4), vectors(8), vectors(136), words(6)]);
    let variables = serde_json::json!([
        {"name": "a", "offset": 16, "bytes": 8},
        {"name": "b", "offset": 24, "bytes": 2000},
    ]);
    trace.extra.insert("shared_variables".to_owned(), variables);
    let found = per_variable(
        &trace,
        geometry(),
        phases(),
        600,
        &MappingKind::all(),
        &effort(),
    );
    let found = found.unwrap().unwrap();
    let b = &found.variables[1];
    assert_eq!((b.array.vector_words(), b.array.accesses()), (4, 3));
    for choice in &b.choices.ranked {
        // b counts from word 4, two words before it begins.
        for vector in (8..300).step_by(4) {
            let place = |word: u32| choice.layout.place(word - 4);
            let first = place(vector);
            let whole = first % 4 == 0 && (0..4).all(|i| place(vector + i) == first + i);
            assert!(whole, "{} {vector}", choice.layout.spec());
        }
    }
}

/// One variable is accessed, another is only copied: the first has a mapping of its own.
#[test]
fn a_variable_beside_a_copied_one_has_a_mapping() {
    let column: Vec<u32> = (0..32).map(|l| 32 * l).collect();
    let mut trace = trace(2048, vec![(4, column)]);
    let variables = serde_json::json!([
        {"name": "tile", "offset": 0, "bytes": 4096},
        {"name": "brought", "offset": 4096, "bytes": 4096},
    ]);
    let copies = serde_json::json!([{"ptx_line": 7, "stores": false, "offset": 4096, "bytes": 64}]);
    let extra = &mut trace.extra;
    extra.insert(crate::trace::VARIABLES_FIELD.to_owned(), variables);
    let apart = |trace: &AccessTrace| {
        let kinds = MappingKind::all();
        per_variable(trace, geometry(), phases(), 4096, &kinds, &effort()).unwrap()
    };
    assert!(apart(&trace).is_none());
    let extra = &mut trace.extra;
    extra.insert(crate::trace::BULK_COPIES_FIELD.to_owned(), copies);
    let apart = apart(&trace).unwrap();
    assert_eq!((apart.variables.len(), apart.count.conflicts), (1, 0));
}
