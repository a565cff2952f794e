//! The textures, surfaces and samplers of a launch file in memory: their
//! texels and handles.

use super::arg::{Arg, ArgKind, Handle};
use super::file::LaunchFile;
use super::room::{contents, no_memory};
use super::texture::Texels;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::{BufferId, Memory, Program, Texture};

/// The handles that kernels get for textures and samplers.
#[derive(Debug, Default)]
pub(super) struct Handles {
    /// For each texture, its texels if it owns them.
    pub texels: Vec<Option<BufferId>>,
    textures: Vec<u64>,
    samplers: Vec<u64>,
}

impl Handles {
    /// Makes them all, and writes the handles of those that the PTX has
    /// variables for.
    pub fn new(
        file: &LaunchFile,
        program: &Program,
        memory: &mut Memory,
        buffers: &[Option<BufferId>],
    ) -> Result<Self> {
        let mut handles = Handles::default();
        let mut places: Vec<BufferId> = Vec::new();
        for table in &file.textures {
            let own = match table.buffer() {
                Some(buffer) => {
                    let place = (&file.source, table.name.as_str());
                    let bytes = contents(place.0, place.1, buffer, table.offset)?;
                    let id = memory.try_alloc(place.1, &bytes);
                    let none = || no_memory(place.0, place.1, buffer.bytes(), table.offset);
                    Some(id.ok_or_else(none)?)
                }
                None => None,
            };
            let of_others = || match table.texels {
                Texels::Arg(arg) => buffers[arg],
                Texels::Other(other) => places.get(other).copied(),
                Texels::Own(_) => None,
            };
            let buffer = own
                .or_else(of_others)
                .ok_or_else(|| Error::defect(format!("texture {} has no buffer", table.name)))?;
            places.push(buffer);
            handles.texels.push(own);
            handles.textures.push(memory.texture(Texture {
                name: table.name.clone(),
                buffer,
                shape: table.shape,
            }));
        }
        for table in &file.samplers {
            handles.samplers.push(memory.sampler(table.sampler));
        }
        let textures = file.textures.iter().map(|t| &t.name).zip(&handles.textures);
        let samplers = file.samplers.iter().map(|t| &t.name).zip(&handles.samplers);
        for (name, handle) in textures.chain(samplers) {
            if is_reference(program, name)
                && let Some(id) = program.symbol_buffer(memory, name)
            {
                memory.bytes_mut(id).copy_from_slice(&handle.to_le_bytes());
            }
        }
        Ok(handles)
    }

    /// The handle that an argument passes.
    pub fn of(&self, handle: Handle) -> u64 {
        let (list, at) = match handle {
            Handle::Texture(at) => (&self.textures, at),
            Handle::Sampler(at) => (&self.samplers, at),
        };
        list.get(at).copied().unwrap_or(0)
    }
}

/// Whether the PTX has a variable of that name for a handle.
fn is_reference(program: &Program, name: &str) -> bool {
    program.symbol(name).is_some_and(|s| s.bytes == 8)
}

/// Textures and samplers that no argument and no variable names are mistakes.
pub(super) fn check_named(file: &LaunchFile, program: &Program) -> Result<()> {
    let named = |handle: Handle| {
        let names = |arg: &Arg| arg.kind == ArgKind::Handle(handle);
        file.args.iter().any(names)
    };
    let textures = file.textures.iter().enumerate();
    let textures = textures.map(|(at, t)| (&t.name, Handle::Texture(at), t.offset));
    let samplers = file.samplers.iter().enumerate();
    let samplers = samplers.map(|(at, t)| (&t.name, Handle::Sampler(at), t.offset));
    let shared = |name: &str| {
        let at = file.textures.iter().position(|t| t.name == name);
        let of = |t: &super::texture::TextureTable| t.texels == Texels::Other(at.unwrap_or(0));
        at.is_some() && file.textures.iter().any(of)
    };
    for (name, handle, offset) in textures.chain(samplers) {
        if !named(handle) && !is_reference(program, name) && !shared(name) {
            return Err(file.source.error(
                format!("no argument names '{name}', and the PTX has no variable of that name"),
                format!("expected an [[arg]] with texture, surface or sampler = {name:?}"),
                offset,
            ));
        }
    }
    Ok(())
}
