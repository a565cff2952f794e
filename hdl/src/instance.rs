//! Instances of other modules: every port is connected, and fits.

use crate::bundle::{Values, named};
use crate::item::Instance;
use crate::module::Module;
use crate::parameter::default_of;
use crate::port::{Dir, Port};
use crate::signal::{Expr, Operand, Signal};
use crate::size::{Size, interned};
use crate::unit::UnitBuilder;

/// An instance under construction: its ports are connected in their order.
#[must_use]
pub(crate) struct Ports<'u> {
    unit: &'u UnitBuilder,
    module: &'u Module,
    instance: Instance,
}

impl<'u> Ports<'u> {
    fn new(unit: &'u UnitBuilder, module: &'u Module, name: &str) -> Self {
        let instance = Instance {
            module: module.doc.name.clone(),
            parameters: Vec::new(),
            name: interned(name),
            connections: Vec::new(),
        };
        Ports {
            unit,
            module,
            instance,
        }
    }

    /// Sets a Verilog parameter to a value that it may have.
    #[track_caller]
    pub(crate) fn parameter(mut self, name: &'static str, value: Size) -> Self {
        let (unit, mut all) = (&self.module.doc.name, self.module.parameters().iter());
        let parameter = all.find(|own| own.name == name);
        let parameter = parameter.unwrap_or_else(|| panic!("{unit} has no parameter {name}"));
        let values = parameter.values;
        let fits = self.unit.is_always(value, values);
        assert!(fits, "{unit}.{name} is {value}, not {values}");
        self.instance.parameters.push((name, value));
        self
    }

    /// Sets the parameters that are vectors of bits to these, which the unit has
    /// itself, in their order.
    #[track_caller]
    pub(crate) fn vectors(mut self, values: &[Signal]) -> Self {
        let own = &self.module.vectors;
        assert_eq!(
            own.len(),
            values.len(),
            "the vectors of {}",
            self.module.doc.name
        );
        for (vector, value) in own.iter().zip(values) {
            assert!(value.width.same(vector.width().into()), "{}", vector.name);
            let value = Size::named(value.name, 0);
            self.instance
                .parameters
                .push((interned(&vector.name), value));
        }
        self
    }

    /// Connects the next ports to handles of the same names, registers without
    /// their suffix.
    #[track_caller]
    pub(crate) fn same(mut self, handles: impl IntoIterator<Item = Signal>) -> Self {
        for handle in handles {
            self = self.port(handle.stem(), handle);
        }
        self
    }

    /// Connects the next port, which is called `port`: an input to a value or a
    /// number, an output to a wire, an output, bits of one, or several side by
    /// side.
    #[track_caller]
    pub(crate) fn port(self, port: &str, to: impl Into<Operand>) -> Self {
        let own = self.next(port);
        let to = match to.into() {
            Operand::Expr(to) => to,
            number => number.beside(own.width.into()),
        };
        if own.dir == Dir::Out {
            self.unit.drive_by_port(&to, &own.driven_by);
        }
        self.connected(port, to)
    }

    /// Connects the next ports, which are called `prefix` and the names of
    /// these fields.
    #[track_caller]
    pub(crate) fn bundle(mut self, prefix: &str, fields: Values) -> Self {
        for (field, _, value) in fields.0 {
            self = self.port(&named(prefix, field), value);
        }
        self
    }

    /// The next port, which has to be called `port`.
    #[track_caller]
    fn next(&self, port: &str) -> &'u Port {
        let unit = &self.module.doc.name;
        let next = self.module.ports.get(self.instance.connections.len());
        let next =
            next.unwrap_or_else(|| panic!("{unit} has no further port, but {port} was given"));
        assert_eq!(next.name, port, "the next port of {unit}");
        next
    }

    #[track_caller]
    fn connected(mut self, port: &str, to: Expr) -> Self {
        let own = self.next(port);
        let unit = &self.module.doc.name;
        let (width, given) = (self.width(own), to.width);
        let fits = given.same(width);
        assert!(fits, "{unit}.{port} has {width} bits, {to} {given}");
        self.instance.connections.push((own.name.clone(), to.tree));
        self
    }

    /// The width of a port with the parameters set so far, and defaults for the others.
    fn width(&self, port: &Port) -> Size {
        let by_default = default_of(self.module.parameters());
        let set = |name| {
            let mut set = self.instance.parameters.iter();
            let set = set.find(|(own, _)| *own == name);
            set.map_or_else(|| by_default(name), |(_, value)| *value)
        };
        port.size.map_or(port.width.into(), |size| size.with(&set))
    }

    /// The instance is complete.
    #[track_caller]
    pub(crate) fn done(self) {
        let next = self.module.ports.get(self.instance.connections.len());
        let unit = &self.module.doc.name;
        assert!(next.is_none(), "{unit} has an unconnected port: {next:?}");
        self.unit.instantiated(self.instance);
    }
}

impl UnitBuilder {
    /// An instance of `module` called `name`.
    pub(crate) fn instance<'u>(&'u self, module: &'u Module, name: &str) -> Ports<'u> {
        Ports::new(self, module, name)
    }
}
