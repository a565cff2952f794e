//! Access patterns: linear, stride, block, random (hash paper,
//! section 3, Eqs 4 to 8).
//!
//! A warp access is fitted to `s = Sy·ty + Sx·tx + o`, in words. The paper's
//! matrix entries and `COLS` appear only as these two sums in a trace: `Sx =
//! M01·COLS + M11`, `Sy = M00·COLS + M10`. Inactive lanes are left out of the
//! fit.

use super::access::{Access, AccessTrace, Op};
use serde::Serialize;
use std::fmt;

/// The class of an access pattern, from the most special to the most general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Consecutive words (Eq. 5).
    Linear,
    /// A constant distance between consecutive threads (Eq. 6).
    Stride,
    /// Two distances, in x and in y; broadcast is the one with zeros (Eq. 7).
    Block,
    /// Anything else (Eq. 8).
    Random,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Linear => "linear",
            Class::Stride => "stride",
            Class::Block => "block",
            Class::Random => "random",
        })
    }
}

/// The pattern of one warp access; strides in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// A single active lane: fits every class, has no stride.
    Single,
    /// `s = lane + o`.
    Linear,
    /// `s = stride·lane + o`, stride neither 0 nor 1.
    Stride {
        /// S.
        stride: i64,
    },
    /// `s = y·ty + x·tx + o` in sub-warps of `width` lanes.
    Block {
        /// Lanes of equal ty: the block's x dimension, or a power of two.
        width: u32,
        /// Sx.
        x: i64,
        /// Sy.
        y: i64,
    },
    /// No fit.
    Random,
}

impl Pattern {
    /// The pattern of `access` in a thread block with `block_x` threads in x;
    /// `None` without active lanes.
    pub fn of(access: &Access, block_x: u32) -> Option<Self> {
        let lanes = access.addrs.len() as u32;
        let active: Vec<(i64, i64)> = (0..)
            .zip(&access.addrs)
            .filter_map(|(lane, addr)| Some((lane, i64::from((*addr)?))))
            .collect();
        let one_dimensional = match active.as_slice() {
            [] => return None,
            [_] => return Some(Pattern::Single),
            _ => fit_line(&active),
        };
        Some(match one_dimensional {
            Some(1) => Pattern::Linear,
            // Broadcast: a block with zeros, whatever its width.
            Some(0) => Pattern::Block {
                width: lanes,
                x: 0,
                y: 0,
            },
            Some(stride) => Pattern::Stride { stride },
            None => {
                let first_thread = u64::from(access.warp) * u64::from(lanes);
                fit_block(&active, lanes, block_x, first_thread).unwrap_or(Pattern::Random)
            }
        })
    }

    /// Class of the pattern.
    pub fn class(self) -> Class {
        match self {
            Pattern::Single | Pattern::Linear => Class::Linear,
            Pattern::Stride { .. } => Class::Stride,
            Pattern::Block { .. } => Class::Block,
            Pattern::Random => Class::Random,
        }
    }

    /// Non-zero strides of the pattern, without sign.
    pub fn strides(self) -> impl Iterator<Item = u64> {
        let strides = match self {
            Pattern::Linear => [1, 0],
            Pattern::Stride { stride } => [stride, 0],
            Pattern::Block { x, y, .. } => [x, y],
            Pattern::Single | Pattern::Random => [0, 0],
        };
        strides
            .into_iter()
            .map(i64::unsigned_abs)
            .filter(|&s| s != 0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Single => f.write_str("one lane"),
            Pattern::Linear => f.write_str("tx"),
            Pattern::Stride { stride } => write!(f, "{stride}·tx"),
            Pattern::Block { x: 0, y: 0, .. } => f.write_str("broadcast"),
            Pattern::Block { width, x, y } => write!(f, "{y}·ty + {x}·tx, {width} wide"),
            Pattern::Random => f.write_str("-"),
        }
    }
}

/// The stride of addresses on a line over the lanes.
fn fit_line(active: &[(i64, i64)]) -> Option<i64> {
    let ((l0, a0), (l1, a1)) = (active[0], active[1]);
    let stride = exact_ratio(a1 - a0, l1 - l0)?;
    let fits = |&(l, a): &(i64, i64)| a - a0 == stride * (l - l0);
    active.iter().all(fits).then_some(stride)
}

/// A block pattern in the thread block's own x and y where a warp has several
/// rows of it, or in sub-warps of a power of two.
fn fit_block(
    active: &[(i64, i64)],
    lanes: u32,
    block_x: u32,
    first_thread: u64,
) -> Option<Pattern> {
    // Three lanes fit some block whatever their addresses.
    if active.len() < 4 {
        return None;
    }
    let own = (block_x > 1 && block_x < lanes).then_some((block_x, first_thread));
    let halves = (1..)
        .map(|i| 1u32 << i)
        .take_while(|&width| width < lanes)
        .map(|width| (width, 0));
    own.into_iter().chain(halves).find_map(|(width, first)| {
        let wide = i64::from(width);
        let start = (first % u64::from(width)) as i64;
        let place = |&(lane, addr): &(i64, i64)| {
            let thread = start + lane;
            [thread % wide, thread / wide, addr]
        };
        let points: Vec<[i64; 3]> = active.iter().map(place).collect();
        let (x, y) = fit_plane(&points)?;
        Some(Pattern::Block { width, x, y })
    })
}

/// Sx and Sy of points `[tx, ty, s]` on a plane; `None` if they are on none,
/// or if one of the two is not determined.
fn fit_plane(points: &[[i64; 3]]) -> Option<(i64, i64)> {
    let same_row = points.windows(2).find(|p| p[0][1] == p[1][1])?;
    let x = exact_ratio(
        same_row[1][2] - same_row[0][2],
        same_row[1][0] - same_row[0][0],
    )?;
    let next_row = points.windows(2).find(|p| p[0][1] != p[1][1])?;
    let [dx, dy, ds] = std::array::from_fn(|i| next_row[1][i] - next_row[0][i]);
    let y = exact_ratio(ds - x * dx, dy)?;
    let [x0, y0, s0] = points[0];
    let fits = |&[tx, ty, s]: &[i64; 3]| s - s0 == y * (ty - y0) + x * (tx - x0);
    points.iter().all(fits).then_some((x, y))
}

fn exact_ratio(a: i64, b: i64) -> Option<i64> {
    (a % b == 0).then(|| a / b)
}

/// A static instruction and its patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Static access site.
    pub pc: u32,
    /// Operation of the instruction.
    pub op: Op,
    /// Number of warp accesses with active lanes.
    pub accesses: u64,
    /// The most general class among them.
    pub class: Class,
    /// Patterns of the instruction and how often each occurs, the most frequent
    /// first.
    pub patterns: Vec<(Pattern, u64)>,
}

/// The patterns of each static instruction that accesses something, by pc.
pub fn classify(trace: &AccessTrace) -> Vec<Instruction> {
    let mut found: Vec<(u32, Op, Pattern)> = trace
        .accesses
        .iter()
        .filter_map(|a| Some((a.pc, a.op, Pattern::of(a, trace.block_dim[0])?)))
        .collect();
    found.sort_by_key(|&(pc, _, pattern)| (pc, pattern));
    found
        .chunk_by(|a, b| a.0 == b.0)
        .map(|accesses| {
            let same = accesses.chunk_by(|a, b| a.2 == b.2);
            let mut patterns: Vec<_> = same.map(|p| (p[0].2, p.len() as u64)).collect();
            let class = patterns.iter().map(|(p, _)| p.class()).max();
            patterns.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
            Instruction {
                pc: accesses[0].0,
                op: accesses[0].1,
                accesses: accesses.len() as u64,
                class: class.unwrap_or(Class::Random),
                patterns,
            }
        })
        .collect()
}

impl Instruction {
    /// Strides of the instruction in words, ascending, without sign. None if the
    /// pattern is random, because then a fitting access is a coincidence.
    pub fn strides(&self) -> Vec<u64> {
        if self.class == Class::Random {
            return Vec::new();
        }
        let all = self.patterns.iter().flat_map(|(p, _)| p.strides());
        sorted(all.collect())
    }
}

/// Strides of a whole trace, ascending, without sign.
pub fn strides(trace: &AccessTrace) -> Vec<u64> {
    let all = classify(trace).into_iter().flat_map(|i| i.strides());
    sorted(all.collect())
}

fn sorted(mut strides: Vec<u64>) -> Vec<u64> {
    strides.sort_unstable();
    strides.dedup();
    strides
}

/// S0 and k of a non-zero stride S = S0·2^k with S0 odd.
pub fn odd_part(stride: u64) -> (u64, u32) {
    let k = stride.trailing_zeros();
    (stride >> k, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(addrs: impl Iterator<Item = Option<u32>>) -> Access {
        Access {
            warp: 0,
            pc: 0,
            op: Op::Load,
            addrs: addrs.collect(),
            bytes: 4,
            increment: false,
            aggregated: false,
            extra: Default::default(),
        }
    }

    fn pattern(address: impl Fn(u32) -> u32, block_x: u32) -> Pattern {
        Pattern::of(&access((0..32).map(|t| Some(address(t)))), block_x).unwrap()
    }

    /// The examples of section 3.2.
    #[test]
    fn published_examples() {
        // Transpose, loading: consecutive although ty changes inside the warp.
        assert_eq!(pattern(|t| t, 16), Pattern::Linear);
        // Transpose, storing: 16·tx + ty.
        let storing = pattern(|t| t % 16 * 16 + t / 16, 16);
        let (width, x, y) = (16, 16, 1);
        assert_eq!(storing, Pattern::Block { width, x, y });
        assert_eq!(storing.to_string(), "1·ty + 16·tx, 16 wide");
        // Reduction: 2·S·tx.
        assert_eq!(pattern(|t| 8 * t, 256), Pattern::Stride { stride: 8 });
        // Fast Walsh transform: sub-warps of 8, 4·8·ty + tx.
        let (width, x, y) = (8, 1, 32);
        let walsh = pattern(|t| (t - t % 8) * 4 + t % 8, 512);
        assert_eq!(walsh, Pattern::Block { width, x, y });
        assert_eq!(walsh.strides().collect::<Vec<_>>(), [1, 32]);
    }

    #[test]
    fn broadcast_is_a_block_with_zeros() {
        let all = pattern(|_| 7, 256);
        assert_eq!((all.class(), all.strides().count()), (Class::Block, 0));
        assert_eq!(all.to_string(), "broadcast");
        // Half a warp on each of two words.
        let (width, x, y) = (16, 0, 5);
        assert_eq!(pattern(|t| t / 16 * 5, 256), Pattern::Block { width, x, y });
    }

    #[test]
    fn scattered_addresses_are_random() {
        assert_eq!(pattern(|t| t * t % 97, 256), Pattern::Random);
    }

    #[test]
    fn inactive_lanes_do_not_matter() {
        let of = |lanes: &[(u32, u32)]| {
            let mut addrs = vec![None; 32];
            for &(lane, addr) in lanes {
                addrs[lane as usize] = Some(addr);
            }
            Pattern::of(&access(addrs.into_iter()), 256)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(5, 99)]), Some(Pattern::Single));
        assert_eq!(of(&[(4, 40), (6, 42), (31, 67)]), Some(Pattern::Linear));
        let stride = -3;
        assert_eq!(of(&[(0, 90), (10, 60)]), Some(Pattern::Stride { stride }));
        // Not on a line, and too few for a block.
        assert_eq!(of(&[(0, 0), (2, 1)]), Some(Pattern::Random));
        // Every second lane of two rows of 16.
        let rows: Vec<_> = (0..32)
            .step_by(2)
            .map(|t| (t, t / 16 * 100 + t % 16))
            .collect();
        let (width, x, y) = (16, 1, 100);
        assert_eq!(of(&rows), Some(Pattern::Block { width, x, y }));
    }

    #[test]
    fn thread_coordinates_follow_the_warp() {
        // Blocks of 12 threads in x: warp 1 begins at tx = 8, ty = 2.
        let mut second = access((32..64).map(|t| Some(t / 12 * 50 + t % 12)));
        second.warp = 1;
        let (width, x, y) = (12, 1, 50);
        assert_eq!(
            Pattern::of(&second, 12),
            Some(Pattern::Block { width, x, y })
        );
    }

    #[test]
    fn an_instruction_has_the_most_general_class() {
        let mut accesses = vec![
            access((0..32).map(|t| Some(6 * t))),
            access((0..32).map(|t| Some(6 * t + 1))),
            access((0..32).map(Some)),
            access((0..32).map(|t| Some(t * t % 89))),
            access((0..32).map(|t| Some(2 * t))),
            access((0..32).map(|_| None)),
        ];
        accesses[3].pc = 1;
        accesses[4].pc = 1;
        let trace = AccessTrace {
            name: String::new(),
            source: String::new(),
            block_dim: [32, 1, 1],
            shared_bytes: 4096,
            warp_size: 32,
            barriers: Vec::new(),
            accesses,
            executed: Default::default(),
            extra: Default::default(),
        };
        let found = classify(&trace);
        assert_eq!((found[0].class, found[0].accesses), (Class::Stride, 3));
        let stride = 6;
        assert_eq!(found[0].patterns[0], (Pattern::Stride { stride }, 2));
        assert_eq!(found[0].strides(), [1, 6]);
        assert_eq!(
            (found[1].class, found[1].strides()),
            (Class::Random, vec![])
        );
        assert_eq!(strides(&trace), [1, 6]);
        assert_eq!((odd_part(6), odd_part(64)), ((3, 1), (1, 6)));
    }
}
