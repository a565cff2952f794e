//! What is wrong with copies by tensor maps, and what is refused.

use super::*;

fn map() -> TensorMap {
    TensorMap {
        address: 0,
        element: Type::U32,
        extent: vec![16, 8],
        strides: vec![64],
        boxed: Boxed::Tile(vec![8, 4]),
        steps: vec![1, 1],
        swizzle: Swizzle::None,
        nan_fill: false,
    }
}

fn case() -> Direct {
    Direct {
        tensor: vec![1; 512],
        start: vec![0, 0],
        offsets: Vec::new(),
        shift: 0,
    }
}

fn found(copy: &str, map: &TensorMap, case: &Direct, kind: FindingKind, text: &str) {
    let done = run(copy, map, case, &[REST; 256]);
    let hit = |f: &Finding| f.kind == kind && f.message.contains(text);
    assert!(done.findings.iter().any(hit), "{text}: {:?}", done.findings);
}

#[test]
fn misuse_of_operands_is_found() {
    use FindingKind::*;
    let load = |from: &str, to: &str| {
        let changed = LOAD.replace(from, to);
        assert_ne!(changed, LOAD);
        changed
    };
    let good = run(LOAD, &map(), &case(), &[REST; 256]);
    assert_eq!(good.findings, []);
    let text = "not a multiple of 128";
    found(&load("[%w]", "[%w+16]"), &map(), &case(), Misaligned, text);
    let text = "of which the block has";
    found(
        &load("[%w]", "[%w+256]"),
        &map(),
        &case(),
        OutOfBounds,
        text,
    );
    let init = "mbarrier.init.shared::cta.b64 [%b], 1;";
    let text = "has not been initialised";
    found(&load(init, ""), &map(), &case(), InvalidBarrier, text);
    let text = "is not inside one buffer";
    found(
        &load("[%map,", "[%a,"),
        &map(),
        &case(),
        InvalidTensorMap,
        "not a tensor map",
    );
    let beyond = TensorMap {
        extent: vec![16, 80],
        ..map()
    };
    let last = Direct {
        start: vec![0, 6],
        ..case()
    };
    found(LOAD, &beyond, &last, OutOfBounds, text);
    let text = "coordinate -1 in dimension 1";
    let below = Direct {
        start: vec![0, -1],
        ..case()
    };
    found(STORE, &map(), &below, OutOfBounds, text);
    let text = "uses a map of 2";
    let line = Direct {
        start: vec![0],
        ..case()
    };
    found(LOAD, &map(), &line, InvalidTensorMap, text);
    let blocks = "complete_tx::bytes.multicast::cluster";
    let two = load("complete_tx::bytes", blocks).replace("OFFSETS", "OFFSETS, 3");
    found(&two, &map(), &case(), InvalidMask, "block 0 only");
    let one = two.replace("OFFSETS, 3", "OFFSETS, 1");
    assert_eq!(run(&one, &map(), &case(), &[REST; 256]).findings, []);
    let hint = load("complete_tx::bytes", "complete_tx::bytes.L2::cache_hint");
    let hint = hint.replace("OFFSETS", "OFFSETS, 0x14f0000000000000");
    assert_eq!(run(&hint, &map(), &case(), &[REST; 256]).findings, []);
    let float = TensorMap {
        element: Type::F32,
        ..map()
    };
    let min = STORE
        .replace("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor")
        .replace("shared::cta", "shared::cta.min");
    found(&min, &float, &case(), InvalidTensorMap, "no such reduction");
}

/// A read before anybody has waited is a race.
#[test]
fn who_does_not_wait_races() {
    let early = format!("{LOAD} ld.shared.u32 %v, [%w];");
    found(
        &early,
        &map(),
        &case(),
        FindingKind::Race,
        "no thread has waited",
    );
}

/// A load over a tile that a store of the same thread still reads, and over one that
/// another load still writes.
#[test]
fn a_load_over_what_a_copy_still_uses_races() {
    let wait = "cp.async.bulk.wait_group 0;";
    assert!(STORE.contains(wait));
    let races = |copy: &str| {
        let done = run(copy, &map(), &case(), &[REST; 256]);
        let race = |f: &Finding| f.kind == FindingKind::Race;
        assert!(done.findings.iter().all(race), "{:?}", done.findings);
        !done.findings.is_empty()
    };
    let after = |with: &str| format!("{} {LOAD}", STORE.replace(wait, with));
    assert!(races(&after("")));
    assert!(!races(&after("cp.async.bulk.wait_group.read 0;")));
    assert!(!races(&after(wait)));
    let copy = &LOAD[LOAD.find("cp.async.bulk.tensor").unwrap()..];
    let twice =
        format!("{LOAD} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%b], BYTES; {copy}");
    assert!(races(&twice));
    let waits = "V: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%b], 0; @!%p3 bra V;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], BYTES;";
    let last = "U: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%b], 1; @!%p3 bra U;
        mbarrier.arrive.shared::cta.b64 _, [%b];";
    let in_turn = format!("{LOAD} {waits} {copy} {last}");
    assert!(!races(&in_turn));
}

#[test]
fn every_rule_of_maps_is_checked() {
    let wrong = |change: fn(&mut TensorMap), key: &str, text: &str| {
        let mut broken = map();
        change(&mut broken);
        let error = broken.check().unwrap_err();
        let all = format!("{}; {}", error.what, error.expected);
        assert!(error.key == key && all.contains(text), "{error:?}");
        // The executor says the same of what it is given.
        let found_here = run(LOAD, &broken, &case(), &[REST; 256]).findings;
        let kind = FindingKind::InvalidTensorMap;
        assert!(found_here.iter().any(|f| f.kind == kind), "{found_here:?}");
    };
    wrong(|m| m.address = 8, "offset", "multiple of 16");
    wrong(|m| m.extent[1] = 0, "extent", "0 in dimension 1");
    wrong(|m| m.extent[0] = (1 << 32) + 1, "extent", "1 to 4294967296");
    wrong(|m| m.strides[0] = 40, "strides", "40 bytes in dimension 1");
    wrong(|m| m.strides[0] = 1 << 40, "strides", "below 2^40");
    wrong(
        |m| m.boxed = Boxed::Tile(vec![8, 257]),
        "box",
        "257 in dimension 1",
    );
    wrong(|m| m.boxed = Boxed::Tile(vec![8, 0]), "box", "1 to 256");
    wrong(|m| m.boxed = Boxed::Tile(vec![6, 1]), "box", "24 bytes");
    wrong(|m| m.steps[1] = 9, "element_strides", "1 to 8");
    wrong(|m| m.steps[1] = 0, "element_strides", "0 in dimension 1");
    wrong(|m| m.nan_fill = true, "fill", "u32 have no NaN");
    let too_wide = |m: &mut TensorMap| {
        m.swizzle = Swizzle::Bytes32;
        m.boxed = Boxed::Tile(vec![12, 1]);
    };
    wrong(too_wide, "box", "at most 32");
    let pixels = |lower: i32, upper: i32, channels, count| Boxed::Pixels {
        lower: vec![lower],
        upper: vec![upper],
        channels,
        count,
    };
    let image = |boxed| TensorMap {
        extent: vec![16, 8, 2],
        strides: vec![64, 512],
        steps: vec![1; 3],
        boxed,
        ..map()
    };
    let key = |boxed| image(boxed).check().map_err(|wrong| wrong.key);
    assert_eq!(key(pixels(-1, 1, 16, 9)), Ok(()));
    assert_eq!(key(pixels(40000, 1, 16, 9)), Err("lower"));
    assert_eq!(key(pixels(0, -40000, 16, 9)), Err("upper"));
    assert_eq!(key(pixels(1, -7, 16, 9)), Err("upper"));
    assert_eq!(key(pixels(0, 0, 300, 9)), Err("channels"));
    assert_eq!(key(pixels(0, 0, 3, 9)), Err("channels"));
    assert_eq!(key(pixels(0, 0, 16, 1025)), Err("pixels"));
    let flat = TensorMap {
        boxed: pixels(0, 0, 16, 1),
        ..map()
    };
    assert_eq!(flat.check().map_err(|w| w.key), Err("extent"));
}

#[test]
fn what_is_not_supported_is_named() {
    let refused = |instruction: &str, text: &str| {
        let source = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.entry k() {{ .reg .b64 %d; .reg \
             .b32 %r; .reg .b16 %h; {instruction} ret; }}"
        );
        let module = Module::parse(&source, "t.ptx").unwrap();
        match module.check_supported("k") {
            Err(spadkit_base::error::Error::Input(e)) => {
                let help = e.help.clone().unwrap();
                assert!(help.contains(text), "{help}");
            }
            other => panic!("{instruction}: {other:?}"),
        }
    };
    let load = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes";
    let with = |from: &str, to: &str| load.replace(from, to);
    let operands = "[%r], [%d, {%r, %r}], [%r]";
    let gather = with("global", "global.tile::gather4");
    refused(&format!("{gather} {operands};"), "form of tensor copies");
    let pair = format!("{load}.cta_group::1");
    refused(&format!("{pair} {operands};"), "without .cta_group");
    refused(
        &format!("{} {operands};", with("2d", "3d")),
        "2 coordinates where .3d has 3",
    );
    refused(
        &format!("{load} {operands}, %h;"),
        "wrong number of operands",
    );
    refused(
        &format!("{} {operands};", with("global", "global.im2col")),
        "3 to 5 dimensions",
    );
    let image = with("2d", "4d").replace("global", "global.im2col");
    let image = format!("{image} [%r], [%d, {{%r, %r, %r, %r}}], [%r], {{%h}};");
    refused(&image, "1 offsets where there are 2");
    let replace = "tensormap.replace.tile.box_dim.global.b1024.b32 [%d]";
    refused(
        &format!("{replace}, 5, %r;"),
        "value 5 of .box_dim: expected 0 to 4",
    );
    refused(&format!("{replace}, %r;"), "wrong number of operands");
    let address = "tensormap.replace.tile.global_address.global.b1024.b32 [%d], %r;";
    refused(address, "expected .b64 with .global_address");
    let moved = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync\
                 .aligned [%d], [%r], 64;";
    refused(moved, "128 bytes");
    let fence = "fence.proxy.tensormap::generic.acquire.gpu [%d], 64;";
    refused(fence, "128");
}
