//! Runs of OpenSTA over a mapped netlist.

use super::files::{get, put, with_liberty};
use super::netlist::Netlist;
use super::technology::Technology;
use crate::error::Result;
use crate::template::fill;
use crate::tool::{Cache, KeyBuilder, Tool, ToolOutput};
use serde_json::{Value, json};
use std::path::Path;

/// A library with nothing but a wire load of nothing.
const NO_WIRES: &str = include_str!("../../synth/no_wires.lib");

/// A mapped netlist, and the libraries and constraints for its analysis.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// The netlist.
    pub netlist: &'a Netlist,
    /// Top module of the netlist.
    pub top: &'a str,
    /// The library that it is mapped to.
    pub technology: &'a Technology,
    /// OpenSTA.
    pub sta: &'a Tool,
    /// The cache of earlier measurements.
    pub cache: &'a Cache,
}

/// A question to OpenSTA.
pub(super) struct Question<'a> {
    /// Name and version of the question, for the cache.
    pub name: &'a str,
    /// Template of the script. Netlist, macros, boundary and period are known
    /// to every script.
    pub script: &'a str,
    /// Target clock period in ps.
    pub period_ps: f64,
    /// Other values of the script's template.
    pub values: &'a [(&'a str, Value)],
    /// A further file that it reads: name and contents.
    pub file: Option<(&'a str, &'a str)>,
}

impl Analysis<'_> {
    /// The answer, as `parse` reads it from the log; from the cache if it was
    /// given before. A log that `parse` refuses is not kept.
    pub(super) fn ask<T>(
        &self,
        question: &Question,
        parse: impl Fn(&ToolOutput) -> Result<T>,
    ) -> Result<T> {
        let script = self.script(question)?;
        // Many target periods end in the same netlist.
        let verilog = get(&self.netlist.directory.join("netlist.v"))?;
        let (file, contents) = question.file.unwrap_or_default();
        let key = KeyBuilder::new(question.name)
            .add("sta", &self.sta.build)
            .add("script", &script)
            .add("file", contents)
            .add("no wires", NO_WIRES)
            .add("netlist", &verilog)
            .add("macros", &self.netlist.macros)
            .add("liberty", &self.technology.liberty.digest)
            .finish();
        let build = |work: &Path| {
            put(&work.join("netlist.v"), &verilog)?;
            if !self.netlist.macros.is_empty() {
                put(&work.join("macros.lib"), &self.netlist.macros)?;
            }
            put(&work.join("no_wires.lib"), NO_WIRES)?;
            if !file.is_empty() {
                put(&work.join(file), contents)?;
            }
            put(&work.join("sta.tcl"), &script)?;
            let output = with_liberty(work, self.technology, || {
                let command = self.sta.command();
                command
                    .args(["-no_splash", "-exit", "sta.tcl"])
                    .cwd(work)
                    .run()
            })?;
            put(&work.join("sta.log"), &output.log())
        };
        self.cache.get_or_build(&key, build, |directory| {
            parse(&ToolOutput {
                stdout: get(&directory.join("sta.log"))?,
                stderr: String::new(),
            })
        })
    }

    fn script(&self, question: &Question) -> Result<String> {
        let mut context = json!({
            "top": self.top,
            "period_ps": question.period_ps,
            "macros": !self.netlist.macros.is_empty(),
            "driving_cell": self.technology.driving_cell,
            "load_ff": self.technology.load_ff,
            "library": self.technology.liberty.name,
            "wire_load": self.technology.liberty.wire_load,
        });
        for (name, value) in question.values {
            context[*name] = value.clone();
        }
        fill(question.name, question.script, &context)
    }
}
