//! The machine of a configuration, as the hardware description has it.

use super::Config;
use spadkit_hdl::{AddressWidths, Machine, Params, Phases};
use spadkit_mapping::trace::Wide;

impl Config {
    /// The machine that is emitted for this configuration.
    pub fn machine(&self) -> Machine {
        let size = |value: u32| value as usize;
        let path = &self.path;
        Machine {
            geometry: AddressWidths {
                addr_bits: size(self.geometry.addr_bits()),
                bank_bits: size(self.geometry.bank_bits()),
            },
            hash_unit: self.hash_unit,
            path_hash: path.hash,
            hash_reset: self.reset_registers(),
            capacity_words: size(self.capacity_words),
            lanes: size(self.lanes),
            word_bits: size(self.word_bits),
            warp_size: size(self.warp_size),
            warps: size(path.warps),
            blocks: size(path.blocks),
            locks: size(path.locks),
            lock_group_cycles: size(path.lock_group_cycles),
            lock_owner: path.lock_owner,
            broadcast: path.broadcast,
            merge_bytes: path.merge_bytes,
            mem_stages: size(path.mem_stages),
            ahead: size(path.ahead),
            hash_stage: size(path.hash_stage),
            history_sets: size(path.history_sets),
            retry: path.retry,
            tcdm: path.tcdm,
            stream: path.stream,
            axi: path.axi,
            phases: match self.wide {
                Wide::FirstWord => Phases::None,
                Wide::Phases => Phases::All,
                Wide::PhasesMerged => Phases::Merged,
            },
        }
    }

    /// The parameters of microarchitecture/parameters.md, under its
    /// names, for a configuration that has been checked.
    pub fn parameters(&self) -> Params {
        Params::of(&self.machine())
    }

    /// Settings that `sim` follows and the path's RTL does not have, each with
    /// what the path does instead.
    pub fn simulated_only(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.settings.scheduler.code().is_none() {
            let policy = serde_json::json!(self.settings.scheduler);
            notes.push(format!(
                "[scheduler] policy = {policy} is simulated only: the path has lrr, \
                 conflict-aware, owf, owf-slot and lowest-slot (cfg_policy, cfg_aware)"
            ));
        }
        if self.sm.schedulers > 1 {
            notes.push(format!(
                "[scheduler] count = {} is simulated only: the path has one scheduler, which \
                 issues one pass a cycle",
                self.sm.schedulers
            ));
        }
        notes
    }
}
