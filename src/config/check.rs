//! Refusals: values out of range, and configurations that contradict themselves.

use super::Config;
use super::PC_BITS;
use super::path::Scheduler;
use crate::error::{Error, Result};
use crate::trace::Wide;
use std::ops::RangeInclusive;

fn refuse<T>(what: String, help: impl Into<String>) -> Result<T> {
    Err(Error::usage(what, help))
}

fn in_range(name: &str, value: u32, range: RangeInclusive<u32>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let (from, to) = (range.start(), range.end());
    refuse(
        format!("{name} {value} is not supported"),
        format!("expected {from} to {to}"),
    )
}

fn power_of_two(name: &str, value: u32, range: RangeInclusive<u32>) -> Result<()> {
    if range.contains(&value) && value.is_power_of_two() {
        return Ok(());
    }
    let (from, to) = (range.start(), range.end());
    refuse(
        format!("{name} {value} is not supported"),
        format!("expected a power of two from {from} to {to}"),
    )
}

impl Config {
    /// Refuses what no machine can be: each error names the value and what was
    /// expected, and begins with the key where one alone is wrong.
    pub(super) fn check(&self) -> Result<()> {
        self.check_geometry()?;
        self.check_path()?;
        self.check_settings()?;
        self.check_sm()
    }

    fn check_geometry(&self) -> Result<()> {
        power_of_two("warp_size", self.warp_size, 2..=64)?;
        if self.lanes < 2 || self.lanes > self.warp_size || !self.lanes.is_power_of_two() {
            return refuse(
                format!(
                    "{} lanes do not divide a warp of {}",
                    self.lanes, self.warp_size
                ),
                "expected a power of two, at least 2 and at most warp_size",
            );
        }
        if ![32, 64].contains(&self.word_bits) {
            return refuse(
                format!("word_bits {} is not supported", self.word_bits),
                "expected 32 or 64",
            );
        }
        if self.capacity_words == 0 || self.capacity_words as usize > self.geometry.words() {
            return refuse(
                format!(
                    "capacity_words {} does not fit {}",
                    self.capacity_words, self.geometry
                ),
                "expected 1 to 2^addr_bits words",
            );
        }
        if !self
            .capacity_words
            .is_multiple_of(self.geometry.banks() as u32)
        {
            return refuse(
                format!(
                    "capacity_words {} does not fill {} banks evenly",
                    self.capacity_words,
                    self.geometry.banks()
                ),
                "expected a multiple of 2^bank_bits",
            );
        }
        in_range("block_words", self.block_words, 1..=self.capacity_words)?;
        self.check_wide()
    }

    /// Phases are parts of a warp, and made of the words of a trace.
    fn check_wide(&self) -> Result<()> {
        if self.wide == Wide::FirstWord {
            return Ok(());
        }
        if self.lanes != self.warp_size {
            return refuse(
                format!(
                    "phases with {} lanes for warps of {}",
                    self.lanes, self.warp_size
                ),
                "wide = \"phases\" needs lanes = warp_size",
            );
        }
        if self.word_bits != 32 {
            return refuse(
                format!("phases with words of {} bits", self.word_bits),
                "wide = \"phases\" needs word_bits = 32",
            );
        }
        Ok(())
    }

    fn check_path(&self) -> Result<()> {
        let p = &self.path;
        in_range("warps", p.warps, 2..=128)?;
        in_range("blocks", p.blocks, 2..=64)?;
        if !p.blocks.is_multiple_of(2) || p.blocks > p.warps {
            return refuse(
                format!("{} blocks do not go with {} warps", p.blocks, p.warps),
                "expected an even number of block slots, at most one per warp slot",
            );
        }
        if p.locks != 0 {
            let most = 1024.min(1 << self.geometry.addr_bits());
            power_of_two("locks", p.locks, 32..=most)
                .or_else(|e| refuse(e.to_string(), format!("expected 0 (no lock unit) or a power of two from 32 to {most}, at most one per word")))?;
        }
        if ![1, 2, 4, 8].contains(&p.lock_group_cycles) || p.lock_group_cycles > self.lanes {
            return refuse(
                format!(
                    "lock_group_cycles {} is not supported for {} lanes",
                    p.lock_group_cycles, self.lanes
                ),
                "expected 1, 2, 4 or 8, at most the number of lanes",
            );
        }
        in_range("mem_stages", p.mem_stages, 2..=8)?;
        in_range("ahead", p.ahead, 0..=3)?;
        in_range("hash.stage", p.hash_stage, 0..=1)?;
        power_of_two("history_sets", p.history_sets, 2..=1 << (PC_BITS - 1))?;
        for (name, cycles) in [
            ("retry.read", p.retry.read),
            ("retry.update", p.retry.update),
            ("retry.write", p.retry.write),
            ("retry.branch", p.retry.branch),
        ] {
            in_range(name, cycles, 1..=63)?;
        }
        in_range("retry.contexts", p.retry_contexts, 1..=32)?;
        Ok(())
    }

    fn check_settings(&self) -> Result<()> {
        let settings = &self.settings;
        if settings.scheduler == Scheduler::ConflictAware && !settings.is_aware() {
            return refuse(
                "aware = false contradicts policy = \"conflict-aware\", which is lrr and aware"
                    .to_owned(),
                "set policy = \"lrr\", or leave aware out",
            );
        }
        if settings.violate && !settings.is_aware() {
            return refuse(
                "violate contradicts the scheduler: it masks no warps".to_owned(),
                "set aware = true beside the policy, or policy = \"conflict-aware\", or leave \
                 violate out",
            );
        }
        Ok(())
    }

    fn check_sm(&self) -> Result<()> {
        let s = &self.sm;
        in_range("frontend_stages", s.frontend_stages, 0..=64)?;
        in_range("scheduler.count", s.schedulers, 1..=self.path.warps)?;
        in_range("active_warps", s.active_warps, 1..=128)?;
        in_range("registers", s.registers, 1..=1 << 24)?;
        let l = s.latencies;
        for (name, cycles) in [("alu", l.alu), ("sfu", l.sfu), ("branch", l.branch)] {
            in_range(&format!("{name}_cycles"), cycles, 1..=1024)?;
        }
        in_range("shared_cycles", l.shared, 0..=1024)?;
        let g = s.global;
        in_range("global.latency", g.latency, 1..=100_000)?;
        power_of_two(
            "global.segment_bytes",
            g.segment_bytes,
            self.word_bytes()..=4096,
        )?;
        // In thousandths all times of the channel are whole numbers; what is no
        // number fails the range.
        let thousandths = g.bytes_per_cycle * 1000.0;
        let in_thousandths = (thousandths - thousandths.round()).abs() < 1e-6;
        if !(0.01..=4096.0).contains(&g.bytes_per_cycle) || !in_thousandths {
            return refuse(
                format!(
                    "global.bytes_per_cycle {} is not supported",
                    g.bytes_per_cycle
                ),
                "expected 0.01 to 4096, with three decimals at most",
            );
        }
        in_range("global.max_segments", g.max_segments, 1..=1 << 16)?;
        in_range("global.max_stores", g.max_stores, 1..=1 << 16)?;
        in_range("global.store_latency", g.store_latency, 0..=100_000)?;
        self.check_l1()?;
        // Not a number fails this as well.
        if !(0.0..=1.0).contains(&s.sharing.threshold) {
            return refuse(
                format!("threshold {} is not a part", s.sharing.threshold),
                "expected t, the part of a block's scratchpad that stays its own, from 0 to 1",
            );
        }
        Ok(())
    }

    /// The keys of an L1 that there is not are those of one that only lacks a
    /// size: they are in range, but need not go together.
    fn check_l1(&self) -> Result<()> {
        let (l1, global) = (self.sm.l1, self.sm.global);
        in_range("l1.size_bytes", l1.size_bytes, 0..=1 << 26)?;
        in_range("l1.ways", l1.ways, 1..=1 << 16)?;
        power_of_two("l1.line_bytes", l1.line_bytes, self.word_bytes()..=4096)?;
        in_range("l1.latency", l1.latency, 1..=100_000)?;
        in_range("l1.mshrs", l1.mshrs, 1..=1 << 16)?;
        if l1.size_bytes == 0 {
            return Ok(());
        }
        if l1.line_bytes < global.segment_bytes {
            return refuse(
                format!(
                    "l1.line_bytes {} is less than a segment of {} bytes",
                    l1.line_bytes, global.segment_bytes
                ),
                "a line is filled by whole segments: raise line_bytes or lower \
                 [global] segment_bytes",
            );
        }
        let set = u64::from(l1.ways) * u64::from(l1.line_bytes);
        if !u64::from(l1.size_bytes).is_multiple_of(set) {
            return refuse(
                format!(
                    "l1.size_bytes {} is not a whole number of sets of {} lines of {} bytes",
                    l1.size_bytes, l1.ways, l1.line_bytes
                ),
                format!("expected a multiple of ways * line_bytes = {set}, or 0 for no L1"),
            );
        }
        if l1.latency > global.latency {
            return refuse(
                format!(
                    "l1.latency {} is more than the {} cycles of global memory",
                    l1.latency, global.latency
                ),
                "a hit may not take longer than a miss: lower [l1] latency or raise \
                 [global] latency",
            );
        }
        Ok(())
    }
}
