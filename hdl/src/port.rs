//! Ports of modules.

use crate::origin::Origin;
use crate::size::Size;
use serde::Serialize;

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dir {
    /// Input.
    In,
    /// Output.
    Out,
}

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Port {
    /// Verilog name.
    pub name: String,
    /// Direction.
    pub dir: Dir,
    /// Bits; where a parameter of the module says it, with the default.
    pub width: usize,
    /// Meaning and bit order.
    pub doc: String,
    /// For an output: the inputs that it depends on in the same cycle, `cfg_*`
    /// and `rst` aside. An empty list: it comes from registers. `None`: not
    /// declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    /// For an output that lets a neighbour continue or stops it (`*_ready`,
    /// `*_gnt`, `ex_hold`): how many transfers the neighbour may still send after
    /// it was told to stop, and needs space for. The whole kit has 0, because a
    /// transfer counts in the cycle of its ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skid_depth: Option<u32>,
    /// For an output: the lines of the description that drive it. If it shows a
    /// register, the lines of the register's next state; if an instance drives it,
    /// the line that connects it, then those inside.
    #[serde(skip)]
    pub driven_by: Vec<Origin>,
    /// If its width is given by parameters of the module: their values.
    #[serde(skip)]
    pub(crate) size: Option<Size>,
    /// The line of the description that declares it.
    #[serde(skip)]
    pub(crate) at: Origin,
    /// Why some of its bits are not used, if some are not.
    #[serde(skip)]
    pub(crate) unused: Option<String>,
}

impl Port {
    /// A port with one width in all instances, and no statement of its dependencies.
    #[track_caller]
    pub(crate) fn new(name: &str, dir: Dir, width: usize, doc: &str) -> Self {
        Port {
            name: name.into(),
            dir,
            width,
            doc: doc.into(),
            depends_on: None,
            driven_by: Vec::new(),
            skid_depth: (dir == Dir::Out && lets_go_on(name)).then_some(0),
            size: None,
            at: Origin::caller(),
            unused: None,
        }
    }
}

fn lets_go_on(name: &str) -> bool {
    name.ends_with("_ready") || name.ends_with("_gnt") || name == "ex_hold"
}
