//! Gluon: the buffer gets another `SwizzledSharedLayout`.

use super::text::{Part, assigned, calls, changed, function_around, number};
use super::{Kernel, lines_of};
use crate::suggest::Suggestion;
use crate::suggest::array::room::DeclarationChange;
use crate::suggest::result::judged::Judged;
use crate::suggest::result::language::Python;
use crate::suggest::result::templates::swizzle;
use crate::suggest::source::files::SourceFiles;
use spadkit_mapping::geometry::{Geometry, WORD_BYTES};
use spadkit_mapping::hash::kind::Family;
use spadkit_mapping::software::{Layout, LayoutSpec, swizzle_of};
use std::cmp::Reverse;

/// The class of layouts.
const LAYOUT: &str = "SwizzledSharedLayout";
/// Phases, and rows of a phase, at most.
const MOST: u32 = 32;
/// Words of the widest access.
const WIDEST: u32 = 4;

/// `gl.SwizzledSharedLayout(vec, per_phase, max_phase, [1, 0])`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Swizzled {
    vec: u32,
    per_phase: u32,
    max_phase: u32,
}

/// A layout in the source, and the buffer that has it.
struct Declared {
    file: String,
    line: usize,
    text: String,
    layout: Swizzled,
    /// The numbers of the layout, from the first to the last.
    numbers: Part,
    /// Of the buffer, where it has one.
    name: Option<String>,
    buffer: Buffer,
}

/// A buffer of rows.
#[derive(Clone, Copy)]
struct Buffer {
    elements: u32,
    /// Elements of a row.
    row: u32,
    /// Bytes of an element.
    bytes: u32,
}

impl Swizzled {
    /// As a mapping of words; `None` where it takes words apart, or leaves a row.
    fn spec(self, buffer: Buffer) -> Option<LayoutSpec> {
        let all = [self.vec, self.per_phase, self.max_phase, buffer.row];
        all.iter().all(|n| n.is_power_of_two()).then_some(())?;
        if self.max_phase == 1 {
            return "mod".parse().ok();
        }
        let unit = (self.vec * buffer.bytes).checked_div(WORD_BYTES)?;
        let base = unit.checked_ilog2()?;
        let row = (buffer.row * buffer.bytes).checked_div(WORD_BYTES)?;
        let phase = row.checked_ilog2()? + self.per_phase.ilog2();
        let (bits, shift) = (self.max_phase.ilog2(), phase.checked_sub(base)?);
        let stays = self.max_phase * self.vec <= buffer.row && shift >= bits;
        stays.then_some(LayoutSpec::Swizzle {
            bits,
            base,
            shift: shift as i32,
        })
    }
}

/// A layout, and the mapping of the present words that it makes.
struct Found {
    layout: Swizzled,
    mapping: Layout,
    conflicts: u64,
}

impl Kernel<'_> {
    /// Another layout; `None` if Gluon cannot say the mapping.
    pub fn in_gluon(&self, s: Suggestion, sources: &mut SourceFiles) -> Option<Suggestion> {
        let declared = self.declared_swizzle(&s, sources);
        if let Some(declared) = declared
            && let Some(found) = self.best_layout(&declared)
            && found.conflicts < s.conflicts_before
            && let Some(declaration) = declared.with(found.layout)
        {
            let judged = Judged::new(self.target, self.tuned, &[], sources);
            return Some(Suggestion {
                hash: found.mapping.spec().clone(),
                conflicts: found.conflicts,
                elements: s.elements_before,
                machine_code: judged.map(|judged| judged.under(&found.mapping)),
                declarations: vec![declaration],
                array: declared.name.clone().unwrap_or_else(|| s.array.clone()),
                ..s.in_python(Python::Gluon)
            });
        }
        let has_swizzle = self.has(&s, LAYOUT, sources);
        self.on_top(s, has_swizzle)
    }

    /// The mapping of the present words as a layout.
    fn on_top(&self, s: Suggestion, has_swizzle: bool) -> Option<Suggestion> {
        let (mapping, swizzle) = swizzle(self.target)?;
        let row = swizzle.row()?;
        let (vec, per_phase, max_phase) = swizzle.phases(row)?;
        let bytes = self.target.element_bytes();
        let mut code = format!("# Of rows of {row} elements of {bytes} bytes.\n");
        if has_swizzle {
            code += "# The mapping comes after a swizzle that the layout has now.\n";
        }
        code += &format!("gl.{LAYOUT}({vec}, {per_phase}, {max_phase}, [1, 0])");
        Some(Suggestion {
            hash: mapping.spec().clone(),
            conflicts: self.target.array.count(&mapping).conflicts,
            elements: s.elements_before,
            function: code,
            ..s.in_python(Python::Gluon)
        })
    }

    /// The layout with the fewest conflicts, then the widest vectors, then the fewest phases.
    fn best_layout(&self, declared: &Declared) -> Option<Found> {
        let array = self.target.array;
        let (buffer, geometry) = (declared.buffer, array.geometry());
        let present = Layout::new(&declared.layout.spec(buffer)?, geometry).ok()?;
        let powers = |most: u32| {
            (0..u32::BITS)
                .map(|n| 1 << n)
                .take_while(move |n| *n <= most)
        };
        let narrowest = array.vector_words();
        let mut found: Vec<Found> = Vec::new();
        for words in powers(WIDEST).filter(|words| *words >= narrowest) {
            for (per_phase, max_phase) in
                powers(MOST).flat_map(|per| powers(MOST).map(move |max| (per, max)))
            {
                let layout = Swizzled {
                    vec: words * WORD_BYTES / buffer.bytes.min(words * WORD_BYTES),
                    per_phase,
                    max_phase,
                };
                let mapping = layout.spec(buffer);
                let mapping = mapping.and_then(|new| after(&present, &new, geometry));
                if let Some(mapping) = mapping.filter(|m| array.refuses(m).is_none()) {
                    found.push(Found {
                        layout,
                        conflicts: array.count(&mapping).conflicts,
                        mapping,
                    });
                }
            }
        }
        let cost = |found: &Found| {
            let Swizzled {
                vec,
                per_phase,
                max_phase,
            } = found.layout;
            (found.conflicts, Reverse(vec), max_phase, per_phase)
        };
        found.into_iter().min_by_key(cost)
    }

    /// The only layout of the function around the accesses, of its only buffer of rows.
    fn declared_swizzle(&self, s: &Suggestion, sources: &mut SourceFiles) -> Option<Declared> {
        let (file, numbers, lines) = lines_of(s, sources)?;
        let own = function_around(&numbers, &lines)?;
        let numbered = || (1..).zip(&lines).skip(own.start).take(own.len());
        let buffers = numbered().flat_map(|(_, line)| {
            let all = calls(line.trim(), "allocate_shared_memory").into_iter();
            all.filter_map(|(at, parts)| allocated((line.trim(), at), &parts, &lines))
        });
        let buffers: Vec<Allocated> = buffers.collect();
        let [buffer] = &buffers[..] else { return None };
        let mut layouts = numbered().flat_map(|(number, code)| {
            let all = calls(code.trim(), LAYOUT).into_iter();
            all.map(move |(_, parts)| (number, code.trim().to_owned(), parts))
        });
        let (line, text, parts) = layouts.next().filter(|_| layouts.next().is_none())?;
        let (layout, numbers) = swizzled(&text, &parts, &lines)?;
        let name = buffer.name.clone();
        let buffer = self.buffer(buffer, layout)?;
        self.is_within(buffer.elements, buffer.bytes)
            .then_some(Declared {
                file,
                line,
                text,
                layout,
                numbers,
                name,
                buffer,
            })
    }

    /// The sizes of a buffer. If its shape has no numbers, its rows are those with which the
    /// accesses are without the swizzle what the layouts of registers are: a bit of the lane's
    /// number is a bit of the index.
    fn buffer(&self, of: &Allocated, layout: Swizzled) -> Option<Buffer> {
        let bytes = of.bytes.unwrap_or(self.target.element_bytes());
        if let Some((rows, row)) = of.shape {
            return Some(Buffer {
                elements: rows.checked_mul(row)?,
                row,
                bytes,
            });
        }
        let elements = WORD_BYTES * self.target.array.words() / bytes;
        let sizes = (0..u32::BITS)
            .map(|n| 1 << n)
            .take_while(|row| *row <= elements);
        let buffers = sizes.map(|row| Buffer {
            elements,
            row,
            bytes,
        });
        let mut fitting = buffers.filter(|buffer| self.is_swizzled(layout, *buffer));
        fitting
            .next()
            .filter(|_| layout.max_phase > 1 && fitting.next().is_none())
    }

    /// Whether the accesses can be those to a buffer in this layout.
    fn is_swizzled(&self, layout: Swizzled, buffer: Buffer) -> bool {
        let geometry = self.target.array.geometry();
        let present = layout.spec(buffer);
        let Some(present) = present.and_then(|spec| Layout::new(&spec, geometry).ok()) else {
            return false;
        };
        self.target.accesses.accesses.iter().all(|access| {
            let word = |lane: usize| Some(present.place((*access.addrs.get(lane)?)?));
            let differ = |lane: usize, bit: usize| Some(word(lane)? ^ word(lane ^ bit)?);
            let bits = [1, 2, 4, 8, 16];
            let mut pairs = (0..access.addrs.len()).flat_map(|l| bits.map(|bit| (l, bit)));
            pairs.all(|(lane, bit)| differ(lane, bit).is_none_or(|d| d.count_ones() <= 1))
        })
    }
}

/// A buffer as the source allocates it.
struct Allocated {
    name: Option<String>,
    /// Rows, and elements of a row, as far as the source has numbers for them.
    shape: Option<(u32, u32)>,
    /// Bytes of an element.
    bytes: Option<u32>,
}

/// `gl.allocate_shared_memory(gl.float32, [rows, columns], layout)`; `None` with other than two
/// dimensions.
fn allocated((line, at): (&str, usize), parts: &[Part], lines: &[String]) -> Option<Allocated> {
    let shape = parts.get(1)?.items()?;
    let [rows, row] = &shape[..] else { return None };
    let sizes = number(&rows.text, lines).zip(number(&row.text, lines));
    let bits: String = parts[0]
        .text
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    let bytes = bits.parse::<u32>().ok().map(|bits| bits / 8);
    Some(Allocated {
        name: assigned(line, at).map(str::to_owned),
        shape: sizes,
        bytes: bytes.filter(|bytes| bytes.is_power_of_two() && *bytes <= 8),
    })
}

/// The layout that a call makes, and the place of its numbers.
fn swizzled(line: &str, parts: &[Part], lines: &[String]) -> Option<(Swizzled, Part)> {
    let [vec, per_phase, max_phase, order] = parts else {
        return None;
    };
    let order: Vec<String> = order.items()?.into_iter().map(|item| item.text).collect();
    (order == ["1", "0"]).then_some(())?;
    let number = |part: &Part| number(&part.text, lines);
    let numbers = Part {
        text: line[vec.from..max_phase.to()].to_owned(),
        from: vec.from,
    };
    let layout = Swizzled {
        vec: number(vec)?,
        per_phase: number(per_phase)?,
        max_phase: number(max_phase)?,
    };
    Some((layout, numbers))
}

impl Declared {
    /// Its line with another layout.
    fn with(&self, new: Swizzled) -> Option<DeclarationChange> {
        let place = (self.file.as_str(), self.line);
        let Swizzled {
            vec,
            per_phase,
            max_phase,
        } = new;
        let numbers = format!("{vec}, {per_phase}, {max_phase}");
        changed(place, &self.text, &self.numbers, numbers)
    }
}

/// The mapping of words that are in order `present` into the order `new` of the same words.
fn after(present: &Layout, new: &LayoutSpec, geometry: Geometry) -> Option<Layout> {
    let new = Layout::new(new, geometry).ok()?;
    // A swizzle is its own inverse.
    let place = |word: u32| new.place(present.place(word));
    let mask = |bank: u32| {
        let bits = (0..geometry.addr_bits()).filter(|bit| place(1 << bit) >> bank & 1 == 1);
        bits.fold(0u32, |mask, bit| mask | 1 << bit)
    };
    let rows: Vec<u32> = (0..geometry.bank_bits()).map(mask).collect();
    let spec = LayoutSpec::Hash(Family::Matrix.spec(&rows, geometry).into());
    let layout = Layout::new(&spec, geometry).ok()?;
    match swizzle_of(&layout) {
        Some(swizzle) => Layout::new(&swizzle, geometry).ok(),
        None => Some(layout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_mappings_of_words() {
        let buffer = Buffer {
            elements: 2048,
            row: 32,
            bytes: 4,
        };
        let spec = |vec, per_phase, max_phase, buffer| {
            let layout = Swizzled {
                vec,
                per_phase,
                max_phase,
            };
            layout.spec(buffer).map(|spec| spec.to_string())
        };
        assert_eq!(spec(4, 1, 8, buffer).as_deref(), Some("swizzle:3,2,3"));
        assert_eq!(spec(1, 1, 32, buffer).as_deref(), Some("swizzle:5,0,5"));
        assert_eq!(spec(1, 1, 1, buffer).as_deref(), Some("mod"));
        // Sixteen phases of four elements are more than a row.
        assert_eq!(spec(4, 1, 16, buffer), None);
        let halves = Buffer { bytes: 2, ..buffer };
        assert_eq!(spec(8, 2, 4, halves).as_deref(), Some("swizzle:2,2,3"));
        assert_eq!(spec(1, 1, 8, halves), None);
    }

    /// Both at once are one mapping of the present words.
    #[test]
    fn a_layout_comes_after_the_present_one() {
        let geometry = Geometry::new(14, 5).unwrap();
        let layout = |spec: &str| Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        let (present, new) = (layout("swizzle:3,2,3"), layout("swizzle:5,0,5"));
        let both = after(&present, new.spec(), geometry).unwrap();
        for word in 0..4096 {
            assert_eq!(both.place(present.place(word)), new.place(word));
        }
        let same = after(&layout("mod"), new.spec(), geometry).unwrap();
        assert_eq!(same.spec(), new.spec());
    }
}
