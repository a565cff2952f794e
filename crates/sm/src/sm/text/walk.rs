//! The program of one warp, instruction by instruction.

use super::expr::{Env, Expr, Wrong, wrong};
use super::line::{Line, Template};
use crate::sm::instr::{Addresses, Instr, KernelInfo};

/// A `repeat` that is being executed.
#[derive(Clone, Copy)]
struct Loop {
    /// Line of the `repeat`.
    line: usize,
    turn: u64,
    turns: u64,
}

/// Goes through the program of one warp, instruction by instruction.
pub(super) struct Walk<'a> {
    info: &'a KernelInfo,
    /// Sections of this warp that are still to come, the present one first.
    sections: Vec<&'a [Line]>,
    at: usize,
    loops: Vec<Loop>,
    env: Env,
    mask: u64,
}

impl<'a> Walk<'a> {
    /// A walk from the beginning of `sections`, which are those of the warp.
    pub(super) fn new(
        info: &'a KernelInfo,
        sections: Vec<&'a [Line]>,
        block: u32,
        warp: u32,
    ) -> Self {
        Walk {
            info,
            sections,
            at: 0,
            loops: Vec::new(),
            env: Env {
                warp: i64::from(warp),
                block: i64::from(block),
                ..Env::default()
            },
            mask: info.warp_mask(warp),
        }
    }

    /// The next instruction; `None` at the end of the program.
    pub(super) fn next(&mut self) -> Result<Option<Instr>, Wrong> {
        while let Some(&lines) = self.sections.first() {
            let Some(line) = lines.get(self.at) else {
                self.sections.remove(0);
                self.at = 0;
                continue;
            };
            match line {
                Line::Instr(template) => {
                    self.at += 1;
                    return self.instr(template).map(Some);
                }
                // An empty body would only take time.
                Line::Repeat { turns, end } if *turns == 0 || *end == self.at + 1 => {
                    self.at = end + 1;
                }
                Line::Repeat { turns, .. } => {
                    self.loops.push(Loop {
                        line: self.at,
                        turn: 0,
                        turns: *turns,
                    });
                    self.at += 1;
                }
                Line::End => self.turn(),
            }
            self.env.turn = self.loops.last().map_or(0, |l| l.turn as i64);
        }
        Ok(None)
    }

    /// The end of a `repeat`: once more, or on.
    fn turn(&mut self) {
        match self.loops.last_mut() {
            Some(inner) if inner.turn + 1 < inner.turns => {
                inner.turn += 1;
                self.at = inner.line + 1;
            }
            _ => {
                self.loops.pop();
                self.at += 1;
            }
        }
    }

    fn instr(&self, template: &Template) -> Result<Instr, Wrong> {
        let mut instr = template.instr.clone();
        instr.mask = self.mask & template.mask.unwrap_or(u64::MAX);
        if let Some(expr) = &template.address {
            instr.addrs = self.addresses(template, expr, &instr)?;
        }
        Ok(instr)
    }

    fn addresses(
        &self,
        template: &Template,
        expr: &Expr,
        instr: &Instr,
    ) -> Result<Addresses, Wrong> {
        let lanes = self.info.warp_size as usize;
        let limit = if instr.kind.is_shared() {
            i64::from(self.info.shared_bytes)
        } else {
            i64::MAX
        };
        let bytes = i64::from(instr.bytes);
        let good = |&v: &i64| v >= 0 && v <= limit - bytes && v % bytes == 0;
        if template.linear && instr.mask.count_ones() > 1 {
            let end = |lane| expr.value(&self.env_of(lane)).filter(good);
            if let (Some(first), Some(last)) = (end(0), end(lanes - 1)) {
                let stride = (last - first) / (lanes as i64 - 1);
                // Both ends and an even step in between are good.
                if stride % bytes == 0 {
                    let base = first as u64;
                    return Ok(Addresses::Affine { base, stride });
                }
            }
        }
        let mut values = [0; 64];
        for lane in (0..lanes).filter(|l| instr.mask >> l & 1 == 1) {
            let env = self.env_of(lane);
            let value = expr.value(&env);
            let Some(value) = value.filter(good) else {
                let place = format!("lane {lane} of warp {}, block {}", env.warp, env.block);
                let what = match value {
                    None => format!("the address of {place} is not a number"),
                    Some(v) => format!("the address {v} of {place} is out of range or not aligned"),
                };
                return wrong(
                    template.at,
                    what,
                    "addresses are in bytes, multiples of the width, shared ones below .shared",
                );
            };
            values[lane] = value as u64;
        }
        Ok(Addresses::from_lanes(instr.mask, |l| values[l], lanes))
    }

    /// The variables in `lane`.
    fn env_of(&self, lane: usize) -> Env {
        let (lane, lanes) = (lane as i64, i64::from(self.info.warp_size));
        Env {
            lane,
            thread: self.env.warp * lanes + lane,
            ..self.env
        }
    }
}
