//! Records which instructions the warps of a block execute.

use spadkit_mapping::trace::{Executed, Execution};

/// Limit of executions; beyond it none are kept.
const MOST: usize = 1 << 22;

/// The executions of a block so far.
#[derive(Default)]
pub(super) struct Executions {
    all: Vec<Execution>,
    /// By the number of the warp.
    warps: Vec<Last>,
    too_many: bool,
}

/// The last instruction of a warp.
#[derive(Default)]
struct Last {
    pc: u32,
    /// Its execution, in the list.
    at: Option<usize>,
    /// Accesses of the warp so far.
    accesses: u32,
}

impl Executions {
    /// A warp comes to an instruction with some lanes, and executes it with some of these.
    pub fn instruction(&mut self, warp: u32, (pc, line): (u32, u32), (active, exec): (u32, u32)) {
        if self.too_many {
            return;
        }
        let at = warp as usize;
        if at >= self.warps.len() {
            self.warps.resize_with(at + 1, Last::default);
        }
        let last = &mut self.warps[at];
        let before = last.accesses;
        let run = |lanes, is_guarded| Execution {
            warp,
            before,
            lines: (line, line),
            lanes,
            is_guarded,
        };
        let open = last.at.map(|at| &mut self.all[at]);
        let follows = pc == last.pc || pc == last.pc + 1;
        match open.filter(|run| follows && run.lanes == active && run.lines.1 <= line) {
            Some(run) => run.lines.1 = line,
            None => {
                last.at = Some(self.all.len());
                self.all.push(run(active, false));
            }
        }
        last.pc = pc;
        if exec != active {
            self.all.push(run(exec, true));
        }
        if self.all.len() > MOST {
            self.too_many = true;
            self.all = Vec::new();
        }
    }

    /// The last instruction of a warp was an access.
    pub fn access(&mut self, warp: u32) {
        if let Some(last) = self.warps.get_mut(warp as usize) {
            last.accesses += 1;
        }
    }

    /// All of them.
    pub fn finish(self) -> Executed {
        Executed::new(self.all)
    }
}
