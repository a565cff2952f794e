//! Results derived from changed lines: padding, other languages, counts, texts.

pub(super) mod declared;
pub(super) mod function_names;
pub(super) mod judged;
pub(super) mod language;
pub(super) mod left_alone;
pub(super) mod matrices;
pub(super) mod other_files;
pub(super) mod own_lines;
pub(super) mod padding;
pub(super) mod parted;
pub(super) mod python;
pub(super) mod shared_statements;
pub(super) mod templates;
pub(super) mod text;
pub(super) mod torn;
