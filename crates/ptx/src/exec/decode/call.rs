//! Calls: what is passed, who may be called, functions of the system.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Function, Instruction, LabelKind, Operand, Parameter};
use crate::exec::image::form::{Form, Step};
use crate::exec::image::{CallOp, Callee, Passed, SystemCall, ValuePlace};
use crate::exec::registers::Width;
use crate::names::Type;

/// The functions of the system that are modelled: those that nvcc declares
/// without a body.
pub(super) const SYSTEM: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

impl Decoder<'_> {
    pub(super) fn call(&mut self, i: &Instruction) -> Result<(), Reason> {
        let [
            Operand::List(returns),
            target,
            Operand::List(arguments),
            prototype,
        ] = &i.operands[..]
        else {
            return Err("a call that is not supported".to_owned());
        };
        match target {
            Operand::Function(function) => {
                let callee = &self.module.functions[*function as usize];
                if !callee.defined {
                    return self.system(callee, returns, arguments);
                }
                let callee = self.callee(*function, returns, arguments)?;
                self.push_call(CallOp {
                    pointer: None,
                    callees: vec![callee],
                });
            }
            Operand::Register(register) => {
                let pointer = self.register(*register);
                if pointer.width != Width::Double {
                    return Err("a function pointer that is not 64 bits wide".to_owned());
                }
                let listed = match self.label(Some(prototype)) {
                    Some(LabelKind::Calls(list)) => list.clone(),
                    _ => self.pointed.clone(),
                };
                let mut callees = Vec::new();
                for function in listed {
                    let head = &self.module.functions[function as usize];
                    // Others have another signature; they cannot be meant.
                    let same =
                        head.params.len() == arguments.len() && head.returns.len() == returns.len();
                    if same && head.defined && self.starts.contains_key(&function) {
                        callees.extend(self.callee(function, returns, arguments));
                    }
                }
                self.push_call(CallOp {
                    pointer: Some(pointer),
                    callees,
                });
            }
            _ => return Err("a call of something that is not a function".to_owned()),
        }
        Ok(())
    }

    fn push_call(&mut self, call: CallOp) {
        let number = self.image.calls.len() as u32;
        self.image.calls.push(call);
        self.push(Form::Call { call: number });
    }

    fn callee(
        &mut self,
        function: u32,
        returns: &[Operand],
        arguments: &[Operand],
    ) -> Result<Callee, Reason> {
        let head = &self.module.functions[function as usize];
        if head.params.len() != arguments.len() || head.returns.len() != returns.len() {
            return Err(format!("{} has other parameters", head.name));
        }
        let mut callee = Callee {
            function,
            pc: self.starts[&function],
            arguments: Vec::new(),
            returns: Vec::new(),
        };
        for (argument, parameter) in arguments.iter().zip(&head.params) {
            let (to, bytes, ty) = self.parameter(function, *parameter)?;
            let from = self.passed(argument, ty)?;
            callee.arguments.push(Passed { from, to, bytes });
        }
        for (result, parameter) in returns.iter().zip(&head.returns) {
            let (from, bytes, ty) = self.parameter(function, *parameter)?;
            let to = self.passed(result, ty)?;
            callee.returns.push(Passed { from, to, bytes });
        }
        Ok(callee)
    }

    /// Place, size and type of a parameter of another function.
    fn parameter(
        &mut self,
        function: u32,
        parameter: Parameter,
    ) -> Result<(ValuePlace, u32, Type), Reason> {
        let head: &Function = &self.module.functions[function as usize];
        match parameter {
            Parameter::Variable(at) => {
                let variable = &head.variables[at as usize];
                let offset = self
                    .locals
                    .get(&(function, at))
                    .ok_or("a parameter without memory")?;
                Ok((
                    ValuePlace::Local(*offset),
                    variable.bytes as u32,
                    variable.ty,
                ))
            }
            Parameter::Register(register) => {
                let ty = head.registers[register.0 as usize].ty;
                let caller = std::mem::replace(&mut self.function, function);
                let slot = self.register(register);
                self.function = caller;
                Ok((ValuePlace::Slot(slot), ty.bytes(), ty))
            }
        }
    }

    fn passed(&mut self, operand: &Operand, ty: Type) -> Result<ValuePlace, Reason> {
        Ok(match operand {
            Operand::Variable(symbol, 0) => ValuePlace::Local(self.local_of(*symbol)?),
            // Passing copies bits, whatever the two sides call them.
            operand => ValuePlace::Slot(self.source(operand, ty.as_bits())?),
        })
    }

    /// A function of [`SYSTEM`].
    fn system(
        &mut self,
        callee: &Function,
        returns: &[Operand],
        arguments: &[Operand],
    ) -> Result<(), Reason> {
        let call = self.image.system_calls.len() as u32;
        let form = match callee.name.as_str() {
            "vprintf" => Form::Step(Step::Print { call }),
            "__assertfail" => Form::Assert { call },
            "malloc" => Form::Step(Step::Allocate { call }),
            "free" => Form::Step(Step::Free { call }),
            name => return Err(without_body(name)),
        };
        let heap = matches!(callee.name.as_str(), "malloc" | "free");
        // Who gets which address, and what is left, depends on the order.
        self.image.allocates |= heap;
        self.image.ordered |= heap;
        let arguments = arguments.iter().map(|a| self.passed(a, Type::B64));
        let arguments: Vec<ValuePlace> = arguments.collect::<Result<_, _>>()?;
        let result = if heap { Type::B64 } else { Type::B32 };
        let results = returns.iter().map(|r| self.passed(r, result));
        let results: Vec<ValuePlace> = results.collect::<Result<_, _>>()?;
        if arguments.len() < if heap { 1 } else { 2 } {
            return Err("too few arguments".to_owned());
        }
        self.image
            .system_calls
            .push(SystemCall { arguments, results });
        self.push(form);
        Ok(())
    }
}

/// Why a call of a function without a body is refused.
fn without_body(name: &str) -> Reason {
    if is_of_device_runtime(name) {
        return format!(
            "{name} starts a kernel from a kernel (dynamic parallelism), which is not supported; \
             run the started kernel by a launch of its own: [[then]] in the launch file, or a \
             launch file for it"
        );
    }
    format!(
        "{name} has no body and is not a supported system function ({}); if another PTX has it, \
         list both: ptx = [\"a.ptx\", \"b.ptx\"]",
        SYSTEM.join(", ")
    )
}

/// A function of CUDA's device runtime, which starts kernels and waits for them:
/// `__cudaCDP2LaunchDeviceV2`, and `cudaLaunchDeviceV2` before CUDA 12.
fn is_of_device_runtime(name: &str) -> bool {
    let launch = ["cudaLaunchDevice", "cudaGetParameterBuffer"];
    name.starts_with("__cudaCDP2") || launch.iter().any(|start| name.starts_with(start))
}
