//! Points that the golden model of the SM runs, or that count a block's
//! conflicts.

use super::change::adapt;
use super::figure::{Tune, Workload};
use super::parameters::compare;
use super::point::{Numbers, Point};
use super::related::Related;
use spadkit_base::error::{Error, Result};
use spadkit_compiler::rewrite::{Hashes, Request, Verdict, rewrite};
use spadkit_compiler::sharing::{AnalysedEntry, Launched, Needs, annotated_launch, find_entry};
use spadkit_launch::capture::{LaunchInput, LaunchRun, Selected};
use spadkit_launch::launch::{Launch, LaunchFile};
use spadkit_launch::workload::{AccessOptions, Input, LaunchWorkload, RunOptions, load_input};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{BankFunction, HashKind, HashSpec};
use spadkit_mapping::search::bitvec::all_pairs;
use spadkit_mapping::search::reference::{Selection, of_instructions, of_trace};
use spadkit_mapping::search::tune::{Method, Tuner};
use spadkit_mapping::search::{Control, Outcome, Problem};
use spadkit_mapping::software::LayoutSpec;
use spadkit_mapping::trace::{AccessTrace, ConflictProfile, Op};
use spadkit_ptx::{Module, Space};
use spadkit_sm::config::Config;
use spadkit_sm::sm::{Layout, RunProgress, Setup, Statistics, Workload as Programs};
use std::path::Path;
use std::str::FromStr;

/// Simulates a point; `watch` ends it by returning false: there are no numbers then.
pub(super) fn simulate(
    point: &Point,
    machine: &Config,
    input: &str,
    watch: &mut dyn FnMut(RunProgress) -> bool,
) -> Result<Option<Numbers>> {
    let programs = programs(point, machine, input)?;
    let hash = mapping(point, machine, input, Some(programs.as_ref()))?;
    let setup = Setup {
        hash: hash.clone(),
        ..Setup::default()
    };
    let sm = setup.build(machine, programs.as_ref())?;
    let residency = sm.layout().residency();
    let (statistics, ended) = sm.run_watched(watch)?;
    if !ended {
        return Ok(None);
    }
    let mut numbers = of_statistics(&statistics);
    let info = programs.info();
    let threads = info.threads() * u64::from(info.blocks);
    let per_thread = |count: u64| count as f64 / threads as f64;
    numbers.hash = hash.map(|h| h.to_string());
    let mut set = |key: &str, value: f64| numbers.values.insert(key.to_owned(), value);
    set(
        "instructions a thread",
        per_thread(statistics.thread_instructions),
    );
    set(
        "shared instructions a thread",
        per_thread(statistics.shared_thread_instructions),
    );
    set("shared_bytes", f64::from(info.shared_bytes));
    set("threads", info.threads() as f64);
    set("resident_blocks", f64::from(residency.blocks()));
    set("pairs", f64::from(residency.pairs));
    if let Some((all, shared)) = of_text(&point.work, input)? {
        set("instructions of the text", all as f64);
        set("shared instructions of the text", shared as f64);
    }
    Ok(Some(numbers))
}

/// Instructions of the entry's text, and those of shared memory among them.
fn of_text(work: &Workload, input: &str) -> Result<Option<(usize, usize)>> {
    let Some(launch) = Changed::of(work, input)? else {
        return Ok(None);
    };
    let (_, name) = launch.entry()?;
    let module = &launch.module;
    let function = &module.functions[find_entry(module, Some(&name))? as usize];
    let shared = function.instructions.iter().filter(|i| {
        i.space()
            .is_some_and(|s| matches!(s, Space::Shared | Space::SharedCta))
    });
    Ok(Some((function.instructions.len(), shared.count())))
}

/// Variables in shared memory of the launch's entry and of the functions that it calls.
pub(super) fn shared_variables(work: &Workload) -> Result<usize> {
    let input = work.input.as_deref().unwrap_or_default();
    let launch = Changed::of(work, input)?.ok_or_else(|| {
        Error::usage(
            format!("'{input}' declares nothing"),
            "expected a launch file",
        )
    })?;
    let (one, name) = launch.entry()?;
    let kernel = AnalysedEntry::new(&launch.module, Some(&name), one.dynamic_shared)?;
    Ok(kernel.variables.len())
}

/// Counts the conflicts of a block's accesses.
pub(super) fn count(point: &Point, machine: &Config, input: &str) -> Result<Numbers> {
    let trace = traced(point, machine, input)?;
    let profile = ConflictProfile::new(&trace, machine.conflict_rule());
    let mut numbers = Numbers::default();
    let mut set = |key: &str, value: f64| numbers.values.insert(key.to_owned(), value);
    let hash = match (&point.with.tune, &point.with.compare) {
        (Some(tune), Some(published)) => {
            let published = HashSpec::from_str(published)?;
            let (found, compared) = tuned(tune, machine, &trace, |tuner, unit| {
                let found = tuner.run(unit.0, unit.1, &Control::none())?;
                let compared = compare(tuner, unit, &found, &published)?;
                Ok((found, compared))
            })?;
            set("equal", f64::from(compared.equal));
            set("same banks", f64::from(compared.same_banks));
            set("published_conflicts", compared.published as f64);
            numbers.reason = compared.reason;
            found.spec
        }
        _ => mapping(point, machine, input, None)?.unwrap_or(HashSpec::Mod),
    };
    let geometry = machine.geometry;
    let related = point.with.related.as_deref().map(Related::from_str);
    let related = related.transpose()?;
    let banks = BankFunction::new(&hash, geometry)?;
    let counted = |profile: &ConflictProfile| match &related {
        Some(related) => profile.count(|word| related.bank(word, geometry)),
        None => profile.count(|word| banks.bank(word, geometry)),
    };
    if related.is_none() {
        numbers.hash = Some(hash.to_string());
    }
    let mut set = |key: &str, value: f64| numbers.values.insert(key.to_owned(), value);
    let count = counted(&profile);
    set("bank_conflicts", count.conflicts as f64);
    set("largest degree", f64::from(count.max_degree));
    let rule = machine.conflict_rule();
    let by_op = ConflictProfile::per_op(&trace, rule);
    for (op, key) in [(Op::Load, "load_conflicts"), (Op::Store, "store_conflicts")] {
        let own = by_op.iter().find(|(of, _)| *of == op);
        set(key, own.map_or(0.0, |(_, p)| counted(p).conflicts as f64));
    }
    // A site whose degree varies has a mean below its largest.
    let varies = |profile: &ConflictProfile| {
        let count = counted(profile);
        u64::from(count.max_degree) * profile.active_passes() != count.degree_sum
    };
    let by_site = ConflictProfile::per_pc(&trace, rule);
    let varying = by_site.iter().filter(|(_, p)| varies(p)).count();
    set("sites of varying degree", varying as f64);
    set("accesses", profile.active_passes() as f64);
    // For the launch, as if all its blocks did the same as the traced one.
    let blocks = blocks(&point.work, input)?;
    let of = |op: Op| trace.accesses.iter().filter(|a| a.op == op).count() as f64;
    set("loads", blocks * of(Op::Load));
    set("stores", blocks * of(Op::Store));
    Ok(numbers)
}

/// Blocks of a launch; 1 of a trace.
fn blocks(work: &Workload, input: &str) -> Result<f64> {
    let Some(changed) = Changed::of(work, input)? else {
        return Ok(1.0);
    };
    let (launch, _) = changed.entry()?;
    Ok(launch.grid.iter().map(|&n| f64::from(n)).product())
}

/// The statistics by name; stalls by reason, and what the papers derive.
fn of_statistics(statistics: &Statistics) -> Numbers {
    let mut numbers = Numbers::default();
    if let serde_json::Value::Object(fields) = serde_json::json!(statistics) {
        for (key, value) in fields {
            if let Some(value) = value.as_f64() {
                numbers.values.insert(key, value);
            }
        }
    }
    let stalls = statistics.stalls.list();
    for (reason, cycles) in stalls {
        numbers
            .values
            .insert(format!("stalls.{reason}"), cycles as f64);
    }
    let mut set = |key: &str, value: f64| numbers.values.insert(key.to_owned(), value);
    set("stalls", statistics.stalls.total() as f64);
    let conflicts = statistics.stalls.bank_conflict + statistics.stalls.writeback_conflict;
    set(
        "stalls.pipeline",
        (conflicts + statistics.stalls.no_ready_warp) as f64,
    );
    // The ready warps are none: what is neither a conflict of the banks nor one
    // of the writeback port (elastic paper, Fig. 6).
    set(
        "stalls.scheduling",
        (statistics.stalls.total() - conflicts) as f64,
    );
    // Elastic paper, Table 5: instructions of threads, not of warps.
    let shared = statistics.shared_thread_instructions as f64;
    let intensity = shared / (statistics.thread_instructions.max(1) as f64);
    set("intensity_pct", 100.0 * intensity);
    set("demand", intensity * statistics.mean_conflict_degree);
    set(
        "bound",
        1.0 + intensity * (statistics.mean_conflict_degree - 1.0),
    );
    for phase in statistics.phases.list() {
        set(
            &format!("phase.{}", phase.from_barrier),
            phase.cycles as f64,
        );
    }
    let [before, holding, after] = statistics.shared_progress.parts().map(|p| 100.0 * p);
    set("progress.before", before);
    set("progress.holding", holding);
    set("progress.after", after);
    numbers
}

/// The bank mapping: given, or searched on the accesses of a block; where
/// blocks share, on those of `programs` wherever a block can lie.
fn mapping(
    point: &Point,
    machine: &Config,
    input: &str,
    programs: Option<&dyn Programs>,
) -> Result<Option<HashSpec>> {
    let tune = match (&point.with.hash, &point.with.tune) {
        (Some(hash), _) => return HashSpec::from_str(hash).map(Some),
        (None, Some(tune)) => tune,
        (None, None) => return Ok(None),
    };
    let trace = match programs.filter(|_| machine.sm.sharing.on) {
        Some(programs) => Layout::new(machine, programs.info())?.placed(programs)?,
        None => trace(&point.work, input)?,
    };
    Ok(Some(search(tune, machine, &trace)?.spec))
}

/// The best configuration of a unit that a method finds.
fn search(tune: &Tune, machine: &Config, trace: &AccessTrace) -> Result<Outcome> {
    tuned(tune, machine, trace, |tuner, (unit, method)| {
        tuner.run(unit, method, &Control::none())
    })
}

/// The result of a search, converted by `take`.
fn tuned<T>(
    tune: &Tune,
    machine: &Config,
    trace: &AccessTrace,
    take: impl FnOnce(&Tuner, (HashKind, Method)) -> Result<T>,
) -> Result<T> {
    let rule = machine.conflict_rule();
    let profile = ConflictProfile::new(trace, rule);
    let problem =
        Problem::new(&profile, machine.geometry).with_pivot_limit(machine.pivot_limit())?;
    let sets = if tune.per_instruction {
        of_instructions(trace, rule, machine.geometry)
    } else {
        of_trace(trace, rule, machine.geometry)
    };
    let pairs = all_pairs(machine.geometry);
    let selection = if tune.as_published {
        Selection::AsPublished
    } else {
        Selection::Allowed
    };
    let tuner = Tuner {
        problem: &problem,
        sets: &sets,
        pairs: &pairs,
        selection,
    };
    take(&tuner, (tune.unit, tune.method))
}

/// The accesses of the block that is traced, of the program that the point runs.
fn traced(point: &Point, machine: &Config, input: &str) -> Result<AccessTrace> {
    match (&point.with.software, Changed::of(&point.work, input)?) {
        (Some(spec), Some(launch)) => {
            let module = in_software(&launch, spec, machine)?;
            launch.run(&module).access_trace()
        }
        _ => trace(&point.work, input),
    }
}

/// The launch's module with a mapping in its index arithmetic.
fn in_software(launch: &Changed, spec: &str, machine: &Config) -> Result<Module> {
    Module::parse(&rewritten(launch, spec, machine)?, &launch.module.name)
}

/// The accesses of the launch's traced block.
fn trace(work: &Workload, input: &str) -> Result<AccessTrace> {
    match Changed::of(work, input)? {
        Some(launch) => launch.run(&launch.module).access_trace(),
        None => load_input(input),
    }
}

/// The warps' programs.
fn programs(point: &Point, machine: &Config, input: &str) -> Result<Box<dyn Programs>> {
    let Some(launch) = Changed::of(&point.work, input)? else {
        return Input::from(input).programs(&AccessOptions::default());
    };
    let open = |module: &Module| LaunchWorkload::open(&launch.run(module));
    if let Some(spec) = &point.with.software {
        return Ok(Box::new(open(&in_software(&launch, spec, machine)?)?));
    }
    let Some(placement) = point.with.relssp else {
        return Ok(Box::new(open(&launch.module)?));
    };
    let (one, name) = launch.entry()?;
    let kernel = AnalysedEntry::new(&launch.module, Some(&name), one.dynamic_shared)?;
    let needs = Needs {
        threads: one.block.iter().map(|&n| u64::from(n)).product(),
        registers: launch.file.registers,
    };
    let launched = Launched {
        kernel: &kernel,
        needs,
        file: &launch.file,
        selected: &launch.selected,
    };
    let sharing = machine.sm.sharing.threshold;
    Ok(Box::new(annotated_launch(
        launched, machine, sharing, placement,
    )?))
}

/// A launch with the workload's arguments, grid and changes.
struct Changed {
    file: LaunchFile,
    module: Module,
    selected: Selected,
}

impl Changed {
    /// The launch of `input`, if it is a launch file.
    fn of(work: &Workload, input: &str) -> Result<Option<Self>> {
        let Some(launch) = LaunchInput::of(Path::new(input)) else {
            return Ok(None);
        };
        let mut file = launch.file()?.clone();
        adapt(&mut file, work)?;
        Ok(Some(Changed {
            module: file.module()?,
            selected: launch.selected().clone(),
            file,
        }))
    }

    /// The launch with its PTX or with another.
    fn run<'a>(&'a self, module: &'a Module) -> LaunchRun<'a> {
        LaunchRun {
            file: &self.file,
            module,
            selected: &self.selected,
            options: RunOptions::default(),
        }
    }

    /// The selected launch, and the name of its entry.
    fn entry(&self) -> Result<(&Launch, String)> {
        let name = |launch: &Launch| {
            let named = launch.entry.as_ref().map(|e| e.value.as_str());
            let found = find_entry(&self.module, named)? as usize;
            Ok(self.module.functions[found].name.clone())
        };
        let launches: Vec<&Launch> = self.file.launches().collect();
        let names = launches.iter().map(|launch| name(launch));
        let names = names.collect::<Result<Vec<String>>>()?;
        let index = self
            .selected
            .index_of(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok((launches[index], names[index].clone()))
    }
}

/// The kernel with the mapping `spec` in its index arithmetic.
fn rewritten(changed: &Changed, spec: &str, machine: &Config) -> Result<String> {
    let (launch, entry) = changed.entry()?;
    // The mapping is of elements of 4 bytes, however wide a bank is.
    let words = (machine.word_bits / 32).max(1);
    let (bits, banks) = (machine.geometry.addr_bits(), machine.geometry.bank_bits());
    let request = Request {
        entry,
        hashes: Hashes::All(LayoutSpec::from_str(spec)?),
        geometry: Geometry::new(bits + words.ilog2(), banks)?,
        block_words: words * machine.block_words,
        dynamic_shared: Some(launch.dynamic_shared),
        parts: Vec::new(),
        block: Some(launch.block),
        optimise: true,
    };
    let name = &changed.file.ptx.value;
    match rewrite(&changed.module, &request)?.verdict {
        Verdict::Text(text) => Ok(text),
        Verdict::Refused(why) => Err(Error::usage(
            format!("{} is not rewritten: {why}", name.display()),
            "choose another mapping in `software` of the figure; spadkit rewrite says what can \
             be put into a kernel",
        )),
    }
}
