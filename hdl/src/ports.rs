//! The ports of a unit as a struct of handles.

use crate::origin::Origin;
use crate::port::Dir;
use crate::register::Register;
use crate::signal::{Operand, Signal};
use crate::size::Size;
use crate::unit::{Kind, UnitBuilder};

/// Declares ports in their order, each by its name: direction, width, meaning.
///
/// ```text
/// ports! {
///     /// The ports.
///     Io(s) { valid: input(1, "an entry is offered"), data: input(s.L * s.D, "the entry"), }
/// }
/// ```
///
/// `Io::new(&u, &s)` declares them in a unit. `Io(s) clocked { ... }` has `clk`
/// and `rst` before them, and the parameters as `io.s`: `Io::declared(&u, p)`.
/// A register that is an output says what a reset makes of it:
/// `count: output_register(s.PQW, "entries held").reset(0)`.
macro_rules! ports {
    ($(#[$about:meta])* $name:ident($s:ident) {
        $($port:ident: $declared:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $port: $crate::signal::Signal,)*
        }

        impl $name {
            pub(crate) fn new(u: &$crate::unit::UnitBuilder, $s: &$crate::params::Sizes) -> Self {
                #[allow(unused_imports, reason = "some have inputs or outputs alone")]
                use $crate::ports::{input, output};
                $name { $($port: $declared.called(stringify!($port), u),)* }
            }
        }
    };
    ($(#[$about:meta])* $name:ident($s:ident) clocked {
        $($port:ident: $declared:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        #[allow(dead_code, reason = "not every unit names its clock")]
        struct $name {
            s: $crate::params::Sizes,
            clk: $crate::signal::Signal,
            rst: $crate::signal::Signal,
            $($port: $crate::signal::Signal,)*
        }

        impl $name {
            fn declared(u: &$crate::unit::UnitBuilder, p: &$crate::params::Params) -> Self {
                let $s = u.all_sizes(p);
                let [clk, rst] = u.clocked();
                #[allow(unused_imports, reason = "few units have registers among their ports")]
                use $crate::ports::{input, output, output_register};
                $name {
                    s: $s,
                    clk,
                    rst,
                    $($port: $declared.called(stringify!($port), u),)*
                }
            }
        }
    };
}

pub(crate) use ports;

/// A port without its name, as `ports!` takes it. It is from the line that calls one of
/// the functions below: a line within `ports!` itself would be that of the whole list.
pub(crate) struct Declared<'a> {
    at: Origin,
    dir: Dir,
    width: Size,
    doc: &'a str,
    /// Reset value of a register.
    reset: Option<Operand>,
}

/// An input of `width` bits.
#[track_caller]
pub(crate) fn input(width: impl Into<Size>, doc: &str) -> Declared<'_> {
    Declared::new(Dir::In, width.into(), doc)
}

/// An output of `width` bits.
#[track_caller]
pub(crate) fn output(width: impl Into<Size>, doc: &str) -> Declared<'_> {
    Declared::new(Dir::Out, width.into(), doc)
}

/// An output that is a register of `width` bits; the returned builder requires a reset.
#[track_caller]
pub(crate) fn output_register(width: impl Into<Size>, doc: &str) -> Unreset<'_> {
    Unreset(output(width, doc))
}

/// An output that is a register, without its reset.
pub(crate) struct Unreset<'a>(Declared<'a>);

impl<'a> Unreset<'a> {
    /// A reset sets it to `value`.
    pub(crate) fn reset(self, value: impl Into<Operand>) -> Declared<'a> {
        let reset = Some(value.into());
        Declared { reset, ..self.0 }
    }
}

impl<'a> Declared<'a> {
    #[track_caller]
    fn new(dir: Dir, width: Size, doc: &'a str) -> Self {
        Declared {
            at: Origin::caller(),
            dir,
            width,
            doc,
            reset: None,
        }
    }

    /// The port of `u` with this name.
    pub(crate) fn called(self, name: &str, u: &UnitBuilder) -> Signal {
        let Declared { at, width, doc, .. } = self;
        match (self.reset, self.dir) {
            (Some(value), _) => {
                let register = Register::new(u, name, width, Some(doc));
                register.named_at(at).reset(value)
            }
            (None, Dir::In) => u.port(at, name, (Dir::In, Kind::Input), width, doc),
            (None, Dir::Out) => u.port(at, name, (Dir::Out, Kind::Wire), width, doc),
        }
    }
}
