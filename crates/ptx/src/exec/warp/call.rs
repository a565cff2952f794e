//! Calls: entries of the stack that begin in a function, until its lanes leave.

use super::step::{Stopped, trap};
use super::{Entry, Warp, pass};
use crate::exec::image::{FUNCTION_WINDOW, NEVER};
use crate::exec::machine::Machine;

impl Warp {
    /// Enters the functions that the lanes call.
    pub(super) fn call(
        &mut self,
        m: &mut Machine,
        path: usize,
        call: u32,
        exec: u32,
    ) -> Result<(), Stopped> {
        let info = &m.image.calls[call as usize];
        let Some(pointer) = info.pointer else {
            pass(m, &info.callees[0].arguments, exec);
            self.paths[path].stack.push(Entry {
                pc: info.callees[0].pc,
                meet: NEVER,
                waits: None,
                lanes: exec,
                call: Some((call, 0)),
                retry: false,
            });
            return Ok(());
        };
        let targets = m.registers.read(pointer);
        let mut left = exec;
        while left != 0 {
            let lane = left.trailing_zeros();
            let target = targets[lane as usize];
            let function = |f: u32| FUNCTION_WINDOW | u64::from(f) << 4;
            let Some(at) = info
                .callees
                .iter()
                .position(|c| function(c.function) == target)
            else {
                let text = format!(
                    "a call through {target:#x}, which is not a function of this signature"
                );
                return Err(trap(m, lane, text));
            };
            let same = (0..32).filter(|&l| left >> l & 1 != 0 && targets[l as usize] == target);
            let lanes = same.fold(0, |all, l| all | 1 << l);
            pass(m, &info.callees[at].arguments, lanes);
            self.paths[path].stack.push(Entry {
                pc: info.callees[at].pc,
                meet: NEVER,
                waits: None,
                lanes,
                call: Some((call, at as u32)),
                retry: false,
            });
            left &= !lanes;
        }
        // Recursion through pointers cannot be seen before it happens.
        if self.paths[path].stack.len() > 4096 {
            let text = "calls are nested too deep: recursion through a pointer".to_owned();
            return Err(trap(m, exec.trailing_zeros(), text));
        }
        Ok(())
    }

    /// `ret` and `exit`: the lanes leave the function, or the kernel.
    pub(super) fn leave(&mut self, m: &mut Machine, path: usize, exec: u32, exit: bool) {
        let stack = &mut self.paths[path].stack;
        let base = stack.iter().rposition(|e| e.call.is_some());
        match base.filter(|_| !exit) {
            Some(base) => {
                if let Some((call, callee)) = stack[base].call {
                    let info = &m.image.calls[call as usize];
                    pass(m, &info.callees[callee as usize].returns, exec);
                }
                stack[base..].iter_mut().for_each(|e| e.lanes &= !exec);
                let keep: Vec<Entry> = stack.drain(base..).filter(|e| e.lanes != 0).collect();
                stack.extend(keep);
            }
            None => {
                self.alive &= !exec;
                if let Some(races) = &mut m.races {
                    races.order.exit(m.warp, exec);
                }
                self.paths[path].remove(exec);
            }
        }
    }
}
