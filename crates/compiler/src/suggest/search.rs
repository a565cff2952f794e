//! The search of the mappings that changes of the source are made for.

use super::Tuned;
use spadkit_base::error::Result;
use spadkit_launch::capture::statics::Indices;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::software::LayoutSpec;
use spadkit_mapping::software::choice::{
    Array, Choices, Effort, MappingKind, Narrower, PerVariable, choices, narrower, per_variable,
};
use spadkit_mapping::trace::{AccessTrace, ConflictRule};

/// The inputs of the search.
pub struct Search<'a, 'e> {
    /// The accesses of a block.
    pub trace: &'a AccessTrace,
    /// The machine's banks.
    pub geometry: Geometry,
    /// Rule of counting conflicts.
    pub rule: ConflictRule,
    /// Words of shared memory that a mapping may take.
    pub room: u32,
    /// The kinds of mapping.
    pub kinds: &'e [MappingKind],
    /// Time budget and observer of the search.
    pub effort: &'e Effort<'e>,
}

/// The condition under which mappings are searched for wide accesses that are
/// split. If wide accesses count as one word, splitting cannot gain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SplitWide {
    /// If no mapping of whole vectors leaves fewer conflicts.
    IfNoneGains,
    /// Unless a mapping for each variable leaves no conflicts.
    UnlessClear,
}

/// The result of the search.
pub struct Searched<'a> {
    trace: &'a AccessTrace,
    geometry: Geometry,
    rule: ConflictRule,
    /// Shared memory as a whole.
    pub array: Array,
    /// Mappings of shared memory as a whole.
    pub whole: Choices,
    /// Mappings of the variables, each its own, if there are several.
    pub apart: Option<PerVariable>,
    /// Mappings with wide accesses split.
    pub narrower: Vec<Narrower>,
}

impl<'a> Search<'a, '_> {
    /// Searches the mappings of all of shared memory, of each variable, and of split accesses.
    pub fn run(&self, split: SplitWide) -> Result<Searched<'a>> {
        let Search {
            trace,
            geometry,
            rule,
            room,
            kinds,
            effort,
        } = *self;
        let array = Array::new(trace, geometry, rule, room);
        let whole = choices(&array, kinds, effort)?;
        let apart = per_variable(trace, geometry, rule, room, kinds, effort)?;
        let is_wanted = match split {
            SplitWide::IfNoneGains => !gains(&whole),
            SplitWide::UnlessClear => apart.as_ref().is_none_or(|a| a.count.conflicts > 0),
        };
        let narrower = if is_wanted && rule.wide.in_phases() {
            narrower(trace, geometry, rule, (&array, &whole), kinds, effort)?
        } else {
            Vec::new()
        };
        Ok(Searched {
            trace,
            geometry,
            rule,
            array,
            whole,
            apart,
            narrower,
        })
    }
}

impl<'a> Searched<'a> {
    /// The inputs for changes of the source. `indices` are those that the PTX computes;
    /// `machine_code` has the accesses that changes are judged by.
    pub fn tuned<'f>(
        &'f self,
        indices: &'f Indices,
        machine_code: Option<&'f AccessTrace>,
    ) -> Tuned<'f>
    where
        'a: 'f,
    {
        Tuned {
            trace: self.trace,
            geometry: self.geometry,
            rule: self.rule,
            whole: (&self.array, &self.whole),
            apart: self.apart.as_ref(),
            indices,
            machine_code,
        }
    }

    /// The same with one mapping to choose, where all of shared memory is one variable;
    /// `None` if it is the best already, or unknown.
    pub fn only(&self, mapping: &LayoutSpec) -> Option<Self> {
        let is_one = self.trace.shared_variables().len() == 1;
        let ranked = &self.whole.ranked;
        let at = ranked.iter().position(|c| c.layout.spec() == mapping)?;
        let is_mapping = ranked[at].kind != MappingKind::Mod;
        (is_one && at > 0 && is_mapping).then(|| {
            let plain = ranked.iter().find(|c| c.kind == MappingKind::Mod);
            let ranked = [&ranked[at]].into_iter().chain(plain).cloned().collect();
            Searched {
                whole: Choices {
                    ranked,
                    ..self.whole.clone()
                },
                array: self.array.clone(),
                apart: None,
                narrower: Vec::new(),
                ..*self
            }
        })
    }

    /// Whether a mapping of all of shared memory leaves fewer conflicts.
    pub fn gains(&self) -> bool {
        gains(&self.whole)
    }
}

fn gains(whole: &Choices) -> bool {
    whole.best().kind != MappingKind::Mod
}
