//! The ports of a unit as a struct of handles.

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
        $($port:ident: $direction:ident($width:expr, $doc:expr),)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $port: $crate::signal::Signal,)*
        }

        impl $name {
            pub(crate) fn new(u: &$crate::unit::Unit, $s: &$crate::params::Sizes) -> Self {
                $name { $($port: u.$direction(stringify!($port), $width, $doc),)* }
            }
        }
    };
    ($(#[$about:meta])* $name:ident($s:ident) clocked {
        $($port:ident: $direction:ident($width:expr, $doc:expr)$(.$reset:ident($value:expr))?,)*
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
            fn declared(u: &$crate::unit::Unit, p: &$crate::params::Params) -> Self {
                let $s = u.all_sizes(p);
                let [clk, rst] = u.clocked();
                $name {
                    s: $s,
                    clk,
                    rst,
                    $($port: u.$direction(stringify!($port), $width, $doc)$(.$reset($value))?,)*
                }
            }
        }
    };
}

pub(crate) use ports;
