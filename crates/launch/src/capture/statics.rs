//! The shared-memory accesses of a kernel, derived from its PTX: affine
//! expressions (hash paper, Eq. 4), their cost, and a comparison with the
//! addresses of the run.

mod check;
mod data;
mod indices;
mod predict;

pub use check::{Checked, Disagreement};
pub use indices::{Indices, PtxLine};

use super::code::Code;
use super::{LaunchInput, RunOptions};
use data::Data;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::trace::pattern::{self, Class, Pattern};
use spadkit_mapping::trace::{AccessTrace, Op, Place};
use spadkit_ptx::analysis::{
    AccessKind, Affine, Affines, BitFacts, Context, Loops, NotAffine, SharedAccess, SourceIndex,
    Summaries, Term, Uniformity, Values, shared_accesses,
};
use spadkit_ptx::exec::{Launch, Options, Program};
use spadkit_ptx::{Cfg, Function, Instruction, Module};

/// An instruction that accesses shared memory.
#[derive(Clone, Debug)]
pub struct StaticSite {
    /// The number of the access site in traces of the entry.
    pub pc: u32,
    /// Position of the instruction.
    pub place: Place,
    /// Operation of the instruction.
    pub op: Op,
    /// Address of the access; none if it is not affine in the lanes.
    pub address: Option<StaticAddress>,
    /// Address as an index of the variable, in bytes.
    pub index: Option<SourceIndex>,
    /// Instruction that made the address not affine, or its offset not known.
    pub unknown: Option<Unknown>,
    /// Whether the address depends on a value from memory.
    pub of_data: bool,
    /// Result of a comparison with a run; empty if nothing ran.
    pub checked: Checked,
}

/// An affine address.
#[derive(Clone, Debug)]
pub struct StaticAddress {
    /// The address in the notation of Eq. 4.
    pub text: String,
    /// Whether the text counts words; else it counts bytes.
    pub words: bool,
    /// Pattern of whole warps, the most frequent one first; empty where it
    /// depends on what is not known.
    pub patterns: Vec<(Pattern, u64)>,
    /// The most general class among them.
    pub class: Option<Class>,
}

impl StaticSite {
    /// Whether the whole address is affine, the offset included.
    pub fn is_affine(&self) -> bool {
        self.address.is_some() && self.unknown.is_none()
    }
}

/// Why an address is not affine.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Operation of the instruction, in words.
    pub reason: &'static str,
    /// The instruction that made it so.
    pub place: Place,
}

/// Access sites of an entry.
#[derive(Clone, Debug)]
pub struct Statics {
    /// Ascending by pc.
    pub sites: Vec<StaticSite>,
    /// Accesses of whole warps, one by each affine site whose lanes are known, at
    /// some offset. The patterns are of these, and conflicts may be counted on
    /// them.
    pub warps: AccessTrace,
}

/// The sites of the launch `input`, and a run of the block that the file says in
/// which every address is compared with its expression. Faults of the kernel are
/// an error: they end the run early.
pub fn launch_statics(input: &LaunchInput) -> Result<Statics> {
    let mut prepared = input.prepare()?;
    let index = input.selected().index(prepared.launches())?;
    let launch = prepared.launches()[index].clone();
    let block = RunOptions::default().block_of(input.file()?, index);
    let code = Code::new(prepared.program(), &launch.entry)?;
    let context = Context {
        block: Some(launch.block),
        grid: Some(launch.grid),
        params: Some(launch.params.clone()),
    };
    let module = prepared.program().module().clone();
    let analysed = Analysed::new(prepared.program(), &module, &launch.entry, &context)?;
    let checker = check::Checker::new(&analysed, &code, &launch, block);
    let options = Options {
        threads: 1,
        sink: Some(&checker),
        only_block: Some(block),
        ..Options::default()
    };
    let outcome = prepared.run_one(index, &options)?;
    super::refuse_faults(&outcome, &input.selected().file)?;
    let (touched, checked) = checker.finish();
    Ok(analysed.statics(&code, &touched, &checked))
}

/// The sites of an entry of a PTX text, for blocks of `block` threads.
pub fn ptx_statics(module: &Module, entry: &str, block: [u32; 3]) -> Result<Statics> {
    let program = Program::new(module)?;
    let code = Code::new(&program, entry)?;
    let context = Context {
        block: Some(block),
        ..Context::default()
    };
    let analysed = Analysed::new(&program, module, entry, &context)?;
    let touched = vec![false; code.rows.len()];
    let checked = vec![Checked::default(); analysed.sites.len()];
    Ok(analysed.statics(&code, &touched, &checked))
}

/// [`source_indices`] of the launch `input`.
pub fn launch_indices(input: &LaunchInput) -> Result<Indices> {
    let prepared = input.prepare()?;
    let launch = &prepared.launches()[input.selected().index(prepared.launches())?];
    source_indices(prepared.program(), &launch.entry, launch.block)
}

/// The indices of the shared variables that the accesses of an entry compute:
/// in a block of any size where that is enough, else in one of `block` threads.
pub fn source_indices(program: &Program, entry: &str, block: [u32; 3]) -> Result<Indices> {
    let module = program.module();
    let code = Code::new(program, entry)?;
    let mut found = Indices::default();
    for block in [None, Some(block)] {
        let context = Context {
            block,
            ..Context::default()
        };
        let analysed = Analysed::new(program, module, entry, &context)?;
        let touched = vec![true; code.rows.len()];
        let checked = vec![Checked::default(); analysed.sites.len()];
        for site in analysed.statics(&code, &touched, &checked).sites {
            let Some(line) = site.place.ptx_line else {
                continue;
            };
            let place = (site.place.ptx_file, line);
            if site.of_data {
                found.of_data.insert(place.clone());
            }
            let Some(index) = site.index else {
                continue;
            };
            let unknown = |i: &SourceIndex| i.stand_ins().count();
            let better = found
                .by_line
                .get(&place)
                .is_none_or(|f| unknown(&index) < unknown(f));
            if better {
                found.by_line.insert(place, index);
            }
        }
    }
    Ok(found)
}

/// The accesses of an entry with all functions that it calls.
struct Analysed<'a> {
    module: &'a Module,
    entry: u32,
    context: &'a Context,
    /// Ascending by the executor's pc.
    sites: Vec<Site>,
    /// Control flow of the functions that the entry reaches.
    graphs: Vec<Graph>,
}

/// The control flow of a function.
struct Graph {
    function: u32,
    cfg: Cfg,
    loops: Loops,
}

/// An access, by the executor's pc.
struct Site {
    pc: u32,
    function: u32,
    access: SharedAccess,
    /// The address as far as it is affine in the lanes: terms that are not
    /// affine are the same for all lanes of an access.
    lanes: Option<Affine>,
    /// The address in the notation of Eq. 4, and whether that counts words.
    text: (String, bool),
    /// Lanes of an access have gone round all loops of the address equally
    /// often.
    in_step: bool,
    /// The address as an index.
    index: Option<SourceIndex>,
    /// Whether the address depends on a value from memory.
    of_data: bool,
}

impl Site {
    /// The site of an access of a function, in a block of its control flow.
    fn new(
        (pc, function, block): (u32, u32, u32),
        access: SharedAccess,
        affines: &Affines,
        uniformity: &Uniformity,
        data: &Data,
    ) -> Self {
        let same = |t: &Term| match t {
            Term::Opaque(value) => uniformity.holds_at(*value, block),
            _ => true,
        };
        let equally = |t: &Term| match t {
            Term::Trips(header) => uniformity.counts_at(*header, block),
            _ => true,
        };
        let all = |a: &Affine, holds: &dyn Fn(&Term) -> bool| {
            let mut terms = a.terms.iter().flat_map(|(t, _)| t.factors());
            terms.all(holds)
        };
        let exact = access.expression.as_ref();
        let exact = exact.filter(|a| a.bits >= SHARED_BITS);
        let lanes = exact.filter(|a| all(a, &same));
        Site {
            pc,
            function,
            text: lanes.map(|a| affines.notation(a)).unwrap_or_default(),
            in_step: lanes.is_some_and(|a| all(a, &equally)),
            index: exact.and_then(|a| affines.source_index(a)),
            lanes: lanes.cloned(),
            of_data: exact.is_some_and(|a| data.gives(a)),
            access,
        }
    }
}

impl<'a> Analysed<'a> {
    fn new(
        program: &Program,
        module: &'a Module,
        entry: &str,
        context: &'a Context,
    ) -> Result<Self> {
        let infos = program.instructions(entry)?;
        let index = module.function(entry).unwrap_or(0);
        let summaries = Summaries::new(module);
        let mut analysed = Analysed {
            module,
            entry: index,
            context,
            sites: Vec::new(),
            graphs: Vec::new(),
        };
        let mut start = 0;
        for infos in infos.chunk_by(|a, b| a.function == b.function) {
            analysed.function(infos[0].function, start, &summaries);
            start += infos.len() as u32;
        }
        Ok(analysed)
    }

    fn function(&mut self, index: u32, start: u32, summaries: &Summaries) {
        let function = &self.module.functions[index as usize];
        let own = Context {
            params: None,
            ..self.context.clone()
        };
        let context = if index == self.entry {
            self.context
        } else {
            &own
        };
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let loops = Loops::new(&cfg, values.dominators());
        let facts = BitFacts::new(self.module, function, &cfg, &values, context);
        let affines = Affines::new(
            self.module,
            function,
            &cfg,
            &values,
            &loops,
            &facts,
            context,
        );
        let accesses = shared_accesses(self.module, function, &cfg, &values, &affines, summaries);
        let uniformity = Uniformity::new(self.module, function, &cfg, &values, &loops);
        let data = Data::new(function, &values);
        for mut access in accesses {
            if matches!(access.kind, AccessKind::Call | AccessKind::Other) {
                continue;
            }
            if index != self.entry && access.expression.as_ref().is_some_and(has_parameter) {
                access.expression = None;
                access.address = Err(NotAffine {
                    at: access.at,
                    reason: "a parameter of a device function",
                });
            }
            let block = cfg.block_of[access.at as usize];
            let at = (start + access.at, index, block);
            self.sites
                .push(Site::new(at, access, &affines, &uniformity, &data));
        }
        self.graphs.push(Graph {
            function: index,
            cfg,
            loops,
        });
    }

    /// The sites as traces number them; those with generic addresses count
    /// where they came to shared memory, or are known to.
    fn statics(&self, code: &Code, touched: &[bool], checked: &[Checked]) -> Statics {
        let pcs = code.sites(touched);
        let own = |s: &&Site| {
            let generic = s.access.generic;
            !generic || touched[s.pc as usize]
        };
        let sites: Vec<(&Site, &Checked)> = self
            .sites
            .iter()
            .zip(checked)
            .filter(|(s, _)| own(s))
            .collect();
        let warps = predict::warps(self, code, &pcs, sites.iter().map(|s| s.0));
        let classes = pattern::classify(&warps);
        let mut list: Vec<StaticSite> = sites
            .into_iter()
            .map(|(site, checked)| {
                let pc = pcs[site.pc as usize];
                let class = classes.binary_search_by_key(&pc, |c| c.pc).ok();
                self.site(code, site, pc, class.map(|at| &classes[at]), checked)
            })
            .collect();
        list.sort_by_key(|s| s.pc);
        Statics { sites: list, warps }
    }

    fn site(
        &self,
        code: &Code,
        site: &Site,
        pc: u32,
        class: Option<&pattern::Instruction>,
        checked: &Checked,
    ) -> StaticSite {
        let function = &self.module.functions[site.function as usize];
        let place = |at: u32| self.place(function, function.instructions.get(at as usize));
        let (text, words) = site.text.clone();
        let address = site.lanes.as_ref().map(|_| StaticAddress {
            text,
            words,
            patterns: class.map(|c| c.patterns.clone()).unwrap_or_default(),
            class: class.map(|c| c.class),
        });
        let unknown = site.access.address.as_ref().err().map(|unknown| Unknown {
            reason: unknown.reason,
            place: place(unknown.at),
        });
        StaticSite {
            pc,
            place: place(site.access.at),
            op: predict::op(code, site),
            address,
            index: site.index.clone(),
            unknown,
            of_data: site.of_data,
            checked: checked.clone(),
        }
    }

    fn place(&self, function: &Function, instruction: Option<&Instruction>) -> Place {
        Place {
            ptx_line: instruction.map(|i| i.span.line),
            ptx_file: self.module.file_of(function.span).map(str::to_owned),
            source: instruction.and_then(|i| self.module.source(function, i)),
            inlined_at: instruction.map_or_else(Vec::new, |i| self.module.inlined_at(function, i)),
        }
    }
}

/// Addresses of shared memory have no more bits.
const SHARED_BITS: u32 = 24;

fn has_parameter(affine: &Affine) -> bool {
    let parameter = |t: &Term| matches!(t, Term::Parameter { .. });
    affine
        .terms
        .iter()
        .any(|(t, _)| t.factors().iter().any(parameter))
}

/// The entry that a PTX text's user means: the one named, or the only one.
pub fn entry_of<'a>(module: &'a Module, name: Option<&'a str>) -> Result<&'a str> {
    let entries: Vec<&str> = module.entries().map(|f| f.name.as_str()).collect();
    match (name, &entries[..]) {
        (None, [one]) => Ok(one),
        (_, []) => Err(Error::usage(
            format!("{} has no entry with a body", module.name),
            "expected PTX of a kernel",
        )),
        (Some(name), _) => module.entry_named(name),
        (None, _) => Err(Error::usage(
            format!("{} has {} entries", module.name, entries.len()),
            format!(
                "give --entry, one of {}",
                spadkit_ptx::listed_names(&entries)
            ),
        )),
    }
}

/// The value that the launch gives a term of an entry's expression; thread and loop
/// counters are not of the launch.
fn of_launch(term: &Term, launch: &Launch, block: u64) -> Option<u64> {
    let [gx, gy, _] = launch.grid.map(u64::from);
    let at = [block % gx, block / gx % gy, block / (gx * gy)];
    Some(match term {
        Term::Ctaid(axis) => at[usize::from(*axis)],
        Term::Ntid(axis) => launch.block[usize::from(*axis)].into(),
        Term::Nctaid(axis) => launch.grid[usize::from(*axis)].into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// What the check finds where every address is taken to be `wrong` bytes
    /// off.
    fn disagreements(wrong: i64) -> (u64, u64, Option<Disagreement>) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let input = LaunchInput::at(&root.join("../../kernels/fwt/fwt.toml"));
        let mut prepared = input.prepare().unwrap();
        let launch = prepared.launches()[0].clone();
        let code = Code::new(prepared.program(), &launch.entry).unwrap();
        let context = Context {
            block: Some(launch.block),
            grid: Some(launch.grid),
            params: Some(launch.params.clone()),
        };
        let module = prepared.program().module().clone();
        let program = prepared.program();
        let mut analysed = Analysed::new(program, &module, &launch.entry, &context).unwrap();
        let counted = |a: &Affine| {
            let trips = |t: &Term| matches!(t, Term::Trips(_));
            a.terms.iter().any(|(t, _)| t.factors().iter().any(trips))
        };
        assert!(
            analysed
                .sites
                .iter()
                .any(|s| s.lanes.as_ref().is_some_and(counted))
        );
        for affine in analysed.sites.iter_mut().filter_map(|s| s.lanes.as_mut()) {
            affine.constant += wrong;
        }
        let checker = check::Checker::new(&analysed, &code, &launch, 0);
        let options = Options {
            threads: 1,
            sink: Some(&checker),
            only_block: Some(0),
            ..Options::default()
        };
        prepared.run_one(0, &options).unwrap();
        let (_, checked) = checker.finish();
        let all = checked.iter().map(|c| c.addresses).sum();
        let bad = checked.iter().map(|c| c.disagreements).sum();
        (all, bad, checked.iter().find_map(|c| c.first.clone()))
    }

    #[test]
    fn a_wrong_expression_is_found() {
        let (all, bad, _) = disagreements(0);
        assert!(all > 5_000 && bad == 0, "{all} {bad}");
        let (all, bad, first) = disagreements(4);
        assert_eq!(all, bad);
        let first = first.unwrap();
        assert_eq!(first.expected, first.traced + 4);
    }
}
