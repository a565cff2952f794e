//! Executes an instruction between branches.
//!
//! Beside it the instructions that concern a warp as a whole (exchanges, named
//! lanes, barriers) and those of textures.

pub(super) mod barrier;
pub(super) mod exchange;
pub(super) mod members;
mod sampling;

use super::access::{pair, shared};
use super::asynchronous::{bulk, bulk_tensor, deliver, mbarrier};
use super::check::{asynchronous, discard, raced};
use super::image::form::{Map, Step};
use super::machine::Machine;
use super::system::{allocation, print};
use super::{access, lanes, tensor};

/// Executes a function of registers.
#[inline(always)]
pub(super) fn map(m: &Machine, op: &Map, exec: u32) {
    // SAFETY: decoding chooses the kernel by the widths of the registers, and
    // only where there are the vector instructions that it has.
    unsafe { (op.run)(m.registers, op, exec) }
}

/// Executes an instruction for the lanes of `exec`.
#[inline(always)]
pub(super) fn execute(m: &mut Machine, step: &Step, exec: u32) {
    let image = m.image;
    let memory = |at: u32| &image.memory[at as usize];
    match *step {
        Step::Nothing => {}
        Step::Map(ref op) => map(m, op, exec),
        // SAFETY: as for `map`.
        Step::Compare(ref compare) => unsafe { (compare.run)(m.registers, compare, exec) },
        // SAFETY: as for `map`.
        Step::Select(ref select) => unsafe { (select.run)(m.registers, select, exec) },
        Step::Masks(ref masks) => lanes::masks(m.registers, masks, exec),
        Step::Scalar { generic } => {
            lanes::generic(m.registers, &image.generics[generic as usize], exec);
        }
        Step::Repack { repack } => {
            exchange::repack(m.registers, &image.repacks[repack as usize], exec);
        }
        Step::MoveElements { moves } => {
            exchange::move_elements(m.registers, &image.element_moves[moves as usize], exec);
        }
        Step::Pair { pair: at } => pair::copy(m.registers, image.pairs[at as usize], exec),
        Step::Load { access } => access::load(m, memory(access), exec),
        Step::LoadWords { access } => shared::load(m, memory(access), exec),
        Step::LoadParameter { access } => access::load_parameter(m, memory(access), exec),
        Step::BadParameter { access } => access::bad_parameter(m, memory(access), exec),
        Step::Store { access } => access::store(m, memory(access), exec),
        Step::StoreWords { access } => shared::store(m, memory(access), exec),
        Step::Atomic { access } => access::atomic(m, memory(access), exec),
        Step::Delivered { access, change } => {
            deliver::run(m, memory(access), &image.changes[change as usize], exec);
        }
        Step::AtomicPair { access } => pair::atomic(m, memory(access), exec),
        Step::Copy { access } => access::copy(m, memory(access), exec),
        Step::Matrix { access } => access::matrix(m, memory(access), exec),
        Step::Fragment { access } => tensor::moved(m, memory(access), exec),
        Step::Group { access } => tensor::multiply_group(m, memory(access), exec),
        Step::GroupFence => asynchronous::fence(m),
        Step::GroupCommit => asynchronous::commit_group(m),
        Step::GroupWait { left } => asynchronous::wait_group(m, left),
        Step::Tensor { tensor } => tensor::multiply(m, &image.tensors[tensor as usize], exec),
        Step::Commit => asynchronous::commit(m, exec),
        Step::Wait { left } => asynchronous::wait(m, left, exec),
        Step::Bulk { bulk } => bulk::copy(m, &image.bulks[bulk as usize], exec),
        Step::TensorMap { map } => bulk_tensor::run(m, &image.maps[map as usize], exec),
        Step::Mbarrier { change } => mbarrier::change(m, &image.changes[change as usize], exec),
        Step::Fence { fence, sides } => raced::fence(m, (fence, sides), exec),
        Step::FenceInit => mbarrier::fence_init(m, exec),
        Step::BulkCommit => asynchronous::bulk_commit(m, exec),
        Step::BulkWait { left, reads } => asynchronous::bulk_wait(m, (left, reads), exec),
        Step::Exchange { exchange } => {
            exchange::exchange(m, &image.exchanges[exchange as usize], exec);
        }
        Step::Clock { to, upper } => exchange::clock(m, to, upper, exec),
        Step::Texture { texture: at } => sampling::run(m, &image.textures[at as usize], exec),
        Step::Discard { access } => discard::run(m, memory(access), exec),
        Step::Print { call } => print::print(m, &image.system_calls[call as usize], exec),
        Step::Allocate { call } => {
            allocation::allocate(m, &image.system_calls[call as usize], exec)
        }
        Step::Free { call } => allocation::free(m, &image.system_calls[call as usize], exec),
    }
}
