//! Identities that tell the results of a kernel apart, and stay while lines move.

use crate::suggest::SourceFiles;
use std::collections::HashMap;
use std::path::Path;

/// Names the results of one kernel.
pub(super) struct Identities {
    source: SourceFiles,
    /// Results so far by what they have in common.
    alike: HashMap<String, u32>,
}

impl Identities {
    /// Identities of the results of the kernel that `input` names.
    pub fn beside(input: &Path) -> Self {
        Identities {
            source: SourceFiles::beside(input),
            alike: HashMap::new(),
        }
    }

    /// `conflicts at k.cu: s[i] = 0;` of `conflicts` and `k.cu:12`.
    /// `conflicts at k.cu: s[i] = 0; (2)` is the second of its kind.
    pub fn at(&mut self, what: &str, places: &[&str]) -> String {
        let mut lines: Vec<String> = places.iter().map(|place| self.lasting(place)).collect();
        lines.sort();
        let identity = format!("{what} at {}", lines.join(" and "));
        let alike = self.alike.entry(identity.clone()).or_default();
        *alike += 1;
        match alike {
            1 => identity,
            n => format!("{identity} ({n})"),
        }
    }

    /// The text of a line in place of its number, where the file is here.
    fn lasting(&mut self, place: &str) -> String {
        let Some(text) = self.source.line(place) else {
            return place.to_owned();
        };
        let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
        let name = file.rsplit('/').next().unwrap_or(file);
        format!("{name}: {text}")
    }
}
