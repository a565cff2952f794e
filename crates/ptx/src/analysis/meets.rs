//! Meetings: the places where the lanes of a warp that part at a branch meet again, as
//! the machine code of a GPU has them.
//!
//! A stack of post-dominators would have an `if` with a `break` or a `return` inside
//! meet behind the loop, or never: lane by lane, a warp would fall apart. The machine
//! code has the sides of a branch meet at the first block that each of them can reach
//! (`BSSY`), and takes the lanes that go past it out of the group (`BREAK`). Edges back
//! to the head of a loop do not count for this inside of the loop.

mod blocks;

use super::{Dominators, Loops};
use crate::cfg::Cfg;
use blocks::Blocks;
use std::collections::{BTreeMap, BTreeSet};

/// Bits of what is known of the blocks of a function beyond which its branches meet at
/// their post-dominators.
const LIMIT: usize = 1 << 28;

/// The place where the sides of a branch meet: a block, and the number of loops
/// around all of the sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meeting {
    /// The block.
    pub block: u32,
    /// The number of loops.
    pub depth: u8,
    /// Rank among meetings in as many loops: lanes come to the lower number first, to the
    /// head of the loop last.
    pub order: u32,
}

/// The meetings of a graph.
#[derive(Clone, Debug, Default)]
pub struct Meets {
    /// By block, the meeting of the branch that ends it.
    at: Vec<Option<Meeting>>,
    /// By branch to a table some of whose sides leave its loop, the meeting of the other
    /// sides.
    inner: BTreeMap<u32, Meeting>,
    /// By branch, the meetings of branches before it that only some of its sides reach.
    past: BTreeMap<u32, Vec<Past>>,
}

/// A meeting that only some sides of a later branch reach, or its own meeting does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The meeting that is passed.
    pub meeting: Meeting,
    /// The successors of the later branch's block that lead past it.
    pub sides: Vec<u32>,
    /// The meeting of the later branch itself, if it is no place before this one.
    pub own: Option<Relation>,
    /// The place where lanes that pass it meet those that do not.
    pub join: Option<Meeting>,
}

/// The relation of a branch's meeting to that of a branch before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Lanes come to it after the other.
    Behind,
    /// No lane comes to both: the machine code has only that of the first branch.
    Crosses,
}

impl Meets {
    /// Finds them.
    pub fn new(cfg: &Cfg) -> Self {
        let count = cfg.blocks.len();
        let branches = cfg.blocks.iter().filter(|b| b.successors.len() > 1).count();
        if branches == 0 {
            return Meets {
                at: vec![None; count],
                ..Meets::default()
            };
        }
        if count * (count + branches) > LIMIT {
            return Meets::post_dominators(cfg);
        }
        let loops = Loops::new(cfg, &Dominators::new(cfg));
        let all = || 0..count as u32;
        // What is a round of a loop that lanes enter at several blocks?
        if all().any(|block| loops.is_irreducible(block)) {
            return Meets::post_dominators(cfg);
        }
        let graph = Graph::new(cfg, loops);
        let inner = all().filter_map(|block| Some((block, graph.inner_meeting(block)?)));
        let mut meets = Meets {
            at: all().map(|block| graph.meeting(block)).collect(),
            inner: inner.collect(),
            past: BTreeMap::new(),
        };
        meets.find_past(&graph);
        meets
    }

    /// The place where the sides of the branch that ends a block meet; none if only
    /// the end of the function joins them.
    pub fn of(&self, block: u32) -> Option<Meeting> {
        self.at[block as usize]
    }

    /// The place where those sides of the branch meet that stay in the loop around
    /// its block, if there are several and others leave it.
    pub fn inside(&self, block: u32) -> Option<Meeting> {
        self.inner.get(&block).copied()
    }

    /// The meetings that a branch may lead past.
    pub fn past(&self, block: u32) -> &[Past] {
        self.past.get(&block).map_or(&[], |past| past)
    }

    fn post_dominators(cfg: &Cfg) -> Self {
        // No lane goes past a post-dominator, so their order decides nothing.
        let meeting = |&block: &u32| {
            Some(Meeting {
                block,
                depth: 0,
                order: 0,
            })
        };
        let known = |meeting: &Meeting| meeting.block != cfg.exit();
        let all = cfg.post_dominator.iter();
        Meets {
            at: all.map(|block| meeting(block).filter(known)).collect(),
            ..Meets::default()
        }
    }

    fn find_past(&mut self, graph: &Graph) {
        let outer = (0..).zip(&self.at).filter_map(|(b, at)| Some((b, (*at)?)));
        let inner = self.inner.iter().map(|(block, meeting)| (*block, *meeting));
        let of = |(block, meeting): (u32, Meeting)| (meeting, graph.loop_at(block, meeting.depth));
        let mut known: BTreeSet<(Meeting, Option<u32>)> = outer.chain(inner).map(of).collect();
        let mut open: Vec<_> = known.iter().copied().collect();
        while let Some((meeting, around)) = open.pop() {
            for (block, past) in self.past_of(meeting, around, graph) {
                // Lanes that wait for each other there may go elsewhere, too.
                let join = past.join.map(|join| of((block, join)));
                open.extend(join.filter(|join| known.insert(*join)));
                self.past.entry(block).or_default().push(past);
            }
        }
    }

    /// The branches on the way to a meeting, of a loop or the function, that lead past it.
    fn past_of(&self, meeting: Meeting, around: Option<u32>, graph: &Graph) -> Vec<(u32, Past)> {
        let leads = graph.leading_to(meeting.block, around);
        let behind = graph.reached(meeting.block, around, None);
        let comes = |to: u32| graph.goes_to(&leads, to, (meeting.block, around));
        let mut found = Vec::new();
        for block in leads.iter().filter(|block| *block != meeting.block) {
            let successors = &graph.cfg.blocks[block as usize].successors;
            let mut sides = successors.clone();
            sides.retain(|&to| !comes(to));
            let own = self.at[block as usize].filter(|own| {
                own.depth < meeting.depth
                    || own.depth == meeting.depth && *own != meeting && !comes(own.block)
            });
            let follows = |own: Meeting| {
                own.depth < meeting.depth || behind.has(graph.order[own.block as usize])
            };
            let own = own.map(|own| {
                if follows(own) {
                    Relation::Behind
                } else {
                    Relation::Crosses
                }
            });
            if successors.len() < 2 || sides.is_empty() && own.is_none() {
                continue;
            }
            let all = [&sides[..], &[meeting.block]].concat();
            let join = graph.meeting_of(block, &all).filter(|_| !sides.is_empty());
            found.push((
                block,
                Past {
                    meeting,
                    sides,
                    own,
                    join,
                },
            ));
        }
        found
    }
}

/// A graph with its loops.
struct Graph<'a> {
    cfg: &'a Cfg,
    loops: Loops,
    /// By block, its number in an order in which all edges but back edges go up.
    order: Vec<u32>,
    /// By block, the numbers of those that it reaches without a back edge, itself among
    /// them.
    forward: Vec<Blocks>,
    /// Blocks that do nothing but leave the function.
    ends: Vec<bool>,
    /// By branch that leaves the loop that it is in, the meeting of its sides.
    exits: BTreeMap<u32, Meeting>,
}

impl<'a> Graph<'a> {
    fn new(cfg: &'a Cfg, loops: Loops) -> Self {
        let count = cfg.blocks.len();
        let mut order = vec![u32::MAX; count];
        for (number, &block) in (0..).zip(&cfg.reverse_postorder) {
            order[block as usize] = number;
        }
        let exit = cfg.exit();
        let ends = cfg.blocks.iter();
        let ends = ends.map(|b| b.end - b.start == 1 && b.successors == [exit]);
        let mut graph = Graph {
            cfg,
            loops,
            order,
            forward: vec![Blocks::new(0); count],
            ends: ends.collect(),
            exits: BTreeMap::new(),
        };
        for &block in cfg.reverse_postorder.iter().rev() {
            let mut own = Blocks::new(count);
            own.insert(graph.order[block as usize]);
            for &to in &cfg.blocks[block as usize].successors {
                let number = graph.order.get(to as usize).copied();
                if number.is_some_and(|to| to > graph.order[block as usize]) {
                    own.join(&graph.forward[to as usize]);
                }
            }
            graph.forward[block as usize] = own;
        }
        let leaves = |&block: &u32| {
            let around = graph.around(block, &cfg.blocks[block as usize].successors);
            around != graph.loops.innermost(block)
        };
        let exits = (0..count as u32).filter(leaves);
        graph.exits = exits
            .filter_map(|block| Some((block, graph.meeting(block)?)))
            .collect();
        graph
    }

    fn is_end(&self, block: u32) -> bool {
        self.ends.get(block as usize).copied().unwrap_or(true)
    }

    /// The meeting of the sides of the branch that ends a block.
    fn meeting(&self, block: u32) -> Option<Meeting> {
        self.meeting_of(block, &self.cfg.blocks[block as usize].successors)
    }

    /// The meeting of those of its sides that stay in the loop around it, if not all
    /// do.
    fn inner_meeting(&self, block: u32) -> Option<Meeting> {
        let around = self.loops.innermost(block)?;
        let sides = &self.cfg.blocks[block as usize].successors;
        let stay = sides.iter().copied();
        let stay: Vec<u32> = stay.filter(|&s| self.is_inside(Some(around), s)).collect();
        (stay.len() < sides.len()).then(|| self.meeting_of(block, &stay))?
    }

    fn meeting_of(&self, block: u32, sides: &[u32]) -> Option<Meeting> {
        if sides.len() < 2 || self.order[block as usize] == u32::MAX {
            return None;
        }
        let around = self.around(block, sides);
        // Lanes leave a loop in different rounds: they meet where all its exits do.
        let leaves_loop = around != self.loops.innermost(block);
        let holds = |meet: u32| {
            if !leaves_loop && self.exits.is_empty() {
                return true;
            }
            let behind = self.reached(meet, around, None);
            !sides.iter().any(|&side| {
                let mut ways = self.reached(side, around, Some(meet));
                if leaves_loop {
                    ways.meet(&behind);
                    ways.iter()
                        .any(|number| number != self.order[meet as usize])
                } else {
                    self.leaves_past(&ways, (sides, around), (meet, &behind))
                }
            })
        };
        let first = |reached: &dyn Fn(u32) -> Blocks| self.first_of(sides, around, reached, holds);
        let found = first(&|side| self.forward[side as usize].clone())
            .or_else(|| first(&|side| self.reached(side, around, Some(block))))
            .or_else(|| first(&|side| self.reached(side, around, None)));
        let head = self.header(around);
        let block = found.or(head)?;
        let depth = around.map_or(0, |at| self.depth(at));
        let order = match head {
            Some(head) if head == block => u32::MAX,
            _ => self.order[block as usize],
        };
        Some(Meeting {
            block,
            depth,
            order,
        })
    }

    /// The head of a loop.
    fn header(&self, around: Option<u32>) -> Option<u32> {
        around.map(|at| self.loops.list[at as usize].header)
    }

    /// Number of loops that a loop is in, itself counted.
    fn depth(&self, at: u32) -> u8 {
        u8::try_from(self.loops.list[at as usize].depth).unwrap_or(u8::MAX)
    }

    /// The loop around a block that is in so many, itself counted.
    fn loop_at(&self, block: u32, depth: u8) -> Option<u32> {
        let parent = |at: &u32| self.loops.list[*at as usize].parent;
        let mut around = std::iter::successors(self.loops.innermost(block), parent);
        around.find(|at| self.depth(*at) <= depth)
    }

    /// Whether a block is in a loop, or in the function.
    fn is_inside(&self, around: Option<u32>, block: u32) -> bool {
        let is_in = |at| self.loops.is_inside(block, at);
        block != self.cfg.exit() && around.is_none_or(is_in)
    }

    /// The innermost loop around a block and all of others.
    fn around(&self, block: u32, others: &[u32]) -> Option<u32> {
        let parent = |at: &u32| self.loops.list[*at as usize].parent;
        let mut around = std::iter::successors(self.loops.innermost(block), parent);
        around.find(|at| others.iter().all(|&o| self.is_inside(Some(*at), o)))
    }

    /// The first block of a loop that all sides reach, and that `holds`; a side that is the
    /// head of the loop goes round, and one that leaves the function reaches nothing.
    fn first_of(
        &self,
        sides: &[u32],
        around: Option<u32>,
        reached: impl Fn(u32) -> Blocks,
        holds: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let header = self.header(around);
        if sides
            .iter()
            .any(|&side| Some(side) == header || self.is_end(side))
        {
            return None;
        }
        let mut all = reached(sides[0]);
        sides[1..].iter().for_each(|&side| all.meet(&reached(side)));
        let blocks = all
            .iter()
            .map(|number| self.cfg.reverse_postorder[number as usize]);
        let own = |block: &u32| !self.is_end(*block) && self.is_inside(around, *block);
        let mut blocks = blocks.filter(own);
        blocks.find(|&block| Some(block) != header && holds(block))
    }

    /// Whether a loop among these blocks, which leads to a side of the branch before it, has its
    /// lanes meet `behind` a meeting only.
    fn leaves_past(
        &self,
        blocks: &Blocks,
        (sides, around): (&[u32], Option<u32>),
        (meet, behind): (u32, &Blocks),
    ) -> bool {
        let depth = around.map_or(0, |at| self.depth(at));
        let ends = |at: u32| {
            let block = self.cfg.reverse_postorder[at as usize];
            let leaves = &self.cfg.blocks[block as usize].successors;
            let exit = self.exits.get(&block);
            let exit = exit.filter(|_| leaves.iter().any(|to| sides.contains(to)));
            exit.filter(|exit| exit.depth == depth && exit.block != meet)
        };
        let mut ends = blocks.iter().filter_map(ends);
        ends.any(|end| behind.has(self.order[end.block as usize]))
    }

    /// The numbers of the blocks of a loop that a block reaches without going round, and not
    /// by way of `without`.
    fn reached(&self, from: u32, around: Option<u32>, without: Option<u32>) -> Blocks {
        let header = self.header(around);
        let mut reached = Blocks::new(self.cfg.blocks.len());
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            let out = self.is_end(block) || Some(block) == without || Some(block) == header;
            if !out && self.is_inside(around, block) && reached.insert(self.order[block as usize]) {
                open.extend(&self.cfg.blocks[block as usize].successors);
            }
        }
        reached
    }

    /// The blocks of a loop that lead to one of them without going round. To the head of
    /// the loop, all do.
    fn leading_to(&self, to: u32, around: Option<u32>) -> Blocks {
        let header = self.header(around);
        let mut leads = Blocks::new(self.cfg.blocks.len());
        if Some(to) == header {
            let all = 0..self.cfg.blocks.len() as u32;
            all.filter(|&b| self.is_inside(around, b)).for_each(|b| {
                leads.insert(b);
            });
            return leads;
        }
        let mut open = vec![to];
        while let Some(block) = open.pop() {
            if self.is_inside(around, block) && leads.insert(block) && Some(block) != header {
                open.extend(&self.cfg.blocks[block as usize].predecessors);
            }
        }
        leads
    }

    /// Whether a side of a branch goes to a meeting, of which `leads` are the blocks that do.
    fn goes_to(&self, leads: &Blocks, side: u32, (meet, around): (u32, Option<u32>)) -> bool {
        let header = self.header(around);
        if Some(side) == header {
            // It goes round, past all but the head.
            return Some(meet) == header;
        }
        side < self.cfg.exit() && leads.has(side)
    }
}
