//! The suggested changes as text.

use crate::suggest::array::extent::WITHOUT_ASKING;
use crate::suggest::{
    AccessChange, CopyChange, LineChange, Parts, Python, Suggestion, Template, torn_places,
};
use spadkit_mapping::software::{Language, LayoutSpec};
use spadkit_mapping::trace::{line_of_file, ptx_text, without_folder};

impl AccessChange {
    /// Line of the access in the PTX; with several files, also the file.
    pub fn ptx_place(&self) -> Option<String> {
        Some(ptx_text(self.ptx_file.as_deref(), self.ptx_line?))
    }
}

impl LineChange {
    /// A clause that says that other files use what the line defines; `None` if none
    /// does.
    pub fn users_text(&self) -> Option<String> {
        let names: Vec<&str> = self.used_in.iter().map(|f| without_folder(f)).collect();
        (!names.is_empty()).then(|| {
            format!(
                "{} use it, too: change them in the same way, or give this kernel a copy",
                names.join(", ")
            )
        })
    }
}

/// Operations for an access that are many.
const LONG: u64 = 8;

impl Suggestion {
    /// The layout of the array in a language that has one.
    pub fn template(&self, language: Language) -> Option<&Template> {
        match language {
            Language::Cute => self.cute.as_ref(),
            Language::Triton => self.triton.as_ref(),
            _ => None,
        }
    }

    /// The lines whose change is not given as a whole statement.
    pub fn by_hand(&self) -> impl Iterator<Item = &LineChange> {
        self.lines.iter().filter(|line| line.is_by_hand())
    }

    /// Whether the rows of the array become longer, and no index changes.
    pub fn has_longer_rows(&self) -> bool {
        self.function.is_empty() && matches!(self.hash, LayoutSpec::Pad { .. })
    }

    /// Whether the array has another layout in Python, and no access changes.
    pub fn has_another_layout(&self) -> bool {
        self.python.is_some_and(Python::has_layouts) && !self.has_longer_rows()
    }

    /// Whether nothing but the declaration changes.
    pub fn is_declaration_alone(&self) -> bool {
        self.has_longer_rows() && self.lines.is_empty()
    }

    /// The padding that stands in the declaration of the array alone.
    pub fn declared_padding(&self) -> Option<&LayoutSpec> {
        if self.has_longer_rows() {
            return Some(&self.hash);
        }
        let padding = self.padding.as_ref().filter(|p| p.in_declaration);
        padding.map(|padding| &padding.hash)
    }

    /// Whether the gaps of `pad` can stand in the declaration of the array alone, so that
    /// no instruction computes them.
    pub fn declares(&self, pad: &LayoutSpec) -> bool {
        match (self.declared_padding(), pad) {
            (Some(LayoutSpec::Pad { every: row, .. }), LayoutSpec::Pad { every, by }) => {
                row == every && (4 * by).is_multiple_of(self.element_bytes.max(4))
            }
            _ => false,
        }
    }

    /// Bytes that the address of the array is a multiple of.
    pub fn span_bytes(&self) -> u32 {
        let spans = self.tensor_copies.iter().map(CopyChange::span_bytes);
        spans.max().unwrap_or(128)
    }

    /// Advice for a line whose change is not known.
    pub fn advice(&self, line: &LineChange) -> String {
        let (what, text) = self.wrapped(line);
        if !line.shared_with.is_empty() {
            return format!(
                "one pointer goes to {} and {}: choose the function of the array where you \
                 choose the pointer, or map all of shared memory by one",
                self.array,
                line.shared_with.join(", ")
            );
        }
        if let Some(other) = &line.line_of {
            return format!(
                "the compiler gives this line, which has the address of {other}, an access to {}: \
                 leave the line as it is, and wrap the {what} where the source has that access: \
                 {text}",
                self.array
            );
        }
        if let Some(other) = &line.called_by {
            return format!(
                "{other} calls this function, too, with memory of its own: give this kernel a \
                 copy of the function, and there wrap the {what}: {text}{}",
                self.other_name(line)
            );
        }
        if line.is_of_rows() {
            return format!(
                "map the pointer to the first element, {}{text}, and give wmma the length of the \
                 longer rows{}",
                if what == "index" { "&" } else { "" },
                self.lengths_text(line)
            );
        }
        if !line.also_through.is_empty() {
            let (array, function) = (&self.array, &self.function_name);
            let names = line.also_through.join(", ");
            return format!(
                "map every access: {array}[{function}(INDEX)], and through {names} \
                 *{function}_at({array}, ADDRESS)"
            );
        }
        if line.parts.are_torn() {
            return format!(
                "the mapping takes apart the elements: copy them by their members, the address of \
                 each wrapped: {text}{}",
                self.other_name(line)
            );
        }
        format!("wrap the {what}: {text}{}", self.other_name(line))
    }

    /// A clause that says that the text has the array under another name, as the
    /// parameter of a function has.
    fn other_name(&self, line: &LineChange) -> String {
        let is_object = matches!(line.parts, Parts::OfOneObject | Parts::TornInOneObject);
        if line.out_of_scope && line.parts == Parts::Elements {
            format!(", where START is {}, passed to the function", self.array)
        } else if line.out_of_scope || is_object && line.is_through_a_pointer(&self.array) {
            format!(", with the name that {} has there", self.array)
        } else {
            String::new()
        }
    }

    /// The length of the rows of a line under the mapping.
    fn lengths_text(&self, line: &LineChange) -> String {
        let (Parts::Rows(lengths), LayoutSpec::Pad { every, by }) = (&line.parts, &self.hash)
        else {
            return String::new();
        };
        let longer = lengths.iter().map(|bytes| {
            let length = bytes + bytes / every * by;
            format!(", {length} bytes in place of {bytes}")
        });
        longer.collect()
    }

    /// The text for such a line: `("index", "tile[spad_place(INDEX)]")`, the address if the
    /// line has a pointer, the element if the array is out of scope.
    pub fn wrapped(&self, line: &LineChange) -> (&'static str, String) {
        let (array, function) = (&self.array, &self.function_name);
        if line.parts == Parts::OfOneObject {
            ("address", format!("*{function}_at(&{array}, &ELEMENT)"))
        } else if line.parts.are_torn() {
            let is_object = line.parts == Parts::TornInOneObject;
            let start = if is_object { "&" } else { "" };
            let member = format!("*{function}_at({start}{array}, &ELEMENT.MEMBER)");
            ("address of each member", member)
        } else if line.out_of_scope && line.is_asm() {
            ("address", format!("{function}_at(START, ADDRESS)"))
        } else if line.out_of_scope {
            ("element", format!("*{function}_at(START, &ELEMENT)"))
        } else if line.is_through_a_pointer(array) {
            ("address", format!("{function}_at({array}, ADDRESS)"))
        } else {
            ("index", format!("{array}[{function}(INDEX)]"))
        }
    }

    /// A clause that says that the index arithmetic takes about as many cycles as the mapping
    /// saves, or is long: the ranking is by conflicts, and only a simulation tells.
    pub fn costs_as_much(&self) -> Option<String> {
        let (operations, accesses) = self.operations;
        let saved = self.conflicts_before.saturating_sub(self.conflicts);
        let issued = operations * accesses;
        // An SM issues up to four instructions in a cycle.
        (operations >= LONG || issued > 0 && issued >= 4 * saved).then(|| {
            format!(
                "it takes about {operations} instructions for each of {accesses} accesses, to \
                 save {saved} wavefronts: spadkit flow simulates which mapping pays"
            )
        })
    }

    /// A sentence on where the array gets more elements if no declaration does:
    /// from the launch, or the number that it needs. `None` if it has enough.
    pub fn growth_text(&self) -> Option<String> {
        if let Some(bytes) = self.dynamic_shared {
            let before = self.elements_before * self.element_bytes;
            return Some(self.launch_text(before, bytes));
        }
        let grows = self.elements > self.elements_before && self.declarations.is_empty();
        grows.then(|| {
            format!(
                "the declaration: {} needs {} elements of {} bytes, it has {}",
                self.array, self.elements, self.element_bytes, self.elements_before
            )
        })
    }

    /// The new form of wide accesses, in the text after a mapping and its array.
    pub fn parts_text(&self) -> String {
        match self.parted {
            Some(parted) => format!(" with accesses of at most {} bytes", parted.bytes),
            None => String::new(),
        }
    }

    /// The shared memory that its padding needs from the launch.
    pub fn padded_launch_text(&self) -> Option<String> {
        let [before, bytes] = self.padding.as_ref()?.launch_bytes?;
        (bytes > before).then(|| self.launch_text(before, bytes))
    }

    fn launch_text(&self, before: u32, bytes: u32) -> String {
        let allowed = if bytes > WITHOUT_ASKING {
            ", which cudaFuncAttributeMaxDynamicSharedMemorySize has to allow"
        } else {
            ""
        };
        format!(
            "the launch: {} needs {bytes} bytes of dynamic shared memory, it has {before}; \
             dynamic_shared = {bytes} in the launch file, and {bytes} as the third argument \
             of <<<>>>{allowed}",
            self.array
        )
    }

    /// A sentence that says that the accesses of some lines become narrower; `None`
    /// if they do not.
    pub fn torn_text(&self) -> Option<String> {
        let (places, widest) = torn_places(&self.torn)?;
        Some(format!(
            "{places}: the compiler no longer merges accesses to {widest} bytes there; the \
             conflicts are counted that way, and a cast to a vector type keeps them whole"
        ))
    }

    /// A sentence that says that the gain is that of this input; `None` if addresses
    /// do not depend on data.
    pub fn data_text(&self) -> Option<String> {
        let all = self.conflicts_before;
        (self.given_by_data > 0).then(|| {
            format!(
                "the addresses of accesses with {} of the {all} conflicts depend on loaded values: \
                 the gain is that of this input, try it on others",
                self.given_by_data.min(all)
            )
        })
    }

    /// The changes in the maps of its tensor copies, a sentence for each.
    pub fn copy_texts(&self) -> Vec<String> {
        let text = |copy: &CopyChange| {
            format!(
                "the map of the tensor copy at PTX {} gets {}",
                line_of_file(copy.ptx_file.as_deref(), copy.ptx_line),
                copy.enumerator()
            )
        };
        self.tensor_copies.iter().map(text).collect()
    }
}
