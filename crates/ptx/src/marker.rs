//! The pragmas that annotated PTX carries for the kit.
//!
//! An assembler warns of pragmas that it does not know, and ignores them.
//! `.pragma "spadkit.relssp";` is where threads release the shared part of the
//! scratchpad (sharing paper, section 6.2).
//! `.pragma "spadkit.layout boundary=B NAME=OFFSET ...";` in the body of an
//! entry gives the offsets of its shared variables, whose declarations stay as
//! they are.

use super::ast::{Module, Span, Statement, StatementKind};

/// Text of the pragma of a release.
pub const RELSSP: &str = "spadkit.relssp";
/// The first word of the pragma of a layout.
pub const LAYOUT: &str = "spadkit.layout";

/// A layout, as its pragma gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutMarker {
    /// First byte that two blocks share.
    pub boundary: u32,
    /// Variables and their byte offsets, in the order of the text.
    pub offsets: Vec<(String, u32)>,
}

impl LayoutMarker {
    /// The pragma.
    pub fn text(&self) -> String {
        let places = self.offsets.iter().map(|(n, at)| format!(" {n}={at}"));
        let places: String = places.collect();
        format!(".pragma \"{LAYOUT} boundary={}{places}\";", self.boundary)
    }

    /// Reads what is between the quotes; what is wrong with it otherwise.
    fn parse(words: &str) -> Result<Self, String> {
        let mut boundary = None;
        let mut offsets = Vec::new();
        for word in words.split_whitespace().skip(1) {
            let Some((name, value)) = word.split_once('=') else {
                return Err(format!("'{word}' is not NAME=OFFSET"));
            };
            let value: u32 = value
                .parse()
                .map_err(|_| format!("'{value}' of {name} is not a number of bytes"))?;
            match name {
                "boundary" if boundary.is_none() => boundary = Some(value),
                _ if offsets.iter().any(|(n, _)| n == name) || name == "boundary" => {
                    return Err(format!("{name} is listed twice"));
                }
                _ => offsets.push((name.to_owned(), value)),
            }
        }
        Ok(LayoutMarker {
            boundary: boundary.ok_or("boundary=BYTES is missing")?,
            offsets,
        })
    }
}

/// The text of a pragma, without its quotes.
fn pragma(module: &Module, statement: &Statement) -> Option<String> {
    let text = module.text_of(statement.span);
    let is_pragma = statement.kind == StatementKind::Directive && text.starts_with(".pragma");
    let quoted = is_pragma.then(|| text.split('"').nth(1)).flatten()?;
    Some(quoted.trim().to_owned())
}

impl Module {
    /// Whether a statement is the marker of a release.
    pub fn is_release(&self, statement: &Statement) -> bool {
        pragma(self, statement).is_some_and(|p| p == RELSSP)
    }

    /// The markers of releases of a function, as statements.
    pub fn releases(&self, function: u32) -> impl Iterator<Item = &Statement> {
        let own = self.statements.iter();
        own.filter(move |s| s.function == Some(function) && self.is_release(s))
    }

    /// The layout that a function is marked with: `None` without a marker,
    /// else the layout, or the line and what is wrong with it.
    pub fn layout_marker(&self, function: u32) -> Option<Result<LayoutMarker, (Span, String)>> {
        let own = self.statements.iter();
        let own = own.filter(|s| s.function == Some(function));
        let mut found = own.filter_map(|s| Some((s.span, pragma(self, s)?)));
        let is_layout = |p: &(Span, String)| p.1.split_whitespace().next() == Some(LAYOUT);
        let (place, words) = found.find(is_layout)?;
        let read = LayoutMarker::parse(&words).map_err(|what| (place, what));
        Some(match found.find(is_layout) {
            Some((place, _)) => Err((place, "the entry has a layout already".to_owned())),
            None => read,
        })
    }
}
