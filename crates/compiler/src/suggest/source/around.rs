//! Declarations by the function that they are in.

use super::declarations::Declarations;
use super::words::word;
use crate::suggest::SourceFiles;

impl Declarations {
    /// The last line of a function with one of them, whose name `is_it` knows.
    pub(in crate::suggest) fn seen_in(
        &self,
        is_it: &dyn Fn(&str) -> bool,
        sources: &mut SourceFiles,
    ) -> Option<String> {
        self.found.keys().find_map(|(file, line)| {
            let place = sources.text(file);
            let at = place.start_of_line(*line)?;
            let at = at + word(&place.masked[at..], "__shared__")?;
            let function = place.outermost_function(at)?;
            let last = place.line_of(place.block_end(function.body));
            is_it(&function.name).then(|| format!("{file}:{last}"))
        })
    }
}
