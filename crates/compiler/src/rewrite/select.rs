//! Selects the mapped regions: those of a request, without those that some
//! access is an obstacle for.
//!
//! An access can be left unmapped only if every access that may touch the same
//! words is, too: each region is mapped entirely or not at all.

use super::access::{Access, Accesses, Obstacle};
use super::failure::{self, Impossible};
use super::map;
use super::region::{Placed, Region};
use super::{Hashes, Left, Request};
use spadkit_base::error::{Error, Result};
use spadkit_launch::readable::readable;
use spadkit_mapping::software::{Layout, LayoutSpec};
use spadkit_ptx::analysis::{SharedVariable, Touches};
use spadkit_ptx::ast::{Module, Span};
use spadkit_ptx::exec::SharedPart;
use std::collections::BTreeSet;

/// Regions that can be mapped, and what cannot.
pub(super) struct Selected {
    pub regions: Vec<Region>,
    pub left: Vec<Left>,
    /// Words of the widest access that was split.
    pub together: Option<u32>,
    /// The first access that may touch variables with different mappings.
    pub mixed: Option<Left>,
    /// The first reason.
    pub refused: Option<Left>,
}

/// Mappings by name.
struct Mappings<'l> {
    /// Mappings of parts of dynamic shared memory, sorted by offset.
    parts: Vec<(SharedPart, &'l LayoutSpec)>,
    /// Mappings of whole variables.
    whole: Vec<&'l (String, LayoutSpec)>,
}

/// A kernel and what is asked for.
pub(super) struct Job<'a> {
    pub module: &'a Module,
    pub request: &'a Request,
    pub placed: &'a [Placed],
    pub found: &'a Accesses,
}

impl Job<'_> {
    /// The regions that the request asks for, less those that some access
    /// stands in the way of.
    pub fn regions(&self) -> failure::Result<Selected> {
        let mut regions = self.wanted()?;
        let mut left: Vec<Left> = Vec::new();
        let (mut together, mut mixed) = (None, None);
        // Dropping one region may obstruct others.
        loop {
            let found = self.obstructed(&regions);
            if found.dropped.is_empty() {
                break;
            }
            left.extend(found.left);
            together = together.max(found.together);
            mixed = mixed.or(found.mixed);
            regions = (regions.into_iter().enumerate())
                .filter(|(at, _)| !found.dropped.contains(at))
                .map(|(_, region)| region)
                .collect();
        }
        let refused = left.first().cloned();
        let why = match &refused {
            None => "it touches variables that are not mapped",
            Some(_) => "no access that may touch the same words can stay unmapped",
        };
        for access in &self.found.list {
            let found = self.left(self.place(access), why.to_owned());
            let known = |l: &Left| (l.line, &l.ptx_file) == (found.line, &found.ptx_file);
            if !left.iter().any(known) && self.region_of(access, &regions).is_none() {
                left.push(found);
            }
        }
        left.extend(self.unmapped());
        let key = |l: &Left| (l.ptx_file.clone(), l.line, l.reason.clone());
        left.sort_by_key(key);
        left.dedup();
        Ok(Selected {
            regions,
            left,
            together,
            mixed,
            refused,
        })
    }

    /// The regions that the request asks for.
    fn wanted(&self) -> failure::Result<Vec<Region>> {
        match &self.request.hashes {
            Hashes::All(spec) => Ok(vec![self.region("", self.placed.to_vec(), spec)?]),
            Hashes::Named(list) => self.of_their_own(list),
        }
    }

    /// A region for each variable of `list`.
    fn of_their_own(&self, list: &[(String, LayoutSpec)]) -> failure::Result<Vec<Region>> {
        let mut regions = Vec::new();
        let mut taken: BTreeSet<SharedVariable> = BTreeSet::new();
        let Mappings { parts, whole } = self.parts_apart(list)?;
        regions.extend(self.of_parts(parts, &mut taken)?);
        for (name, spec) in whole {
            let mut variables = self.named(name)?;
            if variables.iter().any(|v| !taken.insert(v.variable)) {
                return Err(Error::usage(
                    format!("{name} has two mappings"),
                    "name each variable once; all dynamic variables count as one",
                )
                .into());
            }
            let base = variables.iter().map(|v| v.offset).min().unwrap_or(0);
            variables.iter_mut().for_each(|v| v.offset -= base);
            let own = variables.iter().find(|v| v.name == *name);
            let suffix = format!("_{}", own.unwrap_or(&variables[0]).name);
            regions.push(self.region(&suffix, variables, spec)?);
        }
        // All dynamic arrays begin at one address.
        let outside = |v: &Placed| v.dynamic && !taken.contains(&v.variable);
        let dynamic = regions.iter().filter(|r| r.dynamic).count()
            + usize::from(self.placed.iter().any(outside));
        if dynamic > 1 {
            return Err(Impossible::new(
                format!(
                    "{} would need two arrays of dynamic shared memory",
                    self.request.entry
                ),
                "an array of more than 48 KB has to be dynamic: map all variables together",
            )
            .into());
        }
        Ok(regions)
    }

    /// The mappings of parts of dynamic shared memory, and of variables.
    fn parts_apart<'l>(&self, list: &'l [(String, LayoutSpec)]) -> Result<Mappings<'l>> {
        let (mut parts, mut whole) = (Vec::new(), Vec::new());
        for one in list {
            let named = |part: &&SharedPart| part.name == one.0;
            let Some(part) = self.request.parts.iter().find(named) else {
                whole.push(one);
                continue;
            };
            let wrong = |what: String, help: &str| Err(Error::usage(what, help.to_owned()));
            if parts.iter().any(|(other, _)| other == part) {
                return wrong(
                    format!("{} has two mappings", part.name),
                    "name each part of dynamic shared memory once",
                );
            }
            if part.offset % map::WORD != 0 || part.bytes % map::WORD != 0 {
                return wrong(
                    format!(
                        "{} is {} bytes from byte {} of dynamic shared memory on",
                        part.name, part.bytes, part.offset
                    ),
                    "expected whole words of 4 bytes: a mapping moves words",
                );
            }
            parts.push((part.clone(), &one.1));
        }
        parts.sort_by_key(|(part, _)| part.offset);
        Ok(Mappings { parts, whole })
    }

    /// The region of dynamic shared memory whose parts have these mappings.
    fn of_parts(
        &self,
        parts: Vec<(SharedPart, &LayoutSpec)>,
        taken: &mut BTreeSet<SharedVariable>,
    ) -> failure::Result<Option<Region>> {
        let Some((first, _)) = parts.first() else {
            return Ok(None);
        };
        let dynamic = self.placed.iter().filter(|v| v.dynamic);
        let mut variables: Vec<Placed> = dynamic.cloned().collect();
        let Some(bytes) = variables.iter().map(|v| v.bytes).max() else {
            return Err(Error::usage(
                format!("{} uses no dynamic shared memory", self.request.entry),
                format!(
                    "{} is a part of it: name a variable that is used",
                    first.name
                ),
            )
            .into());
        };
        if let Some((part, _)) = parts.iter().find(|(part, _)| part.end() > bytes) {
            return Err(Error::usage(
                format!(
                    "{} ends at byte {} of dynamic shared memory",
                    part.name,
                    part.end()
                ),
                format!("expected at most {bytes}, what the launch gives"),
            )
            .into());
        }
        taken.extend(variables.iter().map(|v| v.variable));
        variables.iter_mut().for_each(|v| v.offset = 0);
        let layout = |(part, spec): (SharedPart, &LayoutSpec)| {
            Ok((part, Layout::new(spec, self.request.geometry)?))
        };
        let parts: Vec<(SharedPart, Layout)> =
            parts.into_iter().map(layout).collect::<Result<_>>()?;
        let name = format!("spad_{}_{}", self.request.entry, variables[0].name);
        Ok(Some(Region::of_parts(
            self.module,
            &name,
            variables,
            &parts,
        )?))
    }

    /// An array `spad_ENTRYSUFFIX` for these variables.
    fn region(
        &self,
        suffix: &str,
        variables: Vec<Placed>,
        spec: &LayoutSpec,
    ) -> failure::Result<Region> {
        let name = format!("spad_{}{suffix}", self.request.entry);
        let layout = Layout::new(spec, self.request.geometry)?;
        Ok(Region::new(self.module, &name, variables, &layout)?)
    }

    /// The variable with that name, in the PTX or in the source. For a dynamic one,
    /// all of them, as they share one address.
    fn named(&self, name: &str) -> Result<Vec<Placed>> {
        let exact = self.placed.iter().any(|v| v.name == name);
        let is = |v: &&Placed| v.name == name || !exact && readable(&v.name) == name;
        let matching = self.placed.iter().filter(is);
        let found: Vec<Placed> = if matching.clone().any(|v| v.dynamic) {
            self.placed.iter().filter(|v| v.dynamic).cloned().collect()
        } else {
            matching.cloned().collect()
        };
        if found.is_empty() {
            let parts = self.request.parts.iter().map(|p| p.name.clone());
            let names = self.placed.iter().map(|v| readable(&v.name)).chain(parts);
            let names: Vec<String> = names.collect();
            return Err(Error::usage(
                format!(
                    "{} has no shared variable {name}",
                    readable(&self.request.entry)
                ),
                format!("expected one of {}", names.join(", ")),
            ));
        }
        if found.len() > 1 && !found[0].dynamic {
            return Err(Error::usage(
                format!("{} shared variables are called {name}", found.len()),
                "one mapping for all variables is possible: --hash SPEC",
            ));
        }
        Ok(found)
    }

    fn place(&self, access: &Access) -> Span {
        let function = &self.module.functions[access.function as usize];
        function.instructions[access.at as usize].span
    }

    fn left(&self, place: Span, reason: String) -> Left {
        Left {
            line: place.line,
            ptx_file: self.module.file_of(place).map(str::to_owned),
            reason,
        }
    }

    /// The variables that `touches` names; none where it may be any.
    fn named_by(&self, touches: &Touches) -> Vec<&str> {
        let Touches::Variables(set) = touches else {
            return Vec::new();
        };
        let own = self.placed.iter().filter(|v| set.contains(&v.variable));
        own.map(|v| v.name.as_str()).collect()
    }

    /// An obstacle, with the variables that it is one for.
    fn obstacle(&self, obstacle: &Obstacle) -> Left {
        let names = self.named_by(&obstacle.touches);
        let reason = match &names[..] {
            [] => obstacle.reason.clone(),
            names => format!("{}: {}", names.join(", "), obstacle.reason),
        };
        self.left(obstacle.place, reason)
    }

    /// The first obstacle of each kind for each variable that has one of its
    /// own.
    fn unmapped(&self) -> Vec<Left> {
        let mut found: Vec<Left> = Vec::new();
        for obstacle in &self.found.obstacles {
            let left = self.obstacle(obstacle);
            let is_named = !self.named_by(&obstacle.touches).is_empty();
            if is_named && !found.iter().any(|l| l.reason == left.reason) {
                found.push(left);
            }
        }
        found
    }

    /// Variables that the hardware accesses in a swizzle mode of its own.
    pub fn with_modes(&self) -> Vec<String> {
        let obstacles = self.found.obstacles.iter().filter(|o| o.has_modes);
        let names = obstacles.flat_map(|o| self.named_by(&o.touches));
        let names: BTreeSet<&str> = names.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Variables that no obstacle may touch.
    pub fn free(&self) -> Vec<String> {
        let touched = |v: &&Placed| {
            let mut obstacles = self.found.obstacles.iter();
            obstacles.any(|o| o.touches.may(v.variable))
        };
        let free = self.placed.iter().filter(|v| !touched(v));
        free.map(|v| v.name.clone()).collect()
    }

    /// The region that an access is in as a whole.
    pub fn region_of(&self, access: &Access, regions: &[Region]) -> Option<usize> {
        match &access.touches {
            // If all of shared memory is one array, there is no other region.
            Touches::All { .. } => (matches!(self.request.hashes, Hashes::All(_))).then_some(0),
            Touches::Variables(set) => regions
                .iter()
                .position(|r| set.iter().all(|v| r.offset(*v).is_some())),
        }
        .filter(|at| *at < regions.len())
    }

    /// Regions that cannot be mapped, and why.
    fn obstructed(&self, regions: &[Region]) -> Obstructed {
        let mut found = Obstructed::default();
        if regions.is_empty() {
            return found;
        }
        for obstacle in &self.found.obstacles {
            let touched = |r: &Region| r.variables.iter().any(|v| obstacle.touches.may(v.variable));
            let hits: Vec<usize> = (0..regions.len())
                .filter(|&r| touched(&regions[r]))
                .collect();
            if !hits.is_empty() {
                found.dropped.extend(hits);
                found.left.push(self.obstacle(obstacle));
            }
        }
        for access in &self.found.list {
            let place = self.place(access);
            match (self.region_of(access, regions), &access.touches) {
                (Some(at), _) => {
                    let words = access.bytes / map::WORD;
                    let map = &regions[at].map;
                    let begins = access.begins.filter(|_| !regions[at].parts.is_empty());
                    if words > 1 && map.torn(words, begins).is_some() {
                        found.dropped.insert(at);
                        found.together = found.together.max(Some(words));
                        let reason = torn(&regions[at], access.bytes);
                        found.left.push(self.left(place, reason));
                    }
                }
                (None, Touches::All { reason, .. }) => {
                    found.dropped.extend(0..regions.len());
                    let reason = format!("it may touch any variable: {reason}");
                    found.mixes(self.left(place, reason));
                }
                (None, Touches::Variables(set)) => {
                    let hit = |r: &Region| set.iter().any(|v| r.offset(*v).is_some());
                    let hits: Vec<usize> =
                        (0..regions.len()).filter(|&r| hit(&regions[r])).collect();
                    if !hits.is_empty() {
                        found.dropped.extend(hits);
                        let reason = "it may touch variables with different mappings";
                        found.mixes(self.left(place, reason.to_owned()));
                    }
                }
            }
        }
        found
    }
}

/// The obstacles of regions.
#[derive(Default)]
struct Obstructed {
    /// The regions.
    dropped: BTreeSet<usize>,
    /// The lines that are in the way.
    left: Vec<Left>,
    /// Words of the widest access that is split.
    together: Option<u32>,
    /// The first access to several regions, or to one and what is in none.
    mixed: Option<Left>,
}

impl Obstructed {
    fn mixes(&mut self, left: Left) {
        self.mixed.get_or_insert_with(|| left.clone());
        self.left.push(left);
    }
}

fn torn(region: &Region, bytes: u32) -> String {
    format!(
        "{} splits {}-bit accesses: adjacent words do not stay adjacent",
        region.spec,
        bytes * 8
    )
}
