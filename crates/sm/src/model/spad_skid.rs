//! `spad_skid`: a buffer of two entries with registered ready
//! (microarchitecture/bus.md).

/// The buffer; `P` is the payload.
#[derive(Clone, Debug)]
pub(super) struct Skid<P> {
    first: Option<P>,
    second: Option<P>,
}

impl<P> Skid<P> {
    /// An empty one.
    pub(super) fn new() -> Self {
        Skid {
            first: None,
            second: None,
        }
    }

    /// Whether an entry is taken in this cycle; registered.
    pub(super) fn in_ready(&self) -> bool {
        self.second.is_none()
    }

    /// The oldest entry; registered.
    pub(super) fn output(&self) -> Option<&P> {
        self.first.as_ref()
    }

    /// The clock edge: an entry that is offered, and whether the output is taken.
    pub(super) fn commit(&mut self, input: Option<P>, out_ready: bool) {
        let input = input.filter(|_| self.in_ready());
        if self.first.is_none() || out_ready {
            self.first = self.second.take().or(input);
        } else if input.is_some() {
            self.second = input;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_entries_wait_and_none_is_lost() {
        let mut skid = Skid::new();
        skid.commit(Some(1), false);
        assert_eq!((skid.in_ready(), skid.output()), (true, Some(&1)));
        skid.commit(Some(2), false);
        assert!(!skid.in_ready());
        // Full: what is offered now is not taken, though an entry leaves.
        skid.commit(Some(3), true);
        assert_eq!((skid.in_ready(), skid.output()), (true, Some(&2)));
        skid.commit(Some(3), true);
        assert_eq!(skid.output(), Some(&3));
        skid.commit(None, true);
        assert_eq!(skid.output(), None);
    }
}
