//! Copies by tensor maps: against direct loops over their elements, and
//! misuse.

mod direct;
mod misuse;
mod replace;

use super::super::tensor_map::{Boxed, TensorMap};
use super::*;
use crate::names::Type;
use crate::tensor::Swizzle;
use direct::Direct;

/// Bytes of shared memory that nobody writes.
const REST: u8 = 0xcd;

/// A kernel that is given a map and a buffer: `tile` is filled with [`REST`],
/// or with what `out` holds, then thread 0 copies, and the tile goes to `out`.
const KERNEL: &str = ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
    .reg .b64 %out, %a, %map; .reg .b32 %t, %s, %b, %i, %v, %w; .reg .pred %p<4>; .reg .b16 %h<4>;
    .shared .align 1024 .b8 tile[TILE]; .shared .align 8 .b64 bar;
    ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.b64 %map, map; cvta.param.u64 %map, %map;
    mov.u32 %s, tile; mov.u32 %b, bar; shl.b32 %i, %t, 2;
    F: cvt.u64.u32 %a, %i; add.u64 %a, %a, %out; ld.global.u32 %v, [%a]; add.u32 %w, %i, %s;
    st.shared.u32 [%w], %v; add.u32 %i, %i, 128; setp.lt.u32 %p0, %i, TILE; @%p0 bra F;
    fence.proxy.async.shared::cta; bar.sync 0; add.u32 %w, %s, SHIFT;
    setp.ne.u32 %p1, %t, 0; @%p1 bra S;
    COPY
    S: bar.sync 0; WAIT shl.b32 %i, %t, 2;
    G: add.u32 %w, %i, %s; ld.shared.u32 %v, [%w]; cvt.u64.u32 %a, %i; add.u64 %a, %a, %out;
    st.global.u32 [%a], %v; add.u32 %i, %i, 128; setp.lt.u32 %p0, %i, TILE; @%p0 bra G;
    ret;
}";
const LOAD: &str = "mbarrier.init.shared::cta.b64 [%b], 1; fence.proxy.async;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], BYTES;
    cp.async.bulk.tensor.DIM.shared::cluster.global.MODE.mbarrier::complete_tx::bytes
      [%w], [%map, {PLACE}], [%b]OFFSETS;";
const WAIT: &str = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%b], 0; @!%p2 bra W;";
const STORE: &str = "cp.async.bulk.tensor.DIM.global.shared::cta.MODE.bulk_group
      [%map, {PLACE}], [%w]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";

/// What a copy did.
struct Done {
    tensor: Vec<u8>,
    tile: Vec<u8>,
    findings: Vec<Finding>,
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

/// Runs `KERNEL` with a copy; the map's address is an offset in the tensor.
fn run(copy: &str, map: &TensorMap, case: &Direct, tile: &[u8]) -> Done {
    let pixels = matches!(map.boxed, Boxed::Pixels { .. });
    let mode = match (pixels, copy.contains("complete_tx")) {
        (false, _) => "tile",
        (true, true) => "im2col",
        (true, false) => "im2col_no_offs",
    };
    let offsets = if mode == "im2col" {
        format!(", {{{}}}", list(&case.offsets))
    } else {
        String::new()
    };
    let wait = if copy.contains("complete_tx") {
        WAIT
    } else {
        ""
    };
    let text = KERNEL
        .replace("COPY", copy)
        .replace("WAIT", wait)
        .replace("MODE", mode)
        .replace("OFFSETS", &offsets)
        .replace("DIM", &format!("{}d", case.start.len()))
        .replace("PLACE", &list(&case.start))
        .replace("SHIFT", &case.shift.to_string())
        .replace("BYTES", &map.moved_bytes().to_string())
        .replace("TILE", &tile.len().to_string());
    let text = format!(".version 8.6\n.target sm_90a\n.address_size 64\n{text}");
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let tensor = memory.alloc("tensor", case.tensor.clone());
    let out = memory.alloc("out", tile.to_vec());
    let placed = TensorMap {
        address: memory.address(tensor) + map.address,
        ..map.clone()
    };
    let mut params = placed.encode().to_vec();
    params.extend(memory.address(out).to_le_bytes());
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        params,
    };
    let options = Options {
        threads: 1,
        races: true,
        limit: 10_000_000,
        ..Options::default()
    };
    let outcome = program
        .run(&mut memory, &launch, &options)
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    Done {
        tensor: memory.bytes(tensor).to_vec(),
        tile: memory.bytes(out).to_vec(),
        findings: outcome.findings,
    }
}

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(99);
        (self.0 >> 33) % n
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

const TYPES: [Type; 10] = [
    Type::U8,
    Type::U16,
    Type::U32,
    Type::S32,
    Type::U64,
    Type::S64,
    Type::F16,
    Type::Bf16,
    Type::F32,
    Type::F64,
];

/// A map of a random tensor, whose address is an offset, and the bytes of the
/// tensor.
fn random_tensor(random: &mut Random, rank: usize, row_units: u64) -> (TensorMap, Vec<u8>) {
    let element = TYPES[random.below(10) as usize];
    let size = u64::from(element.bytes());
    let most = [40, 9, 5, 4, 3];
    let extent: Vec<u64> = (0..rank).map(|d| 1 + random.below(most[d])).collect();
    let mut strides = Vec::new();
    let mut bytes = extent[0] * size;
    for n in &extent[1..] {
        let stride = bytes.next_multiple_of(16) + 16 * random.below(2);
        strides.push(stride);
        bytes = stride * n;
    }
    let address = 16 * random.below(3);
    let tensor = random.bytes(address + bytes);
    let boxed: Vec<u32> = (0..rank as u64)
        .map(|d| match d {
            0 => (row_units * 16 / size) as u32,
            d => 1 + random.below(7 - d) as u32,
        })
        .collect();
    let map = TensorMap {
        address,
        element,
        strides,
        steps: (0..rank).map(|_| 1 + random.below(3) as u32).collect(),
        boxed: Boxed::Tile(boxed),
        extent,
        swizzle: Swizzle::None,
        nan_fill: element.is_float() && random.below(2) == 0,
    };
    (map, tensor)
}

/// A map of boxes, and a copy by it.
fn random_case(random: &mut Random, swizzle: Swizzle) -> (TensorMap, Direct) {
    let rank = 1 + random.below(5) as usize;
    let units = match swizzle.span() / 16 {
        0 => 1 + random.below(6),
        most => 1 + random.below(most),
    };
    let (mut map, tensor) = random_tensor(random, rank, units);
    map.swizzle = swizzle;
    let place = |random: &mut Random, d: usize| {
        let extent = map.extent[d] as i64;
        (random.below(2 * extent as u64 + 4) as i64 - extent / 2 - 2) as i32
    };
    let start = (0..rank).map(|d| place(random, d)).collect();
    let case = Direct {
        tensor,
        start,
        offsets: Vec::new(),
        shift: 128 * random.below(8),
    };
    (map, case)
}

/// A map of pixels, and a copy by it.
fn random_pixels(random: &mut Random, swizzle: Swizzle) -> (TensorMap, Direct) {
    let rank = 3 + random.below(3) as usize;
    let units = 1 + random.below(2);
    let (mut map, tensor) = random_tensor(random, rank, units);
    let channels = map.row_elements();
    let mut corner = |d: usize| -> (i32, i32) {
        let extent = map.extent[d + 1] as i32;
        let low = random.below(4) as i32 - 2;
        let low = low.min(extent - 1);
        (low, (low - extent + 1).max(random.below(4) as i32 - 2))
    };
    let (lower, upper): (Vec<i32>, Vec<i32>) = (0..rank - 2).map(&mut corner).unzip();
    let mut start = vec![random.below(map.extent[0] + 2) as i32 - 1];
    for d in 1..rank - 1 {
        let last = map.extent[d] as i32 - 1 + upper[d - 1];
        let places = (last - lower[d - 1]) as u64 / u64::from(map.steps[d]) + 1;
        let at = random.below(places) as i32 * map.steps[d] as i32;
        start.push(lower[d - 1] + at);
    }
    start.push(random.below(map.extent[rank - 1]) as i32);
    map.swizzle = swizzle;
    map.boxed = Boxed::Pixels {
        lower,
        upper,
        channels,
        count: 1 + random.below(40) as u32,
    };
    let case = Direct {
        tensor,
        start,
        offsets: (0..rank - 2).map(|_| random.below(3) as u16).collect(),
        shift: 128 * random.below(8),
    };
    (map, case)
}

/// Bytes of shared memory for a copy.
fn room(map: &TensorMap, case: &Direct) -> usize {
    (case.shift + map.shared_bytes()).next_multiple_of(128) as usize
}

#[test]
fn loads_are_what_direct_loops_read() {
    let mut random = Random(5);
    for n in 0..160 {
        let swizzle = Swizzle::ALL[n % 4];
        let (map, case) = match n % 3 {
            0 => random_pixels(&mut random, swizzle),
            _ => random_case(&mut random, swizzle),
        };
        map.check()
            .unwrap_or_else(|wrong| panic!("{wrong:?} {map:?}"));
        let done = run(LOAD, &map, &case, &vec![REST; room(&map, &case)]);
        assert_eq!(done.findings, [], "{map:?}");
        let mut tile = vec![REST; room(&map, &case)];
        case.each(&map, |shared, global, size| {
            let fill = if map.nan_fill { [0xf7, 0x7f] } else { [0, 0] };
            for byte in 0..size {
                tile[shared + byte] = match global {
                    Some(at) => case.tensor[at + byte],
                    None => fill[byte % 2],
                };
            }
        });
        assert!(done.tile == tile, "{map:?} {:?}", case.start);
        assert_eq!(done.tensor, case.tensor);
    }
}

#[test]
fn stores_are_what_direct_loops_write() {
    let mut random = Random(6);
    for n in 0..120 {
        let swizzle = Swizzle::ALL[n % 4];
        let (map, mut case) = match n % 3 {
            0 => random_pixels(&mut random, swizzle),
            _ => random_case(&mut random, swizzle),
        };
        case.offsets.clear();
        // Only loads may begin below zero.
        for at in &mut case.start {
            *at = (*at).max(0);
        }
        if matches!(map.boxed, Boxed::Pixels { .. }) && !case.on_lattice(&map) {
            continue;
        }
        let tile = random.bytes(room(&map, &case) as u64);
        let done = run(STORE, &map, &case, &tile);
        assert_eq!(done.findings, [], "{map:?}");
        let mut tensor = case.tensor.clone();
        case.each(&map, |shared, global, size| {
            if let Some(at) = global {
                tensor[at..at + size].copy_from_slice(&tile[shared..shared + size]);
            }
        });
        assert!(done.tensor == tensor, "{map:?} {:?}", case.start);
        assert_eq!(done.tile, tile);
    }
}

#[test]
fn reductions_combine_every_element_inside() {
    let mut random = Random(7);
    type Operator = fn(u64, u64) -> u64;
    let ops: [(&str, Operator); 8] = [
        ("add", |a, b| (a as u32).wrapping_add(b as u32).into()),
        ("min", |a, b| a.min(b)),
        ("max", |a, b| a.max(b)),
        ("inc", |a, b| if a >= b { 0 } else { a + 1 }),
        ("dec", |a, b| if a == 0 || a > b { b } else { a - 1 }),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
    ];
    for (n, (name, op)) in ops.into_iter().cycle().take(32).enumerate() {
        let (mut map, mut case) = loop {
            let (map, case) = random_case(&mut random, Swizzle::ALL[n % 4]);
            if map.element == Type::U32 {
                break (map, case);
            }
        };
        map.nan_fill = false;
        for at in &mut case.start {
            *at = (*at).max(0);
        }
        let tile = random.bytes(room(&map, &case) as u64);
        let reduce = STORE
            .replace("cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor")
            .replace("shared::cta", &format!("shared::cta.{name}"));
        let done = run(&reduce, &map, &case, &tile);
        assert_eq!(done.findings, [], "{map:?}");
        let mut tensor = case.tensor.clone();
        case.each(&map, |shared, global, size| {
            if let Some(at) = global {
                let word = |b: &[u8]| u64::from(u32::from_le_bytes(b.try_into().unwrap()));
                let new = op(
                    word(&tensor[at..at + size]),
                    word(&tile[shared..shared + size]),
                );
                tensor[at..at + size].copy_from_slice(&(new as u32).to_le_bytes());
            }
        });
        assert!(done.tensor == tensor, "{name} {map:?} {:?}", case.start);
    }
}
