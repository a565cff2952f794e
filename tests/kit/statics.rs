//! Addresses from the PTX against addresses of the run, on every launch of
//! every launch file of kernels/.

use crate::kernels::files::files;
use assert_cmd::Command;
use serde_json::Value;
use spadkit::capture::LaunchInput;
use spadkit::capture::statics::launch_statics;
use spadkit::launch::LaunchFile;
use std::path::Path;

/// Every traced address of an affine access is what its expression says, and
/// most accesses are affine.
#[test]
fn the_run_does_as_the_ptx_says() {
    let (mut sites, mut affine, mut uniform, mut addresses) = (0, 0, 0, 0);
    for file in files("toml") {
        let launches = LaunchFile::load(&file).unwrap().launches().count();
        // Further launches are mostly the same kernels on smaller problems.
        for launch in 0..launches.min(2) {
            let input = format!("{}:{launch}", file.display());
            let statics = launch_statics(&LaunchInput::at(Path::new(&input)))
                .unwrap_or_else(|e| panic!("{input}: {e}"));
            for site in &statics.sites {
                sites += 1;
                affine += usize::from(site.is_affine());
                uniform += usize::from(site.address.is_some() && !site.is_affine());
                addresses += site.checked.addresses;
                let why = site.unknown.as_ref().and_then(|u| u.place.ptx_line);
                assert!(site.is_affine() || why.is_some(), "{input}: {site:?}");
                assert_eq!(site.checked.disagreements, 0, "{input}: {site:?}");
            }
        }
    }
    println!(
        "{affine} of {sites} instructions are affine, {uniform} but for an offset; {addresses} \
         addresses compared"
    );
    assert!(affine * 2 > sites, "{affine} of {sites}");
    assert!(addresses > 800_000, "{addresses}");
}

fn spadkit(args: &[&str]) -> (Option<i32>, Value, String) {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .current_dir(root)
        .args(args)
        .args(["--format", "json", "-q"])
        .output()
        .unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), json, errors)
}

/// The transpose of the paper's section 3.2: stores by rows, loads by columns.
#[test]
fn classify_has_the_addresses_of_the_ptx_beside_the_trace() {
    let (status, json, _) = spadkit(&["classify", "kernels/transpose/transpose.toml"]);
    assert_eq!(status, Some(0));
    let load = &json["instructions"][1];
    assert_eq!(load["class"], "block");
    let own = &load["static"];
    assert_eq!(own["address"], "ty + 16·tx + tile");
    let strides =
        serde_json::json!([{"stride": 1, "s0": 1, "k": 0}, {"stride": 16, "s0": 1, "k": 4}]);
    assert_eq!(
        (&own["unit"], &own["offset"], &own["class"], &own["strides"]),
        (&"words".into(), &"known".into(), &"block".into(), &strides)
    );
    // As many wavefronts as counted on the trace.
    let traced = load["wavefronts"].as_f64().unwrap() / load["accesses"].as_f64().unwrap();
    assert_eq!(own["wavefronts_per_access"].as_f64(), Some(traced));
    assert_eq!(
        (&own["checked"], &own["disagrees"]),
        (&256.into(), &0.into())
    );
    let whole = &json["static"];
    assert_eq!(
        (&whole["affine"], &whole["checked"], &whole["not_executed"]),
        (&2.into(), &512.into(), &serde_json::json!([]))
    );
}

#[test]
fn what_is_not_affine_names_its_instruction() {
    let (status, json, _) = spadkit(&["classify", "kernels/fwt/fwt.toml"]);
    assert_eq!(status, Some(0));
    let all = json["instructions"].as_array().unwrap();
    let masked = all
        .iter()
        .find(|i| i["static"]["reason"] == "masking")
        .unwrap();
    let line = masked["static"]["ptx_line"].as_u64().unwrap() as usize;
    let ptx = std::fs::read_to_string(format!(
        "{}/kernels/fwt/fwt.ptx",
        env!("CARGO_MANIFEST_DIR")
    ));
    let text = ptx.unwrap();
    let instruction = text.lines().nth(line - 1).unwrap();
    assert!(
        ["and.", "or.", "xor."]
            .iter()
            .any(|o| instruction.contains(o)),
        "{instruction}"
    );
}

#[test]
fn ptx_alone_gives_the_addresses() {
    let ptx = "kernels/transpose/transpose.ptx";
    let block = ["--block", "16,16"];
    let (status, json, _) =
        spadkit(&[&["classify", ptx, "--entry", "transpose"], &block[..]].concat());
    assert_eq!(status, Some(0));
    let sites = json["static"]["not_executed"].as_array().unwrap();
    assert_eq!(sites[1]["static"]["address"], "ty + 16·tx + tile");
    assert_eq!(sites[1]["static"]["wavefronts_per_access"], 8.0);
    for (args, message) in [
        (
            &["classify", ptx, "--entry", "transpose"][..],
            "give --block",
        ),
        (
            &["classify", ptx, "--block", "16,16"],
            "give --entry, one of transpose",
        ),
        (
            &["classify", ptx, "--entry", "none", "--block", "8"],
            "has no entry 'none'",
        ),
        (
            &["classify", "kernel:nw", "--block", "8"],
            "which is not PTX",
        ),
        (&["classify", "none.ptx", "--block", "8"], "none.ptx"),
    ] {
        let (status, json, errors) = spadkit(args);
        assert_eq!((status, json), (Some(2), Value::Null), "{args:?}");
        let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(errors.contains(message), "{args:?}: {errors}");
    }
}
