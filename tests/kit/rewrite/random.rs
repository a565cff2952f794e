//! Kernels made up: arrays of shared memory written and read with several
//! widths, through loops, branches, guards, shared and generic addresses.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt::Write;

/// A kernel and its launch file.
pub struct RandomKernel {
    pub ptx: String,
    pub toml: String,
    /// Bytes of the widest access.
    pub widest: u32,
}

struct Maker {
    rng: ChaCha12Rng,
    body: String,
    next: u32,
    label: u32,
    /// Threads, a power of two.
    threads: u32,
    widest: u32,
}

/// An array of shared memory: its name, and log2 of its bytes.
#[derive(Clone)]
struct Array {
    name: String,
    bits: u32,
}

impl Maker {
    fn below(&mut self, n: u32) -> u32 {
        self.rng.next_u32() % n
    }

    fn line(&mut self, text: std::fmt::Arguments) {
        writeln!(self.body, "\t{text}").unwrap();
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// A register with the address of `array` + (index << shift), 64 or 32
    /// bits wide.
    fn address(&mut self, array: &Array, index: &str, shift: u32) -> String {
        let n = self.fresh();
        match self.below(4) {
            0 => {
                self.line(format_args!("mov.u32 %r{n}, {};", array.name));
                let m = self.fresh();
                self.line(format_args!(
                    "mad.lo.u32 %r{m}, {index}, {}, %r{n};",
                    1 << shift
                ));
                format!("%r{m}")
            }
            1 => {
                self.line(format_args!("shl.b32 %r{n}, {index}, {shift};"));
                let (m, k) = (self.fresh(), self.fresh());
                self.line(format_args!("mov.u32 %r{m}, {};", array.name));
                self.line(format_args!("add.s32 %r{k}, %r{m}, %r{n};"));
                format!("%r{k}")
            }
            _ => {
                self.line(format_args!("mul.wide.u32 %d{n}, {index}, {};", 1 << shift));
                let (m, k) = (self.fresh(), self.fresh());
                self.line(format_args!("mov.u64 %d{m}, {};", array.name));
                self.line(format_args!("add.s64 %d{k}, %d{m}, %d{n};"));
                format!("%d{k}")
            }
        }
    }

    fn is_wide(address: &str) -> bool {
        address.starts_with("%d")
    }

    /// log2 of the bytes of an access.
    fn width(&mut self) -> u32 {
        let width = [2, 2, 2, 0, 1, 2, 3, 4][self.below(8) as usize];
        self.widest = self.widest.max(1 << width);
        width
    }

    fn form(width: u32) -> &'static str {
        ["u8", "u16", "u32", "v2.u32", "v4.u32"][width as usize]
    }

    fn data(width: u32, register: &str) -> String {
        match width {
            0..=2 => register.to_owned(),
            3 => format!("{{{register}, %tid}}"),
            _ => format!("{{{register}, %tid, {register}, %tid}}"),
        }
    }

    /// Every thread writes elements of its own, all of the array.
    fn fill(&mut self, array: &Array) {
        let width = self.width();
        let rounds = (1u32 << (array.bits - width)) / self.threads;
        if rounds == 0 {
            return;
        }
        let step = self.threads << width;
        let address = self.address(array, "%tid", width);
        let value = self.fresh();
        self.line(format_args!(
            "mul.lo.u32 %r{value}, %tid, {};",
            3 + 2 * self.next
        ));
        let (form, value) = (Self::form(width), format!("%r{value}"));
        let bits = if Self::is_wide(&address) { 64 } else { 32 };
        if self.below(2) == 0 {
            let count = self.fresh();
            let label = self.fresh_label();
            self.line(format_args!("mov.u32 %r{count}, 0;"));
            writeln!(self.body, "$L{label}:").unwrap();
            let data = Self::data(width, &value);
            self.line(format_args!("st.shared.{form} [{address}], {data};"));
            self.line(format_args!("add.u32 {value}, {value}, %r{count};"));
            self.line(format_args!("add.s{bits} {address}, {address}, {step};"));
            self.line(format_args!("add.u32 %r{count}, %r{count}, 1;"));
            self.line(format_args!("setp.lt.u32 %p1, %r{count}, {rounds};"));
            self.line(format_args!("@%p1 bra $L{label};"));
        } else {
            for round in 0..rounds {
                let data = Self::data(width, &value);
                let offset = round * step;
                self.line(format_args!(
                    "st.shared.{form} [{address}+{offset}], {data};"
                ));
                self.line(format_args!("xor.b32 {value}, {value}, {};", offset + 1));
            }
        }
        self.line(format_args!("bar.sync 0;"));
    }

    fn fresh_label(&mut self) -> u32 {
        self.label += 1;
        self.label
    }

    /// Every thread reads somewhere, some of it in a loop.
    fn read(&mut self, array: &Array) {
        let width = self.width();
        let elements = 1u32 << (array.bits - width);
        let index = self.fresh();
        let (a, b) = (self.below(64), self.below(elements));
        self.line(format_args!("mad.lo.u32 %r{index}, %tid, {a}, {b};"));
        // Room above for constant offsets.
        let room = 1 << self.below(4).min(array.bits - width);
        let mask = (elements / room).max(1) - 1;
        self.line(format_args!("and.b32 %r{index}, %r{index}, {mask:#x};"));
        let scaled = self.fresh();
        let sparse = self.below(2) == 0;
        let factor = if sparse { room } else { 1 };
        self.line(format_args!("mul.lo.u32 %r{scaled}, %r{index}, {factor};"));
        let address = self.address(array, &format!("%r{scaled}"), width);
        let unit = if sparse { 1 } else { elements / room };
        let label = (self.below(3) == 0).then(|| self.fresh_label());
        let count = self.fresh();
        if let Some(label) = label {
            self.line(format_args!("mov.u32 %r{count}, 0;"));
            writeln!(self.body, "$L{label}:").unwrap();
        }
        for _ in 0..1 + self.below(4) {
            let offset = (self.below(room) * unit) << width;
            self.load(width, &address, offset);
        }
        if let Some(label) = label {
            let bits = if Self::is_wide(&address) { 64 } else { 32 };
            // Another value of the same address, after the first round.
            if self.below(2) == 0 {
                self.line(format_args!("setp.eq.u32 %p2, %r{count}, 0;"));
                let skip = self.fresh_label();
                self.line(format_args!("@!%p2 bra $L{skip};"));
                self.line(format_args!("add.s{bits} {address}, {address}, 0;"));
                writeln!(self.body, "$L{skip}:").unwrap();
            }
            self.line(format_args!("add.u32 %r{count}, %r{count}, 1;"));
            self.line(format_args!("setp.lt.u32 %p1, %r{count}, 3;"));
            self.line(format_args!("@%p1 bra $L{label};"));
        }
        if self.below(3) == 0 {
            self.line(format_args!("bar.sync 0;"));
        }
    }

    fn load(&mut self, width: u32, address: &str, offset: u32) {
        let to = self.fresh();
        self.line(format_args!("mov.u32 %r{to}, 0;"));
        let form = Self::form(width);
        let (data, second) = match width {
            0..=2 => (format!("%r{to}"), None),
            _ => {
                let more: Vec<u32> = (1..1 << (width - 2)).map(|_| self.fresh()).collect();
                for m in &more {
                    self.line(format_args!("mov.u32 %r{m}, 0;"));
                }
                let all: Vec<String> = more.iter().map(|m| format!("%r{m}")).collect();
                (
                    format!("{{%r{to}, {}}}", all.join(", ")),
                    more.last().copied(),
                )
            }
        };
        let generic = Self::is_wide(address) && self.below(6) == 0;
        let guard = match self.below(4) {
            0 => {
                self.line(format_args!("setp.gt.u32 %p3, %tid, {};", self.threads / 3));
                "@%p3 "
            }
            _ => "",
        };
        if generic {
            let n = self.fresh();
            self.line(format_args!("cvta.shared.u64 %d{n}, {address};"));
            self.line(format_args!("{guard}ld.{form} {data}, [%d{n}+{offset}];"));
        } else {
            self.line(format_args!(
                "{guard}ld.shared.{form} {data}, [{address}+{offset}];"
            ));
        }
        self.line(format_args!("mad.lo.u32 %sum, %sum, 5, %r{to};"));
        if let Some(second) = second {
            self.line(format_args!("xor.b32 %sum, %sum, %r{second};"));
        }
    }

    /// Threads add to counters that they share.
    fn count(&mut self, array: &Array) {
        let index = self.fresh();
        let mask = (1u32 << (array.bits - 2)) - 1;
        self.line(format_args!(
            "mul.lo.u32 %r{index}, %tid, {};",
            1 + self.next
        ));
        self.line(format_args!("and.b32 %r{index}, %r{index}, {mask:#x};"));
        let address = self.address(array, &format!("%r{index}"), 2);
        self.line(format_args!("bar.sync 0;"));
        self.line(format_args!("red.shared.add.u32 [{address}], 7;"));
        self.line(format_args!("bar.sync 0;"));
    }
}

/// The kernel of a seed.
pub fn kernel(seed: u64) -> RandomKernel {
    let mut maker = Maker {
        rng: ChaCha12Rng::seed_from_u64(seed),
        body: String::new(),
        next: 0,
        label: 0,
        threads: 32,
        widest: 1,
    };
    maker.threads = 32 << maker.below(3);
    let count = 1 + maker.below(3);
    let arrays: Vec<Array> = (0..count)
        .map(|n| Array {
            name: format!("array{n}"),
            bits: 9 + maker.below(4),
        })
        .collect();
    for array in &arrays {
        maker.fill(array);
    }
    // What is not filled with a narrow width is filled here.
    maker.line(format_args!("bar.sync 0;"));
    for _ in 0..2 + maker.below(5) {
        let at = maker.below(count) as usize;
        match maker.below(6) {
            0 => maker.fill_again(&arrays[at].clone()),
            1 => maker.count(&arrays[at].clone()),
            _ => maker.read(&arrays[at].clone()),
        }
    }
    let dynamic = maker.below(4) == 0;
    let declarations: String = arrays
        .iter()
        .enumerate()
        .map(|(n, a)| {
            if dynamic && n + 1 == arrays.len() {
                format!(".extern .shared .align 16 .b8 {}[];\n", a.name)
            } else {
                format!(".shared .align 16 .b8 {}[{}];\n", a.name, 1 << a.bits)
            }
        })
        .collect();
    let (registers, threads) = (maker.next + 1, maker.threads);
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{declarations}\
         .visible .entry made(.param .u64 out)\n{{\n\
         \t.reg .pred %p<4>;\n\t.reg .b32 %r<{registers}>;\n\t.reg .b64 %d<{registers}>;\n\
         \t.reg .b32 %tid;\n\t.reg .b32 %sum;\n\t.reg .b64 %to;\n\t.reg .b64 %at;\n\
         \tmov.u32 %tid, %tid.x;\n\tmov.u32 %sum, 1;\n{}\
         \tld.param.u64 %to, [out];\n\tcvta.to.global.u64 %to, %to;\n\
         \tmul.wide.u32 %at, %tid, 4;\n\tadd.s64 %to, %to, %at;\n\
         \tst.global.u32 [%to], %sum;\n\tret;\n}}\n",
        maker.body
    );
    let bytes = 1 << arrays[arrays.len() - 1].bits;
    let toml = format!(
        "ptx = \"made.ptx\"\nentry = \"made\"\ngrid = [1]\nblock = [{threads}]\n\
         dynamic_shared = {}\n\n[[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = {threads}\n",
        if dynamic { bytes } else { 0 }
    );
    RandomKernel {
        ptx,
        toml,
        widest: maker.widest,
    }
}

impl Maker {
    /// Between barriers.
    fn fill_again(&mut self, array: &Array) {
        self.line(format_args!("bar.sync 0;"));
        self.fill(array);
    }
}
