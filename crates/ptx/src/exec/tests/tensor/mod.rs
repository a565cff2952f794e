//! Products of matrices against a direct product, and their forms against
//! `ptxas` (`tensor.txt`).

mod forms;
mod group;
mod product;
mod reference;
mod wmma;

use super::*;

/// Numbers that look random.
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }
}

/// Bits of an element of a type.
pub(super) fn bits(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// A product as its instruction has it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub shape: String,
    pub size: [u32; 3],
    /// Types of `d`, `a`, `b`, `c`.
    pub types: [String; 4],
    pub sparse: bool,
    pub layouts: [&'static str; 2],
    /// More words: `.satfinite`.
    pub more: &'static str,
    pub selector: u32,
}

impl Case {
    pub fn new(shape: &str, types: &str, sparse: bool) -> Case {
        let numbers = shape.split(|c: char| !c.is_ascii_digit());
        let size: Vec<u32> = numbers.filter_map(|n| n.parse().ok()).collect();
        let types: Vec<String> = types.split('.').map(str::to_owned).collect();
        let more = if types[1] == "b1" { ".xor.popc" } else { "" };
        Case {
            shape: shape.to_owned(),
            size: size.try_into().unwrap(),
            types: types.try_into().unwrap(),
            sparse,
            layouts: ["row", "col"],
            more,
            selector: 0,
        }
    }

    /// Volta's, which is four products.
    pub fn is_quads(&self) -> bool {
        self.shape == "m8n8k4" && self.types[1] == "f16"
    }

    /// Registers of `d`, `a`, `b`, `c`.
    pub fn registers(&self) -> [u32; 4] {
        let [m, n, k] = self.size;
        let of_a = if self.sparse { k / 2 } else { k };
        let count = |ty: &String, elements: u32| {
            if self.is_quads() {
                (4 * elements * bits(ty) / 1024).max(1)
            } else {
                (elements * bits(ty) / bits(ty).max(32) / 32).max(1)
            }
        };
        let [d, a, b, c] = &self.types;
        [
            count(d, m * n),
            count(a, m * of_a),
            count(b, k * n),
            count(c, m * n),
        ]
    }

    pub fn instruction(&self) -> String {
        let list = |n: usize| {
            let letter = if self.types[n] == "f64" { "d" } else { "r" };
            let names =
                (0..self.registers()[n]).map(|at| format!("%{letter}{}", 16 * n as u32 + at));
            format!("{{{}}}", names.collect::<Vec<_>>().join(", "))
        };
        let [d, a, b, c] = &self.types;
        let (sp, tail) = if self.sparse {
            (".sp", format!(", %r64, {}", self.selector))
        } else {
            ("", String::new())
        };
        let popc = self.more.ends_with("popc");
        let (before, behind) = if popc {
            ("", self.more)
        } else {
            (self.more, "")
        };
        format!(
            "mma{sp}.sync.aligned.{}.{}.{}{before}.{d}.{a}.{b}.{c}{behind} {}, {}, {}, {}{tail};",
            self.shape,
            self.layouts[0],
            self.layouts[1],
            list(0),
            list(1),
            list(2),
            list(3)
        )
    }

    /// Places of the operands' registers among the words: eight bytes a lane.
    pub fn run(&self, words: &[u32]) -> (Vec<u32>, Outcome) {
        let mut body = String::new();
        let mut at = 0;
        for (n, to) in [(1, true), (2, true), (3, true), (0, false)] {
            let wide = self.types[n] == "f64";
            for register in 0..self.registers()[n] {
                let (letter, ty) = if wide { ("d", "f64") } else { ("r", "b32") };
                let name = format!("%{letter}{}", 16 * n as u32 + register);
                body += &if to {
                    format!("ld.global.{ty} {name}, [%out+{at}];\n")
                } else {
                    format!("st.global.{ty} [%out+{at}], {name};\n")
                };
                at += 256;
            }
        }
        let (loads, stores) = body.split_once("st.").unwrap();
        let metadata = format!("ld.global.b32 %r64, [%out+{}];", 63 * 256);
        let text = format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {{
             .reg .b64 %out; .reg .b32 %t; .reg .b32 %r<80>; .reg .f64 %d<80>;
             ld.param.u64 %out, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 8, %out;
             {loads}{metadata}{}\nst.{stores} ret; }}",
            self.instruction()
        );
        run_text(&text, words)
    }
}

/// One warp on these words: what they are afterwards, and the outcome.
pub(super) fn run_text(text: &str, words: &[u32]) -> (Vec<u32>, Outcome) {
    run_block(text, words, 32, |_| ())
}

/// One block of this many threads, with other options.
pub(super) fn run_block<'a>(
    text: &str,
    words: &[u32],
    threads: u32,
    change: impl FnOnce(&mut Options<'a>),
) -> (Vec<u32>, Outcome) {
    let module = Module::parse(text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let buffer = memory.alloc("out", words.iter().flat_map(|w| w.to_le_bytes()).collect());
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    let mut options = Options {
        threads: 1,
        ..Options::default()
    };
    change(&mut options);
    let outcome = program.run(&mut memory, &launch, &options);
    let outcome = outcome.unwrap_or_else(|e| panic!("{:?}\n{text}", miette::Report::new(e)));
    let words = memory.bytes(buffer).chunks(4);
    let words = words.map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    (words.collect(), outcome)
}
