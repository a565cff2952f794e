//! Random control flow with accesses to shared variables.

use crate::sharing::checker::{Walk, only_adds};
use crate::sharing::draw::Draw;
use spadkit::config::Config;
use spadkit::ptx::Module;
use spadkit::sharing::{AnalysedEntry, LayoutKind, Needs, Placement, Plan};
use std::fmt::Write;

/// Three variables of 64 bytes; blocks that access some of them, call a
/// function that may, and jump anywhere: nested loops, irreducible ones,
/// guarded exits, tables, exits in loops, unreachable blocks.
pub fn random_kernel(seed: u64) -> String {
    let mut rng = Draw::new(seed);
    let blocks = rng.of(2..14);
    let accesses = rng.of(0..30);
    let mut text = String::from(
        ".version 8.5\n.target sm_80\n.address_size 64\n\
         .shared .align 4 .b8 A[64];\n.shared .align 4 .b8 B[64];\n.shared .align 4 .b8 C[64];\n\
         .func f() {\n\t.reg .b32 %v;\n\tld.shared.u32 %v, [C];\n\tret;\n}\n\
         .visible .entry k(.param .u64 p)\n{\n\
         \t.reg .b64 %at; .reg .b32 %x, %y, %fuel; .reg .pred %p, %q;\n\
         \tld.param.u64 %at, [p];\n\tmov.u32 %x, %tid.x;\n\
         \tmov.u32 %y, A; mov.u32 %y, B; mov.u32 %y, C;\n",
    );
    writeln!(text, "\tmov.u32 %fuel, {};", rng.of(3..40)).unwrap();
    for block in 0..blocks {
        writeln!(text, "L{block}:").unwrap();
        if rng.of(0..100) < accesses {
            let name = ["A", "B", "C"][rng.of(0..3)];
            let line = match rng.of(0..6) {
                0 => "call.uni f;".to_owned(),
                1 => format!("@%q st.shared.u32 [{name}+8], %x;"),
                2 => format!("ld.shared.u32 %x, [{name}]; // {name}"),
                3 => format!("add.u32 %x, %x, 7; st.shared.u32 [{name}], %x; add.u32 %y, %y, 1;"),
                _ => format!("ld.shared.u32 %y, [{name}+4];"),
            };
            writeln!(text, "\t{line}").unwrap();
        }
        // Fuel, so that a run ends; some ends are exits, not the last block.
        let end = ["@%p bra END;", "@%p exit;", "@%p ret;"][rng.of(0..3)];
        writeln!(
            text,
            "\tsub.u32 %fuel, %fuel, 1;\n\tsetp.eq.u32 %p, %fuel, 0;\n\t{end}"
        )
        .unwrap();
        writeln!(
            text,
            "\tmad.lo.u32 %x, %x, 1664525, {};",
            1013904223 + block
        )
        .unwrap();
        writeln!(text, "\tshr.u32 %y, %x, {};", rng.of(8..24)).unwrap();
        let target = rng.of(0..blocks);
        let sign = if rng.of(0..2) == 0 { "!" } else { "" };
        match rng.of(0..9) {
            0 => {
                let list: Vec<String> = (0..4).map(|_| format!("L{}", rng.of(0..blocks))).collect();
                let guard = ["", "@%q "][rng.of(0..2)];
                writeln!(text, "\tand.b32 %y, %y, 3;").unwrap();
                writeln!(text, "T{block}: .branchtargets {};", list.join(", ")).unwrap();
                writeln!(text, "\t{guard}brx.idx %y, T{block};").unwrap();
            }
            1 => writeln!(text, "\tbra L{target};").unwrap(),
            2 => {
                writeln!(text, "\tand.b32 %y, %y, 7;\n\tsetp.eq.u32 %q, %y, 0;").unwrap();
                writeln!(text, "\t@{sign}%q exit;").unwrap();
            }
            3 => writeln!(
                text,
                "\tand.b32 %y, %y, 1; setp.eq.u32 %q, %y, 1; @{sign}%q bra L{target};"
            )
            .unwrap(),
            4 => {}
            _ => {
                writeln!(text, "\tand.b32 %y, %y, 3;\n\tsetp.ne.u32 %q, %y, 0;").unwrap();
                writeln!(text, "\t@{sign}%q bra L{target}; // {block}").unwrap();
            }
        }
    }
    text + "END:\n\tst.global.u32 [%at], %x;\n\tret;\n}\n"
}

/// Which of A, B, C are shared, and the annotated text.
pub fn annotated(text: &str, sharing: f64, placement: Placement) -> (Vec<&'static str>, String) {
    let module = Module::parse(text, "random.ptx").unwrap();
    let kernel = AnalysedEntry::new(&module, None, 0).unwrap();
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let needs = Needs {
        threads: 64,
        registers: None,
    };
    let choice = (LayoutKind::Optimal, placement);
    let plan = Plan::new(&kernel, &machine, needs, sharing, choice).unwrap();
    let names = ["A", "B", "C"].into_iter();
    let is_shared = |name: &&str| {
        let found = kernel.variables.iter().position(|v| v.name == *name);
        found.is_some_and(|i| plan.layout.is_shared(i))
    };
    (
        names.filter(is_shared).collect(),
        plan.annotate().unwrap().text,
    )
}

/// Accesses by their text.
pub fn accesses<'a>(shared: &'a [&'static str]) -> impl Fn(&str, usize) -> bool + 'a {
    move |text, _| {
        let named = |v: &str| text.contains(&format!("[{v}]")) || text.contains(&format!("[{v}+"));
        let called = text.contains("call") && shared.contains(&"C");
        called || text.contains(".shared") && shared.iter().any(|v| named(v))
    }
}

/// What is wrong with the releases of a random kernel; whether it has any.
fn check(seed: u64, placement: Placement) -> Result<bool, String> {
    let text = random_kernel(seed);
    let sharing = [0.0, 0.34, 0.67, 1.0][seed as usize % 4];
    let (shared, after) = annotated(&text, sharing, placement);
    let told = |e: String| format!("seed {seed}, {placement:?}: {e}\n{text}\n{after}");
    let walk = Walk::new(&after, "k", &accesses(&shared));
    let earliest = placement == Placement::Optimal;
    walk.check(earliest).map_err(told)?;
    let wanted = (usize::from(walk.needs_release()), false);
    if let Some(path) = walk.paths(40).into_iter().find(|p| *p != wanted) {
        return Err(told(format!("a path with {path:?}")));
    }
    only_adds(&text, &after).map_err(told)?;
    Ok(walk.needs_release())
}

#[test]
fn releases_come_once_behind_the_last_access_and_no_later() {
    let (mut released, mut wrong) = (0, Vec::new());
    for seed in 0..1200 {
        for placement in [Placement::Optimal, Placement::PostDom] {
            match check(seed, placement) {
                Ok(releases) => released += u32::from(releases),
                Err(e) => wrong.push(e),
            }
        }
    }
    let first: Vec<&String> = wrong.iter().take(3).collect();
    assert!(wrong.is_empty(), "{} wrong: {first:#?}", wrong.len());
    assert!(released > 450, "{released}");
}
