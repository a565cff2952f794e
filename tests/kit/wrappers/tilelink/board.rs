//! Which bytes a read may return. Each byte of the memory has one lane that stores
//! it, so its values have an order; when one takes effect is known up to the time
//! between its message and its answer.

use super::agent::Message;
use crate::wrappers::rtl::LANES;
use std::collections::HashMap;

/// The lane that may store a byte: all bytes of an even word, or each byte of an
/// odd word, belong to one.
pub fn owner(word: u64, byte: u64) -> usize {
    let lane = match word % 2 {
        0 => word / 2,
        _ => byte,
    };
    lane as usize % LANES
}

/// A value of a byte: from when on it may be there, and from when on it surely is.
struct Value {
    value: u64,
    asked: u64,
    answered: Option<u64>,
}

/// The values of all bytes that were stored, in their order.
#[derive(Default)]
pub struct Board {
    bytes: HashMap<(u64, u64), Vec<Value>>,
    /// Bytes of reads that could have had more than one value.
    pub overlapping: u64,
}

impl Board {
    /// A device has taken a message.
    pub fn asks(&mut self, message: &Message, cycle: u64) {
        if !message.is_put() || !message.is_performed() {
            return;
        }
        for byte in (0..4).filter(|byte| message.mask >> byte & 1 == 1) {
            let values = self.bytes.entry((message.word(), byte)).or_default();
            values.push(Value {
                value: message.data >> (8 * byte) & 255,
                asked: cycle,
                answered: None,
            });
        }
    }

    /// It has answered; a read with these data, between these cycles.
    pub fn answers(
        &mut self,
        lane: usize,
        message: &Message,
        data: u64,
        (asked, answered): (u64, u64),
    ) {
        if !message.is_performed() {
            assert_eq!(data, 0, "{message:?}");
            return;
        }
        if !message.is_put() {
            for byte in (0..4).filter(|byte| message.mask >> byte & 1 == 1) {
                let got = data >> (8 * byte) & 255;
                let place = (message.word(), byte);
                let may = if owner(place.0, byte) == lane {
                    vec![self.last_before(place, asked)]
                } else {
                    self.may_be(place, asked, answered)
                };
                assert!(
                    may.contains(&got),
                    "{got:x}, {may:x?}: {message:?} in {answered}"
                );
                self.overlapping += u64::from(may.len() > 1);
            }
            return;
        }
        assert_eq!(data, 0, "{message:?}");
        for byte in (0..4).filter(|byte| message.mask >> byte & 1 == 1) {
            let values = self.bytes.get_mut(&(message.word(), byte)).unwrap();
            let stored = values.iter_mut().find(|v| v.asked == asked);
            stored.unwrap().answered = Some(answered);
        }
    }

    /// What the lane itself has stored last.
    fn last_before(&self, byte: (u64, u64), asked: u64) -> u64 {
        let values = self.bytes.get(&byte).into_iter().flatten();
        let mut before = values.filter(|v| v.asked < asked);
        before.next_back().map_or(0, |v| v.value)
    }

    /// The values that a read between these cycles may return: not one that is
    /// surely overwritten before it, and not one that is asked for after it.
    fn may_be(&self, byte: (u64, u64), asked: u64, answered: u64) -> Vec<u64> {
        let none = Vec::new();
        let values = self.bytes.get(&byte).unwrap_or(&none);
        let sure = |v: &Value| v.answered.is_some_and(|cycle| cycle <= asked);
        let from = values.iter().rposition(sure);
        let later = values[from.map_or(0, |at| at + 1)..].iter();
        let first = from.map_or(0, |at| values[at].value);
        let later = later.filter(|v| v.asked < answered).map(|v| v.value);
        std::iter::once(first).chain(later).collect()
    }
}
