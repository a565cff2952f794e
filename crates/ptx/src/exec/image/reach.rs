//! Reach of a thread: the instructions it may come to without a barrier on the way.

use super::Image;
use super::form::Form;
use crate::exec::registers::Mask;

impl Image {
    /// Whether a thread may come from one instruction to another past no barrier.
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        let mut known = vec![false; self.ops.len()];
        let mut open = vec![from];
        let mut first = true;
        while let Some(pc) = open.pop() {
            if pc == to && !first {
                return true;
            }
            first = false;
            let Some(op) = self.ops.get(pc as usize) else {
                continue;
            };
            let mut go = |next: u32| {
                if let Some(known) = known.get_mut(next as usize)
                    && !std::mem::replace(known, true)
                {
                    open.push(next);
                }
            };
            let always = op.guard == Mask::ALL;
            match op.form {
                Form::Branch { target, .. } => {
                    go(target);
                    if !always {
                        go(pc + 1);
                    }
                }
                Form::IndexedBranch { table, .. } => {
                    self.tables[table as usize].iter().for_each(|t| go(*t));
                    go(pc + 1);
                }
                Form::Barrier { barrier } if !self.barriers[barrier as usize].arrive_only => {}
                Form::Return | Form::Exit | Form::Trap if always => {}
                _ => go(pc + 1),
            }
        }
        false
    }
}
