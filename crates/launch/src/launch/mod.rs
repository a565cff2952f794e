//! Launch files: a kernel in PTX with its grid, arguments and expected results,
//! in TOML (docs/reference/kernels.md has the format).

mod arg;
mod contents;
mod data;
mod element;
mod expect;
mod file;
mod fits;
mod handles;
mod image;
mod image_keys;
mod init;
mod module;
mod named;
mod npy;
mod prepare;
mod room;
mod shared_parts;
mod single;
mod skeleton;
mod source_places;
mod stream;
mod structs;
mod symbol;
mod tensor_map;
#[cfg(test)]
mod tests;
mod texture;
mod then;
mod uncompiled;

pub use arg::{Arg, ArgKind, Handle};
pub use contents::Buffer;
pub use element::Element;
pub use expect::{Comparison, Expect, compare};
pub use file::LaunchFile;
pub use image::{Image, ImageKind};
pub use init::{Init, Random, Range};
pub(crate) use module::once;
pub use module::{PtxFile, read_module};
pub use prepare::Prepared;
pub use source_places::source_places;
pub use spadkit_base::input::section::{Number, Placed, Source};
pub use spadkit_ptx::exec::{Options, SharedPart};
pub(crate) use uncompiled::refuse_ptx;

pub use single::{Instead, Launch, Passed};
pub use skeleton::{Given, GivenArg, Skeleton, pointed_to};
pub use structs::{MapMember, Pointer, Struct};
pub use symbol::Symbol;
pub use tensor_map::{GivenMap, TensorMapArg, check_inside};
pub use texture::{SamplerTable, Texels, TextureTable};
