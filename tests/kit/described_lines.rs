//! What `cosim` and `prove` say of a fault in emitted Verilog: the line of the
//! hardware's description, or of the circuit around it, that it is about.

use crate::common::edited::Edited;
use crate::common::in_one_line;
use crate::common::tools::missing;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The Verilog of a unit of `small` and of those that its proofs need, with an edit.
struct Faulty {
    rtl: Edited,
    unit: &'static str,
}

impl Faulty {
    fn new(units: &[&'static str], edit: [&str; 2]) -> Self {
        let unit = units[0];
        let rtl = Edited::new("small", units, &format!("{unit}.v"), edit);
        Faulty { rtl, unit }
    }

    /// The results of `command` as JSON, and what it prints for people.
    fn run(&self, command: &str) -> (Vec<Value>, String) {
        let args = [command, self.unit, "--rtl", self.rtl.path()];
        let (status, json, _) = spadkit("json", &args);
        assert_eq!(status, 1, "{json}");
        let json: Value = serde_json::from_str(&json).unwrap();
        let (_, text, errors) = spadkit("text", &args);
        let named = text.lines().filter(|line| line.contains("hdl/src/"));
        assert!(named.into_iter().all(|line| line.len() <= 80), "{text}");
        let results = json["results"].as_array().unwrap().clone();
        (results, text + &errors)
    }
}

/// Exit status, output and messages for the preset `small`.
fn spadkit(format: &str, args: &[&str]) -> (i32, String, String) {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    let machine = ["--preset", "small", "--format", format];
    let output = command.args(args).args(machine).output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
    (output.status.code().unwrap(), out, errors)
}

/// The lines of the repository that `places` name, and the notation of the first in messages.
fn lines(places: &[&Value]) -> (Vec<String>, String) {
    let path = |at: &Value| at["file"].as_str().unwrap().to_owned();
    let line = |at: &&Value| {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path(at)));
        let number = at["line"].as_u64().unwrap() as usize;
        let text = text.unwrap();
        text.lines().nth(number - 1).unwrap().trim().to_owned()
    };
    let first = format!("{}:{}", path(places[0]), places[0]["line"]);
    (places.iter().map(line).collect(), first)
}

fn array(value: &Value) -> Vec<&Value> {
    value.as_array().into_iter().flatten().collect()
}

/// An output that a register shows, one of logic, and one with a line for all bits.
#[test]
fn a_difference_names_the_line_that_drives_the_output() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for (unit, edit, signal, driven) in [
        (
            "spad_release_register",
            ["now_live | starts", "now_live"],
            "live",
            ".next(live, ",
        ),
        (
            "spad_hash_xor",
            ["addr[0] ^ addr[3]", "addr[0] ^ addr[4]"],
            "bank",
            "u.assign(bank.at(i), ",
        ),
        (
            "spad_row_map",
            ["cfg_row_sel[3] & addr[3]", "cfg_row_sel[3] & addr[4]"],
            "row",
            "assign_lines(&u, row, ",
        ),
    ] {
        let (results, text) = Faulty::new(&[unit], edit).run("cosim");
        let first = &results[0]["first_mismatch"];
        assert_eq!(first["signal"], signal, "{first}");
        let (found, named) = lines(&array(&first["driven_by"]));
        assert_eq!(found.len(), 1, "{first}");
        assert!(found[0].contains(driven), "{found:?}");
        let file = format!("hdl/src/{unit}.rs:");
        assert!(named.starts_with(&file), "{named}");
        let detail = format!("{signal} of {unit} is driven in {named}.");
        assert!(in_one_line(&text).contains(&detail), "{text}");
    }
}

/// A property of a circuit, and the definition of an output.
#[test]
fn a_property_names_the_line_that_states_it() {
    if missing(&["yosys"]) {
        return;
    }
    let edit = ["now_live | starts", "now_live"];
    let (results, text) = Faulty::new(&["spad_release_register"], edit).run("prove");
    for result in &results {
        let property = result["property"].as_str().unwrap();
        let (found, named) = lines(&[&result["stated_at"]]);
        let start = format!("assign check_{property} = ");
        assert!(found[0].starts_with(&start), "{found:?}");
        assert!(result.get("driven_by").is_none(), "{result}");
        let file = "testbenches/prove/path/spad_release_register.v.tera:";
        assert!(named.starts_with(file), "{named}");
        assert!(text.contains(&named), "{text}");
    }
    assert!(results.iter().any(|r| r["result"] == "disproved"));

    let units = ["spad_hash_bitvec_perm", "spad_hash_config_bitvec_perm"];
    let all = [&units[..], &["spad_row_map", "spad_hash_config_row_map"]].concat();
    let (results, text) = Faulty::new(&all, ["addr[4]", "addr[5]"]).run("prove");
    for result in &results {
        assert!(result.get("stated_at").is_none(), "{result}");
        let function = result["property"] == "function";
        if !function {
            continue;
        }
        let (found, named) = lines(&array(&result["driven_by"]));
        assert!(found[0].contains("assign_lines(&u, bank, "), "{found:?}");
        let text = in_one_line(&text);
        assert!(text.contains(&format!("(driven in {named})")), "{text}");
    }
    assert_eq!(results[0]["property"], "function");
    // What is proved has no lines.
    let proved = results.iter().find(|r| r["result"] == "proved").unwrap();
    assert!(proved.get("driven_by").is_none(), "{proved}");
}
