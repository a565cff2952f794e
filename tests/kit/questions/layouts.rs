//! Copies, fragments and transposes under the swizzles of CuTe, Triton, TileLang
//! and IREE.

use super::page::{assert_counts, assert_says, cells, counted, rows};
use super::{array, conflicts, swizzles, tuned};
use crate::common::json;
use serde_json::Value;
use spadkit::software::Layout;
use spadkit::software::choice::MappingKind;

/// The best mapping of kernels/questions/KERNEL.toml, which is proved to leave
/// the fewest conflicts, and what it leaves.
fn proved(kernel: &str) -> (String, u64) {
    let found = tuned(&array(&format!("questions/{kernel}")), &MappingKind::all());
    let best = found.best();
    assert!(best.optimal() && found.fewest_proved(), "{kernel}");
    (best.layout.spec().to_string(), best.costs().0)
}

/// NVIDIA/cutlass issue 1882: column-major threads on row-major data.
#[test]
fn a_copy_by_columns_of_threads() {
    let by_columns = array("questions/copy_by_columns");
    let counts = |array, spec| counted(array, spec)[1..].to_vec();
    let expected = [
        counts(&by_columns, "mod"),
        counts(&by_columns, "swizzle:3,1,4"),
        counts(&array("questions/copy_by_rows"), "mod"),
        counts(&array("questions/copy_by_rows_room"), "mod"),
    ];
    let rows = rows("plain copy");
    let found: Vec<_> = rows.iter().map(|row| row[1..].to_vec()).collect();
    assert_eq!(found, expected);
    assert_eq!(proved("copy_by_columns"), ("swizzle:3,1,4".into(), 0));
}

/// NVIDIA/cutlass issue 2015: one swizzle for each length of a row.
#[test]
fn rows_of_cutes_atoms() {
    let expected = [32, 64, 128].map(|bytes| {
        let array = array(&format!("questions/rows_of_{bytes}_bytes"));
        let count = |spec: &str| counted(&array, spec)[1].clone();
        let counts = ["mod", "tma:32", "tma:64", "tma:128"].map(count);
        [vec![format!("{bytes} bytes")], counts.to_vec()].concat()
    });
    assert_eq!(rows("Swizzle<3,4,3>"), expected);
    for (bits, bytes) in [(1, 32), (2, 64), (3, 128)] {
        let (best, left) = proved(&format!("rows_of_{bytes}_bytes"));
        assert_eq!((best, left), (format!("swizzle:{bits},2,3"), 0));
    }
}

/// NVIDIA/cutlass issue 2116: floats that `ldmatrix` cannot transpose.
#[test]
fn fragments_of_floats() {
    assert_counts("tensor cores", "fragments_of_tf32");
    assert_eq!(proved("fragments_of_tf32"), ("swizzle:2,3,4".into(), 0));
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("tf32.ptx");
    let written = json(&[
        "rewrite",
        "kernels/questions/fragments_of_tf32.toml",
        "--hash",
        "swizzle:3,2,4",
        "-o",
        ptx.to_str().unwrap(),
    ]);
    assert_eq!(written["outputs_equal"], true);
    let (before, after) = (&written["conflicts_before"], &written["conflicts_after"]);
    let added = written["added_per_access"].as_f64().unwrap();
    let says = format!("{before} -> {after}, the same result, {added:.1} instructions per access");
    assert_says("tensor cores", &[&says]);
}

/// A point of the front of wide accesses against conflicts.
fn point(found: &Value) -> Vec<String> {
    let best = &found["results"][0];
    assert!(found["fewest_proved"] == true && best["optimal"] == true);
    let hash = best["hash"].as_str().unwrap().into();
    let numbers = ["max_degree", "wavefronts", "ideal_wavefronts"].map(|n| &best[n]);
    [
        vec![found["accesses"].to_string(), hash],
        cells(numbers.map(Value::to_string)),
    ]
    .concat()
}

/// The table of a question has the front of kernels/questions/KERNEL.toml.
fn assert_front(words: &str, kernel: &str) {
    let file = format!("kernels/questions/{kernel}.toml");
    // The two kinds that it finds among all of them; they are proved.
    let kinds = ["--hash", "swizzle", "two-shifts"];
    let args = ["tune", &file, "--software"].into_iter().chain(kinds);
    let found = json(&args.collect::<Vec<_>>());
    let narrower = found["narrower"].as_array().unwrap();
    let expected = [point(&found), point(&narrower[0])];
    let rows = rows(words);
    let found: Vec<_> = rows.iter().map(|row| row[1..].to_vec()).collect();
    assert_eq!(found, expected, "{words}");
    assert_eq!([&rows[0][0], &rows[1][0]], ["128 bits", "64 bits"]);
}

/// triton-lang/triton issue 7815.
#[test]
fn a_transpose_of_halves() {
    assert_front("128 x 128", "transpose_halves");
    let [_, conflicts, degree] = counted(&array("questions/transpose_halves"), "mod");
    let says = format!("{conflicts} conflicts, degree {degree}");
    let rows = rows("128 x 128");
    let [whole, split] = [&rows[0], &rows[1]].map(|row| row[1].parse::<u32>().unwrap());
    let more = format!("{} instructions more", split - whole);
    assert_says("128 x 128", &[&says, &more]);
}

/// iree-org/iree pull request 23778.
#[test]
fn doubles_by_rows_and_columns() {
    assert_front("doubles", "tile_doubles");
    let [_, conflicts, degree] = counted(&array("questions/tile_doubles"), "mod");
    let says = format!("{conflicts} conflicts, degree {degree}");
    assert_says("doubles", &[&says]);
}

/// Bruce-Lee-LY/cuda_hgemm issue 13: chunks rotated by hand, and all swizzles.
#[test]
fn a_rotation_or_a_swizzle() {
    let array = array("questions/rows_of_64_bytes");
    let rotated = super::array("questions/rows_rotated");
    let rows = rows("permuted");
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let [_, conflicts, degree] = match row[0].as_str() {
            "rotated" => counted(&rotated, "mod"),
            spec => counted(&array, spec),
        };
        assert_eq!(row[2..], [conflicts, degree], "{row:?}");
    }
    let all = swizzles(array.words().ilog2(), 2);
    let clear = all
        .iter()
        .filter(|s| conflicts(&array, &s.to_string()).0 == 0);
    let clear: Vec<String> = clear.map(ToString::to_string).collect();
    assert_eq!(clear, ["swizzle:2,2,3", "swizzle:3,2,3"]);
    assert_says("permuted", &[&format!("Of the {} swizzles", all.len())]);
}

/// tile-ai/tilelang issue 449: the two formulas for rows of 64 bytes.
#[test]
fn tilelangs_rows_of_64_bytes() {
    assert_counts("TileLang", "rows_of_64_bytes");
    let array = array("questions/rows_of_64_bytes");
    for (spec, step) in [("swizzle:2,2,2", 1), ("swizzle:2,2,3", 2)] {
        let layout = Layout::new(&spec.parse().unwrap(), array.geometry()).unwrap();
        for word in 0..array.words() {
            let (row, chunk) = (word / 16, word / 4 % 4);
            let place = 16 * row + 4 * (chunk ^ (row / step % 4)) + word % 4;
            assert_eq!(layout.place(word), place, "{spec}");
        }
    }
    assert_eq!(proved("rows_of_64_bytes"), ("swizzle:2,2,3".into(), 0));
    // Rows of 128 bytes: the row number, by both.
    let layout = Layout::new(&"tma:128".parse().unwrap(), array.geometry()).unwrap();
    for word in 0..2048 {
        let (row, chunk) = (word / 32, word / 4 % 8);
        assert_eq!(
            layout.place(word),
            32 * row + 4 * (chunk ^ (row % 8)) + word % 4
        );
    }
}

/// tile-ai/tilelang pull request 1736.
#[test]
fn one_tile_read_both_ways() {
    assert_counts("narrower", "read_both_ways");
    assert_eq!(proved("read_both_ways"), ("swizzle:3,2,3".into(), 0));
}
