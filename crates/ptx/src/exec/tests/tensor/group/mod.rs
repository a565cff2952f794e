//! `wgmma`: products against direct ones, with the places of elements by the
//! formulas of the PTX ISA and its canonical layouts; forms against `ptxas`.

mod forms;
mod layout;
mod observed;
mod product;

use super::*;

/// Bytes of shared memory, where `b` begins, and threads of a warpgroup.
pub(super) const SHARED: u32 = 48 << 10;
pub(super) const OF_B: u32 = 12 << 10;
const THREADS: u32 = 128;

/// Words of the buffer: shared memory as it is filled, then the registers of
/// all threads (128 of the accumulator, four of `a`, metadata), descriptors,
/// scale-d.
const REGISTERS: usize = SHARED as usize / 4;
const DESCRIPTORS: usize = REGISTERS + 133 * THREADS as usize;
const WORDS: usize = DESCRIPTORS + 5;

/// A product.
#[derive(Clone, Debug)]
pub(super) struct Product {
    pub case: Case,
    /// Whether registers hold `a`.
    pub held: bool,
    /// Whether `a` and `b` lie along M and N.
    pub by_mn: [bool; 2],
    pub signs: [i32; 2],
    pub descriptors: [u64; 2],
    pub adds: bool,
}

impl Product {
    /// Of such columns, types `d.a.b`, with `a` in memory, in no swizzle.
    pub fn new(n: u32, types: &str, sparse: bool) -> Product {
        let a = types.split('.').nth(1).unwrap();
        let k = 256 / bits(a) * if sparse { 2 } else { 1 };
        let d = types.split('.').next().unwrap();
        let mut case = Case::new(&format!("m64n{n}k{k}"), &format!("{types}.{d}"), sparse);
        if a == "b1" {
            case.more = ".and.popc";
        }
        Product {
            case,
            held: false,
            by_mn: [false; 2],
            signs: [1; 2],
            descriptors: [descriptor(0, 0, 128, 256), descriptor(OF_B, 0, 128, 256)],
            adds: true,
        }
    }

    /// Registers of the accumulator.
    pub fn sums(&self) -> u32 {
        self.case.size[1] * bits(&self.case.types[0]) / 64
    }

    pub fn instruction(&self) -> String {
        let [d, a, b, _] = &self.case.types;
        let list = |first: u32, count: u32| {
            let names = (first..first + count).map(|n| format!("%r{n}"));
            format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
        };
        let of_a = if self.held {
            list(128, 4)
        } else {
            "%da".to_owned()
        };
        let mut tail = String::new();
        if !matches!(a.as_str(), "s8" | "u8" | "b1") {
            tail += &format!(", {}, {}", self.signs[0], self.signs[1]);
        }
        if matches!(a.as_str(), "f16" | "bf16") {
            let first = usize::from(self.held);
            for by_mn in &self.by_mn[first..] {
                tail += &format!(", {}", u32::from(*by_mn));
            }
        }
        let (sp, metadata) = if self.case.sparse {
            (".sp", format!("%r132, {}, ", self.case.selector))
        } else {
            ("", String::new())
        };
        format!(
            "wgmma.mma_async{sp}.sync.aligned.{}.{d}.{a}.{b}{} {}, {of_a}, %db, {metadata}%p{tail};",
            self.case.shape,
            self.case.more,
            list(0, self.sums())
        )
    }

    /// Fills shared memory, loads the registers, multiplies, stores.
    pub fn kernel(&self) -> String {
        let (mut loads, mut stores) = (String::new(), String::new());
        for n in 0..133 {
            let at = n * 4 * THREADS;
            loads += &format!("ld.global.b32 %r{n}, [%out+{at}];\n");
            if n < self.sums() {
                stores += &format!("st.global.b32 [%out+{at}], %r{n};\n");
            }
        }
        format!(
            ".version 8.8\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 p) {{
             .reg .b64 %base, %out, %x, %da, %db; .reg .b32 %t, %u, %v, %r<133>; .reg .pred %p, %q;
             .shared .align 1024 .b8 s[{SHARED}];
             ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mov.u32 %u, %t;
             L: mad.wide.u32 %x, %u, 4, %base; ld.global.b32 %v, [%x];
             shl.b32 %r0, %u, 2; mov.u32 %r1, s; add.u32 %r0, %r0, %r1; st.shared.b32 [%r0], %v;
             add.u32 %u, %u, {THREADS}; setp.lt.u32 %q, %u, {REGISTERS}; @%q bra L;
             fence.proxy.async; bar.sync 0;
             mad.wide.u32 %out, %t, 4, %base; add.u64 %out, %out, {};
             {loads}
             add.u64 %x, %base, {};
             ld.global.b64 %da, [%x]; ld.global.b64 %db, [%x+8]; ld.global.b32 %v, [%x+16];
             setp.ne.u32 %p, %v, 0;
             wgmma.fence.sync.aligned;
             {}
             wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
             {stores} ret; }}",
            4 * REGISTERS,
            4 * DESCRIPTORS,
            self.instruction()
        )
    }

    /// The registers of the accumulator after it, thread after thread.
    pub fn run(&self, given: &Given) -> (Vec<u32>, Outcome) {
        let mut words = vec![0; WORDS];
        words[..REGISTERS].copy_from_slice(&given.shared);
        words[REGISTERS..DESCRIPTORS].copy_from_slice(&given.registers);
        for (n, bits) in self.descriptors.iter().enumerate() {
            words[DESCRIPTORS + 2 * n] = *bits as u32;
            words[DESCRIPTORS + 2 * n + 1] = (bits >> 32) as u32;
        }
        words[DESCRIPTORS + 4] = self.adds.into();
        let (words, outcome) = run_block(&self.kernel(), &words, THREADS, |_| {});
        (words[REGISTERS..DESCRIPTORS].to_vec(), outcome)
    }
}

/// What a product works on.
pub(super) struct Given {
    pub shared: Vec<u32>,
    pub registers: Vec<u32>,
}

/// A descriptor: start, mode, leading and stride offsets in bytes.
pub(super) fn descriptor(start: u32, mode: u64, leading: u32, stride: u32) -> u64 {
    let field = |bytes: u32| u64::from((bytes & 0x3ffff) >> 4);
    field(start) | field(leading) << 16 | field(stride) << 32 | mode << 62
}
