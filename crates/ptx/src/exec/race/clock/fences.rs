//! Fences: what they let words take along, and what they let be seen of what words have
//! brought.

use super::Order;
use crate::exec::race::lanes;
use crate::exec::race::seen::{Knowledge, Seen};
use crate::exec::race::warp::{PROXIED_GLOBAL, PROXIED_SHARED};

/// Fences, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    Block,
    /// For the blocks of the cluster.
    Cluster,
    /// For other blocks, too.
    Wide,
    /// `fence.proxy.async`, for shared, for global, or for all memory.
    Proxy {
        shared: bool,
        global: bool,
    },
}

/// Which of the two things a fence is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// `.acq_rel`, `.sc`, `membar`
    Both,
    /// What words have brought is seen from here on.
    Acquire,
    /// Words that are written from here on take along what came before.
    Release,
}

impl Order {
    /// A fence of lanes of a warp.
    pub fn fence(&mut self, warp: u32, mask: u32, (fence, sides): (Fence, Sides)) {
        let (now, base) = (self.now, self.base);
        let (acquires, releases) = (sides != Sides::Release, sides != Sides::Acquire);
        self.used = true;
        let known = self.common.seen.clone();
        // What words have brought to another thread, with a barrier since.
        let brought = match fence {
            _ if !acquires => Seen::default(),
            Fence::Wide => self.common.unfenced.clone(),
            Fence::Cluster => self.common.pending_near.clone(),
            _ => Seen::default(),
        };
        let of = &mut self.warps[warp as usize];
        of.act(mask, base);
        let whole = of.is_whole(mask);
        let own = of.own.get_or_insert_with(Box::default);
        let kinds: &[usize] = match fence {
            Fence::Block => &[0],
            Fence::Cluster => &[0, 3],
            Fence::Wide => &[0, 1, 3],
            Fence::Proxy { global: false, .. } => &[PROXIED_SHARED],
            Fence::Proxy { shared: false, .. } => &[PROXIED_GLOBAL],
            Fence::Proxy { .. } => &[PROXIED_SHARED, PROXIED_GLOBAL],
        };
        for &kind in kinds.iter().filter(|_| releases) {
            lanes(mask).for_each(|l| own[kind][l as usize] = now);
        }
        let met = of.met;
        let before = |k: &mut Knowledge, more: Option<&Seen>| {
            k.seen.join(&brought);
            if acquires && !matches!(fence, Fence::Proxy { .. }) {
                k.seen.join(&std::mem::take(&mut k.pending));
            }
            if acquires && (fence == Fence::Cluster || fence == Fence::Wide) {
                k.seen.join(&std::mem::take(&mut k.pending_near));
            }
            if acquires && fence == Fence::Wide {
                let settled = std::mem::take(&mut k.unfenced);
                k.seen.join(&settled);
                k.seen.join(&std::mem::take(&mut k.pending_wide));
            }
            if !releases {
                return;
            }
            let mut seen = k.seen.clone();
            seen.join(&known);
            seen.join(&Seen::until(base));
            seen.raise(warp as u8, u32::MAX, met);
            if let Some(more) = more {
                seen.join(more);
            }
            match fence {
                Fence::Block => k.fenced.join(&seen),
                Fence::Cluster => {
                    k.fenced.join(&seen);
                    k.near.join(&seen);
                }
                Fence::Wide => {
                    k.fenced.join(&seen);
                    k.near.join(&seen);
                    k.published.join(&seen);
                }
                Fence::Proxy { shared, global } => {
                    let kinds = k.proxied.iter_mut().zip([shared, global]);
                    let kinds = kinds.filter(|(_, made)| *made);
                    kinds.for_each(|(proxied, _)| proxied.join(&seen));
                }
            }
        };
        if whole {
            before(&mut of.know, None);
        }
        let common = of.know.seen.clone();
        for lane in lanes(mask & if whole { of.apart } else { u32::MAX }) {
            let pending = (of.know.pending.clone(), of.know.pending_wide.clone());
            let near = of.know.pending_near.clone();
            let row = of.rows.as_ref().map(|r| r[lane as usize]);
            let part = of.part_mut(lane);
            if !whole {
                part.pending.join(&pending.0);
                part.pending_near.join(&near);
                part.pending_wide.join(&pending.1);
            }
            let mut more = common.clone();
            for (l, moment) in (0..)
                .zip(row.into_iter().flatten())
                .filter(|(_, m)| *m != 0)
            {
                more.raise(warp as u8, 1 << l, moment);
            }
            before(part, Some(&more));
        }
    }
}
