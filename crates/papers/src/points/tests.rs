//! Files of points: cut, shared, merged.

use super::*;

#[test]
fn an_interrupted_run_goes_on_behind_its_last_whole_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("2", "second", &7u32).unwrap();
    points.add("1", "first", &5u32).unwrap();
    drop(points);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{{\"digest\":\"3\",\"res")).unwrap();
    let again = Points::open(&file).unwrap();
    assert_eq!(again.get::<u32>("2"), Some(7));
    assert_eq!(again.get::<u32>("3"), None);
    again.add("3", "third", &9u32).unwrap();
    again.finish().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let digests: Vec<&str> = text.lines().map(|l| &l[11..12]).collect();
    assert_eq!(digests, ["1", "2", "3"], "{text}");
}

#[test]
fn a_line_may_be_cut_inside_a_character() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("1", "first", &5u32).unwrap();
    points.add("2", "§", &6u32).unwrap();
    drop(points);
    let bytes = std::fs::read(&file).unwrap();
    let inside = bytes.iter().position(|b| *b == 0xc2).unwrap() + 1;
    std::fs::write(&file, &bytes[..inside]).unwrap();
    let again = Points::open(&file).unwrap();
    assert_eq!(
        (again.get::<u32>("1"), again.get::<u32>("2")),
        (Some(5), None)
    );
    again.add("2", "§", &6u32).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    // A whole line with half a character was not written here.
    let mut other = bytes[..inside].to_vec();
    other.extend_from_slice(&bytes[inside + 1..]);
    std::fs::write(&file, other).unwrap();
    let error = Points::load(&file).err().unwrap();
    assert!(error.to_string().contains("line 2: no point"), "{error}");
}

/// A file system may give a file its length before its last bytes, and lose power between.
#[test]
fn zeros_at_the_end_are_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("1", "first", &5u32).unwrap();
    drop(points);
    let whole = std::fs::read_to_string(&file).unwrap();
    for cut in ["", "{\"digest\":\"2\",\"res"] {
        std::fs::write(&file, format!("{whole}{cut}\0\0\0\0")).unwrap();
        let again = Points::open(&file).unwrap();
        assert_eq!(again.get::<u32>("1"), Some(5));
        drop(again);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
    }
    std::fs::write(&file, "\0\0\0\0").unwrap();
    assert!(Points::open(&file).is_err());
}

#[test]
fn a_file_of_something_else_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.txt");
    for content in ["notes without a newline", "{\"a\": 1", "\0\u{1}"] {
        std::fs::write(&file, content).unwrap();
        let error = Points::open(&file).err().unwrap();
        assert!(error.to_string().contains("line 1: no point"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
}

#[test]
fn points_are_kept_in_a_regular_file() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path(), Path::new("/dev/null")] {
        let error = Points::open(path).err().unwrap();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}

#[test]
fn one_process_at_a_time_adds_to_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("1", "first", &5u32).unwrap();
    let error = Points::open(&file).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    assert_eq!(error.exit_status(), 2);
    // Not even the attempt changes the stored points.
    points.add("2", "second", &7u32).unwrap();
    drop(points);
    assert_eq!(Points::open(&file).unwrap().lines().len(), 2);
}

/// A process that waits for the lock does not get that of a file which another one has
/// replaced by now.
#[test]
fn a_file_that_is_put_in_order_stays_locked() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("1", "first", &5u32).unwrap();
    let second = std::thread::scope(|scope| {
        let second = scope.spawn(|| Points::open(&file).err());
        std::thread::sleep(std::time::Duration::from_millis(100));
        points.finish().unwrap();
        second.join().unwrap()
    });
    let error = second.expect("the file is locked").to_string();
    assert!(error.contains("another process"), "{error}");
    points.add("2", "second", &7u32).unwrap();
    drop(points);
    assert_eq!(Points::open(&file).unwrap().lines().len(), 2);
}

/// What is no longer as it was written is no result.
#[test]
fn a_damaged_number_is_an_error_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("points.jsonl");
    let points = Points::open(&file).unwrap();
    points.add("1", "first", &5u32).unwrap();
    points.add("2", "second", &6.25f64).unwrap();
    points.finish().unwrap();
    drop(points);
    let text = std::fs::read_to_string(&file).unwrap();
    for (old, new) in [
        ("6.25", "6.26"),
        ("6.25", "999999999999999999"),
        ("second", "Second"),
    ] {
        std::fs::write(&file, text.replace(old, new)).unwrap();
        let error = Points::open(&file).err().unwrap();
        let what = error.to_string();
        assert!(what.contains("points.jsonl, line 2: damaged"), "{what}");
        assert_eq!(error.exit_status(), 2);
    }
    // A line of another version has no check.
    let (line, _) = text
        .lines()
        .next()
        .unwrap()
        .split_once(",\"check\"")
        .unwrap();
    std::fs::write(&file, format!("{line}}}\n")).unwrap();
    assert_eq!(Points::open(&file).unwrap().get::<u32>("1"), Some(5));
}

#[test]
fn files_that_contradict_each_other_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, result: u32| {
        let file = dir.path().join(name);
        let line = json!({"digest": "1", "point": "a", "result": result});
        std::fs::write(&file, format!("{line}\n")).unwrap();
        file
    };
    let (one, same, other) = (file("one", 1), file("same", 1), file("other", 2));
    assert!(Points::of(&[one.clone(), same]).is_ok());
    let error = Points::of(&[one, other]).err().unwrap();
    assert!(error.to_string().contains("other numbers"), "{error}");
}

#[test]
fn times_are_no_part_of_what_a_point_came_to() {
    let line = |seconds: f64, conflicts: u32| json!({"digest": "1", "result": [{"seconds": seconds, "conflicts": conflicts}]});
    assert!(is_same(&line(1.0, 5), &line(2.0, 5)));
    assert!(!is_same(&line(1.0, 5), &line(1.0, 6)));
    assert!(!is_same(&json!({"a": 1}), &json!({"seconds": 1})));
}

#[test]
fn a_merge_knows_what_is_missing() {
    let part = |shard: &str, points| PartOf {
        shard: shard.to_owned(),
        points,
        all: 5,
        campaign: "c".to_owned(),
    };
    let (one, two) = (part("1/3", 2), part("2/3", 2));
    let of = |parts: &[(PartOf, usize)], points| missing(parts, points).unwrap_or_default();
    assert_eq!(
        of(
            &[(one.clone(), 2), (two.clone(), 2), (part("3/3", 1), 1)],
            5
        ),
        ""
    );
    assert_eq!(
        of(&[(one.clone(), 2), (two.clone(), 1)], 3),
        "it has 3 of 5 points; shard 2/3 has 1 of its 2; no file is shard 3/3"
    );
    // Shards of two numbers: the points decide.
    assert_eq!(of(&[(one.clone(), 2), (part("1/1", 5), 5)], 5), "");
    let other = PartOf {
        campaign: "d".to_owned(),
        ..two
    };
    assert!(same_campaign(&[(one, 2)], &other, Path::new("f")).is_err());
}
