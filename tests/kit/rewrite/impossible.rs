//! An impossible rewriting is distinguished from a malformed request.

use super::{Case, kernel, made};
use spadkit::error::Error;
use spadkit::ptx::Module;
use spadkit::rewrite::{Block, Hashes, Request, attempt, one_for_all, rewrite, under_each};
use spadkit::software::LayoutSpec;

/// With this padding the array has no room in a block of `Case`'s machine.
const TOO_LARGE: &str = "pad:every=1,by=60";

fn specs(list: &[&str]) -> Vec<LayoutSpec> {
    list.iter().map(|spec| spec.parse().unwrap()).collect()
}

fn transpose() -> (Case, Module) {
    let case = Case::load(&kernel("transpose/transpose"), "fermi");
    let module = case.file.module().unwrap();
    (case, module)
}

fn block(case: &Case) -> Block<'_> {
    Block {
        machine: &case.machine,
        assembler: None,
        block_dim: None,
        registers: 0,
    }
}

#[test]
fn a_mapping_without_room_is_left_for_the_next() {
    let (case, module) = transpose();
    let request = case.request(TOO_LARGE, true, "transpose");
    let why = attempt(&module, &request).unwrap().unwrap_err();
    assert!(why.to_string().contains("a block has"), "{why}");
    let Err(error @ Error::Usage { .. }) = rewrite(&module, &request) else {
        panic!("a usage error where there is no next one");
    };
    assert_eq!(error.to_string(), why.to_string());
    let list = specs(&[TOO_LARGE, "xor"]);
    let best = one_for_all(&module, &request, &list, None).unwrap();
    assert_eq!(best.unwrap().spec, list[1]);
    let taken = under_each(&module, &request, &list, &block(&case)).unwrap();
    assert!(taken[0].is_none() && taken[1].is_some());
}

#[test]
fn a_wrong_request_is_an_error_whatever_else_could_be_tried() {
    let (case, module) = transpose();
    let right = case.request("xor", true, "transpose");
    let list = specs(&["xor"]);
    let wrong = Request {
        entry: "nope".to_owned(),
        ..right.clone()
    };
    let check = |error: Error, what: &str| {
        assert!(matches!(error, Error::Usage { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    check(attempt(&module, &wrong).unwrap_err(), "has no entry nope");
    let proposed = one_for_all(&module, &wrong, &list, None);
    check(proposed.unwrap_err(), "has no entry nope");
    let taken = under_each(&module, &wrong, &list, &block(&case));
    check(taken.unwrap_err(), "has no entry nope");
    // A mapping of 32 banks of a machine that has 8.
    let taken = under_each(&module, &right, &specs(&["matrix:1,2,4"]), &block(&case));
    check(taken.unwrap_err(), "matrix:0x1,0x2,0x4");
}

/// The marker counts as a statement of the entry; elsewhere it is text.
#[test]
fn only_an_entry_that_is_marked_is_refused() {
    let body = "st.shared.u32 [%d0], %r0;";
    let marker = ".pragma \"spadkit.layout boundary=0 s=0\";";
    for (text, refused) in [
        (format!("// {marker}\n{body}"), false),
        (format!("{marker}\n{body}"), true),
    ] {
        let (_folder, case) = made("k", &text);
        let module = case.file.module().unwrap();
        let mut request = case.request("xor", true, "k");
        request.hashes = Hashes::All("xor".parse().unwrap());
        let why = attempt(&module, &request).unwrap().err();
        let why = why.map(|why| why.to_string()).unwrap_or_default();
        assert_eq!(why.contains("spadkit.layout"), refused, "{text}: {why}");
        assert_eq!(why.is_empty(), !refused, "{text}: {why}");
    }
}
