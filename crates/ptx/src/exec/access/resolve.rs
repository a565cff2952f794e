//! Addresses to pointers, with every check that the sanitizer makes.

use crate::exec::api::FindingKind;
use crate::exec::check::{early, unwritten};
use crate::exec::image::{
    From, LOCAL_WINDOW, MemoryOp, PARAM_WINDOW, SHARED_WINDOW, WINDOW, offset_in, signed,
};
use crate::exec::machine::written::{self, WRITTEN};
use crate::exec::machine::{Common, Machine};
use crate::exec::memory::Object;
use crate::exec::registers::{Slot, Width};
use crate::names::Space;

/// A pointer for each lane; lanes that do nothing point to a dummy.
pub type Pointers = [*mut u8; 32];

/// Whether `lane` is in `exec`.
#[inline(always)]
fn on(exec: u32, lane: usize) -> bool {
    exec >> lane & 1 != 0
}

impl<'a> Machine<'a> {
    /// The addresses of all lanes.
    #[inline(always)]
    pub fn addresses(&self, info: &MemoryOp) -> [u64; 32] {
        self.addresses_from(info.from, info.offset)
    }

    /// The addresses of all lanes, from a register and an offset.
    #[inline(always)]
    pub fn addresses_from(&self, from: From, offset: i64) -> [u64; 32] {
        // SAFETY: decoding gives offsets inside the file, aligned to the width.
        unsafe {
            match from {
                From::Constant => [offset as u64; 32],
                From::Word(at) => {
                    let base = &*self.registers.place::<[u32; 32]>(at);
                    let offset = offset as u32;
                    std::array::from_fn(|l| u64::from(base[l].wrapping_add(offset)))
                }
                From::Double(at) => {
                    let base = &*self.registers.place::<[u64; 32]>(at);
                    std::array::from_fn(|l| base[l].wrapping_add(offset as u64))
                }
            }
        }
    }

    /// The address of one lane, likewise.
    pub fn address_from(&self, from: From, offset: i64, lane: u32) -> u64 {
        let base = |at, width| {
            let flip = false;
            self.registers.read_lane(Slot { at, width, flip }, lane)
        };
        match from {
            From::Constant => offset as u64,
            From::Word(at) => u64::from((base(at, Width::Word) as u32).wrapping_add(offset as u32)),
            From::Double(at) => base(at, Width::Double).wrapping_add(offset as u64),
        }
    }

    /// Pointers for the lanes of `exec`; bad accesses become findings and
    /// point to zeros.
    #[inline(always)]
    pub fn resolve(&mut self, info: &MemoryOp, exec: u32) -> Pointers {
        let addresses = self.addresses(info);
        match info.space {
            Some(Space::Shared | Space::SharedCta) => {
                self.shared_accesses += 1;
                self.resolve_shared(info, exec, &addresses)
            }
            Some(Space::Global | Space::Const) => self.resolve_global(info, exec, &addresses),
            _ => self.resolve_generic(info, exec, &addresses),
        }
    }

    #[inline(always)]
    fn window(
        &mut self,
        exec: u32,
        addresses: &[u64; 32],
        bytes: u32,
        (start, len, data): (u64, u64, *mut u8),
    ) -> Option<Pointers> {
        let dummy = self.dummy.as_mut_ptr().cast::<u8>();
        let unaligned = u64::from(bytes) - 1;
        let limit = (len + 1).saturating_sub(u64::from(bytes));
        let mut pointers = [dummy; 32];
        let mut bad = false;
        for lane in 0..32 {
            let offset = addresses[lane].wrapping_sub(start);
            let good = (offset < limit) & (addresses[lane] & unaligned == 0);
            bad |= on(exec, lane) & !good;
            pointers[lane] = if on(exec, lane) & good {
                data.wrapping_add(offset as usize)
            } else {
                dummy
            };
        }
        (!bad).then_some(pointers)
    }

    /// Pointers to offsets in shared memory.
    #[inline(always)]
    pub fn resolve_shared(
        &mut self,
        info: &MemoryOp,
        exec: u32,
        addresses: &[u64; 32],
    ) -> Pointers {
        let data = self.shared.as_mut_ptr().cast::<u8>();
        let (low, high) = info.region.within(Space::Shared, self.shared_len);
        let start = data.wrapping_add(low as usize);
        let window = (low, high.saturating_sub(low), start);
        let (pointers, exec) = match self.window(exec, addresses, info.bytes, window) {
            Some(pointers) => (pointers, exec),
            None => self.bad_shared(info, exec, addresses),
        };
        if !self.complete {
            self.track(info, exec, addresses);
        }
        pointers
    }

    /// Notes which bytes are written, and checks that those that are read were. The
    /// accesses of `exec` are inside shared memory.
    #[inline(always)]
    fn track(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
        let bytes = info.bytes as usize;
        let written = self.written.as_mut_ptr();
        let mut left = exec;
        if info.transfer.replaces() {
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                // SAFETY: there is a byte for every one of shared memory.
                unsafe {
                    let bytes_of = written.add(addresses[lane] as usize);
                    bytes_of.write_bytes(WRITTEN, bytes);
                }
            }
            return;
        }
        let mut all = WRITTEN;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            // SAFETY: there is a byte for every one of shared memory.
            let of =
                unsafe { std::slice::from_raw_parts(written.add(addresses[lane] as usize), bytes) };
            all &= match of.try_into() {
                Ok(word) => u8::from(u32::from_ne_bytes(word) == 0x0101_0101),
                Err(_) => of.iter().fold(WRITTEN, |all, byte| all & byte),
            };
        }
        if all == 0 {
            self.unwritten(info, exec, addresses);
        }
    }

    /// Reads of bytes that nobody has written.
    #[inline(never)]
    fn unwritten(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
        // A store of the bits that are left follows.
        if unwritten::is_masked(self) {
            return;
        }
        for lane in (0..32).filter(|&l| on(exec, l)) {
            let address = addresses[lane];
            let first = address as usize;
            let written = &mut self.written[first..first + info.bytes as usize];
            let does = (true, info.transfer.writes());
            let Some(missing) = written::access(written, does) else {
                continue;
            };
            let byte = (first + missing) as u64;
            let message = format!(
                "{} of shared memory at byte {address}: no thread of the block has written byte \
                 {byte}",
                self.describe(info)
            );
            early::note(
                self,
                FindingKind::Uninitialised,
                lane as u32,
                (address, byte),
                message,
            );
        }
    }

    #[inline(never)]
    fn bad_shared(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> (Pointers, u32) {
        self.dummy.fill(0);
        let mut pointers = [self.dummy.as_mut_ptr().cast::<u8>(); 32];
        let mut good = 0;
        for lane in (0..32).filter(|&l| on(exec, l)) {
            let address = addresses[lane];
            if self.has_peers()
                && let Some(pointer) = self.in_cluster(info, lane as u32, address)
            {
                pointers[lane] = pointer;
                continue;
            }
            let name = self.shared_variable(address);
            let what = self.describe(info);
            let at = signed(address);
            let (low, high) = info.region.within(Space::Shared, self.shared_len);
            let end = address.checked_add(u64::from(info.bytes));
            if !info.is_aligned(address) {
                let kind = FindingKind::Misaligned;
                let message = format!("{what} at byte {at} of shared memory is not aligned");
                self.found(kind, lane as u32, Some(address), name, message);
            } else if info.region.space != Space::Shared && end.is_none_or(|e| e > self.shared_len)
            {
                let message = format!(
                    "{what} at byte {at} of shared memory, of which the block has {}",
                    self.shared_len
                );
                self.beyond(info, lane as u32, Some(address), name, message);
            } else if address < low || end.is_none_or(|e| e > high) {
                let own = self.shared_variable(low);
                let message = format!(
                    "{what} at byte {} of {}, which has {}",
                    at.wrapping_sub(low as i64),
                    own.as_deref().unwrap_or("a variable"),
                    high.saturating_sub(low)
                );
                self.beyond(info, lane as u32, Some(address), own, message);
            } else {
                good |= 1 << lane;
                let data = self.shared.as_mut_ptr().cast::<u8>();
                pointers[lane] = data.wrapping_add(address as usize);
            }
        }
        (pointers, good)
    }

    #[inline(always)]
    fn resolve_global(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> Pointers {
        let last = self
            .last_object
            .get(info.index as usize)
            .map_or(0, |&o| o as usize);
        if let Some(object) = self.common.objects.get(last)
            && !(object.constant && info.transfer.writes())
        {
            let window = (object.address, object.len, object.data());
            if let Some(pointers) = self.window(exec, addresses, info.bytes, window) {
                return pointers;
            }
        }
        self.other_global(info, exec, addresses)
    }

    /// Lanes in other objects than the last, in several, or in none.
    #[inline(never)]
    fn other_global(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> Pointers {
        let first = addresses[exec.trailing_zeros() as usize % 32];
        if let Some(at) = self.object_of(first) {
            if let Some(last) = self.last_object.get_mut(info.index as usize) {
                *last = at as u32;
            }
            let object = &self.common.objects[at];
            let window = (object.address, object.len, object.data());
            if !(object.constant && info.transfer.writes())
                && let Some(pointers) = self.window(exec, addresses, info.bytes, window)
            {
                return pointers;
            }
        }
        self.dummy.fill(0);
        let mut pointers = [self.dummy.as_mut_ptr().cast::<u8>(); 32];
        for lane in (0..32).filter(|&l| on(exec, l)) {
            if let Some(pointer) = self.global_pointer(info, lane as u32, addresses[lane]) {
                pointers[lane] = pointer;
            }
        }
        pointers
    }

    /// Index of the object that has the address or is the nearest below it.
    fn object_of(&self, address: u64) -> Option<usize> {
        let Common {
            objects,
            by_address,
            ..
        } = self.common;
        let is_below = |&o: &u32| objects[o as usize].address <= address;
        let below = by_address.partition_point(is_below).checked_sub(1)?;
        Some(by_address[below] as usize)
    }

    /// The object and the offset in it of an access to global memory, where
    /// it is inside.
    pub fn global_place(&self, address: u64, bytes: u32) -> Option<(&'a Object, u64)> {
        if let Some(heap) = self.common.heap.filter(|h| h.has(address)) {
            return heap.place(address, bytes);
        }
        let objects = self.common.objects;
        let object = &objects[self.object_of(address)?];
        let offset = address - object.address;
        let end = offset.checked_add(bytes.into())?;
        (end <= object.len).then_some((object, offset))
    }

    fn global_pointer(&mut self, info: &MemoryOp, lane: u32, address: u64) -> Option<*mut u8> {
        if let Some(heap) = self.common.heap.filter(|h| h.has(address)) {
            return self.heap_pointer(heap, info, lane, address);
        }
        if let Some((object, offset)) = self.global_place(address, info.bytes)
            && info.is_aligned(address)
            && !(object.constant && info.transfer.writes())
        {
            return Some(object.data().wrapping_add(offset as usize));
        }
        self.refuse_global(info, lane, address);
        None
    }

    /// Why an access to global memory has no place there.
    #[cold]
    fn refuse_global(&mut self, info: &MemoryOp, lane: u32, address: u64) {
        let what = self.describe(info);
        if address < 1 << 16 {
            let message = format!("{what} at address {address}: a null pointer");
            self.found(FindingKind::Null, lane, Some(address), None, message);
            return;
        }
        let Some(at) = self.object_of(address) else {
            let message = format!("{what} at address {address:#x}, which is in no buffer");
            self.beyond(info, lane, Some(address), None, message);
            return;
        };
        let object = &self.common.objects[at];
        let (offset, name) = (address - object.address, object.name.clone());
        if info.is_outside(address, object.address..object.address + object.len) {
            self.outside_object(info, lane, address, object);
            return;
        }
        let (kind, message) = if info.is_aligned(address) {
            let message = format!("{what} to {name}, which is constant");
            (FindingKind::OutOfBounds, message)
        } else {
            let message = format!("{what} at byte {offset} of {name} is not aligned");
            (FindingKind::Misaligned, message)
        };
        self.found(kind, lane, Some(offset), Some(name), message);
    }

    /// An access past the end of `object`, the last one that begins at its
    /// address or below.
    fn outside_object(&mut self, info: &MemoryOp, lane: u32, address: u64, object: &Object) {
        let what = self.describe(info);
        let offset = address - object.address;
        // Just below a buffer it belongs to that one.
        let objects = self.common.objects.iter();
        let above = objects.filter(|o| o.address > address);
        let above = above.min_by_key(|o| o.address);
        let near = above.filter(|o| o.address - address < offset.saturating_sub(object.len));
        if let Some(above) = near {
            let (name, before) = (above.name.clone(), above.address - address);
            let message = format!("{what}, {before} bytes before {name}");
            self.beyond(info, lane, None, Some(name), message);
        } else {
            let (name, len) = (object.name.clone(), object.len);
            let message = format!("{what} at byte {offset} of {name}, which has {len}");
            self.beyond(info, lane, Some(offset), Some(name), message);
        }
    }

    /// Local memory, parameters, and generic addresses, which may be any.
    #[inline(never)]
    fn resolve_generic(&mut self, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> Pointers {
        let local = info.space == Some(Space::Local);
        // Where the variable is known, an address beside it is one of it, too.
        let known = match info.region.space {
            Space::Shared => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            Space::Param => PARAM_WINDOW,
            _ => 0,
        };
        let near = |a| offset_in(known, a).filter(|_| known != 0);
        let windows = addresses.map(|a| match near(a) {
            _ if local => LOCAL_WINDOW,
            Some(_) => known,
            None => a & WINDOW,
        });
        let first = windows[exec.trailing_zeros() as usize % 32];
        let same = (0..32).all(|l| !on(exec, l) || windows[l] == first);
        if same && first == 0 {
            return self.resolve_global(info, exec, addresses);
        }
        let inside = addresses.map(|a| match near(a) {
            _ if local => a,
            Some(offset) => offset,
            None => a & !WINDOW,
        });
        if same && first == SHARED_WINDOW {
            self.shared_accesses += 1;
            return self.resolve_shared(info, exec, &inside);
        }
        let mut pointers = [self.dummy.as_mut_ptr().cast::<u8>(); 32];
        for lane in (0..32).filter(|&l| on(exec, l)) {
            let one = 1 << lane;
            pointers[lane] = match windows[lane] {
                0 => self.resolve_global(info, one, addresses)[lane],
                SHARED_WINDOW => self.resolve_shared(info, one, &inside)[lane],
                window => self.private(info, window, lane, inside[lane]),
            };
        }
        pointers
    }

    /// Local memory and parameters.
    fn private(&mut self, info: &MemoryOp, window: u64, lane: usize, address: u64) -> *mut u8 {
        let params = self.common.params;
        let (space, data, len) = match window {
            LOCAL_WINDOW => {
                let data = self.lane_local(lane as u32);
                (Space::Local, data, u64::from(self.image.local_bytes))
            }
            PARAM_WINDOW if !info.transfer.writes() => (Space::Param, params.data(), params.len),
            _ => (Space::Reg, std::ptr::null_mut(), 0),
        };
        let (low, high) = info.region.within(space, len);
        if info.is_outside(address, low..high) {
            self.outside(info, space, lane as u32, address);
        } else if !info.is_aligned(address) {
            self.unaligned(info, space, lane as u32, address);
        } else {
            if space == Space::Local && !self.written_by.is_empty() {
                unwritten::local(self, info, lane as u32, address);
            }
            return data.wrapping_add(address as usize);
        }
        self.dummy.fill(0);
        self.dummy.as_mut_ptr().cast()
    }

    /// An access outside its variable, or the whole space of a thread.
    fn outside(&mut self, info: &MemoryOp, space: Space, lane: u32, address: u64) {
        let what = self.describe(info);
        let at = signed(address);
        let whole = match space {
            Space::Local => ("local memory", u64::from(self.image.local_bytes)),
            Space::Param => ("the parameters", self.common.params.len),
            _ => ("nothing", 0),
        };
        let known = (info.region.space == space).then_some(info.region.low);
        let variable = known.and_then(|low| self.own_variable(space, low));
        let name = variable.map(|v| v.0.to_owned());
        let message = match variable {
            Some((name, start, bytes)) => {
                format!(
                    "{what} at byte {} of {name}, which has {bytes}",
                    at - start as i64
                )
            }
            None => format!("{what} at byte {at} of {}, which has {}", whole.0, whole.1),
        };
        self.beyond(info, lane, Some(address), name, message);
    }

    fn unaligned(&mut self, info: &MemoryOp, space: Space, lane: u32, address: u64) {
        let what = self.describe(info);
        let place = self.own_variable(space, address);
        let name = place.map(|v| v.0.to_owned());
        let message = match place {
            Some((name, start, _)) => {
                format!(
                    "{what} at byte {} of {name} is not aligned",
                    address - start
                )
            }
            None => format!("{what} at byte {address} is not aligned"),
        };
        self.found(FindingKind::Misaligned, lane, Some(address), name, message);
    }

    /// A load of a parameter of the kernel that is beyond it, or not aligned.
    #[inline(never)]
    pub fn bad_parameter(&mut self, info: &MemoryOp, lane: u32) {
        let address = info.offset as u64;
        let (low, high) = (info.region.low, info.region.high);
        if info.is_outside(address, low..high) {
            self.outside(info, Space::Param, lane, address)
        } else {
            self.unaligned(info, Space::Param, lane, address)
        }
    }
}
