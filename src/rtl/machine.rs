//! The machine that a configuration asks the hardware description for.

use crate::config::{Config, PathHash};
use crate::hash::HashKind;
use spadkit_hdl::{Configured, Geometry, Machine, PathHash as HdlHash, RetryLatencies};

/// The hardware parameters of `config`.
pub(super) fn machine(config: &Config) -> Machine {
    let size = |value: u32| value as usize;
    let path = &config.path;
    let hash_unit = configured(config.hash_unit);
    Machine {
        geometry: Geometry {
            addr_bits: size(config.geometry.addr_bits()),
            bank_bits: size(config.geometry.bank_bits()),
        },
        hash_unit,
        path_hash: match path.hash {
            PathHash::Mod => HdlHash::Mod,
            PathHash::Xor => HdlHash::Xor,
            PathHash::Add => HdlHash::Add,
            PathHash::Configurable => HdlHash::Configured(hash_unit),
            PathHash::Rap => HdlHash::Configured(Configured::Rap),
        },
        capacity_words: size(config.capacity_words),
        lanes: size(config.lanes),
        word_bits: size(config.word_bits),
        warp_size: size(config.warp_size),
        warps: size(path.warps),
        blocks: size(path.blocks),
        locks: size(path.locks),
        lock_group_cycles: size(path.lock_group_cycles),
        broadcast: path.broadcast,
        merge_bytes: path.merge_bytes,
        mem_stages: size(path.mem_stages),
        ahead: size(path.ahead),
        hash_stage: size(path.hash_stage),
        history_sets: size(path.history_sets),
        retry: RetryLatencies {
            read: size(path.retry.read),
            update: size(path.retry.update),
            write: size(path.retry.write),
            branch: size(path.retry.branch),
        },
    }
}

/// The unit that a kind of hash needs configured.
fn configured(kind: HashKind) -> Configured {
    match kind {
        HashKind::BitvecPerm => Configured::BitvecPerm,
        HashKind::BitvecXor => Configured::BitvecXor,
        HashKind::BitwisePerm => Configured::BitwisePerm,
        HashKind::BitwiseXor => Configured::BitwiseXor,
        HashKind::Matrix => Configured::Matrix,
    }
}
