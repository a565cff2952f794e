//! `tensormap.replace`, and copies of maps.

use super::super::super::tensor_map::{BYTES, Field, replaced};
use super::*;

fn map() -> TensorMap {
    TensorMap {
        address: 0x100_0000_0000,
        element: Type::F16,
        extent: vec![24, 6],
        strides: vec![64],
        boxed: Boxed::Tile(vec![16, 4]),
        steps: vec![1, 1],
        swizzle: Swizzle::Bytes32,
        nan_fill: true,
    }
}

#[test]
fn the_bytes_hold_every_field() {
    let mut random = Random(8);
    for n in 0..200 {
        let swizzle = Swizzle::ALL[n % 4];
        let (map, _) = match n % 2 {
            0 => random_pixels(&mut random, swizzle),
            _ => random_case(&mut random, swizzle),
        };
        assert_eq!(TensorMap::decode(&map.encode()), Ok(map));
    }
    let no_map = TensorMap::decode(&[7; BYTES]).unwrap_err();
    assert!(no_map.what.contains("not a tensor map"));
    assert_eq!(replaced([7; BYTES], Field::Rank, 1), None);
}

/// As Triton makes a map: zeros in shared memory, field by field, then to
/// global memory, from where a copy takes it.
#[test]
fn a_map_is_made_from_zeros() {
    let fields = [
        ("global_address", "b64", "%address"),
        ("rank", "b32", "1"),
        ("box_dim", "b32", "0, 16"),
        ("box_dim", "b32", "1, 4"),
        ("global_dim", "b32", "0, 24"),
        ("global_dim", "b32", "1, 6"),
        ("global_stride", "b64", "0, 64"),
        ("element_stride", "b32", "0, 1"),
        ("element_stride", "b32", "1, 1"),
        ("elemtype", "b32", "6"),
        ("interleave_layout", "b32", "0"),
        ("swizzle_mode", "b32", "1"),
        ("fill_mode", "b32", "1"),
    ];
    let replace = |(field, ty, value): &(&str, &str, &str)| {
        format!("tensormap.replace.tile.{field}.shared::cta.b1024.{ty} [%m], {value};\n")
    };
    let replaces: String = fields.iter().map(replace).collect();
    let body = format!(
        ".shared .align 128 .b8 made[128]; .reg .b64 %address; .reg .b32 %m;
         mov.u32 %m, made; add.u64 %address, %base, 4096;
         shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %m; st.shared.u32 [%r1], 0; bar.sync 0;
         setp.ne.u32 %p1, %t, 0; @%p1 bra S; {replaces}
         S: bar.sync 0;
         tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
           [%base], [%m], 128;
         fence.proxy.tensormap::generic.acquire.gpu [%base], 128; ret;"
    );
    let done = run_with(&kernel(&body), [32, 1, 1], [1, 1, 1], &[0; 2048], |o, _| {
        o.races = true
    });
    assert_eq!(done.outcome.findings, []);
    let bytes: Vec<u8> = done.words[..32]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    let made = TensorMap::decode(&bytes.try_into().unwrap()).unwrap();
    let expected = map();
    assert_eq!(made.address % 256, 0);
    let address = made.address;
    assert_eq!(
        made,
        TensorMap {
            address,
            ..expected
        }
    );
}

/// A map in global memory, changed there, and taken by a pointer to it.
#[test]
fn a_map_in_global_memory_is_changed_and_used() {
    let case = Direct {
        tensor: (0..=255).collect(),
        start: vec![0, 0],
        offsets: Vec::new(),
        shift: 0,
    };
    let mut small = map();
    small.address = 0;
    small.extent = vec![24, 4];
    // The kernel's own buffer has the map; then the box becomes one row less.
    let copy = format!(
        "ld.param.u64 %a, [map]; st.global.u64 [%out], %a;
         {} tensormap.replace.tile.box_dim.global.b1024.b32 [%out], 1, 3; {}",
        (1..16)
            .map(|n| format!(
                "ld.param.u64 %a, [map+{}]; st.global.u64 [%out+{}], %a;",
                8 * n,
                8 * n
            ))
            .collect::<String>(),
        LOAD.replace("%map", "%out").replace("BYTES", "96")
    );
    let done = run(&copy, &small, &case, &[REST; 256]);
    assert_eq!(done.findings, []);
    let mut shorter = small.clone();
    shorter.boxed = Boxed::Tile(vec![16, 3]);
    let mut tile = [REST; 256];
    case.each(&shorter, |shared, global, size| {
        let at = global.unwrap();
        tile[shared..shared + size].copy_from_slice(&case.tensor[at..at + size]);
    });
    assert_eq!(done.tile, tile);
}

/// Triton's way to the map of a parameter: its address in 32 bits.
#[test]
fn a_parameter_has_an_address_of_32_bits_too() {
    let case = Direct {
        tensor: vec![7; 512],
        start: vec![0, 0],
        offsets: Vec::new(),
        shift: 0,
    };
    let mut at_zero = map();
    at_zero.address = 0;
    let copy = format!("mov.b32 %v, map; cvt.u64.u32 %a, %v; cvta.param.u64 %map, %a; {LOAD}");
    let done = run(&copy, &at_zero, &case, &[REST; 128]);
    assert_eq!((done.findings, &done.tile[..]), (vec![], &[7; 128][..]));
}
