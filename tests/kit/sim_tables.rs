//! What `sim --sweep` writes: tables (`--csv`) and charts (`--chart`).

use crate::common::json;
use crate::sim_sweep::{at, results};

/// Points whose machines count different things: each number is in its column.
#[test]
fn a_table_has_the_columns_of_all_points() {
    let folder = tempfile::tempdir().unwrap();
    let csv = at(folder.path(), "t.csv");
    let launch = "kernels/transpose/transpose.toml";
    let set = "l2.size_bytes=0,786432";
    let sweep = json(&["sim", launch, "--sweep", "--set", set, "--csv", &csv]);
    let table = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|l| l.split(',').collect()).collect();
    let [head, points @ ..] = &rows[..] else {
        panic!("{table}");
    };
    assert_eq!(points.len(), 2);
    let column = |name: &str| head.iter().position(|c| *c == name).unwrap();
    assert_eq!(points[0][column("l2_misses")], "");
    for (row, point) in points.iter().zip(results(&sweep)) {
        assert_eq!(row.len(), head.len());
        for name in ["cycles", "blocks", "speed_up"] {
            assert_eq!(row[column(name)], point[name].to_string(), "{name}");
        }
    }
    let misses = results(&sweep)[1]["l2_misses"].as_u64().unwrap();
    assert!(misses > 0);
    assert_eq!(points[1][column("l2_misses")], misses.to_string());
}

#[test]
fn the_numbers_go_into_a_table_and_a_chart() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, svg) = (at(folder.path(), "t.csv"), at(folder.path(), "t.svg"));
    let args = [
        "sim",
        "kernel:fwt",
        "--sweep",
        "--hash",
        "mod",
        "--hash",
        "bitvec-xor:k1=0,k2=5,mask=31",
        "--set",
        "path.mem_stages=2,3,4",
        "--csv",
        &csv,
        "--chart",
        &svg,
    ];
    let sweep = json(&args);
    let table = std::fs::read_to_string(&csv).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 6);
    let column = |name: &str| lines[0].split(',').position(|c| c == name).unwrap();
    for (line, point) in lines[1..].iter().zip(results(&sweep)) {
        // The only cells with commas are quoted.
        let line = line.replace("\"bitvec-xor:k1=0,k2=5,mask=31\"", "bitvec");
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), lines[0].split(',').count());
        assert_eq!(cells[column("cycles")], point["cycles"].to_string());
        let stall = point["stalls"]["bank_conflict"].to_string();
        assert_eq!(cells[column("stalls.bank_conflict")], stall);
        assert_eq!(
            cells[column("set.path.mem_stages")],
            point["set"]["path.mem_stages"]
        );
        let speed_up: f64 = cells[column("speed_up")].parse().unwrap();
        assert!((speed_up - point["speed_up"].as_f64().unwrap()).abs() < 1e-9);
        assert_eq!(cells[column("sharing")], "");
    }
    let chart = std::fs::read_to_string(&svg).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"));
    // A bar per point in each of the two panels, three in the legend.
    assert_eq!(chart.matches("class=\"bar\"").count(), 2 * 6 + 3);
    for point in results(&sweep) {
        assert!(
            chart.contains(&format!(">{}</text>", point["cycles"])),
            "{point}"
        );
    }
}
