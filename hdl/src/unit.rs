//! A unit under description: ports, sizes, registers, logic, instances.
//!
//! Calls are made in the order of the emitted text. The declarations that a module
//! needs follow from them: the sizes, codes and indices that it uses.

mod driving;
mod replication;
mod sizes;

#[cfg(test)]
mod tests;

use crate::body::Description;
use crate::drivers::{Driver, Scope};
use crate::item::{Declaration, Instance, Item, Written};
use crate::lines::COMMENT_WIDTH;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::origin::Origin;
use crate::parameter::Parameter;
use crate::port::{Dir, Port};
use crate::signal::{self, Expr, Signal, Value};
use crate::size::{Size, interned};
use crate::vector::Vector;
pub(crate) use replication::Index;
use std::cell::RefCell;

/// Columns of lines with a comment on declarations, and on logic.
const ABOUT_COLUMNS: usize = 80;
const NOTE_COLUMNS: usize = COMMENT_WIDTH + 7;

/// A unit under description.
pub(crate) struct UnitBuilder {
    doc: UnitDoc,
    state: RefCell<State>,
}

/// The description so far.
#[derive(Default)]
struct State {
    parameters: Vec<Parameter>,
    vectors: Vec<Vector>,
    ports: Vec<Port>,
    /// Handles of the ports.
    port_signals: Vec<Signal>,
    /// Outputs that show a register, with that.
    output_registers: Vec<(Signal, Signal, Origin)>,
    signals: Vec<Known>,
    sizes: Vec<(&'static str, Size)>,
    submodules: Vec<String>,
    /// The body, and the loops that are open in it, the innermost last.
    blocks: Vec<Vec<Written>>,
    /// The loops and choices that are open.
    scopes: Vec<Scope>,
    drivers: Vec<Driver>,
    /// There are assertions.
    asserts: bool,
}

/// A declared signal.
struct Known {
    name: &'static str,
    width: Size,
    kind: Kind,
    /// The loops and choices that it is declared in: there is one signal for each
    /// iteration.
    scopes: Vec<Scope>,
}

/// The source of a signal's value.
pub(crate) enum Kind {
    Input,
    Wire,
    /// A clocked block; from the reset value, if it has one.
    Register(Option<Expr>),
}

impl UnitBuilder {
    pub(crate) fn new(doc: UnitDoc) -> Self {
        let state = State {
            blocks: vec![Vec::new()],
            ..State::default()
        };
        UnitBuilder {
            doc,
            state: RefCell::new(state),
        }
    }

    /// A parameter of the Verilog module that is a vector of bits, such as what
    /// registers are reset to.
    #[track_caller]
    pub(crate) fn vector(&self, vector: &Vector) -> Signal {
        let signal = self.signal(&vector.name, vector.width().into(), Kind::Input);
        self.state.borrow_mut().vectors.push(vector.clone());
        signal
    }

    // ------------------------------------------------------------------ ports

    /// `clk` and `rst`.
    #[track_caller]
    pub(crate) fn clocked(&self) -> [Signal; 2] {
        let clk = self.input("clk", 1, "clock");
        [clk, self.input("rst", 1, "synchronous reset")]
    }

    #[track_caller]
    pub(crate) fn input(&self, name: &str, width: impl Into<Size>, doc: &str) -> Signal {
        let input = (Dir::In, Kind::Input);
        self.port(Origin::caller(), name, input, width.into(), doc)
    }

    #[track_caller]
    pub(crate) fn output(&self, name: &str, width: impl Into<Size>, doc: &str) -> Signal {
        let output = (Dir::Out, Kind::Wire);
        self.port(Origin::caller(), name, output, width.into(), doc)
    }

    /// A port that the line `at` declares.
    pub(crate) fn port(
        &self,
        at: Origin,
        name: &str,
        (dir, kind): (Dir, Kind),
        width: Size,
        doc: &str,
    ) -> Signal {
        let bits = width.value();
        let mut state = self.state.borrow_mut();
        let port = Port {
            size: bits.is_none().then(|| state.by_parameters(width)),
            at,
            ..Port::new(name, dir, state.by_default(width), doc)
        };
        state.ports.push(port);
        drop(state);
        // A port of one bit has no index, whatever its width is called.
        let signal = self.signal(name, if bits == Some(1) { 1.into() } else { width }, kind);
        self.state.borrow_mut().port_signals.push(signal);
        signal
    }

    /// Waives the lint of an input's or a wire's unused bits where `when` holds.
    #[track_caller]
    pub(crate) fn unused(&self, when: bool, signal: Signal, reason: &str) {
        if !when {
            return;
        }
        let mut state = self.state.borrow_mut();
        if let Some(input) = state.ports.iter_mut().find(|port| port.name == signal.name) {
            input.unused = Some(reason.to_owned());
            return;
        }
        let waiver =
            state
                .blocks
                .iter_mut()
                .flatten()
                .find_map(|written| match &mut written.item {
                    Item::Declaration(own) if own.signal.id == signal.id => Some(&mut own.waiver),
                    _ => None,
                });
        let waiver = waiver.unwrap_or_else(|| panic!("{} is not a wire", signal.name));
        *waiver = Some(interned(reason));
    }

    /// Declares for each output so far which inputs it depends on in the same
    /// cycle, `cfg_*` and `rst` aside; a test looks in the netlist.
    pub(crate) fn outputs_depend_on<'a>(&self, inputs: impl Fn(&str) -> Vec<&'a str>) {
        let mut state = self.state.borrow_mut();
        for port in state.ports.iter_mut().filter(|p| p.dir == Dir::Out) {
            let names = inputs(&port.name).into_iter();
            port.depends_on = Some(names.map(str::to_owned).collect());
        }
    }

    // ------------------------------------------------------ registers, wires

    /// The output `port` shows `register`.
    pub(crate) fn shown_by(&self, port: Signal, register: Signal, at: Origin) {
        let mut state = self.state.borrow_mut();
        state.output_registers.push((port, register, at));
    }

    /// Names the next state of `register`: `busy_d` is that of `busy_q`.
    #[track_caller]
    pub(crate) fn next_state(&self, register: Signal, value: impl Into<Value>) -> Signal {
        self.named(&register.next_state(), register.width, value)
    }

    /// The next state of `register` as a wire that gets its value elsewhere.
    #[track_caller]
    pub(crate) fn next_state_wire(&self, register: Signal) -> Signal {
        self.wire(&register.next_state(), register.width)
    }

    /// A wire that gets its value elsewhere: bit by bit, or from an instance.
    #[track_caller]
    pub(crate) fn wire(&self, name: &str, width: impl Into<Size>) -> Signal {
        self.wire_from(Origin::caller(), name, width.into())
    }

    fn wire_from(&self, at: Origin, name: &str, width: Size) -> Signal {
        let wire = self.signal(name, width, Kind::Wire);
        self.add_from(at, Item::Declaration(Declaration::new("wire", wire)));
        wire
    }

    /// A wire of which some bits are not used, for that reason.
    #[track_caller]
    pub(crate) fn wire_in_part(
        &self,
        name: &str,
        width: impl Into<Size>,
        reason: &'static str,
    ) -> Signal {
        let wire = self.signal(name, width.into(), Kind::Wire);
        self.add(Item::Declaration(Declaration {
            waiver: Some(reason),
            ..Declaration::new("wire", wire)
        }));
        wire
    }

    /// Several wires.
    #[track_caller]
    pub(crate) fn wires<const N: usize>(
        &self,
        names: [&str; N],
        width: impl Into<Size>,
    ) -> [Signal; N] {
        let (at, width) = (Origin::caller(), width.into());
        names.map(|name| self.wire_from(at, name, width))
    }

    /// Whether a reset clears what the signal shows: a register with one, or a
    /// wire, of which that is not known here.
    pub(crate) fn may_be_reset(&self, signal: Signal) -> bool {
        let state = self.state.borrow();
        matches!(
            state.signals[signal.id].kind,
            Kind::Wire | Kind::Register(Some(_))
        )
    }

    /// The words of a memory, which a clocked block writes.
    pub(crate) fn words(&self, name: &str, width: Size) -> Signal {
        self.signal(name, width, Kind::Register(None))
    }

    #[track_caller]
    pub(crate) fn signal(&self, name: &str, width: Size, kind: Kind) -> Signal {
        let mut state = self.state.borrow_mut();
        let signal = Signal::new(state.signals.len(), name, width);
        let scopes = state.scopes.clone();
        let here = |other: &[Scope]| {
            other.len() == scopes.len() && other.iter().zip(&scopes).all(|(a, b)| a.is(b))
        };
        let known = state
            .signals
            .iter()
            .find(|known| known.name == name && here(&known.scopes));
        assert!(known.is_none(), "there are two signals '{name}'");
        state.signals.push(Known {
            name: signal.name,
            width,
            kind,
            scopes,
        });
        signal
    }

    // ------------------------------------------------------------------ logic

    /// Gives a value a name: a wire as wide as the value.
    #[track_caller]
    pub(crate) fn name(&self, name: &str, value: impl Into<Value>) -> Signal {
        let value = value.into();
        let width = value.width();
        self.named(name, width, value)
    }

    /// Gives a value of `width` bits a name.
    #[track_caller]
    pub(crate) fn named(
        &self,
        name: &str,
        width: impl Into<Size>,
        value: impl Into<Value>,
    ) -> Signal {
        let wire = self.signal(name, width.into(), Kind::Wire);
        self.drive(&wire.into());
        let statement = value.into().assigned_to(&wire.into());
        self.add(Item::Definition(wire.width, statement));
        wire
    }

    /// A wire whose value is selected by the code of `of`; `otherwise` for other codes.
    #[track_caller]
    pub(crate) fn table<const N: usize>(
        &self,
        name: &str,
        of: Signal,
        values: [(Expr, Expr); N],
        otherwise: impl Into<Expr>,
    ) -> Signal {
        let otherwise = otherwise.into();
        let width = otherwise.width;
        let wire = self.signal(name, width, Kind::Wire);
        self.drive(&wire.into());
        let table = signal::table(wire, of, values, otherwise);
        self.add(Item::Definition(width, table));
        wire
    }

    /// Gives an output, a wire or bits of them their value.
    #[track_caller]
    pub(crate) fn assign(&self, target: impl Into<Expr>, value: impl Into<Value>) {
        let target = target.into();
        self.drive(&target);
        let statement = value.into().assigned_to(&target);
        self.add(Item::Assignment(statement));
    }

    // -------------------------------------------------------------- instances

    /// An instance whose ports fit.
    #[track_caller]
    pub(crate) fn instantiated(&self, instance: Instance) {
        let mut state = self.state.borrow_mut();
        if !state.submodules.contains(&instance.module) {
            state.submodules.push(instance.module.clone());
        }
        drop(state);
        self.add(Item::Instance(instance));
    }

    // --------------------------------------------------------------- comments

    /// A new paragraph.
    #[track_caller]
    pub(crate) fn paragraph(&self) {
        self.add(Item::Blank);
    }

    /// A new paragraph that begins with a comment.
    #[track_caller]
    pub(crate) fn section(&self, text: &str) {
        self.add(Item::Blank);
        self.about(text);
    }

    /// A comment on the declarations that follow.
    #[track_caller]
    pub(crate) fn about(&self, text: &str) {
        self.add(Item::Comment(text.to_owned(), ABOUT_COLUMNS));
    }

    /// A comment on the logic that follows.
    #[track_caller]
    pub(crate) fn note(&self, text: &str) {
        self.add(Item::Comment(text.to_owned(), NOTE_COLUMNS));
    }

    #[track_caller]
    pub(crate) fn add(&self, item: Item) {
        self.add_from(Origin::caller(), item);
    }

    pub(crate) fn add_from(&self, at: Origin, item: Item) {
        let mut state = self.state.borrow_mut();
        state.asserts |= matches!(item, Item::Assertions(_));
        let block = state.blocks.last_mut();
        block
            .expect("the body is never closed")
            .push(Written { item, at });
    }

    pub(crate) fn change_last(&self, change: impl FnOnce(&mut Item)) {
        let mut state = self.state.borrow_mut();
        let last = state.blocks.last_mut().and_then(|block| block.last_mut());
        change(&mut last.expect("there is an item").item);
    }

    // --------------------------------------------------------------- emission

    /// The module, if every bit has one driver and no two names look alike.
    pub(crate) fn emit(self) -> Result<Module> {
        let mut state = self.state.into_inner();
        if let Err(reason) = state.check_drivers() {
            let unit = self.doc.name;
            return Err(HdlError::Check { unit, reason });
        }
        state.note_output_drivers();
        let mut items = shown(&state.output_registers);
        items.append(&mut state.blocks[0]);
        let description = Description {
            doc: self.doc,
            parameters: state.parameters,
            vectors: state.vectors,
            ports: state.ports,
            sizes: state.sizes,
            items,
        };
        let (module, names) = Module::printed(description, state.submodules, state.asserts)?;
        match names.alike() {
            None => Ok(module),
            Some([one, other]) => Err(HdlError::Check {
                unit: module.doc.name,
                reason: format!("the names {one} and {other} differ only by case"),
            }),
        }
    }
}

/// The registers that outputs show, and the outputs.
fn shown(outputs: &[(Signal, Signal, Origin)]) -> Vec<Written> {
    let Some((_, _, first)) = outputs.first() else {
        return Vec::new();
    };
    let from = |at: Origin, item| Written { item, at };
    let registers = outputs.iter().map(|(_, register, at)| {
        let declaration = Declaration::new("reg", *register);
        from(*at, Item::Declaration(declaration))
    });
    let ports = outputs.iter().map(|(port, register, at)| {
        let statement = Value::from(*register).assigned_to(&(*port).into());
        from(*at, Item::Assignment(statement))
    });
    let about = Item::Comment("Outputs from registers.".into(), ABOUT_COLUMNS);
    let opening = [Item::Blank, about].map(|item| from(*first, item));
    opening.into_iter().chain(registers).chain(ports).collect()
}
