//! The launch as given on the command line.

use crate::launch::Element;
use spadkit_base::error::{Error, Result};

/// Facts about a launch beyond its PTX.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Thread blocks.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block.
    pub block: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: Option<u32>,
    /// Arguments.
    pub args: Vec<GivenArg>,
}

/// `NAME=INIT:TYPE:COUNT`, a buffer, `NAME=NUMBER`, a scalar, or `NAME=null`, a
/// null pointer. NAME may be the index of the parameter, from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenArg {
    /// The name in the launch file, or the index.
    pub name: String,
    /// Value that is passed.
    pub value: GivenValue,
}

/// The value that is passed for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenValue {
    /// A buffer: `zeros`, `iota`, `random` or a file; type and number of its elements.
    Buffer(String, Element, u64),
    /// A number, as text.
    Number(String),
    /// The address 0.
    Null,
}

/// The initial contents of buffers, other than a file.
const INITS: [&str; 3] = ["zeros", "iota", "random"];

impl std::str::FromStr for GivenArg {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::usage(
                format!("--arg {text}"),
                format!(
                    "expected NAME=INIT:TYPE:COUNT, as data=random:f32:4096, with INIT one of {} \
                     or a file (.npy, .raw), NAME=NUMBER, or NAME=null for a pointer",
                    INITS.join(", ")
                ),
            )
        };
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.to_owned();
        if value == "null" {
            let value = GivenValue::Null;
            return Ok(GivenArg { name, value });
        }
        if !value.contains(':') {
            value.parse::<f64>().map_err(|_| wrong())?;
            let value = GivenValue::Number(value.to_owned());
            return Ok(GivenArg { name, value });
        }
        let mut parts = value.rsplitn(3, ':');
        let (count, ty, init) = (parts.next(), parts.next(), parts.next());
        let count = count.and_then(|c| c.parse().ok()).filter(|c| *c > 0);
        let element = ty.and_then(Element::parse);
        let is_init =
            |init: &&str| INITS.contains(init) || init.ends_with(".npy") || init.ends_with(".raw");
        match (init.filter(is_init), element, count) {
            (Some(init), Some(element), Some(count)) => {
                let value = GivenValue::Buffer(init.to_owned(), element, count);
                Ok(GivenArg { name, value })
            }
            _ => Err(wrong()),
        }
    }
}
