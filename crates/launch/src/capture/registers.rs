//! Numbers for virtual registers: PTX has as many registers as it likes, a
//! full trace numbers them with 8 bits.
//!
//! Linear scan over a function's instructions: a register lives from its first
//! to its last mention, and, where it is live when a loop goes round, to the
//! loop's end. Registers that one instruction writes together have one number,
//! as a wide load in a trace names its group by the first. Warps issue in
//! order, and whoever reads a value last has waited for it: a number that is
//! used again holds nobody up.

use spadkit_ptx::ast::{Function, LabelKind, Operand};
use spadkit_ptx::exec::InstructionInfo;

/// Registers that are live at once; 255 and more have to share.
pub(super) const NUMBERS: usize = 255;

/// The numbers of a function's registers.
pub(super) struct Numbers {
    of: Vec<u8>,
    /// Registers whose number another live one has, too.
    pub crowded: u32,
    /// One past the highest number.
    pub end: usize,
}

impl Numbers {
    /// Numbers for the registers of `function`, from `first` on where that
    /// leaves enough; `infos` has its instructions in order.
    pub fn new(function: &Function, infos: &[InstructionInfo], first: usize) -> Self {
        let groups = groups(function.registers.len(), infos);
        let mut lives = lives(&groups, infos);
        extend(&mut lives, &backward_branches(function));
        let numbers = scan(&groups, &lives, first);
        if numbers.crowded > 0 && first > 0 {
            scan(&groups, &lives, 0)
        } else {
            numbers
        }
    }

    /// The number of the register with that index.
    pub fn of(&self, register: u32) -> u8 {
        self.of[register as usize]
    }
}

/// The first register of each one's group (union-find, paths halved).
fn groups(count: usize, infos: &[InstructionInfo]) -> Vec<usize> {
    fn root(parents: &mut [usize], mut r: usize) -> usize {
        while parents[r] != r {
            parents[r] = parents[parents[r]];
            r = parents[r];
        }
        r
    }
    let mut parents: Vec<usize> = (0..count).collect();
    for info in infos {
        for pair in info.writes.windows(2) {
            let a = root(&mut parents, pair[0].0 as usize);
            let b = root(&mut parents, pair[1].0 as usize);
            parents[a.max(b)] = a.min(b);
        }
    }
    (0..count).map(|r| root(&mut parents, r)).collect()
}

/// The life of a group of registers, from the first to the last instruction that
/// names one of them.
#[derive(Clone, Copy)]
struct Life {
    start: usize,
    end: usize,
    /// Whether the group is read before it is written, going by the text.
    read_first: bool,
}

/// Lives by the first register of the group; none where no instruction names it.
fn lives(groups: &[usize], infos: &[InstructionInfo]) -> Vec<Option<Life>> {
    let mut lives: Vec<Option<Life>> = vec![None; groups.len()];
    for (at, info) in infos.iter().enumerate() {
        let reads = info.reads.iter().map(|r| (r, true));
        let writes = info.writes.iter().map(|r| (r, false));
        for (register, read_first) in reads.chain(writes) {
            let life = lives[groups[register.0 as usize]].get_or_insert(Life {
                start: at,
                end: at,
                read_first,
            });
            life.end = at;
        }
    }
    lives
}

/// Target and place of the branches that go back, by ascending target.
fn backward_branches(function: &Function) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    for (at, instruction) in function.instructions.iter().enumerate() {
        let mut labels: Vec<u32> = Vec::new();
        for operand in &instruction.operands {
            if let Operand::Label(label) = operand {
                match &function.labels[*label as usize].kind {
                    LabelKind::Branches(targets) => labels.extend(targets),
                    _ => labels.push(*label),
                }
            }
        }
        for label in labels {
            if let LabelKind::Code(target) = function.labels[label as usize].kind
                && target as usize <= at
            {
                list.push((target as usize, at));
            }
        }
    }
    list.sort_unstable();
    list
}

/// Extends lives over loops: what is live when a loop goes round lives to the end of
/// the loop, and from its beginning where it is read before it is written.
fn extend(lives: &mut [Option<Life>], loops: &[(usize, usize)]) {
    for life in lives.iter_mut().flatten() {
        if life.read_first {
            let around = loops
                .iter()
                .filter(|(top, bottom)| (*top..=*bottom).contains(&life.start));
            life.start = around
                .map(|(top, _)| *top)
                .min()
                .map_or(life.start, |t| t.min(life.start));
        }
        let from = life.start + usize::from(!life.read_first);
        for &(top, bottom) in &loops[loops.partition_point(|(top, _)| *top < from)..] {
            if top > life.end {
                break;
            }
            life.end = life.end.max(bottom);
        }
    }
}

fn scan(groups: &[usize], lives: &[Option<Life>], first: usize) -> Numbers {
    let mut order: Vec<(usize, Life)> = lives
        .iter()
        .enumerate()
        .filter_map(|(group, life)| Some((group, (*life)?)))
        .collect();
    order.sort_by_key(|(group, life)| (life.start, *group));
    // When each number is free again: its last reader has issued.
    let mut busy_to: Vec<Option<usize>> = vec![None; NUMBERS];
    let mut numbers = vec![0u8; groups.len()];
    let (mut crowded, mut end) = (0, first);
    for (group, life) in order {
        let is_free = |n: &usize| busy_to[*n].is_none_or(|to| to <= life.start);
        let free = (first..NUMBERS).find(is_free);
        let number = free.unwrap_or_else(|| {
            crowded += 1;
            let soonest = (0..NUMBERS).min_by_key(|&n| busy_to[n]);
            soonest.unwrap_or(0)
        });
        busy_to[number] = busy_to[number].max(Some(life.end));
        numbers[group] = number as u8;
        end = end.max(number + 1);
    }
    Numbers {
        of: groups.iter().map(|&group| numbers[group]).collect(),
        crowded,
        end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_ptx::Module;
    use spadkit_ptx::exec::Program;

    fn numbers(body: &str) -> (Numbers, Vec<String>) {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<400>; .reg .pred %p<4>; .reg .b64 %rd<4>;\n{body}\nret;\n}}\n"
        );
        let module = Module::parse(&text, "k.ptx").unwrap();
        let infos = Program::new(&module).unwrap().instructions("k").unwrap();
        let function = &module.functions[0];
        let names = function.registers.iter().map(|r| r.name.clone()).collect();
        (Numbers::new(function, &infos, 0), names)
    }

    fn of((numbers, names): &(Numbers, Vec<String>), name: &str) -> u8 {
        let at = names.iter().position(|n| n == name).unwrap();
        numbers.of(at as u32)
    }

    #[test]
    fn a_number_is_used_again_after_the_last_reader() {
        let n = numbers(
            "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; add.u32 %r4, %r3, %r2;",
        );
        assert_ne!(of(&n, "%r2"), of(&n, "%r3"));
        assert_eq!(of(&n, "%r1"), of(&n, "%r2"));
        assert_eq!((n.0.crowded, n.0.end), (0, 2));
    }

    #[test]
    fn what_a_loop_needs_lives_through_it() {
        let n = numbers(
            "mov.u32 %r1, 0; mov.u32 %r5, 9;\nL: add.u32 %r2, %r1, %r5; add.u32 %r3, %r2, 1;\n\
             mov.u32 %r1, %r3; setp.lt.u32 %p1, %r3, 10; @%p1 bra L; mov.u32 %r4, %r3;",
        );
        // %r5 is read at the top alone, and again in the next round.
        for name in ["%r1", "%r2", "%r3", "%p1"] {
            assert_ne!(of(&n, name), of(&n, "%r5"), "{name}");
        }
        // %r2 is written anew in each round, before it is read.
        assert_eq!(of(&n, "%r2"), of(&n, "%r3"));
    }

    #[test]
    fn a_wide_load_has_one_number() {
        let n =
            numbers("mov.u64 %rd1, 0; ld.global.v2.u32 {%r1, %r2}, [%rd1]; add.u32 %r3, %r1, %r2;");
        assert_eq!(of(&n, "%r1"), of(&n, "%r2"));
    }

    #[test]
    fn more_than_there_are_numbers_share_them() {
        let mut body = String::new();
        for r in 0..300 {
            body += &format!("mov.u32 %r{r}, %tid.x;\n");
        }
        for r in 0..300 {
            body += &format!("add.u32 %r{r}, %r{r}, 1;\n");
        }
        let n = numbers(&body);
        assert_eq!((n.0.crowded, n.0.end), (300 - NUMBERS as u32, NUMBERS));
    }
}
