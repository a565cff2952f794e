//! Checks for keys that contradict each other. The range of each single key is
//! defined with the key.

use super::Config;
use super::keys::KEYS;
use super::path::Scheduler;
use super::refusal::Refusal;
use spadkit_mapping::trace::Wide;

type Checked = Result<(), Refusal>;

/// Sectors of a cache line.
const MOST_SECTORS: u32 = 64;

fn refuse(keys: &[&'static str], what: String, help: impl Into<String>) -> Checked {
    Err(Refusal::between(keys, what, help))
}

/// The keys of a cache with their values, for its checks.
#[derive(Clone, Copy)]
struct CacheKeys {
    name: &'static str,
    section: &'static str,
    size: (&'static str, u32),
    ways: (&'static str, u32),
    line: (&'static str, u32),
    latency: (&'static str, u32),
}

impl Config {
    /// Refuses what no machine can be: a number out of its range, or two keys
    /// that do not go together.
    pub(super) fn check(&self) -> Checked {
        KEYS.iter().try_for_each(|key| key.check(self))?;
        self.check_geometry()?;
        self.check_wide()?;
        self.check_path()?;
        self.check_windows()?;
        self.check_posted()?;
        self.check_reset()?;
        self.check_axi()?;
        self.check_settings()?;
        self.check_memory()?;
        self.check_l1()?;
        self.check_l2()?;
        self.check_dram()
    }

    fn check_geometry(&self) -> Checked {
        if self.lanes > self.warp_size {
            return refuse(
                &["geometry.lanes", "geometry.warp_size"],
                format!(
                    "{} lanes do not divide a warp of {}",
                    self.lanes, self.warp_size
                ),
                "expected at most warp_size lanes",
            );
        }
        const CAPACITY: &[&str] = &[
            "geometry.capacity_words",
            "geometry.addr_bits",
            "geometry.bank_bits",
        ];
        if self.capacity_words as usize > self.geometry.words() {
            return refuse(
                CAPACITY,
                format!(
                    "capacity_words {} does not fit {}",
                    self.capacity_words, self.geometry
                ),
                format!(
                    "expected at most 2^addr_bits = {} words",
                    self.geometry.words()
                ),
            );
        }
        let banks = self.geometry.banks() as u32;
        if !self.capacity_words.is_multiple_of(banks) {
            return refuse(
                CAPACITY,
                format!(
                    "capacity_words {} does not fill {banks} banks evenly",
                    self.capacity_words
                ),
                format!("expected a multiple of 2^bank_bits = {banks}"),
            );
        }
        if self.block_words > self.capacity_words {
            return refuse(
                &["geometry.block_words", "geometry.capacity_words"],
                format!(
                    "block_words {} is more than the {} words of the scratchpad",
                    self.block_words, self.capacity_words
                ),
                "expected at most capacity_words",
            );
        }
        Ok(())
    }

    /// Phases are parts of a warp, and made of the words of a trace.
    fn check_wide(&self) -> Checked {
        if self.wide == Wide::FirstWord {
            return Ok(());
        }
        let wide = format!("wide = {:?}", self.wide.name());
        if self.lanes != self.warp_size {
            return refuse(
                &["geometry.wide", "geometry.lanes", "geometry.warp_size"],
                format!(
                    "{wide} with {} lanes and warps of {}",
                    self.lanes, self.warp_size
                ),
                format!("{wide} needs lanes = warp_size"),
            );
        }
        if self.lanes < 4 {
            return refuse(
                &["geometry.wide", "geometry.lanes"],
                format!("{wide} with {} lanes", self.lanes),
                format!("{wide} needs 4 lanes or more: 16 bytes are served to a quarter of them"),
            );
        }
        if self.word_bits != 32 {
            return refuse(
                &["geometry.wide", "geometry.word_bits"],
                format!("{wide} with words of {} bits", self.word_bits),
                format!("{wide} needs word_bits = 32"),
            );
        }
        Ok(())
    }

    fn check_path(&self) -> Checked {
        let p = &self.path;
        if !p.blocks.is_multiple_of(2) || p.blocks > p.warps {
            return refuse(
                &["path.blocks", "path.warps"],
                format!(
                    "{} block slots are not compatible with {} warp slots",
                    p.blocks, p.warps
                ),
                "expected an even number of block slots, at most one per warp slot",
            );
        }
        let words = 1 << self.geometry.addr_bits();
        if p.locks > words {
            return refuse(
                &["path.locks", "geometry.addr_bits"],
                format!("locks {} are more than the {words} words", p.locks),
                "expected at most one lock per word, or 0 for no lock unit",
            );
        }
        if p.lock_group_cycles > self.lanes {
            return refuse(
                &["path.lock_group_cycles", "geometry.lanes"],
                format!(
                    "lock_group_cycles {} is not supported for {} lanes",
                    p.lock_group_cycles, self.lanes
                ),
                "expected at most the number of lanes",
            );
        }
        Ok(())
    }

    /// The requirements of a window of overlapping accesses, and the settings that require one.
    fn check_windows(&self) -> Checked {
        let p = &self.path;
        if p.stream.window > 0 && !(p.broadcast && p.merge_bytes) {
            return refuse(
                &["stream.window", "path.broadcast", "path.merge_bytes"],
                format!(
                    "a window of {} accesses without broadcast or byte merging is not supported",
                    p.stream.window
                ),
                "expected window = 0, or broadcast and merge_bytes = true",
            );
        }
        let overlaps = p.broadcast && p.merge_bytes && p.mem_stages == 2 && p.locks == 0;
        if self.sm.window > 0 && !overlaps {
            return refuse(
                &["sm.window", "path.mem_stages", "path.locks"],
                format!(
                    "a window of {} accesses in the path with {} memory stages and {} locks is \
                     not supported",
                    self.sm.window, p.mem_stages, p.locks
                ),
                "set mem_stages = 2, locks = 0, broadcast and merge_bytes = true; or window = 0",
            );
        }
        if p.stream.atomics && p.stream.window == 0 {
            return refuse(
                &["stream.atomics", "stream.window"],
                "atomic operations without a window of accesses are not supported".to_owned(),
                "set window = 2 or more, or atomics = false",
            );
        }
        Ok(())
    }

    fn check_posted(&self) -> Checked {
        if self.path.stream.posted && self.wide.in_phases() {
            return refuse(
                &["stream.posted", "geometry.wide"],
                "stores without an answer beside wide accesses in phases are not supported"
                    .to_owned(),
                "set posted = false, or leave wide out",
            );
        }
        Ok(())
    }

    /// The AXI port sees every byte, and replaces at most as many lanes as the machine has.
    fn check_axi(&self) -> Checked {
        let axi = self.path.axi;
        if axi.is_absent() {
            return Ok(());
        }
        if self.path.tcdm.posted {
            return refuse(
                &["tcdm.posted", "axi.addr_bits"],
                "an AXI port beside writes without an answer is not supported: it answers a \
                 write when its lane does"
                    .to_owned(),
                "set posted = false, or axi.addr_bits = 0",
            );
        }
        let bytes = self.geometry.addr_bits() + self.word_bytes().ilog2();
        if axi.addr_bits < bytes.max(12) {
            return refuse(
                &["axi.addr_bits", "geometry.addr_bits", "geometry.word_bits"],
                format!(
                    "addresses of {} bits at the AXI port are too short",
                    axi.addr_bits
                ),
                format!(
                    "expected at least 12, and the {bytes} bits of a byte of 2^n words; or 0 for \
                     no AXI port"
                ),
            );
        }
        if axi.lanes > self.lanes {
            return refuse(
                &["axi.lanes", "geometry.lanes"],
                format!(
                    "an AXI port in the place of {} lanes of {}",
                    axi.lanes, self.lanes
                ),
                "expected axi.lanes of at most the lanes",
            );
        }
        Ok(())
    }

    fn check_settings(&self) -> Checked {
        let settings = &self.settings;
        if settings.scheduler == Scheduler::ConflictAware && !settings.is_aware() {
            return refuse(
                &["scheduler.aware", "scheduler.policy"],
                "aware = false contradicts policy = \"conflict-aware\", which is lrr and aware"
                    .to_owned(),
                "set policy = \"lrr\", or omit aware",
            );
        }
        if settings.violate && !settings.is_aware() {
            return refuse(
                &["scheduler.violate"],
                "violate contradicts the scheduler: it masks no warps".to_owned(),
                "set aware = true beside the policy, or policy = \"conflict-aware\", or leave \
                 violate out",
            );
        }
        if self.sm.schedulers > self.path.warps {
            return refuse(
                &["scheduler.count", "path.warps"],
                format!(
                    "scheduler.count {} is more than the {} warp slots",
                    self.sm.schedulers, self.path.warps
                ),
                "expected at most one scheduler per warp slot",
            );
        }
        Ok(())
    }

    /// A fetch from global memory is at least a word.
    fn check_memory(&self) -> Checked {
        let word = self.word_bytes();
        for (key, bytes) in [
            ("global.segment_bytes", self.sm.global.segment_bytes),
            ("l1.line_bytes", self.sm.l1.line_bytes),
            ("l2.line_bytes", self.sm.l2.line_bytes),
        ] {
            if bytes < word {
                return refuse(
                    &[key, "geometry.word_bits"],
                    format!("{key} {bytes} is less than a word of {word} bytes"),
                    format!("expected at least {word}"),
                );
            }
        }
        Ok(())
    }

    fn check_l1(&self) -> Checked {
        let l1 = self.sm.l1;
        let segment = self.sm.global.segment_bytes;
        if l1.sectored && l1.line_bytes / segment > MOST_SECTORS {
            return refuse(
                &["l1.sectored", "l1.line_bytes", "global.segment_bytes"],
                format!(
                    "lines of {} bytes have more than {MOST_SECTORS} sectors of {segment} bytes",
                    l1.line_bytes
                ),
                "expected shorter lines, or sectored = false",
            );
        }
        self.check_cache(CacheKeys {
            name: "L1",
            section: "l1",
            size: ("l1.size_bytes", l1.size_bytes),
            ways: ("l1.ways", l1.ways),
            line: ("l1.line_bytes", l1.line_bytes),
            latency: ("l1.latency", l1.latency),
        })
    }

    fn check_l2(&self) -> Checked {
        let l2 = self.sm.l2;
        self.check_cache(CacheKeys {
            name: "L2",
            section: "l2",
            size: ("l2.size_bytes", l2.size_bytes),
            ways: ("l2.ways", l2.ways),
            line: ("l2.line_bytes", l2.line_bytes),
            latency: ("l2.latency", l2.latency),
        })
    }

    /// Lines are filled by whole segments, sets are whole, and a hit is no
    /// slower than a miss. The keys of a cache without a size are in range, but
    /// need not go together.
    fn check_cache(&self, cache: CacheKeys) -> Checked {
        let global = self.sm.global;
        let CacheKeys { name, section, .. } = cache;
        let [size, ways, line, latency] = [cache.size, cache.ways, cache.line, cache.latency];
        if size.1 == 0 {
            return Ok(());
        }
        if line.1 < global.segment_bytes {
            return refuse(
                &[line.0, "global.segment_bytes"],
                format!(
                    "{} {} is less than a segment of {} bytes",
                    line.0, line.1, global.segment_bytes
                ),
                "a line is filled by whole segments: raise line_bytes or lower \
                 [global] segment_bytes",
            );
        }
        let set = u64::from(ways.1) * u64::from(line.1);
        if !u64::from(size.1).is_multiple_of(set) {
            return refuse(
                &[size.0, ways.0, line.0],
                format!(
                    "{} {} is not a whole number of sets of {} lines of {} bytes",
                    size.0, size.1, ways.1, line.1
                ),
                format!("expected a multiple of ways * line_bytes = {set}, or 0 for no {name}"),
            );
        }
        if latency.1 > global.latency {
            return refuse(
                &[latency.0, "global.latency"],
                format!(
                    "{} {} is more than the {} cycles of global memory",
                    latency.0, latency.1, global.latency
                ),
                format!(
                    "a hit may not take longer than a miss: lower [{section}] latency or raise \
                     [global] latency"
                ),
            );
        }
        Ok(())
    }

    /// A fetch is within one row of one channel.
    fn check_dram(&self) -> Checked {
        let dram = self.sm.dram;
        if dram.channels == 0 {
            return Ok(());
        }
        let (key, bytes) = match self.sm.l2.size_bytes {
            0 => ("global.segment_bytes", self.sm.global.segment_bytes),
            _ => ("l2.line_bytes", self.sm.l2.line_bytes),
        };
        for (name, least) in [
            ("dram.stripe_bytes", dram.stripe_bytes),
            ("dram.row_bytes", dram.row_bytes),
        ] {
            if least < bytes {
                return refuse(
                    &[name, key],
                    format!("{name} {least} is less than {key} {bytes}"),
                    format!("expected at least {bytes}"),
                );
            }
        }
        Ok(())
    }
}
