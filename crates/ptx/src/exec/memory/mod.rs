//! Global memory of a run: every buffer is an object of its own.
//!
//! Between two buffers there are 4 GB of addresses that belong to nobody, so
//! that a wrong 32-bit index cannot land in another buffer. Blocks that run
//! on several cores access the bytes through [`Object`]s with atomic
//! operations of the access size, so races in a kernel are
//! not data races in Rust.

mod blank;
pub(super) mod heap;
pub(super) mod map;
mod object;

use super::api::{BufferId, Finding};
use super::image::{TEXTURE_WINDOW, WINDOW};
use super::texture::{Sampler, Texture};
use blank::Written;
use heap::Heap;
use map::{ALIGN, FIRST, GAP};
pub(super) use object::Object;

/// Global memory.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) objects: Vec<Object>,
    /// Indices of the objects in the order of their addresses.
    pub(super) by_address: Vec<u32>,
    /// Address of the next buffer.
    next: u64,
    pub(super) textures: Vec<Texture>,
    pub(super) samplers: Vec<Sampler>,
    /// Made when a kernel runs that calls `malloc`.
    pub(super) heap: Option<Heap>,
}

impl Memory {
    /// Memory without buffers.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Adds a buffer with these bytes. Panics where the system has no memory for
    /// it: [`Memory::try_alloc`] does not.
    pub fn alloc(&mut self, name: &str, bytes: Vec<u8>) -> BufferId {
        let id = self.try_alloc(name, &bytes);
        id.unwrap_or_else(|| panic!("no memory for {name}, {} bytes", bytes.len()))
    }

    /// Adds a buffer with these bytes; none where the system has no memory for it.
    pub fn try_alloc(&mut self, name: &str, bytes: &[u8]) -> Option<BufferId> {
        let address = self.next.max(FIRST);
        let id = self.try_alloc_at(name, address, bytes)?;
        self.next = (address + bytes.len() as u64 + GAP).next_multiple_of(ALIGN);
        Some(id)
    }

    /// Adds a buffer with these bytes at `address`, where a copy of it is, say. It
    /// must not overlap another one. None where the system has no memory for it.
    pub fn try_alloc_at(&mut self, name: &str, address: u64, bytes: &[u8]) -> Option<BufferId> {
        self.place(name, address, bytes, bytes.len() as u64, false)
    }

    /// Takes the contents of a buffer away: with [`Options::global_races`], a read of a byte
    /// that no kernel has written is a finding. The bytes stay what they are.
    ///
    /// [`Options::global_races`]: super::Options::global_races
    pub fn without_contents(&mut self, id: BufferId) {
        self.objects[id.0].written = Some(Written::default());
    }

    /// Adds an object at a given address; `bytes` may be its beginning only.
    /// None where the system has no memory for it.
    pub(super) fn place(
        &mut self,
        name: &str,
        address: u64,
        bytes: &[u8],
        len: u64,
        constant: bool,
    ) -> Option<BufferId> {
        let object = Object::new(name, address, len, constant)?;
        let id = BufferId(self.objects.len());
        let below = |&o: &u32| self.objects[o as usize].address <= address;
        let at = self.by_address.partition_point(below);
        self.by_address.insert(at, id.0 as u32);
        self.objects.push(object);
        // Zeros take no memory before they are written.
        if bytes.iter().any(|&byte| byte != 0) {
            self.bytes_mut(id)[..bytes.len()].copy_from_slice(bytes);
        }
        Some(id)
    }

    /// Adds a texture or a surface, whose buffer has all of its texels: its
    /// handle, which kernels are given.
    pub fn texture(&mut self, texture: Texture) -> u64 {
        self.textures.push(texture);
        handle(self.textures.len() - 1)
    }

    /// Adds a sampler for textures that have none of their own: its handle.
    pub fn sampler(&mut self, sampler: Sampler) -> u64 {
        self.samplers.push(sampler);
        handle(self.samplers.len() - 1)
    }

    /// The object at exactly that address.
    pub(super) fn at(&self, address: u64) -> Option<BufferId> {
        let of = |&o: &u32| self.objects[o as usize].address;
        let at = self.by_address.partition_point(|o| of(o) < address);
        let id = *self.by_address.get(at).filter(|o| of(o) == address)?;
        Some(BufferId(id as usize))
    }

    /// Address of the first byte, which kernels are given.
    pub fn address(&self, id: BufferId) -> u64 {
        self.objects[id.0].address
    }

    /// The buffer's name.
    pub fn name(&self, id: BufferId) -> &str {
        &self.objects[id.0].name
    }

    /// The bytes.
    pub fn bytes(&self, id: BufferId) -> &[u8] {
        let object = &self.objects[id.0];
        // SAFETY: the words are that long, and no kernel runs while the
        // memory is borrowed.
        unsafe { std::slice::from_raw_parts(object.data(), object.len as usize) }
    }

    /// The bytes, to be written.
    pub fn bytes_mut(&mut self, id: BufferId) -> &mut [u8] {
        let object = &mut self.objects[id.0];
        // SAFETY: the words are that long, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(object.data(), object.len as usize) }
    }

    /// Allocations by `malloc` that kernels have not freed, as warnings.
    pub fn leaks(&self) -> Vec<Finding> {
        self.heap.as_ref().map_or_else(Vec::new, Heap::leaks)
    }

    /// A copy of everything, as an earlier state to come back to; none where the
    /// system has no memory for it.
    pub fn snapshot(&self) -> Option<Memory> {
        let objects: Option<Vec<Object>> = self.objects.iter().map(Object::copy).collect();
        Some(Memory {
            objects: objects?,
            by_address: self.by_address.clone(),
            next: self.next,
            textures: self.textures.clone(),
            samplers: self.samplers.clone(),
            heap: match &self.heap {
                Some(heap) => Some(heap.copy()?),
                None => None,
            },
        })
    }
}

/// The handle of texture or sampler number `index` of a memory.
fn handle(index: usize) -> u64 {
    TEXTURE_WINDOW | (index as u64 + 1) << 8
}

/// The number of the texture or sampler of a handle.
pub(super) fn number(handle: u64) -> Option<usize> {
    let index = (handle & !WINDOW).checked_sub(256)?;
    let is_handle = handle & WINDOW == TEXTURE_WINDOW && index.is_multiple_of(256);
    is_handle.then_some((index >> 8) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_far_apart_and_keep_their_bytes() {
        let mut memory = Memory::new();
        let a = memory.alloc("a", vec![1; 5]);
        let b = memory.alloc("b", vec![2; 300]);
        assert!(memory.address(b) - memory.address(a) > u64::from(u32::MAX));
        assert_eq!(memory.address(b) % ALIGN, 0);
        memory.bytes_mut(a)[4] = 9;
        let old = memory.snapshot().unwrap();
        memory.bytes_mut(b)[299] = 7;
        assert_eq!(
            (memory.bytes(a), memory.bytes(b)[299]),
            (&[1, 1, 1, 1, 9][..], 7)
        );
        assert_eq!((old.bytes(a)[4], old.bytes(b)[299]), (9, 2));
    }
}
