//! CuTe DSL: the layout of `allocate_tensor` gets a longer stride, or a swizzle before it.

use super::text::{Part, assigned, calls, changed, function_around, number, plus};
use super::{Kernel, lines_of};
use crate::suggest::result::judged::Judged;
use crate::suggest::result::language::Python;
use crate::suggest::result::matrices::LongerRows;
use crate::suggest::result::padding::best_of;
use crate::suggest::result::templates::{Swizzle, Template, swizzle, template};
use crate::suggest::source::files::SourceFiles;
use crate::suggest::{Suggestion, of_longer_rows};

/// `cute.make_layout((rows, columns), stride=(columns, 1))`, without gaps between rows.
struct Declared {
    file: String,
    line: usize,
    text: String,
    /// The name of the tensor.
    name: String,
    /// The layout, as the line has it.
    layout: String,
    elements: u32,
    /// Elements that are adjacent.
    row: u32,
    stride: Stride,
}

/// What of a layout says how far apart rows are.
enum Stride {
    /// A number.
    Given(Part),
    /// Nothing: the first mode is the innermost, and this is the shape.
    OfShape(Part),
}

impl Kernel<'_> {
    /// A longer stride, or a composed layout; `None` if CuTe cannot say the mapping.
    pub fn in_cute(&self, s: Suggestion, sources: &mut SourceFiles) -> Option<Suggestion> {
        let declared = self.declared_layout(&s, sources);
        let has_swizzle = self.has(&s, "swizzle", sources);
        let composed = self.composed(declared.as_ref(), has_swizzle);
        let longer = declared.as_ref().and_then(|d| self.strided(d, sources));
        if let Some(longer) = longer {
            return Some(Suggestion {
                cute: composed,
                ..longer
            });
        }
        let composed = composed?;
        Some(Suggestion {
            hash: composed.hash,
            conflicts: composed.conflicts,
            elements: s.elements_before,
            function: composed.code,
            ..s.in_python(Python::Cute)
        })
    }

    /// The rows of the declared layout further apart.
    fn strided(&self, declared: &Declared, sources: &mut SourceFiles) -> Option<Suggestion> {
        let bytes = self.target.element_bytes();
        let banks = self.target.array.geometry().banks() as u32;
        let (by, layout) = best_of(self.target, declared.row * bytes, bytes, banks)?;
        let (part, new) = match &declared.stride {
            Stride::Given(part) => (part, plus(&part.text, by)),
            Stride::OfShape(shape) => {
                let stride = declared.row + by;
                (shape, format!("{}, stride=(1, {stride})", shape.text))
            }
        };
        let place = (declared.file.as_str(), declared.line);
        let longer = LongerRows {
            layout,
            declarations: vec![changed(place, &declared.text, part, new)?],
            lines: Vec::new(),
        };
        let judged = Judged::new(self.target, self.tuned, &[], sources);
        let array = match &declared.name[..] {
            "" => self.target.array_name(),
            name => name.to_owned(),
        };
        let found = of_longer_rows((self.target, self.tuned), longer, array, judged);
        Some(Suggestion {
            python: Some(Python::Cute),
            ..found
        })
    }

    /// The mapping as a layout.
    fn composed(&self, declared: Option<&Declared>, has_swizzle: bool) -> Option<Template> {
        let (mapping, swizzle) = swizzle(self.target)?;
        let Swizzle { bits, base, shift } = swizzle;
        let layout = match declared {
            Some(declared) => declared.layout.clone(),
            None => "LAYOUT".to_owned(),
        };
        let mut code = String::new();
        if declared.is_none() {
            let bytes = self.target.element_bytes();
            code += &format!("# LAYOUT: the present one, of elements of {bytes} bytes.\n");
        }
        if has_swizzle {
            code += "# The mapping comes after a swizzle that the layout has now.\n";
        }
        code += &format!(
            "cute.make_composed_layout(cute.make_swizzle({bits}, {base}, {shift}), 0, {layout})"
        );
        Some(template(self.target, &mapping, code))
    }

    /// The layout of the only tensor that the function around the accesses allocates.
    fn declared_layout(&self, s: &Suggestion, sources: &mut SourceFiles) -> Option<Declared> {
        let (file, numbers, lines) = lines_of(s, sources)?;
        let own = function_around(&numbers, &lines)?;
        let numbered = (1..).zip(&lines).skip(own.start).take(own.len());
        let mut all = numbered.flat_map(|(number, line)| {
            let text = line.trim();
            let allocated = calls(text, "allocate_tensor").first().map(|(at, _)| *at);
            let name = allocated.map(|at| assigned(text, at).unwrap_or_default());
            let layouts = calls(text, "make_layout").into_iter();
            let of_line = layouts.filter(|_| name.is_some()).map(|(at, parts)| {
                layout(text, at, &parts, &lines).map(|(layout, elements, row, stride)| Declared {
                    file: file.clone(),
                    line: number,
                    text: text.to_owned(),
                    name: name.unwrap_or_default().to_owned(),
                    layout,
                    elements,
                    row,
                    stride,
                })
            });
            of_line.collect::<Vec<_>>()
        });
        let found = all.next()?.filter(|_| all.next().is_none())?;
        self.is_within(found.elements, self.target.element_bytes())
            .then_some(found)
    }
}

/// The text of a layout of two modes without gaps, its elements, those of a row, and its
/// stride.
fn layout(
    line: &str,
    at: usize,
    parts: &[Part],
    lines: &[String],
) -> Option<(String, u32, u32, Stride)> {
    let shape = parts.first()?;
    let sizes = shape.items()?;
    let [rows, columns] = &sizes[..] else {
        return None;
    };
    let [rows, columns] = [number(&rows.text, lines)?, number(&columns.text, lines)?];
    let prefix = line[..at].strip_suffix("cute.").map_or("", |_| "cute.");
    let end = parts.last()?.to();
    let text = format!("{prefix}{})", &line[at..end]);
    let elements = rows.checked_mul(columns)?;
    let Some(stride) = parts.iter().find_map(|p| p.value_of("stride")) else {
        let whole = Stride::OfShape(shape.clone());
        return (parts.len() == 1).then_some((text, elements, rows, whole));
    };
    let [first, second] = <[Part; 2]>::try_from(stride.items()?).ok()?;
    let values = [number(&first.text, lines)?, number(&second.text, lines)?];
    if values == [columns, 1] {
        Some((text, elements, columns, Stride::Given(first)))
    } else if values == [1, rows] {
        Some((text, elements, rows, Stride::Given(second)))
    } else {
        None
    }
}
