//! Random structured control flow: nested branches, loops that some lanes
//! leave early or cut short, switches, early returns, functions, and between
//! them exchanges through shared memory behind barriers that all reach.

use crate::ptx_oracle::run::{THREADS, both};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt::Write;

/// Depth of nesting beyond which only plain statements follow.
const DEPTH: u32 = 3;

struct Generator {
    rng: ChaCha12Rng,
    text: String,
    labels: u32,
    /// Labels behind and at the end of the loops around, and their counters.
    loops: Vec<(u32, u32)>,
}

impl Generator {
    fn below(&mut self, n: u32) -> u32 {
        self.rng.next_u32() % n
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn line(&mut self, line: std::fmt::Arguments) {
        self.text.write_fmt(line).unwrap();
        self.text.push('\n');
    }

    /// Some bits of the thread's number decide: `%q`.
    fn condition(&mut self) {
        let (shift, mask) = (self.below(24), [1, 3, 7, 0xff][self.below(4) as usize]);
        let (word, bound) = (
            ["eq", "ne", "lt", "gt"][self.below(4) as usize],
            self.below(4),
        );
        self.line(format_args!(
            "shr.u32 %y, %x, {shift}; and.b32 %y, %y, {mask}; setp.{word}.u32 %q, %y, {bound};"
        ));
    }

    fn mix(&mut self) {
        let (factor, addend) = (1_664_525 + 2 * self.below(1000), self.below(1 << 30));
        self.line(format_args!("mad.lo.u32 %x, %x, {factor}, {addend};"));
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.below(3) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        self.mix();
        let kind = self.below(if depth < DEPTH { 10 } else { 4 });
        match kind {
            0 => {
                self.condition();
                self.line(format_args!("@%q xor.b32 %x, %x, 0x5bd1e995;"));
            }
            1 => self.jump(),
            2 => self.line(format_args!(
                "{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %x; call.uni (r), walk, (a); \
                 ld.param.b32 %x, [r]; }}"
            )),
            3 => {}
            4..=6 => self.branch(depth),
            7 | 8 => self.repeat(depth),
            _ => self.switch(depth),
        }
    }

    /// `break`, `continue` or, now and then, `return`, by a condition.
    fn jump(&mut self) {
        self.condition();
        let what = self.below(8);
        match self.loops.last().copied() {
            Some((behind, _)) if what < 4 => self.line(format_args!("@%q bra L{behind};")),
            Some((_, end)) if what < 7 => self.line(format_args!("@!%q bra L{end};")),
            _ if what == 7 => {
                self.line(format_args!(
                    "setp.eq.u32 %q, %y, 77; @%q st.global.u32 [%at], %x; @%q ret;"
                ));
            }
            _ => {}
        }
    }

    fn branch(&mut self, depth: u32) {
        let (other, join) = (self.label(), self.label());
        self.condition();
        self.line(format_args!("@!%q bra L{other};"));
        self.statements(depth + 1);
        if self.below(2) == 0 {
            self.line(format_args!("bra L{join};\nL{other}:"));
            self.statements(depth + 1);
            self.line(format_args!("L{join}:"));
        } else {
            self.line(format_args!("L{other}:"));
        }
    }

    fn repeat(&mut self, depth: u32) {
        let (top, behind, end) = (self.label(), self.label(), self.label());
        let counter = self.loops.len();
        let most = [1, 2, 3][self.below(3) as usize];
        self.line(format_args!("and.b32 %n{counter}, %x, {most};\nL{top}:"));
        self.loops.push((behind, end));
        self.statements(depth + 1);
        self.loops.pop();
        self.line(format_args!(
            "L{end}: setp.eq.u32 %q, %n{counter}, 0; @%q bra L{behind};\n\
             sub.u32 %n{counter}, %n{counter}, 1; bra L{top};\nL{behind}:"
        ));
    }

    fn switch(&mut self, depth: u32) {
        let cases: Vec<u32> = (0..4).map(|_| self.label()).collect();
        let join = self.label();
        let list: Vec<String> = cases.iter().map(|c| format!("L{c}")).collect();
        self.line(format_args!("T{join}: .branchtargets {};", list.join(", ")));
        self.line(format_args!(
            "shr.u32 %y, %x, 9; and.b32 %y, %y, 3; brx.idx %y, T{join};"
        ));
        for case in cases {
            self.line(format_args!("L{case}:"));
            self.statements(depth + 1);
            // Some fall through.
            if self.below(4) > 0 {
                self.line(format_args!("bra L{join};"));
            }
        }
        self.line(format_args!("L{join}:"));
    }

    /// Every thread takes the word of another one.
    fn exchange(&mut self) {
        let with = 1 + self.below(THREADS - 1);
        self.line(format_args!(
            "st.shared.u32 [%own], %x; bar.sync 0; xor.b32 %y, %t, {with}; shl.b32 %y, %y, 2;\n\
             add.u32 %y, %y, %tile; ld.shared.u32 %y, [%y]; add.u32 %x, %x, %y; bar.sync 0;"
        ));
    }
}

fn program(seed: u64) -> String {
    let mut g = Generator {
        rng: ChaCha12Rng::seed_from_u64(seed),
        text: String::from(
            ".version 8.5\n.target sm_80\n.address_size 64\n\
             .func (.param .b32 r) walk(.param .b32 a)\n{\n\
             .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [a]; and.b32 %r2, %r1, 5;\n\
             W: mad.lo.u32 %r1, %r1, 69069, %r2; and.b32 %r3, %r1, 96; setp.eq.u32 %p, %r3, 0;\n\
             @%p bra E; setp.eq.u32 %p, %r2, 0; @%p bra E; sub.u32 %r2, %r2, 1; bra W;\n\
             E: st.param.b32 [r], %r1; ret;\n}\n\
             .visible .entry k(.param .u64 p)\n{\n\
             .reg .b64 %at, %base; .reg .b32 %t, %x, %y, %own, %tile, %n<8>; .reg .pred %q;\n\
             .shared .align 4 .b8 tile[512];\n\
             ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 8, %base;\n\
             mov.u32 %tile, tile; mad.lo.u32 %own, %t, 4, %tile; mov.u32 %y, 0;\n\
             mad.lo.u32 %x, %t, 2654435761, 12345;\n",
        ),
        labels: 0,
        loops: Vec::new(),
    };
    // Threads that return early would be missed at a barrier.
    let exchanges = seed.is_multiple_of(2);
    for _ in 0..2 + g.below(3) {
        g.statements(0);
        if exchanges {
            g.exchange();
        }
    }
    let mut text = g.text;
    if exchanges {
        text = text.replace("@%q st.global.u32 [%at], %x; @%q ret;", "");
    }
    text + "st.global.u32 [%at], %x; ret;\n}\n"
}

#[test]
fn random_structured_flow_gives_what_one_thread_at_a_time_gives() {
    for seed in 0..250 {
        let text = program(seed);
        let words = vec![0u64; THREADS as usize];
        let (ours, expected) = both(&text, &words, seed % 4 < 2);
        assert_eq!(ours, expected, "seed {seed}\n{text}");
    }
}
