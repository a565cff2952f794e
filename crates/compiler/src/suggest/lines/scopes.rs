//! Lines that do not see the array: those of functions that get a pointer to it.

use super::change::{LineChange, names};
use crate::suggest::SourceFiles;
use crate::suggest::source::declarations::Declarations;
use crate::suggest::source::files::split;

/// Whether a line names no `array`, and sees none of its declarations.
pub(super) fn is_out_of_scope(
    line: &LineChange,
    array: &str,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> bool {
    let place = line.source.as_deref().and_then(split);
    let (Some((file, number)), Some(text)) = (place, &line.text) else {
        return false;
    };
    !declarations.are_unknown()
        && !names(text, array)
        && declarations.last_seen(file, number, sources).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::declarations::Named;
    use crate::suggest::source::files::given;

    const SOURCE: &str = "float get(float *p, int i) { return p[i]; }
void k() {
__shared__ float tile[64];
float *q = tile + 1;
q[t] = 1;
}";

    #[test]
    fn a_parameter_is_out_of_the_scope_of_the_array() {
        let mut sources = given(SOURCE);
        let named = Named {
            name: "tile",
            variable: "tile",
        };
        let declarations = Declarations::of(["k.cu:1"].into_iter(), named, 4, &mut sources);
        let mut is_out = |number: u32| {
            let source = format!("k.cu:{number}");
            let line = LineChange {
                text: sources.line(&source),
                source: Some(source),
                ..LineChange::default()
            };
            is_out_of_scope(&line, "tile", &declarations, &mut sources)
        };
        assert_eq!([1, 4, 5].map(&mut is_out), [true, false, false]);
    }
}
