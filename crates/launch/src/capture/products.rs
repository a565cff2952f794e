//! Products of warpgroups that a warp has begun (`wgmma`), for what waits for
//! them.

/// The accumulators of the last products, as numbers of registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Products {
    /// Accumulator of the group that is open.
    open: Option<u8>,
    /// Accumulator of the groups that are closed and have not been waited for.
    closed: Option<u8>,
}

impl Products {
    /// A product into an accumulator begins.
    pub fn begin(&mut self, accumulator: Option<u8>) {
        self.open = accumulator;
    }

    /// Closes the open group.
    pub fn commit(&mut self) {
        self.closed = self.open.take().or(self.closed);
    }

    /// Waits for all closed groups: the accumulator that is ready last, as the
    /// products are in order.
    pub fn wait(&mut self) -> Option<u8> {
        self.closed.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_for_the_last_product_of_a_closed_group() {
        let mut products = Products::default();
        products.begin(Some(1));
        assert_eq!(products.wait(), None, "it is open");
        products.begin(Some(2));
        products.commit();
        products.commit();
        products.begin(Some(3));
        assert_eq!((products.wait(), products.wait()), (Some(2), None));
        products.commit();
        assert_eq!(products.wait(), Some(3));
    }
}
