//! The text of source files: what its names, declarations and pointers are.

pub(super) mod addresses;
pub(super) mod around;
pub(super) mod asm;
pub(super) mod bindings;
pub(super) mod blocks;
pub(super) mod constants;
pub(super) mod declarations;
pub(super) mod declarator;
pub(super) mod edits;
pub(super) mod elements;
pub(super) mod files;
pub(super) mod hidden;
pub(super) mod included;
pub(super) mod indexed;
pub(super) mod macros;
pub(super) mod masked;
pub(super) mod namespaces;
pub(super) mod parts;
pub(super) mod pointers;
pub(super) mod region;
pub(super) mod scan;
pub(super) mod words;
