//! The part of a synthesis that does not depend on the clock period: Verilog
//! to gates, once for all periods and efforts.

use super::files::{get, put, with_liberty};
use super::job::SynthJob;
use super::technology::Technology;
use super::yosys::warnings;
use crate::error::Result;
use crate::template::fill;
use crate::tool::{Cache, Key, KeyBuilder, Tool, ToolKind, ToolOutput, product_text};
use std::path::{Path, PathBuf};

const SCRIPT: &str = include_str!("../../synth/prepare.ys.tera");

/// The file that holds the gates.
pub(super) const PREPARED: &str = "prepared.il";

/// A unit in Yosys' gates and the library's flip-flops.
pub(super) struct Prepared {
    /// Digest of all that it was made from.
    pub key: Key,
    /// Directory of [`PREPARED`].
    pub directory: PathBuf,
    /// Warnings of Yosys about the Verilog.
    pub warnings: Vec<String>,
}

impl SynthJob {
    /// Elaborates the unit. What was elaborated before comes from the cache.
    pub(super) fn prepare(
        &self,
        technology: &Technology,
        yosys: &Tool,
        cache: &Cache,
    ) -> Result<Prepared> {
        self.check()?;
        let values = serde_json::json!({
            "top": self.top,
            "files": self.source_paths(),
            "memories": self.memory_names(),
            "keep_hierarchy": self.keep_hierarchy,
        });
        let script = fill("prepare.ys.tera", SCRIPT, &values)?;
        let mut key = KeyBuilder::new("synth-prepare-1")
            .add("yosys", &yosys.build)
            .add("script", &script)
            .add("liberty", &technology.liberty.digest);
        for (name, text) in &self.sources {
            key = key.add(name, text);
        }
        let key = key.finish();
        let build = |work: &Path| {
            let output = with_liberty(work, technology, || {
                self.write_sources(work)?;
                put(&work.join("prepare.ys"), &script)?;
                let command = yosys.command().args(["-Q", "-T", "-s", "prepare.ys"]);
                command.cwd(work).run()
            })?;
            put(&work.join("yosys.log"), &output.log())
        };
        cache.get_or_build(&key, build, |directory| {
            product_text(ToolKind::Yosys, &directory.join(PREPARED), "end")?;
            let log = ToolOutput {
                stdout: get(&directory.join("yosys.log"))?,
                stderr: String::new(),
            };
            Ok(Prepared {
                key: key.clone(),
                directory: directory.to_owned(),
                warnings: warnings(&log),
            })
        })
    }
}
