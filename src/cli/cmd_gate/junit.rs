//! The limits as test cases, for JUnit's readers.

use super::Kernel;
use std::fmt::Write;

/// A suite with a case for each limit of each kernel.
pub(super) fn text(kernels: &[Kernel]) -> String {
    let checks = kernels.iter().flat_map(|k| &k.checks);
    let failures = checks.clone().filter(|c| c.failed).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\"", checks.count());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"spadkit gate\" {counts}>\n"
    );
    for kernel in kernels {
        for check in &kernel.checks {
            let case = format!(
                "    <testcase classname=\"{}\" name=\"{}\"",
                escaped(&kernel.input),
                escaped(&check.limit.to_string())
            );
            // Writing to a String cannot fail.
            let _ = if check.failed {
                writeln!(
                    text,
                    "{case}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>",
                    escaped(&check.text()),
                    escaped(&kernel.explanation(check))
                )
            } else {
                writeln!(text, "{case}/>")
            };
        }
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// Text in XML; control characters have no place there.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_in_names_is_text() {
        assert_eq!(
            escaped("<a & \"b\">\u{1b}"),
            "&lt;a &amp; &quot;b&quot;&gt;\u{fffd}"
        );
    }
}
