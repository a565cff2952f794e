//! Finds the instructions of a line that make up one access: one, or several
//! narrower ones. For a load, they read only the words that are used.

use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::Op;

/// An occurrence of an access in the machine code.
#[derive(Debug)]
pub(super) struct Copy<'a> {
    /// An instruction, or the narrower ones, each with the word of the access that it
    /// begins with.
    pub pieces: Vec<(u32, &'a MachineAccess)>,
    /// The aligned offset of the access, if it consists of narrower instructions.
    window: Option<i64>,
}

impl<'a> Copy<'a> {
    fn whole(machine: &'a MachineAccess) -> Self {
        Copy {
            pieces: vec![(0, machine)],
            window: None,
        }
    }

    pub fn first(&self) -> &'a MachineAccess {
        self.pieces[0].1
    }

    /// Whether `machine`, with aligned offset `window`, is another of the narrower instructions.
    fn takes(&self, machine: &MachineAccess, window: i64) -> bool {
        let first = self.first();
        let again = |(_, m): &(u32, &MachineAccess)| m.offset == machine.offset;
        self.window == Some(window)
            && (&first.base, first.in_loop) == (&machine.base, machine.in_loop)
            && !self.pieces.iter().any(again)
    }
}

/// The copies of an access of `bytes` in `code`, in its order. The access is aligned,
/// but how far its register is from there is not known: taken is the distance that
/// leaves the fewest copies.
pub(super) fn of<'a>(code: &[&'a MachineAccess], bytes: u32) -> Vec<Copy<'a>> {
    let distances = (0..bytes.max(4)).step_by(4);
    let each = distances.map(|distance| aligned(code, bytes, distance));
    each.min_by_key(Vec::len).unwrap_or_default()
}

fn aligned<'a>(code: &[&'a MachineAccess], bytes: u32, distance: u32) -> Vec<Copy<'a>> {
    let mut copies: Vec<Copy> = Vec::new();
    for &machine in code {
        if machine.bytes >= bytes || machine.op == Op::Atomic {
            copies.push(Copy::whole(machine));
            continue;
        }
        let place = machine.offset + i64::from(distance);
        let window = place.div_euclid(bytes.into());
        let piece = (place.rem_euclid(bytes.into()) as u32 / 4, machine);
        match copies.iter_mut().find(|c| c.takes(machine, window)) {
            Some(copy) => copy.pieces.push(piece),
            None => copies.push(Copy {
                pieces: vec![piece],
                window: Some(window),
            }),
        }
    }
    copies
}
