//! External tools behind one abstraction: where they are, which version,
//! how to run them safely, and a cache of what they made.
//!
//! ```no_run
//! use spadkit_rtl::tool::{ToolKind, Toolbox};
//! let tools = Toolbox::new();
//! let yosys = tools.get(ToolKind::Yosys)?; // found, runs, recent enough
//! let output = yosys.command().args(["-q", "-s", "-"]).stdin("stat\n").run()?;
//! println!("{}", output.stdout);
//! # Ok::<(), spadkit_base::error::Error>(())
//! ```
//!
//! A tool is taken from the path, or from an environment variable such as
//! `SPADKIT_YOSYS`. Tests replace it by their own script with
//! [`Toolbox::with`].

mod cache;
mod command;
mod guard;
mod kind;
mod toolbox;
mod trust;
mod version;

pub use cache::{Cache, Key, KeyBuilder};
pub use command::{ToolCommand, ToolOutput, product, product_text, unexpected_output};
pub use kind::ToolKind;
pub use toolbox::{Tool, Toolbox};
pub use version::Version;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
pub(crate) mod required;
#[cfg(test)]
mod tests;
