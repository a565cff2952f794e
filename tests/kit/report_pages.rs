//! The pages in a browser: both themes, three widths, print. Nothing overflows
//! or is cut, nothing is fetched, every text and shape stands out.

use crate::common::tools::{is_absent, missing};
use serde_json::Value;
use spadkit::config::Config;
use spadkit::flow::{Options, Silent};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROBE: &str = include_str!("../fixtures/page_probe.js");

/// The browsers that are looked for: those of Debian, then others.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Pages whose pictures are compared: each component is on one of them.
const PICTURED: [&str; 4] = ["fwt", "share", "sweep", "reproduction"];

/// A browser; none where the test is to be skipped.
pub fn browser() -> Option<&'static str> {
    let found = BROWSERS.into_iter().find(|name| !is_absent(name));
    found.or_else(|| {
        assert!(missing(&["chromium"]));
        None
    })
}

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct Look {
    pub width: u32,
    /// Set on the page, as its button does.
    pub theme: Option<&'static str>,
    /// As the system says.
    pub prefers_dark: bool,
    pub print: bool,
    /// With everything shown that a click shows.
    pub everything: bool,
}

pub const LIGHT: Look = Look {
    width: 1400,
    theme: None,
    prefers_dark: false,
    print: false,
    everything: false,
};

/// The page in a frame of the look's width, with the probe in it.
pub fn framed(page: &str, look: Look) -> String {
    let mut page = page.to_owned();
    if look.print {
        // A browser without a window shows what a printer gets.
        page = page
            .replace("@media print", "@media all")
            .replace("@media screen", "@media speech");
    }
    let mode = serde_json::json!({
        "theme": look.theme, "print": look.print, "everything": look.everything,
    });
    let listen = "<script>window.probeViolations = []; document.addEventListener(\
                  'securitypolicyviolation', (e) => window.probeViolations.push(e.blockedURI));</script>";
    page = page.replacen("<style>", &format!("{listen}<style>"), 1);
    let end = format!("<script>window.probeMode = {mode};\n{PROBE}</script></body>");
    page = page.replacen("</body>", &end, 1);
    let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
    let width = look.width;
    format!(
        "<iframe width=\"{width}\" height=\"900\" style=\"border:0\" srcdoc=\"{escaped}\"></iframe>"
    )
}

/// What the probe finds in each look; the browser starts once for all of them, so
/// the system prefers the same theme in all.
fn probe(browser: &str, page: &str, looks: &[Look], dir: &Path) -> Vec<Value> {
    let frames: String = looks.iter().map(|&look| framed(page, look)).collect();
    let all = format!(
        "<!doctype html><body style=\"margin:0\">{frames}<script>onload = () => {{\n\
         const frames = [...document.querySelectorAll('iframe')];\n\
         const found = frames.map((frame) => frame.contentWindow.probeResult);\n\
         document.body.replaceChildren(Object.assign(document.createElement('pre'), \
         {{id: 'found', textContent: JSON.stringify(found)}}));\n}}</script></body>"
    );
    let file = dir.join("frame.html");
    std::fs::write(&file, all).unwrap();
    let profile = dir.join("profile");
    let mut command = Command::new(browser);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--window-size=1600,1000");
    if looks.iter().any(|look| look.prefers_dark) {
        command.arg("--force-dark-mode");
    }
    let output = command
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split("<pre id=\"found\">").nth(1);
    let found = found.and_then(|rest| rest.split("</pre>").next());
    let found =
        found.unwrap_or_else(|| panic!("{browser}: {}", String::from_utf8_lossy(&output.stderr)));
    let plain = found
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&plain).unwrap()
}

fn is_empty(found: &Value, key: &str) -> bool {
    found[key].as_array().is_some_and(Vec::is_empty)
}

/// A page in all looks.
fn check(name: &str, page: &str) {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let dark = Look {
        theme: Some("dark"),
        ..LIGHT
    };
    let prefers_dark = Look {
        prefers_dark: true,
        ..LIGHT
    };
    let mut looks = vec![Look {
        print: true,
        width: 690,
        ..LIGHT
    }];
    // A theme changes colours, and no widths.
    let widths = [(1400, LIGHT), (1000, dark), (400, LIGHT), (400, dark)];
    looks.extend(widths.map(|(width, look)| Look { width, ..look }));
    looks.push(Look {
        everything: true,
        ..dark
    });
    let mut backgrounds = std::collections::BTreeSet::new();
    let mut found = probe(browser, page, &looks, dir.path());
    found.extend(probe(browser, page, &[prefers_dark], dir.path()));
    looks.push(prefers_dark);
    assert_eq!(found.len(), looks.len());
    for (look, found) in looks.into_iter().zip(found) {
        let at = format!(
            "{name}, {} px, theme {:?}, dark {}, print {}, everything {}: {found:#}",
            look.width, look.theme, look.prefers_dark, look.print, look.everything
        );
        assert_eq!(found["width"], look.width, "{at}");
        assert_eq!(found["dark"], look.prefers_dark, "{at}");
        assert!(found["overflow"].as_i64() <= Some(0), "{at}");
        for key in [
            "requests",
            "violations",
            "low",
            "cut",
            "unlabelled",
            "nameless",
        ] {
            assert!(is_empty(&found, key), "{key}: {at}");
        }
        assert_eq!(
            (&found["h1"], &found["jumps"]),
            (&1.into(), &0.into()),
            "{at}"
        );
        assert_eq!(found["captions"], 0, "tables without a caption: {at}");
        // The probe saw the page.
        assert!(found["texts"].as_u64() > Some(100), "{at}");
        assert!(look.print || found["keyboard"].as_u64() > Some(6), "{at}");
        backgrounds.insert((
            look.theme.is_some() || look.prefers_dark,
            found["background"].to_string(),
        ));
    }
    // Light looks alike, dark looks alike, and the two differ.
    assert_eq!(backgrounds.len(), 2, "{backgrounds:?}");
    if PICTURED.contains(&name) {
        crate::report_pictures::compare(name, browser, page, dir.path());
    }
}

fn kernel(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("kernels")
        .join(name)
}

fn page_of(launch: &str, preset: &str, fast: bool) -> String {
    let dir = tempfile::tempdir().unwrap();
    let input = kernel(launch);
    let input = input.to_str().unwrap();
    let machine = Config::preset(preset).unwrap();
    let trace = spadkit::workload::load_input(input).unwrap();
    let mut options = Options::new(input, dir.path());
    options.fast = fast;
    options.cycles = 1000;
    let done = spadkit::flow::run(&trace, &machine, &options, &Silent).unwrap();
    std::fs::read_to_string(done.html).unwrap()
}

#[test]
fn the_report_of_a_gpu_kernel_reads_everywhere() {
    check("hgemm", &page_of("gemm/hgemm.toml", "sm80", true));
}

/// With hardware, as far as its tools are installed.
#[test]
fn the_report_of_a_hash_unit_reads_everywhere() {
    check("fwt", &page_of("fwt/fwt.toml", "fermi", false));
}

/// The page that `--report` of a command writes.
fn reported(args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("page.html");
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    command.args(args).arg("--report").arg(&file);
    command.assert().success();
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn the_report_of_sharing_reads_everywhere() {
    let fwt = kernel("fwt/fwt.toml");
    let preset = ["--preset", "gpgpusim-16k"];
    check(
        "share",
        &reported(&[&["share", fwt.to_str().unwrap()], &preset[..]].concat()),
    );
}

/// What costs time reads as bad news, with its price.
#[test]
fn a_report_of_sharing_that_does_not_pay_says_so() {
    let dct = kernel("dct8x8/dct.toml");
    let args = ["share", dct.to_str().unwrap(), "--preset", "gpgpusim-16k"];
    let page = reported(&args);
    let headline = page.split("<h1>").nth(1).unwrap();
    assert!(
        headline.starts_with("<em>Sharing makes dct slower: 0.9"),
        "{headline:.200}"
    );
    for card in ["7 &rarr; 14", "<span class=\"k\">cycles</span>", "209 bits"] {
        assert!(page.contains(card), "{card}");
    }
}

/// A mapping for all of shared memory, and one for each variable.
#[test]
fn the_report_of_tune_reads_everywhere() {
    for (launch, answer, place) in [
        (
            "transpose/transpose.toml",
            "removes all",
            "all at transpose.cu:",
        ),
        (
            "lavamd/lavamd.toml",
            "A mapping for each variable",
            "of them at lavamd.cu:",
        ),
    ] {
        let input = kernel(launch);
        let args = ["tune", input.to_str().unwrap(), "--software"];
        // An assembler that is installed may find that nothing is gained.
        let options = ["--preset", "sm80", "--no-machine-code"];
        let page = reported(&[&args[..], &options].concat());
        assert!(page.contains(answer), "{launch}");
        assert!(page.contains(place), "{launch}");
        for part in [
            "<figure>",
            "class=\"srcbox\"",
            "spad_place",
            "spadkit rewrite",
        ] {
            assert!(page.contains(part), "{launch} has no {part}");
        }
        check(launch, &page);
    }
}

/// The default sweep, with a point that cannot be.
#[test]
fn the_report_of_a_sweep_reads_everywhere() {
    let hashes = ["--hash", "xor", "--hash", "bitvec-xor:k1=0,k2=9,mask=31"];
    let sharing = [
        "--sharing",
        "0.1,0.5",
        "--pipeline",
        "unified,split,elastic",
    ];
    let page = reported(&[&["sim", "kernel:nw", "--sweep"], &hashes[..], &sharing].concat());
    assert!(page.contains(" points are equally fast"), "{page}");
    check("sweep", &page);
}

/// From the points of the repository: nothing is computed. Every published value is
/// in the table of its figure, also where it is missed or has no model.
#[test]
fn the_report_of_a_reproduction_reads_everywhere() {
    let points = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reproduction/points.jsonl");
    let papers = ["reproduce", "rap", "atomics", "compose"];
    let args = [&papers[..], &["--points", points.to_str().unwrap()]].concat();
    let page = reported(&args);
    let json = crate::common::spadkit(&args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let json = crate::common::json_of(&json.stdout);
    let results = json["results"].as_array().unwrap();
    let count = |of: &dyn Fn(&Value) -> bool| results.iter().filter(|r| of(r)).count();
    let is_value = |r: &Value| !r["published"].is_null();
    let of = |r: &Value, verdict: &str| is_value(r) && r["verdict"] == verdict;
    let fitted = |r: &Value| r["evidence"] == "inferred";
    let by_fit = match count(&|r| of(r, "reproduced") && fitted(r)) {
        0 => String::new(),
        n => format!("{n} more by a fitted input, "),
    };
    let copied = |r: &Value| r["evidence"] == "identity";
    let by_copy = match count(&|r| of(r, "reproduced") && copied(r)) {
        0 => String::new(),
        1 => "1 is an input, ".to_owned(),
        n => format!("{n} are inputs, "),
    };
    let verdict = format!(
        "<h1>{} of {} published values are reproduced, {by_fit}{by_copy}{} are missed, {} have no model.</h1>",
        count(&|r| of(r, "reproduced") && !fitted(r) && !copied(r)),
        count(&is_value),
        count(&|r| of(r, "differs") || of(r, "direction only")),
        count(&|r| of(r, "not modelled")),
    );
    assert!(page.contains(&verdict), "{verdict}");
    let figures: Vec<&str> = page.split("<h3 id=\"").skip(1).collect();
    for figure in &figures {
        let id = figure.split('"').next().unwrap();
        let own = figure.split("</section>").next().unwrap();
        let rows = own.matches("data-l=\"published\"").count();
        let is_listed = |r: &Value| r["verdict"] != "nothing published";
        assert_eq!(rows, count(&|r| r["id"] == id && is_listed(r)), "{id}");
        assert!(rows == 0 || own.contains("spadkit reproduce "), "{id}");
    }
    assert!(figures.len() > 10, "{}", figures.len());
    assert!(
        page.matches("class=\"mark\"").count() > 50,
        "published values are drawn"
    );
    assert!(
        page.contains("reproduce/rap/t2.toml"),
        "digests of what is published"
    );
    check("reproduction", &page);
}

/// A page that is wrong in each way is found: the probe can fail.
#[test]
fn the_probe_finds_what_is_wrong() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = "<!doctype html><html><head><style>body{margin:0}</style></head><body><main>\
                <p style=\"color:#999;background:#fff\">pale</p><div class=\"card\" style=\"width:2000px\">x</div>\
                <span class=\"bar\"><span style=\"background:#eee;width:9px;height:9px;display:block\"></span></span>\
                <svg></svg><table></table><h3>jump</h3></main><img src=\"https://example.invalid/x.png\"></body></html>";
    let found = &probe(browser, page, &[LIGHT], dir.path())[0];
    for key in ["requests", "low", "cut", "unlabelled"] {
        assert!(!is_empty(found, key), "{key}: {found:#}");
    }
    assert!(found["overflow"].as_i64() > Some(0) && found["jumps"] == 1 && found["captions"] == 1);
    assert_eq!(found["low"].as_array().map(Vec::len), Some(2), "{found:#}");
}
