//! The machine code of the mappings that `tune --software` suggests putting into the PTX:
//! a mapping that gains nothing there is not proposed.

use super::resources::Launched;
use crate::config::Config;
use crate::error::Result;
use crate::rewrite::{Hashes, MachineConflicts, MachineCounts, Request, attempt};
use crate::software::LayoutSpec;
use crate::software::choice::{Choice, Choices, MappingKind, PerVariable};
use crate::terminal::Details;
use serde::Serialize;

/// The counts of a kernel under its best mappings; unknown where nothing judges.
#[derive(Default, Serialize)]
pub(super) struct PutIntoPtx {
    /// Under one mapping for all of shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<Put>,
    /// Under one for each variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_variable: Option<Put>,
}

/// The mappings as `rewrite --hash` takes them, and what the machine code makes of
/// them.
#[derive(Serialize)]
pub(super) struct Put {
    hashes: Vec<String>,
    #[serde(flatten)]
    pub code: MachineConflicts,
}

impl Put {
    /// Whether it is known to gain nothing.
    fn is_vain(put: Option<&Put>) -> bool {
        put.is_some_and(|put| !put.code.gains())
    }
}

impl PutIntoPtx {
    /// A kernel that cannot be assembled is judged by its PTX.
    pub fn of(
        launched: &Launched,
        machine: &Config,
        whole: &Choices,
        apart: Option<&PerVariable>,
    ) -> Self {
        Self::try_of(launched, machine, whole, apart).unwrap_or_default()
    }

    fn try_of(
        launched: &Launched,
        machine: &Config,
        whole: &Choices,
        apart: Option<&PerVariable>,
    ) -> Result<Self> {
        let best = whole.best();
        let apart = apart.filter(|apart| apart.count.conflicts < best.conflicts);
        let gains = best.kind != MappingKind::Mod;
        if !gains && apart.is_none() {
            return Ok(PutIntoPtx::default());
        }
        let module = launched.module.clone().one_text()?;
        let counts = MachineCounts::of(launched.file, &module, &launched.request, machine)?;
        let put = |hashes: Hashes, named: Vec<String>| -> Result<Option<Put>> {
            let request = Request {
                hashes,
                parts: launched.file.shared.to_vec(),
                ..launched.request.clone()
            };
            let Ok(rewritten) = attempt(&module, &request)? else {
                return Ok(None);
            };
            let code = counts.beside(&rewritten)?;
            Ok(code.map(|code| Put {
                hashes: named,
                code,
            }))
        };
        let spec = |choice: &Choice| choice.layout.spec().clone();
        let of_whole = || put(Hashes::All(spec(best)), vec![spec(best).to_string()]);
        let of_each = |apart: &PerVariable| {
            let moved = (apart.variables.iter())
                .filter(|v| v.choices.best().kind != MappingKind::Mod)
                .map(|v| (v.variable.name.clone(), spec(v.choices.best())));
            let moved: Vec<(String, LayoutSpec)> = moved.collect();
            let named = moved.iter().map(|(name, spec)| format!("{name}={spec}"));
            let named = named.collect();
            put(Hashes::Named(moved), named)
        };
        Ok(PutIntoPtx {
            whole: gains.then(of_whole).transpose()?.flatten(),
            // A mapping of several names cannot be asked for.
            per_variable: apart.and_then(|apart| of_each(apart).ok().flatten()),
        })
    }

    /// Whether one mapping for all of shared memory is known to gain nothing.
    pub fn whole_is_vain(&self) -> bool {
        Put::is_vain(self.whole.as_ref())
    }

    /// Whether a mapping for each variable is known to gain nothing.
    pub fn per_variable_is_vain(&self) -> bool {
        Put::is_vain(self.per_variable.as_ref())
    }

    pub fn is_unknown(&self) -> bool {
        self.whole.is_none() && self.per_variable.is_none()
    }

    /// A line for each that gains nothing.
    pub fn details(&self) -> Details {
        let mut details = Details::new();
        let all = [&self.whole, &self.per_variable];
        for put in all.into_iter().flatten().filter(|put| !put.code.gains()) {
            let (hashes, code) = (put.hashes.join(", "), put.code.text());
            details.say(format!(
                "put into the PTX, {hashes} gains nothing: in the machine code {code}"
            ));
        }
        details
    }
}
