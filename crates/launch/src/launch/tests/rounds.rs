//! Launches that repeat, and their arguments from round to round.

use super::parse;
use crate::launch::{Instead, LaunchFile, Options};
use spadkit_ptx::Module;

/// `to[i] = from[i] + from[(i + 1) % 8] + k`, by 8 threads.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 to, .param .u64 from, .param .u32 k) {\n\
      .reg .b32 %r<9>; .reg .b64 %rd<9>;\n\
      ld.param.u64 %rd1, [to];\n\
      ld.param.u64 %rd2, [from];\n\
      ld.param.u32 %r5, [k];\n\
      mov.u32 %r1, %tid.x;\n\
      add.u32 %r2, %r1, 1;\n\
      and.b32 %r2, %r2, 7;\n\
      mul.wide.u32 %rd3, %r1, 4;\n\
      mul.wide.u32 %rd4, %r2, 4;\n\
      add.u64 %rd5, %rd2, %rd3;\n\
      ld.global.u32 %r3, [%rd5];\n\
      add.u64 %rd5, %rd2, %rd4;\n\
      ld.global.u32 %r4, [%rd5];\n\
      add.u32 %r3, %r3, %r4;\n\
      add.u32 %r3, %r3, %r5;\n\
      add.u64 %rd5, %rd1, %rd3;\n\
      st.global.u32 [%rd5], %r3;\n\
      ret;\n}\n";

fn text(then: &str) -> String {
    format!(
        "ptx = \"k.ptx\"\ngrid = [1]\nblock = [8]\n\
         [[arg]]\nname = \"a\"\ntype = \"u32\"\ncount = 64\n\
         [[arg]]\nname = \"b\"\ntype = \"u32\"\ncount = 64\ninit = \"iota\"\n\
         [[arg]]\nname = \"k\"\ntype = \"u32\"\nvalue = 5\n\
         [[arg]]\nname = \"x\"\ntype = \"f32\"\nvalue = 0.5\n\
         [[arg]]\nname = \"behind\"\nsame_as = \"a\"\noffset = 8\n\
         [[arg]]\nname = \"s\"\ntype = \"bytes\"\nvalue = \"00\"\n{then}"
    )
}

/// Lines before those of `then`.
fn above() -> usize {
    text("").lines().count()
}

fn of_then(keys: &str) -> spadkit_base::error::Result<LaunchFile> {
    parse(&text(&format!(
        "[[then]]\nentry = \"k\"\nblock = [8]\n{keys}"
    )))
}

#[test]
fn a_stencil_swaps_its_buffers_each_round() {
    let then = "[[then]]\nrepeat = 5\nentry = \"k\"\ngrid = [1]\nblock = [8]\n\
                args = [[\"b\", \"a\"], [\"a\", \"b\"], { name = \"k\", step = 3 }]\n";
    // All arguments that nothing takes are those of the refusals.
    let text = text(then);
    let text = text[..text.find("[[arg]]\nname = \"x\"").unwrap()].to_owned() + then;
    let file = parse(&text).unwrap();
    assert_eq!(file.launches().count(), 6);
    let module = Module::parse(PTX, "k.ptx").unwrap();
    let mut prepared = file.prepare(&module).unwrap();
    let outcome = prepared.run(&Options::default()).unwrap();
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    // The first launch writes a from b, then rounds write b, a, b, a, b.
    let mut wanted: Vec<u32> = (0..8).collect();
    for k in [5, 5, 8, 11, 14, 17] {
        wanted = (0..8)
            .map(|i| wanted[i] + wanted[(i + 1) % 8] + k)
            .collect();
    }
    let b = prepared.outputs().find(|(name, _)| *name == "b").unwrap();
    let words: Vec<u32> = b.1.as_chunks::<4>().0[..8]
        .iter()
        .map(|w| u32::from_le_bytes(*w))
        .collect();
    assert_eq!(words, wanted);
}

#[test]
fn a_loop_runs_its_launches_round_after_round() {
    let then = "[[then]]\nrepeat = 3\n\
                [[then.launch]]\nentry = \"first\"\ngrid = [7, 9]\ngrid_step = [-2, -4]\nblock = [8]\n\
                args = [{ name = \"k\", values = [1, 2] }, { name = \"x\", step = 0.25 }]\n\
                [[then.launch]]\nentry = \"second\"\ngrid = [1]\nblock = [8]\n\
                args = [{ name = \"a\", step = 128 }, { name = \"behind\", step = -4 }]\n\
                [[then]]\nentry = \"last\"\ngrid = [1]\nblock = [8]\nargs = []\n";
    let file = parse(&text(then)).unwrap();
    let entry = |l: &crate::launch::Launch| l.entry.as_ref().map_or("", |e| &e.value).to_owned();
    let entries: Vec<String> = file.then.iter().map(entry).collect();
    let wanted = [
        "first", "second", "first", "second", "first", "second", "last",
    ];
    assert_eq!(entries, wanted);
    let grids: Vec<[u32; 3]> = file.then.iter().step_by(2).map(|l| l.grid).collect();
    assert_eq!(grids, [[7, 9, 1], [5, 5, 1], [3, 1, 1], [1, 1, 1]]);
    let passed = |at: usize, arg: usize| file.then[at].args.as_ref().unwrap()[arg].clone();
    let value = |bytes: &[u8]| Some(Instead::Value(bytes.to_vec()));
    for (at, k, x) in [(0, 1u32, 0.5f32), (2, 2, 0.75), (4, 1, 1.0)] {
        assert_eq!(passed(at, 0).instead, value(&k.to_le_bytes()));
        assert_eq!(passed(at, 1).instead, value(&x.to_le_bytes()));
    }
    for (at, a, behind) in [(1, 0, 8), (3, 128, 4), (5, 256, 0)] {
        assert_eq!(passed(at, 0).instead, Some(Instead::Address(0, a)));
        assert_eq!(passed(at, 1).instead, Some(Instead::Address(0, behind)));
    }
}

#[test]
fn bad_rounds_are_refused_where_they_stand() {
    let args = |args: &str| format!("grid = [1]\nrepeat = 3\nargs = {args}\n");
    // (keys, line of them from 1 on, what)
    let cases = [
        (args("[7]"), 3, "'args' is an integer; expected \"NAME\", [\"NAME\", ...], {name, step}"),
        (args("[[]]"), 3, "an argument of 'args' is an empty list"),
        (args("[[\"a\", \"c\"]]"), 3, "there is no argument 'c'"),
        (args("[[1]]"), 3, "'args' is an integer"),
        (args("[{ step = 1 }]"), 3, "has no 'name'"),
        (args("[{ name = \"k\" }]"), 3, "has no 'step'"),
        (args("[{ name = \"k\", by = 1 }]"), 3, "unknown key 'by' in an argument of 'args'"),
        (args("[{ name = \"k\", step = 1, values = [1] }]"), 3, "'step' does not fit here"),
        (args("[{ name = \"k\", values = [] }]"), 3, "'values' is empty"),
        (args("[{ name = \"k\", values = [-1] }]"), 3, "a value is out of range of u32"),
        (args("[{ name = \"a\", values = [1] }]"), 3, "'a' is not a numeric scalar"),
        (args("[{ name = \"k\", step = 0.5 }]"), 3, "the step of 'k' is not an integer"),
        (args("[{ name = \"k\", step = -3 }]"), 3, "round 2 passes -1 for 'k'; expected 0 to 4294967295"),
        (args("[{ name = \"a\", step = 200 }]"), 3, "round 2 passes 400 for 'a'; expected 0 to 256"),
        (args("[{ name = \"behind\", step = -5 }]"), 3, "round 2 passes -2 for 'behind'"),
        (args("[{ name = \"s\", step = 1 }]"), 3, "'s' cannot step"),
        (args("[{ name = \"x\", step = \"much\" }]"), 3, "the step of 'x' is not a number"),
        ("grid = [4]\nrepeat = 3\nargs = []\ngrid_step = [-2]\n".to_owned(), 4, "round 2 has 0 blocks in a dimension; expected 1 to 2147483647"),
        ("grid = [4]\nrepeat = 3\nargs = []\ngrid_step = []\n".to_owned(), 4, "'grid_step' has 0 dimensions"),
        ("grid = [4]\nrepeat = 3\nargs = []\ngrid_step = [0.5]\n".to_owned(), 4, "'grid_step' is a floating-point number"),
        ("grid = [4]\nrepeat = 0\nargs = []\n".to_owned(), 2, "'repeat' is out of range; expected an integer from 1 to 65536"),
        ("grid = [4]\nrepeat = 65536\nargs = []\n".to_owned(), 2, "more than 65536 launches; expected at most 65536, the first launch included"),
        ("grid = [4]\nrepeat = 65535\nargs = []\n[[then]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\nargs = []\n".to_owned(), 4, "more than 65536 launches"),
    ];
    for (keys, line, what) in cases {
        refused(of_then(&keys), above() + 3 + line, what);
    }
}

#[test]
fn a_loop_has_launches_and_nothing_of_one() {
    let launch = "[[then.launch]]\nentry = \"k\"\ngrid = [1]\nblock = [8]\nargs = []\n";
    let cases = [
        (format!("[[then]]\n{launch}"), 1, "has no 'repeat'"),
        (
            format!("[[then]]\nrepeat = 2\ngrid = [1]\n{launch}"),
            3,
            "'grid' does not fit here; expected it in the [[then.launch]] tables",
        ),
        (
            "[[then]]\nrepeat = 2\nlaunch = []\n".to_owned(),
            3,
            "'launch' is empty",
        ),
        (
            format!("[[then]]\nrepeat = 2\n{launch}repeat = 2\n"),
            8,
            "unknown key 'repeat' in [[then.launch]]",
        ),
    ];
    for (then, line, what) in cases {
        refused(parse(&text(&then)), above() + line, what);
    }
}

/// Refused at that line, by that text of what and help.
fn refused(file: spadkit_base::error::Result<LaunchFile>, line: usize, what: &str) {
    let Err(spadkit_base::error::Error::Input(error)) = file else {
        panic!("not refused: {what}");
    };
    let text = format!("{}; {}", error.what, error.help.clone().unwrap_or_default());
    assert!(text.contains(what), "{what}: {text}");
    assert_eq!(error.line, line, "{text}");
}

/// The findings of a launch that writes `a`, a buffer without contents, by `threads`, and of
/// one that reads eight words of it.
fn read_after(threads: u32) -> Vec<String> {
    let then = "[[then]]\nentry = \"k\"\ngrid = [1]\nblock = [8]\nargs = [\"b\", \"a\", \"k\"]\n";
    let text = text(then);
    let text = text[..text.find("[[arg]]\nname = \"x\"").unwrap()].to_owned() + then;
    let text = text.replacen("block = [8]", &format!("block = [{threads}]"), 1);
    let file = parse(&text.replacen("count = 64\n", "count = 64\ninit = \"none\"\n", 1));
    let (file, module) = (file.unwrap(), Module::parse(PTX, "k.ptx").unwrap());
    let options = Options {
        global_races: true,
        ..Options::default()
    };
    let outcome = file.prepare(&module).unwrap().run(&options).unwrap();
    let findings = outcome.findings.into_iter();
    findings.map(|f| f.message).collect()
}

#[test]
fn a_buffer_without_contents_has_what_an_earlier_launch_has_written() {
    assert_eq!(read_after(8), [""; 0]);
    let missing = |at| format!("reads 4 bytes at byte {at} of a: byte {at} was never written");
    assert_eq!(read_after(4), [missing(16), missing(16)]);
}
