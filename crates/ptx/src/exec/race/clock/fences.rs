//! Fences: the knowledge that they let words carry, and the carried knowledge that they let
//! a thread use.

use super::Order;
use crate::exec::ordering::{Fence, Sides};
use crate::exec::race::lanes;
use crate::exec::race::seen::{Knowledge, Seen};
use crate::exec::race::warp::{FENCED, NEAR, PROXIED_GLOBAL, PROXIED_SHARED, PUBLISHED};

impl Fence {
    /// Kinds of [`Knowledge::by_fences`] that the fence fills with everything before it.
    fn publishes(self) -> &'static [usize] {
        match self {
            Fence::Block => &[FENCED],
            Fence::Cluster => &[FENCED, NEAR],
            Fence::Wide => &[FENCED, PUBLISHED, NEAR],
            Fence::Proxy { global: false, .. } => &[PROXIED_SHARED],
            Fence::Proxy { shared: false, .. } => &[PROXIED_GLOBAL],
            Fence::Proxy { .. } => &[PROXIED_SHARED, PROXIED_GLOBAL],
        }
    }

    /// Makes seen what words have brought to a thread that passes the fence.
    fn acquire(self, k: &mut Knowledge) {
        let brought = [
            &mut k.pending,
            &mut k.pending_near,
            &mut k.pending_wide,
            &mut k.unfenced,
        ];
        let settled = match self {
            Fence::Proxy { .. } => 0,
            Fence::Block => 1,
            Fence::Cluster => 2,
            Fence::Wide => brought.len(),
        };
        for part in brought.into_iter().take(settled) {
            k.seen.join(&std::mem::take(part));
        }
    }

    /// Lets words that the thread writes from here on carry what it has `seen`.
    fn release(self, k: &mut Knowledge, seen: &Seen) {
        let parts = k.by_fences();
        for &kind in self.publishes() {
            parts[kind].join(seen);
        }
    }
}

impl Order {
    /// Knowledge that words brought to another thread before a barrier with this one, and
    /// that this fence makes seen.
    fn brought(&self, fence: Fence) -> Seen {
        match fence {
            Fence::Wide => self.common.unfenced.clone(),
            Fence::Cluster => self.common.pending_near.clone(),
            Fence::Block | Fence::Proxy { .. } => Seen::default(),
        }
    }

    /// A fence of lanes of a warp.
    pub fn fence(&mut self, warp: u32, mask: u32, (fence, sides): (Fence, Sides)) {
        let (now, base) = (self.now, self.base);
        let (acquires, releases) = (sides != Sides::Release, sides != Sides::Acquire);
        self.used = true;
        let known = self.common.seen.clone();
        let brought = self.brought(fence);
        let of = &mut self.warps[warp as usize];
        of.act(mask, base);
        let whole = of.is_whole(mask);
        let own = of.own.get_or_insert_with(Box::default);
        for &kind in fence.publishes().iter().filter(|_| releases) {
            lanes(mask).for_each(|l| own[kind][l as usize] = now);
        }
        let met = of.met;
        let pass = |k: &mut Knowledge, more: Option<&Seen>| {
            if acquires {
                k.seen.join(&brought);
                fence.acquire(k);
            }
            if releases {
                let mut seen = k.seen.clone();
                seen.join(&known);
                seen.join(&Seen::until(base));
                seen.raise(warp as u8, u32::MAX, met);
                if let Some(more) = more {
                    seen.join(more);
                }
                fence.release(k, &seen);
            }
        };
        if whole {
            pass(&mut of.know, None);
        }
        let common = of.know.seen.clone();
        let k = &of.know;
        let pending = [&k.pending, &k.pending_near, &k.pending_wide].map(Seen::clone);
        for lane in lanes(mask & if whole { of.apart } else { u32::MAX }) {
            let row = of.rows.as_ref().map(|r| r[lane as usize]);
            let part = of.part_mut(lane);
            if !whole {
                let own = [
                    &mut part.pending,
                    &mut part.pending_near,
                    &mut part.pending_wide,
                ];
                own.into_iter()
                    .zip(&pending)
                    .for_each(|(own, all)| own.join(all));
            }
            let mut more = common.clone();
            let row = (0..).zip(row.into_iter().flatten());
            for (l, moment) in row.filter(|(_, moment)| *moment != 0) {
                more.raise(warp as u8, 1 << l, moment);
            }
            pass(part, Some(&more));
        }
    }
}
