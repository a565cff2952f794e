//! Whether an access trace fits a machine.

use super::{Config, PRESETS};
use spadkit_base::error::{Error, Result};
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::trace::{AccessTrace, ConflictRule};

impl Config {
    /// The machine's rule of counting bank conflicts.
    pub fn conflict_rule(&self) -> ConflictRule {
        ConflictRule {
            lanes: self.lanes,
            wide: self.wide,
            atomics: self.atomics,
            broadcast: self.path.broadcast,
        }
    }

    /// Whether a block of `trace` finds room in the scratchpad.
    pub fn has_room_for(&self, trace: &AccessTrace) -> bool {
        trace.shared_bytes.div_ceil(self.word_bytes()) <= self.block_words
    }

    /// Checks that every address of `trace` is one of this machine: no
    /// address is ever cut. Returns what the user should know although the
    /// two go together.
    pub fn admit(&self, trace: &AccessTrace) -> Result<Vec<String>> {
        trace.check()?;
        let (name, machine) = (&trace.name, &self.name);
        if self.word_bytes() != WORD_BYTES {
            return Err(Error::usage(
                format!(
                    "{machine} has words of {} bits; conflicts of a trace are counted in words of \
                     32 bits",
                    self.word_bits
                ),
                "spadkit sim counts by the machine's words: its row of bank conflicts",
            ));
        }
        let words = self.geometry.words() as u64;
        for (i, access) in trace.accesses.iter().enumerate() {
            let highest = access.addrs.iter().copied().flatten().max();
            let Some(highest) = highest else { continue };
            let last = u64::from(highest) + u64::from(access.words()) - 1;
            if last >= words {
                return Err(Error::usage(
                    format!(
                        "{name}: accesses[{i}] reaches word {last}, {machine} addresses {words} \
                         (n = {})",
                        self.geometry.addr_bits()
                    ),
                    format!(
                        "use a machine with a larger scratchpad: --preset {}; or addr_bits up to \
                         16 in a configuration file",
                        presets_that_address(last)
                    ),
                ));
            }
        }
        let mut notes = Vec::new();
        if trace.warp_size != self.warp_size {
            notes.push(format!(
                "{name} has warps of {} threads, {machine} of {}: each access is served \
                 unchanged, {} lanes at a time",
                trace.warp_size, self.warp_size, self.lanes
            ));
        }
        if !self.has_room_for(trace) {
            notes.push(format!(
                "{name}: a block needs {} words of scratchpad, {machine} gives a block at most \
                 {}: no mapping fits",
                trace.shared_bytes.div_ceil(self.word_bytes()),
                self.block_words
            ));
        }
        Ok(notes)
    }

    /// Why the SM path of this machine has no RTL here; `None` where it has.
    pub fn lacks_rtl(&self) -> Option<String> {
        self.wide.in_phases().then(|| {
            format!(
                "{} serves wide accesses in phases, but the SM path that has RTL serves one word \
                 of each lane at a time",
                self.name
            )
        })
    }

    /// Refuses `what` (a unit) on a machine whose path has no RTL here. Hash units and
    /// the blocks of a scratchpad on a bus are for every machine.
    pub fn needs_rtl(&self, what: &str) -> Result<()> {
        match self.lacks_rtl() {
            Some(reason) if spadkit_hdl::is_in_pipeline(what) => Err(Error::usage(
                format!("there is no {what} for {}: {reason}", self.name),
                "use spad_wide_stream, which serves phases, or a machine with wide = \
                 \"first-word\" (the presets of the papers); hash units, conflicts, tune, \
                 classify, sim and flow work on this one",
            )),
            _ => Ok(()),
        }
    }
}

/// The presets that have an address for `word`, for people.
fn presets_that_address(word: u64) -> String {
    let all = PRESETS.iter().filter_map(|name| Config::preset(name).ok());
    let large = all.filter(|machine| machine.geometry.words() as u64 > word);
    let named = large.map(|machine| {
        let kib = machine.capacity_words * machine.word_bytes() / 1024;
        let rtl = match machine.lacks_rtl() {
            None => "",
            Some(_) => ", no RTL of its path",
        };
        format!("{} ({kib} KB{rtl})", machine.name)
    });
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_mapping::trace::ConflictProfile;
    use spadkit_mapping::trace::kernels::generate;

    #[test]
    fn addresses_are_never_cut() {
        let trace = generate("random:words=16384").unwrap();
        let admit = |preset: &str| Config::preset(preset).unwrap().admit(&trace);
        let error = admit("small").unwrap_err().to_string();
        assert!(error.contains("small addresses 1024 (n = 10)"), "{error}");
        // fermi can address 64 KB, and has 48 KB of words.
        let notes = admit("fermi").unwrap();
        assert!(
            notes[0].contains("gives a block at most 12288"),
            "{notes:?}"
        );
        assert_eq!(admit("sm70").unwrap(), Vec::<String>::new());
    }

    /// Halves of a wide word are in one bank, and are two words of a trace.
    #[test]
    fn words_that_are_none_of_the_trace_are_refused() {
        let path = std::path::Path::new("m.toml");
        let machine = Config::from_toml("[geometry]\nword_bits = 64\n", path).unwrap();
        let trace = generate("random:words=64").unwrap();
        let error = machine.admit(&trace).unwrap_err().to_string();
        assert!(error.contains("words of 64 bits"), "{error}");
    }

    #[test]
    fn without_a_broadcast_each_lane_of_a_word_counts() {
        let path = std::path::Path::new("m.toml");
        let text = "base = 'fermi'\n[path]\nbroadcast = false\n";
        let machine = Config::from_toml(text, path).unwrap();
        let mut trace = generate("random:words=64").unwrap();
        trace.accesses.truncate(1);
        trace.accesses[0].addrs = vec![Some(7); 32];
        let count = |machine: &Config| {
            let profile = ConflictProfile::new(&trace, machine.conflict_rule());
            profile.count(|word| word & 31).conflicts
        };
        assert_eq!(count(&machine), 31);
        assert_eq!(count(&Config::preset("fermi").unwrap()), 0);
    }

    #[test]
    fn a_wide_access_counts_with_its_last_word() {
        let mut trace = generate("lavamd").unwrap();
        trace.shared_bytes = 8192;
        assert_eq!(trace.accesses[0].bytes, 8);
        trace.accesses[0].addrs[0] = Some(2046);
        let path = std::path::Path::new("m.toml");
        let mut machine = Config::from_toml("[geometry]\naddr_bits = 11\n", path).unwrap();
        machine.admit(&trace).unwrap();
        machine.geometry = spadkit_mapping::geometry::Geometry::new(10, 5).unwrap();
        let error = machine.admit(&trace).unwrap_err().to_string();
        assert!(error.contains("reaches word"), "{error}");
    }
}
