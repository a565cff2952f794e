//! The limits as test cases, for JUnit's readers.

use super::gated::Gated;

/// A suite with a case for each limit of each kernel, and one for each kernel without.
pub(super) fn text(gated: &Gated) -> String {
    let checks = gated.kernels.iter().flat_map(|k| &k.checks);
    let failures = checks.clone().filter(|c| c.failed).count();
    let (errors, skipped) = (gated.unread.len(), gated.skipped.len());
    let tests = checks.count() + errors + skipped;
    let counts = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
    );
    // `testsuites` has no `skipped` in the common schemas.
    let of_all = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {of_all}>\n  \
         <testsuite name=\"spadkit gate\" {counts}>\n"
    );
    for kernel in &gated.kernels {
        for check in &kernel.checks {
            let failure = check.failed.then(|| {
                format!(
                    "<failure type=\"limit\" message=\"{}\">{}</failure>",
                    escaped(&check.text()),
                    escaped(&kernel.explanation(check))
                )
            });
            text += &case(&kernel.input, &check.limit.to_string(), failure);
        }
    }
    for unread in &gated.unread {
        let error = format!(
            "<error type=\"input\" message=\"{}\"/>",
            escaped(&unread.error)
        );
        text += &case(&unread.input, "can be judged", Some(error));
    }
    for skipped in &gated.skipped {
        let skip = format!("<skipped message=\"{}\"/>", escaped(&skipped.reason));
        text += &case(&skipped.input, "is left out", Some(skip));
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// One test case; `outcome` where it does not pass.
fn case(input: &str, name: &str, outcome: Option<String>) -> String {
    let (input, name) = (escaped(input), escaped(name));
    let case = format!("    <testcase classname=\"{input}\" name=\"{name}\"");
    match outcome {
        Some(outcome) => format!("{case}>\n      {outcome}\n    </testcase>\n"),
        None => format!("{case}/>\n"),
    }
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
