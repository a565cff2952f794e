//! Random integer programs with branches and loops, executed: what is known of
//! a value must hold whenever the value exists, in every thread.

use super::super::*;
use crate::exec::{Launch, Memory, Options, Program};
use crate::{Cfg, Function, Immediate, Module, Operand};
use std::collections::HashMap;
use std::fmt::Write;

/// A generator of bits.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

const WORDS: u64 = 8;
const DOUBLES: u64 = 4;
const BLOCK: [u32; 3] = [8, 3, 2];
const THREADS: usize = 48;
const BLOCKS: usize = 2;
/// Entries of a thread's log: number and value.
const ENTRIES: usize = 6000;

/// Writes a program; `log` numbers what it logs.
struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    log: u64,
    labels: u32,
    loops: u32,
    budget: u64,
}

impl Writer<'_> {
    fn word(&mut self) -> String {
        match self.random.below(10) {
            0 => self.constant(),
            1 => self
                .random
                .of(&[
                    "%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%laneid", "%warpid",
                ])
                .to_owned(),
            _ => format!("%r{}", self.random.below(WORDS)),
        }
    }

    /// A register: not all operands may be special ones.
    fn register(&mut self) -> String {
        format!("%r{}", self.random.below(WORDS))
    }

    fn constant(&mut self) -> String {
        match self.random.below(4) {
            0 => self.random.below(40).to_string(),
            1 => (1u64 << self.random.below(32)).to_string(),
            2 => ((1u64 << self.random.below(33)) - 1).to_string(),
            _ => format!("-{}", self.random.below(100)),
        }
    }

    fn double(&mut self) -> String {
        format!("%d{}", self.random.below(DOUBLES))
    }

    fn log_word(&mut self, register: &str) {
        self.log_with(&format!("cvt.u64.u32 %lv, {register};"));
    }

    fn log_with(&mut self, value: &str) {
        let id = self.log;
        let _ = writeln!(
            self.text,
            "{value} mov.u64 %li, {id}; st.global.v2.u64 [%log], {{%li, %lv}}; add.s64 %log, %log, 16;"
        );
        self.log += 1;
    }

    /// All registers, where values may meet.
    fn log_all(&mut self) {
        for r in 0..WORDS {
            self.log_word(&format!("%r{r}"));
        }
        for d in 0..DOUBLES {
            self.log_with(&format!("mov.b64 %lv, %d{d};"));
        }
    }

    fn operation(&mut self) {
        let guard = match self.random.below(8) {
            0 => "@%q ",
            _ => "",
        };
        if self.random.below(4) == 0 {
            return self.wide_operation(guard);
        }
        let (d, a, b, c) = (self.register(), self.register(), self.word(), self.word());
        let n = self.random.below(36);
        let m = self.random.below(20);
        let k = self.constant();
        let text = match self.random.below(34) {
            0..=4 => format!("add.s32 {d}, {a}, {b};"),
            5 => format!("sub.s32 {d}, {a}, {b};"),
            6 => format!("mul.lo.s32 {d}, {a}, {k};"),
            7 => format!("mul.lo.u32 {d}, {a}, {b};"),
            8 => format!("mad.lo.s32 {d}, {a}, {k}, {c};"),
            9 | 10 => format!("and.b32 {d}, {a}, {k};"),
            11 => format!("or.b32 {d}, {a}, {b};"),
            12 => format!("xor.b32 {d}, {a}, {k};"),
            13 => format!("not.b32 {d}, {a};"),
            14 | 15 => format!("shl.b32 {d}, {a}, {};", n % 12),
            16 => format!("shr.u32 {d}, {a}, {n};"),
            17 => format!("shr.s32 {d}, {a}, {n};"),
            18 => format!("bfe.u32 {d}, {a}, {n}, {m};"),
            19 => format!("bfe.s32 {d}, {a}, {n}, {m};"),
            20 => format!("bfi.b32 {d}, {a}, {b}, {n}, {m};"),
            21 => format!("lop3.b32 {d}, {a}, {b}, {c}, {};", self.random.below(256)),
            22 => format!("{}.u32 {d}, {a}, {b};", self.random.of(&["min", "max"])),
            23 => format!("{}.s32 {d}, {a}, {k};", self.random.of(&["min", "max"])),
            24 => format!("selp.b32 {d}, {a}, {b}, %q;"),
            25 => format!("{}.b32 {d}, {a};", self.random.of(&["popc", "clz", "brev"])),
            26 => format!("prmt.b32 {d}, {a}, {b}, {};", self.random.below(65536)),
            27 => {
                let (l, w) = (
                    self.random.of(&["l", "r"]),
                    self.random.of(&["wrap", "clamp"]),
                );
                format!("shf.{l}.{w}.b32 {d}, {a}, {b}, {n};")
            }
            28 => format!("rem.u32 {d}, {a}, {};", self.random.below(70) + 1),
            29 => format!("div.u32 {d}, {a}, {};", self.random.below(70) + 1),
            30 => format!("neg.s32 {d}, {a};"),
            31 => {
                let t = self.random.of(&["u16", "s16"]);
                format!("cvt.u16.u32 %h, {a}; cvt.{}32.{t} {d}, %h;", &t[..1])
            }
            32 => format!("mov.b32 {d}, {b};"),
            _ => format!("setp.lt.s32 %q, {a}, {b}; add.s32 {d}, {a}, 4;"),
        };
        let _ = writeln!(
            self.text,
            "{guard}{}",
            text.replace("; ", &format!("; {guard}"))
        );
        self.log_word(&d);
    }

    fn wide_operation(&mut self, guard: &str) {
        let (d, x, y) = (self.double(), self.double(), self.double());
        let (a, b, k) = (self.register(), self.word(), self.constant());
        let n = self.random.below(70);
        let (mut target, mut wide) = (d.clone(), true);
        let text = match self.random.below(14) {
            0 => format!("cvt.u64.u32 {d}, {a};"),
            1 => format!("cvt.s64.s32 {d}, {a};"),
            2 => format!("mul.wide.u32 {d}, {a}, {k};").replace('-', ""),
            3 => format!("mul.wide.s32 {d}, {a}, {k};"),
            4 => format!("mad.wide.s32 {d}, {a}, {}, {x};", n % 9),
            5 | 6 => format!("add.s64 {d}, {x}, {y};"),
            7 => format!("shl.b64 {d}, {x}, {};", n % 7),
            8 => format!("shr.{}64 {d}, {x}, {n};", self.random.of(&["u", "s"])),
            9 => format!("and.b64 {d}, {x}, {k};"),
            10 => format!("mov.b64 {d}, {{{a}, {}}};", self.register()),
            11 => format!("add.s64 {d}, {x}, {k};"),
            12 => format!("mul.lo.s64 {d}, {x}, {k};"),
            _ => {
                (target, wide) = (a.clone(), false);
                format!("cvt.u32.u64 {a}, {x};")
            }
        };
        let _ = b;
        let _ = writeln!(self.text, "{guard}{text}");
        if wide {
            self.log_with(&format!("mov.b64 %lv, {target};"))
        } else {
            self.log_word(&target)
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..2 + self.random.below(6) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(8) {
                0 if depth < 3 => self.branch(depth),
                1 if depth < 3 => self.repeat(depth),
                _ => self.operation(),
            }
        }
    }

    fn branch(&mut self, depth: u32) {
        let (a, k) = (self.register(), self.constant());
        let label = self.labels;
        self.labels += 1;
        let _ = writeln!(self.text, "setp.lt.s32 %q, {a}, {k}; @%q bra E{label};");
        self.statements(depth + 1);
        let _ = writeln!(self.text, "bra.uni J{label};\nE{label}:");
        self.statements(depth + 1);
        let _ = writeln!(self.text, "J{label}:");
        self.log_all();
    }

    /// A loop with its own counter; some also leave in the middle.
    fn repeat(&mut self, depth: u32) {
        let label = self.labels;
        self.labels += 1;
        self.loops += 1;
        let rounds = 1 + self.random.below(4);
        let counter = format!("%c{label}");
        let _ = writeln!(self.text, ".reg .b32 {counter}; mov.u32 {counter}, 0;");
        self.log_with("mov.b64 %lv, 1;");
        let _ = writeln!(self.text, "L{label}:");
        self.log_with("mov.b64 %lv, 2;");
        self.log_all();
        self.statements(depth + 1);
        if self.random.below(3) == 0 {
            let a = self.register();
            let _ = writeln!(self.text, "setp.eq.s32 %q, {a}, 0; @%q bra X{label};");
            self.statements(depth + 1);
        }
        // Some registers count along.
        for _ in 0..self.random.below(3) {
            let (r, k) = (self.register(), self.random.below(9));
            let step = self.random.of(&["%ntid.x", "%n", ""]);
            let step = if step.is_empty() {
                k.to_string()
            } else {
                step.to_owned()
            };
            let _ = writeln!(self.text, "add.s32 {r}, {r}, {step};");
            self.log_word(&r);
        }
        let _ = writeln!(
            self.text,
            "add.s32 {counter}, {counter}, 1; setp.lt.u32 %z, {counter}, {rounds}; @%z bra L{label};
             X{label}:"
        );
        self.log_all();
    }
}

fn program(random: &mut Random) -> String {
    let mut writer = Writer {
        random,
        text: String::new(),
        log: 0,
        labels: 0,
        loops: 0,
        budget: 30,
    };
    let _ = writeln!(
        writer.text,
        ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 m) {{
         .reg .b64 %log, %lv, %li, %d<{DOUBLES}>; .reg .b32 %t, %u, %n, %r<{WORDS}>; .reg .b16 %h;
         .reg .pred %q, %z; ld.param.u64 %log, [p]; ld.param.u32 %n, [m];
         mov.u32 %t, %tid.z; mov.u32 %u, %ntid.y; mov.u32 %r0, %tid.y; mad.lo.u32 %t, %t, %u, %r0;
         mov.u32 %u, %ntid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %t, %t, %u, %r1;
         mov.u32 %r2, %ctaid.x; mad.lo.u32 %t, %r2, {THREADS}, %t;
         mad.wide.u32 %log, %t, {}, %log;
         mov.u32 %r3, %n; shl.b32 %r4, %r1, 2; add.s32 %r5, %r0, 7; mov.u32 %r6, 0; mov.u32 %r7, %laneid;
         mov.u64 %d0, 0; cvt.u64.u32 %d1, %r4; mov.u64 %d2, 4096; mov.u64 %d3, %d1; setp.lt.u32 %q, %r1, 3;",
        16 * ENTRIES
    );
    writer.log_all();
    writer.statements(0);
    writer.statements(0);
    let id = writer.log;
    let _ = writeln!(
        writer.text,
        "mov.u64 %li, {id}; st.global.u64 [%log], %li; ret; }}"
    );
    writer.text
}

/// The instructions that log, in the order of their numbers.
fn logs(function: &Function) -> Vec<u32> {
    let first = |at: &u32| match function.instructions[*at as usize].operands.first() {
        Some(Operand::Register(r)) => function.registers[r.0 as usize].name == "%lv",
        _ => false,
    };
    (0..function.instructions.len() as u32)
        .filter(first)
        .collect()
}

/// What was checked.
#[derive(Default)]
struct Count {
    bits: u64,
    constant_bits: u64,
    affine: u64,
    opaque: u64,
    with_trips: u64,
}

fn check(seed: u64, count: &mut Count) {
    let mut random = Random(seed);
    let text = program(&mut random);
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let function = &module.functions[0];
    let mut memory = Memory::new();
    let buffer = memory.alloc("log", vec![0xff; 16 * ENTRIES * THREADS * BLOCKS]);
    let n = random.below(100) as u32;
    let mut params = memory.address(buffer).to_le_bytes().to_vec();
    params.extend(n.to_le_bytes());
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [BLOCKS as u32, 1, 1],
        block: BLOCK,
        dynamic_shared: 0,
        params: params.clone(),
    };
    let options = Options {
        threads: 1,
        ..Options::default()
    };
    let program = Program::new(&module).unwrap();
    let outcome = program.run(&mut memory, &launch, &options).unwrap();
    assert!(
        outcome.findings.is_empty(),
        "{:?}\n{text}",
        outcome.findings
    );
    let knows = random.below(3);
    let context = Context {
        block: (knows > 0).then_some(BLOCK),
        grid: (knows > 0).then_some(launch.grid),
        params: (knows > 1).then_some(params),
    };
    let cfg = Cfg::new(function);
    let values = Values::new(function, &cfg);
    let loops = Loops::new(&cfg, values.dominators());
    let facts = BitFacts::new(&module, function, &cfg, &values, &context);
    let affines = Affines::new(&module, function, &cfg, &values, &loops, &facts, &context);
    let logs = logs(function);
    let entries: Vec<u64> = memory
        .bytes(buffer)
        .chunks(8)
        .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    for thread in 0..THREADS * BLOCKS {
        let own = &entries[2 * ENTRIES * thread..][..2 * ENTRIES];
        let mut latest: HashMap<ValueId, u64> = HashMap::new();
        let mut trips: HashMap<u32, u64> = HashMap::new();
        let mut entered = false;
        for entry in own.chunks(2) {
            let (id, traced) = (entry[0] as usize, entry[1]);
            let Some(&at) = logs.get(id) else {
                assert_eq!(id, logs.len(), "the log is too small\n{text}");
                break;
            };
            let source = &function.instructions[at as usize].operands[1];
            let register = match source {
                Operand::Immediate(Immediate::Integer(1)) => {
                    entered = true;
                    continue;
                }
                Operand::Immediate(_) => {
                    let header = cfg.block_of[at as usize];
                    let rounds = trips.entry(header).or_default();
                    *rounds = if entered { 0 } else { *rounds + 1 };
                    entered = false;
                    continue;
                }
                Operand::Register(r) => *r,
                other => panic!("{other:?}"),
            };
            let value = values.read(at, register);
            let width = facts.width(value);
            let traced = traced & u64::MAX >> (64 - width);
            latest.insert(value, traced);
            let known = facts.of(value);
            let place = || {
                let line = function.instructions[at as usize].span.line;
                format!(
                    "seed {seed}, line {line}, thread {thread}, {value:?} = {traced:#x}\n{text}"
                )
            };
            assert!(known.holds(traced), "{known:x?}: {}", place());
            count.bits += u64::from(known.known().count_ones() - (64 - width));
            count.constant_bits += u64::from(width);
            let affine = affines.expression(value);
            let local = thread % THREADS;
            let tid = [local % 8, local / 8 % 3, local / 24];
            let result = affine.evaluate(|term| {
                Some(match term {
                    Term::Tid(axis) => tid[usize::from(*axis)] as u64,
                    Term::Ctaid(axis) => [(thread / THREADS) as u64, 0, 0][usize::from(*axis)],
                    Term::Ntid(axis) => BLOCK[usize::from(*axis)].into(),
                    Term::Nctaid(axis) => launch.grid[usize::from(*axis)].into(),
                    Term::Laneid => (local % 32) as u64,
                    Term::Warpid => (local / 32) as u64,
                    Term::Parameter { index: 1, .. } => n.into(),
                    Term::Parameter { .. } => memory.address(buffer),
                    Term::Trips(header) => trips[header],
                    Term::Opaque(value) => *latest.get(value)?,
                    Term::Base(_) | Term::Product(_) => return None,
                })
            });
            let Some(result) = result else {
                continue;
            };
            let difference = (result ^ traced) & u64::MAX >> (64 - affine.bits);
            assert_eq!(difference, 0, "{affine:?} gives {result:#x}: {}", place());
            match affine.opaque() {
                Some(_) => count.opaque += 1,
                None => count.affine += 1,
            }
            let counts = |t: &Term| matches!(t, Term::Trips(_));
            let any = affine
                .terms
                .iter()
                .any(|(t, _)| t.factors().iter().any(counts));
            count.with_trips += u64::from(any);
        }
    }
}

#[test]
fn bits_and_expressions_hold_for_random_programs() {
    let mut count = Count::default();
    let programs = std::env::var("SPADKIT_PROGRAMS")
        .ok()
        .and_then(|n| n.parse().ok());
    for seed in 0..programs.unwrap_or(150) {
        check(seed, &mut count);
    }
    // The test is none where nothing is known.
    assert!(count.bits * 4 > count.constant_bits, "{}", count.bits);
    assert!(count.affine > 50_000, "{}", count.affine);
    assert!(count.opaque > 50_000, "{}", count.opaque);
    assert!(count.with_trips > 5_000, "{}", count.with_trips);
}
