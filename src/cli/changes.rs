//! A suggested change as a diff of the source, and the same in other languages.

use crate::readable::{counted, readable};
use crate::suggest::{InMachineCode, LeftAlone, LineChange, Python, Suggestion, torn_places};
use crate::terminal::{Details, Tone};
use crate::trace::without_folder;

/// Lines of an array that are shown, unless all are.
const MOST_LINES: usize = 12;
/// Instructions of a line that are shown: unrolled ones differ by a constant.
const MOST_ACCESSES: usize = 2;
/// Columns in which a line of code is not folded.
const WIDTH: usize = 76;

/// The details of all suggestions, with every line or the worst; empty if there
/// is nothing to change.
pub(super) fn details(suggestions: &[Suggestion], every_line: bool) -> Details {
    let most = if every_line { usize::MAX } else { MOST_LINES };
    let mut details = Details::new();
    for suggestion in suggestions {
        one(suggestion, most, &mut details);
    }
    details
}

/// The arrays for which no change of the source pays, and why. `rewrites` says of a mapping
/// whether it can be put into the PTX.
pub(super) fn left_alone(arrays: &[LeftAlone], rewrites: impl Fn(&LeftAlone) -> bool) -> Details {
    let mut details = Details::new();
    for left in arrays {
        details.heading(format!(
            "no source change for {}: {} would leave {} of {} conflicts",
            readable(&left.array),
            left.hash,
            left.conflicts,
            left.conflicts_before
        ));
        if let Some(why) = elsewhere(left) {
            let rewrite = if rewrites(left) {
                "; spadkit rewrite changes the PTX"
            } else {
                ""
            };
            details.note(format!("{why}{rewrite}"));
            continue;
        }
        details.note((left.machine_code.as_ref()).map_or(String::new(), InMachineCode::text));
        if let Some((places, widest)) = torn_places(left.all_torn()) {
            details.note(format!(
                "{places}: around an index with a function, the compiler no longer merges \
                 accesses to {widest} bytes there; access them through a vector type, and run \
                 tune again"
            ));
        }
    }
    details
}

/// Why the source has no place for the mapping of an array.
fn elsewhere(left: &LeftAlone) -> Option<String> {
    if left.by_triton {
        let why = "the compiler of Triton lays it out: other sizes of blocks, another num_warps or \
                   num_stages may leave fewer";
        return Some(why.to_owned());
    }
    if left.by_compiler {
        return Some("the compiler of its Python source lays it out".to_owned());
    }
    if let Some(python) = left.python {
        return Some(format!("{} has no layout for this mapping", python.name()));
    }
    if let Some(text) = left.other_blocks() {
        return Some(format!(
            "{text}: wrap the index in each of these lines and in all lines of the block itself"
        ));
    }
    let library = left.library?;
    Some(format!(
        "{library} gets the array by reference, and accesses it: no source of yours can take the \
         mapping"
    ))
}

fn one(s: &Suggestion, most: usize, details: &mut Details) {
    let array = readable(&s.array);
    details.heading(format!(
        "source changes for {array}: {}{} leaves {} of {} conflicts",
        s.hash,
        s.parts_text(),
        s.conflicts,
        s.conflicts_before
    ));
    details.note(what_changes(s, &array));
    for note in s.data_text().into_iter().chain(s.torn_text()) {
        details.note(note);
    }
    let counts = |c: &InMachineCode| (c.conflicts_before, c.conflicts);
    let differs = |c: &&InMachineCode| counts(c) != (s.conflicts_before, s.conflicts);
    let judged = s.machine_code.as_ref().filter(differs);
    details.note(judged.map_or(String::new(), InMachineCode::text));
    if let Some(p) = &s.parted {
        details.note(format!(
            "wide accesses become several of {}: {} wavefronts in place of {}",
            counted(p.bytes, "byte"),
            p.wavefronts,
            p.wavefronts_before
        ));
    }
    for change in s.copy_texts() {
        details.say(change);
    }
    lines(s, most, details);
    declarations(s, details);
    if let Some(growth) = s.growth_text() {
        details.say(growth);
    }
    if !s.function.is_empty() {
        details.say(match s.python {
            Some(python) if python.has_layouts() => "the layout:".to_owned(),
            Some(python) => format!("the function, in {}:", python.name()),
            None => "the function:".to_owned(),
        });
        code(&s.function, details);
    }
    alternatives(s, details);
}

/// What changes with a suggestion, in a note.
fn what_changes(s: &Suggestion, array: &str) -> String {
    let aligned = match (&s.variable, s.span_bytes()) {
        (Some(_), span) if !s.is_part => format!(", which begins at a multiple of {span} bytes"),
        _ => String::new(),
    };
    if s.has_another_layout() {
        format!("in {}, the layout of the array changes alone", language(s))
    } else if s.is_declaration_alone() {
        "longer rows: the declaration alone changes".to_owned()
    } else if s.has_longer_rows() {
        "longer rows: the declaration changes, and the length that wmma takes".to_owned()
    } else if let Some(library) = s.beside {
        format!(
            "your lines change alone: {library} loads nothing that they store, nor they what it \
             stores; indices count elements of {} from the start of {array}{aligned}",
            counted(s.element_bytes, "byte")
        )
    } else {
        format!(
            "every access changes; indices count elements of {} from the start of {array}{aligned}",
            counted(s.element_bytes, "byte")
        )
    }
}

/// The language of the change.
fn language(s: &Suggestion) -> &'static str {
    s.python.map_or("CUDA", Python::name)
}

fn declarations(s: &Suggestion, details: &mut Details) {
    let what = if s.has_another_layout() {
        "another layout"
    } else if s.has_longer_rows() {
        "longer rows"
    } else {
        "more elements"
    };
    for declaration in &s.declarations {
        let place = without_folder(&declaration.source);
        let bytes = declaration.bytes.map_or(String::new(), |[before, after]| {
            format!(": {after} bytes in place of {before}")
        });
        details.say(format!("{place}, the declaration with {what}{bytes}"));
        statement(&declaration.text, &declaration.changed_text, details);
        with_others(declaration.with_others.as_deref(), details);
    }
}

fn lines(s: &Suggestion, most: usize, details: &mut Details) {
    // An input without lines says the same of every access.
    if let [first, _, ..] = &s.lines[..]
        && s.lines.iter().all(|line| place(line).is_none())
    {
        let all = s.lines.len();
        details.say(format!("{all} accesses without line information"));
        details.say(format!("    {}", s.advice(first)));
        return;
    }
    for line in s.lines.iter().take(most) {
        line_details(line, s, details);
    }
    match s.lines.len().saturating_sub(most) {
        0 => {}
        1 => details.say("1 more line changes: tune --software --all"),
        more => details.say(format!("{more} more lines change: tune --software --all")),
    }
}

/// Alternatives to a function: padding, and templates of CuTe and Triton.
fn alternatives(s: &Suggestion, details: &mut Details) {
    if let Some(p) = &s.padding {
        let free = if p.in_declaration {
            ", no instruction"
        } else {
            ""
        };
        details.say(format!(
            "or padding, {} leaves {}, {} bytes more{free}:",
            p.hash, p.conflicts, p.wasted_bytes
        ));
        code(&p.declaration, details);
        details.say(format!("    {}", p.index));
        if let Some(launch) = s.padded_launch_text() {
            details.say(format!("    {launch}"));
        }
    }
    for (language, template) in [("CuTe", &s.cute), ("Triton", &s.triton)] {
        if let Some(t) = template {
            details.say(format!("in {language}, {} leaves {}:", t.hash, t.conflicts));
            code(&t.code, details);
        }
    }
}

fn code(text: &str, details: &mut Details) {
    for line in text.lines() {
        let line = folded("    ", line).join("\n");
        details.verbatim(Tone::Plain, line);
    }
}

/// A statement before and after the change.
fn statement(old: &str, new: &str, details: &mut Details) {
    details.verbatim(Tone::Bad, folded("  - ", old).join("\n"));
    details.verbatim(Tone::Good, folded("  + ", new).join("\n"));
}

/// The statement with the changes of all arrays.
fn with_others(all: Option<&str>, details: &mut Details) {
    if let Some(all) = all {
        details.say("    together with the changes of the other arrays:");
        details.verbatim(Tone::Good, folded("  + ", all).join("\n"));
    }
}

/// The line of the source, or where that is not known of the PTX.
fn place(line: &LineChange) -> Option<String> {
    let source = line.place().map(|source| without_folder(source).to_owned());
    source.or_else(|| line.accesses.first()?.ptx_place())
}

fn line_details(line: &LineChange, s: &Suggestion, details: &mut Details) {
    let place = place(line).unwrap_or_else(|| "an unknown source line".to_owned());
    let conflicts = counted(line.conflicts, "conflict");
    let header = line.through.first();
    let header = header.map_or(String::new(), |h| {
        format!(" (through {})", without_folder(h))
    });
    let moved = line.moved_to.as_ref().map_or(String::new(), |to| {
        format!(
            " (the compiler has moved its access to {})",
            without_folder(to)
        )
    });
    details.say(format!("{place}{header}{moved}, {conflicts}"));
    if let Some((old, new)) = line.statement() {
        statement(old, new, details);
        with_others(line.with_others.as_deref(), details);
        if let Some(text) = line.users_text() {
            details.say(format!("    {text}"));
        }
        return;
    }
    if let Some(old) = &line.text {
        details.verbatim(Tone::Bad, folded("  - ", old).join("\n"));
    }
    let Some(elements) = line.in_names_of_the_source() else {
        details.say(format!("    {}", s.advice(line)));
        return;
    };
    for &(old, new) in elements.iter().take(MOST_ACCESSES) {
        let [old, new] = [("    - ", old), ("    + ", new)].map(|(m, t)| folded(m, t).join("\n"));
        details.verbatim(Tone::Bad, old);
        details.verbatim(Tone::Good, new);
    }
    let more = elements.len().saturating_sub(MOST_ACCESSES);
    if more > 0 {
        details.say(format!(
            "    {more} more accesses of the line, in --format json"
        ));
    }
}

/// A line of C++ behind `mark`, folded at spaces where it is long: between two tokens a
/// line end means the same. In a directive it has a backslash before it, in a comment
/// behind the code the next line is a comment, too.
fn folded(mark: &str, line: &str) -> Vec<String> {
    let directive = line.trim_start().strip_prefix('#');
    let directive = directive.is_some_and(|rest| !rest.starts_with("ttg."));
    let end = if directive || line.trim_end().ends_with('\\') {
        " \\"
    } else {
        ""
    };
    let mut lines = vec![mark.to_owned()];
    let indent = line.len() - line.trim_start().len();
    let again = format!("{mark}{}", " ".repeat(indent + 4));
    let mut begins = true;
    for (word, in_comment) in words(line) {
        let last = lines.last_mut().expect("there is a line");
        let length = last.chars().count() + word.trim_end().chars().count() + end.len();
        if !begins && length > WIDTH {
            *last = format!("{}{end}", last.trim_end());
            let comment = if in_comment { "// " } else { "" };
            lines.push(format!("{again}{comment}{word}"));
        } else {
            last.push_str(word);
        }
        begins &= word.trim().is_empty();
    }
    let lines = lines.iter().map(|line| line.trim_end().to_owned());
    lines.collect()
}

/// The words of a line of C++, each with the spaces after it, and whether a comment to the
/// end of the line follows. Literals are kept whole.
fn words(line: &str) -> Vec<(&str, bool)> {
    let mut words = Vec::new();
    let (mut start, mut literal, mut escaped, mut comment) = (0, None, false, None);
    for (at, c) in line.char_indices() {
        match literal {
            _ if comment.is_some() => {}
            Some(quote) => {
                literal = Some(quote).filter(|q| escaped || c != *q);
                escaped = c == '\\' && !escaped;
            }
            None if line[at..].starts_with("//") => comment = Some(at),
            None if c == '"' || is_quote(line, at) => literal = Some(c),
            None => {}
        }
        let is_end = c == ' ' && literal.is_none();
        if is_end || at + c.len_utf8() == line.len() {
            let goes_on = comment.is_some_and(|from| from < start);
            words.push((&line[start..=at + c.len_utf8() - 1], goes_on));
            start = at + 1;
        }
    }
    words
}

/// Whether the quote at `at` begins a character: in `1'000` it stands in a number.
fn is_quote(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    line[at..].starts_with('\'') && !before.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn long_code_folds_between_tokens() {
        let line = "(&tile[0][0])[spad_place(threadIdx.y * 16 + threadIdx.x)] = in[y * width + x];";
        let lines = folded("  + ", line);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|l| l.starts_with("  + ") && l.len() <= 80));
        let words = |lines: &[String]| {
            let words = lines.iter().flat_map(|l| l[4..].split_whitespace());
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(&lines), line);
    }

    /// The text behind the mark of each line.
    fn texts(line: &str) -> Vec<String> {
        let lines = folded("  + ", line);
        assert!(lines.iter().all(|l| l.chars().count() <= 80), "{lines:?}");
        lines.iter().map(|l| l[4..].trim().to_owned()).collect()
    }

    #[test]
    fn a_comment_goes_on_as_a_comment() {
        let line = "s_a[spad_place(load_m * 8 + load_k)] = r_load_a[0]; // the first of four, of \
                    a thread of the upper half of its warp";
        let expected = [
            "s_a[spad_place(load_m * 8 + load_k)] = r_load_a[0]; // the first of",
            "// four, of a thread of the upper half of its warp",
        ];
        assert_eq!(texts(line), expected);
        let line = "s_a[spad_place(load_m * 8 + load_k)] = r_load_a[0] + r_load_a[1] + b; // sum";
        let all = texts(line);
        assert_eq!((all.len(), &*all[1]), (2, "// sum"));
    }

    /// A backslash joins the next line to a directive.
    #[test]
    fn directives_and_literals_stay_what_they_are() {
        let line =
            "#define TILE(row, column) tile[spad_place((row) * (WIDTH + PAD) + (column) + 1)]";
        let all = texts(line);
        assert!(all.len() == 2 && all[0].ends_with(" \\"), "{all:?}");
        let line = "asm(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1]; // two\" : : \
                    \"r\"(spad_place_at(tile, at)));";
        let all = texts(line);
        assert!(all[0].ends_with("// two\" : :"), "{all:?}");
    }
}
