//! The list of a folder's own files, with what was written into each.
//!
//! `sha256sum -c` reads it. Each file has a line with the digest of its
//! content; while a folder is being changed, a file has two, for the old and
//! the new content. The last line counts the others, so that a truncated list
//! is not taken for a short one.

use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The list's name in every folder that has one.
pub const OWNED_LIST: &str = "spadkit.sha256";

const TITLE: &str = "# The files of this folder that spadkit wrote, as it wrote them.\n\
                     # A file that differs is never replaced or removed, unless by --force.\n";

/// Files by name, each with the contents that the kit may have left in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnedList(BTreeSet<(String, String)>);

impl OwnedList {
    /// Adds a file and the digest of a content.
    pub(super) fn add(&mut self, name: &str, digest: String) {
        self.0.insert((name.to_owned(), digest));
    }

    /// Adds all of another list.
    pub(super) fn add_all(&mut self, other: &OwnedList) {
        self.0.extend(other.0.iter().cloned());
    }

    /// The list without the files that `left_out` names.
    pub(super) fn without(&self, left_out: &dyn Fn(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|(name, _)| !left_out(name));
        OwnedList(kept.cloned().collect())
    }

    /// The files.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Whether the kit wrote the file.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// Whether the kit wrote this content into the file.
    pub(super) fn has_content(&self, name: &str, content: &[u8]) -> bool {
        self.0.contains(&(name.to_owned(), sha256_hex(content)))
    }

    /// The list as it is in the folder.
    pub(super) fn text(&self) -> String {
        let line = |(name, digest): &(String, String)| format!("{digest}  {name}\n");
        let lines: String = self.0.iter().map(line).collect();
        format!("{TITLE}{lines}# {} lines\n", self.0.len())
    }

    /// Reads a list; `path` is named in errors.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let bad = |what: &str, offset| {
            let help = "expected the list as spadkit wrote it: move the folder's files away, or \
                        use --force, which replaces and removes what the readable lines name";
            Err(Error::input(what, Some(help.into()), path, text, offset))
        };
        let mut list = OwnedList::default();
        let mut offset = 0;
        let mut last = "";
        for line in text.split_inclusive('\n') {
            last = line;
            match entry(line) {
                Some((name, digest)) => list.add(name, digest.to_owned()),
                None if line.starts_with('#') => {}
                None => return bad("not a line of a file list", offset),
            }
            offset += line.len();
        }
        if last == format!("# {} lines\n", list.0.len()) {
            Ok(list)
        } else {
            bad("the file list is truncated", text.len())
        }
    }

    /// The readable lines of a list.
    pub(super) fn readable_part(text: &str) -> Self {
        let entries = text.split_inclusive('\n').filter_map(entry);
        OwnedList(
            entries
                .map(|(name, digest)| (name.to_owned(), digest.to_owned()))
                .collect(),
        )
    }
}

/// Name and digest of a line. A name that leads out of the folder is none.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (digest, name) = line.strip_suffix('\n')?.split_once("  ")?;
    let is_digest = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
    let plain = |part: Component| matches!(part, Component::Normal(_));
    let is_inside = !name.is_empty() && Path::new(name).components().all(plain);
    (is_digest && is_inside && name != OWNED_LIST).then_some((name, digest))
}
