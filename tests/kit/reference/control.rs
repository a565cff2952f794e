//! One instruction of one thread, and its successor: branches, calls, barriers.

use super::memory::{GlobalMemory, part};
use super::thread::{Context, Fault, Frame, State, Thread};
use spadkit::ptx::{Instruction, LabelKind, Opcode, Operand, Parameter, Symbol, Type, Word};

impl Thread {
    /// Executes the next instruction.
    pub(super) fn step(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: &mut [u8],
    ) -> Result<(), Fault> {
        let frame = self
            .frames
            .last()
            .ok_or_else(|| Fault("no function".into()))?;
        let function = context.function(frame.function);
        let Some(instr) = function.instructions.get(frame.pc) else {
            return self.leave(context);
        };
        self.top().pc += 1;
        if let Some(guard) = instr.guard {
            let set = self.register(guard.register) != 0;
            if set == guard.negated {
                return Ok(());
            }
        }
        let line = instr.span.line;
        let result = self.execute(context, memory, shared, instr);
        result.map_err(|Fault(what)| Fault(format!("line {line}: {what}")))
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        self.frames
            .last_mut()
            .expect("a running thread is in a function")
    }

    fn execute(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: &mut [u8],
        instr: &Instruction,
    ) -> Result<(), Fault> {
        use Opcode::*;
        match instr.opcode {
            Bra | Brx => self.branch(context, instr),
            Call => self.call(context, instr),
            Ret => self.leave(context),
            Exit => {
                self.state = State::Ended;
                Ok(())
            }
            Bar | Barrier => self.barrier(context, instr),
            Membar | Fence | Prefetch | Prefetchu | Nanosleep | Pmevent | Discard => Ok(()),
            Ld | Ldu => self.load(context, memory, shared, instr),
            St => self.store(context, memory, shared, instr),
            Atom | Red => self.atomic(context, memory, shared, instr),
            Mov => self.move_value(context, instr),
            Cvta => {
                let value = self.convert_address(context, instr)?;
                self.write_result(context, instr, Type::B64, value)
            }
            Setp => self.set_predicates(context, instr),
            _ => {
                let (ty, value) = self.value_of(context, instr)?;
                self.write_result(context, instr, ty, value)
            }
        }
    }

    fn branch(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let function = context.function(self.top().function);
        let place = |label: u32| match &function.labels[label as usize].kind {
            LabelKind::Code(at) => Ok(*at as usize),
            _ => Err(Fault("a label that is no place".into())),
        };
        let target = match (instr.opcode, &instr.operands[..]) {
            (Opcode::Bra, [Operand::Label(label)]) => place(*label)?,
            (_, [index, Operand::Label(list)]) => {
                let LabelKind::Branches(labels) = &function.labels[*list as usize].kind else {
                    return Err(Fault("brx.idx without its targets".into()));
                };
                let index = self.operand(context, index, Type::U32)? as usize;
                let label = labels
                    .get(index)
                    .ok_or_else(|| Fault("index of brx.idx".into()))?;
                place(*label)?
            }
            _ => return Err(Fault("a branch of another form".into())),
        };
        self.top().pc = target;
        Ok(())
    }

    fn call(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let [_, target, Operand::List(arguments), ..] = &instr.operands[..] else {
            return Err(Fault("a call of another form".into()));
        };
        let target = match target {
            Operand::Function(function) => *function,
            pointer => (self.operand(context, pointer, Type::B64)? as u32).wrapping_sub(1),
        };
        let function = context.module.functions.get(target as usize);
        let function = function.filter(|f| f.defined);
        let function =
            function.ok_or_else(|| Fault("a call of something that is not a function".into()))?;
        let mut frame = context.frame(target);
        for (parameter, argument) in function.params.iter().zip(arguments) {
            match (parameter, argument) {
                (&Parameter::Variable(to), Operand::Variable(Symbol::Local(from), _)) => {
                    let bytes = function.variables[to as usize].bytes;
                    let caller = self.top();
                    let place = caller.places[*from as usize];
                    let value = part(&mut caller.memory, place, bytes)?.to_vec();
                    let place = frame.places[to as usize];
                    part(&mut frame.memory, place, bytes)?.copy_from_slice(&value);
                }
                (&Parameter::Register(to), argument) => {
                    let ty = function.registers[to.0 as usize].ty;
                    frame.registers[to.0 as usize] = self.operand(context, argument, ty)?;
                }
                _ => return Err(Fault("an argument of another form".into())),
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Returns from the present function; the thread ends with the last one.
    pub(super) fn leave(&mut self, context: &Context) -> Result<(), Fault> {
        let Some(mut callee) = self.frames.pop() else {
            return Err(Fault("no function to leave".into()));
        };
        if self.frames.is_empty() {
            self.state = State::Ended;
            return Ok(());
        }
        let function = context.function(callee.function);
        let caller = context.function(self.top().function);
        let call = &caller.instructions[self.top().pc - 1];
        let Some(Operand::List(results)) = call.operands.first() else {
            return Ok(());
        };
        for (value, result) in function.returns.iter().zip(results) {
            match (value, result) {
                (&Parameter::Variable(from), Operand::Variable(Symbol::Local(to), _)) => {
                    let bytes = function.variables[from as usize].bytes;
                    let place = callee.places[from as usize];
                    let value = part(&mut callee.memory, place, bytes)?.to_vec();
                    let place = self.top().places[*to as usize];
                    part(&mut self.top().memory, place, bytes)?.copy_from_slice(&value);
                }
                (&Parameter::Register(from), result) => {
                    let ty = function.registers[from.0 as usize].ty;
                    let value = callee.registers[from.0 as usize];
                    self.write_operand(context, result, ty, value)?;
                }
                _ => return Err(Fault("a result of another form".into())),
            }
        }
        Ok(())
    }

    fn barrier(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        if instr.has(Word::Warp) {
            let mask = self.operand(context, &instr.operands[0], Type::B32)?;
            self.state = State::WarpBarrier(mask as u32);
            return Ok(());
        }
        if instr.operands.len() != 1 || !instr.has(Word::Sync) {
            return Err(Fault(
                "a barrier other than bar.sync of the whole block".into(),
            ));
        }
        self.state = State::Barrier;
        Ok(())
    }
}
