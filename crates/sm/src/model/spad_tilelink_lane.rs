//! `spad_tilelink_lane`: a device of TileLink-UL in front of a lane of `spad_tcdm`
//! (microarchitecture/bus.md).
//!
//! The bytes of a message are counted byte by byte, as in the specification (1.8.1,
//! chapter 4.6); the hardware shifts a mask.

use std::collections::VecDeque;

/// The opcodes of channel A.
pub mod message {
    /// Writes all bytes that its size and address name.
    pub const PUT_FULL_DATA: u8 = 0;
    /// Writes some of the bytes that its size and address name.
    pub const PUT_PARTIAL_DATA: u8 = 1;
    /// Not in TL-UL; its answer would have data.
    pub const ARITHMETIC_DATA: u8 = 2;
    /// Not in TL-UL, either.
    pub const LOGICAL_DATA: u8 = 3;
    /// Reads.
    pub const GET: u8 = 4;
    /// A hint; not of TL-UL.
    pub const INTENT: u8 = 5;
}

/// The opcodes of channel D.
pub mod answer {
    /// An answer without data.
    pub const ACCESS_ACK: u8 = 0;
    /// An answer with data.
    pub const ACCESS_ACK_DATA: u8 = 1;
    /// The answer to a hint.
    pub const HINT_ACK: u8 = 2;
}

/// A message on channel A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileLinkMessage {
    /// The operation ([`message`]).
    pub opcode: u8,
    /// Log2 of its bytes.
    pub size: u8,
    /// Identifier of the message.
    pub source: u64,
    /// Byte address; above the words of the lane its bits do not count.
    pub address: u32,
    /// The bytes of the word that are meant.
    pub mask: u8,
    /// The word, of which a put writes these bytes.
    pub data: u64,
    /// The data are not to be used.
    pub corrupt: bool,
}

/// An answer on channel D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLinkAnswer {
    /// Kind of the answer ([`answer`]).
    pub opcode: u8,
    /// Size of the message that is answered.
    pub size: u8,
    /// Identifier of the message that is answered.
    pub source: u64,
    /// Nothing was accessed.
    pub denied: bool,
    /// The word read, else 0.
    pub data: u64,
    /// The data of a denied message are none.
    pub corrupt: bool,
}

/// A request to the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLinkRequest {
    /// Word address.
    pub add: u32,
    /// Whether the request reads.
    pub reads: bool,
    /// The data to write.
    pub data: u64,
    /// The bytes that it writes.
    pub be: u8,
}

/// Inputs of one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct TileLinkInputs {
    /// Reset.
    pub rst: bool,
    /// The offer on channel A.
    pub message: Option<TileLinkMessage>,
    /// An answer on channel D would be taken.
    pub d_ready: bool,
    /// The lane grants the request.
    pub grant: bool,
    /// The answer of the lane: the word, and whether nothing was accessed.
    pub memory: Option<(u64, bool)>,
}

/// Outputs of one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLinkOutputs {
    /// A message would be taken; depends in the same cycle on the grant alone.
    pub a_ready: bool,
    /// The answer on channel D.
    pub answer: Option<TileLinkAnswer>,
    /// The request to the lane.
    pub request: Option<TileLinkRequest>,
    /// Nothing is inside.
    pub idle: bool,
}

/// A message that is inside.
#[derive(Clone, Copy, Debug)]
struct Inside {
    opcode: u8,
    size: u8,
    source: u64,
    refused: bool,
    memory: Option<(u64, bool)>,
}

/// The device.
#[derive(Clone, Debug)]
pub struct TileLinkLane {
    addr_bits: u32,
    word_bytes: u32,
    depth: usize,
    request: Option<TileLinkRequest>,
    /// The oldest first.
    inside: VecDeque<Inside>,
}

impl TileLinkLane {
    /// A device of a lane with word addresses of `addr_bits` bits and words of
    /// `word_bytes` bytes, which holds `depth` messages.
    pub fn new(addr_bits: u32, word_bytes: u32, depth: usize) -> Self {
        TileLinkLane {
            addr_bits,
            word_bytes,
            depth,
            request: None,
            inside: VecDeque::new(),
        }
    }

    /// The outputs, in a cycle in which the lane grants the request or does not.
    pub fn eval(&self, grant: bool) -> TileLinkOutputs {
        let oldest = self.inside.front();
        TileLinkOutputs {
            a_ready: self.inside.len() < self.depth && (self.request.is_none() || grant),
            answer: oldest.and_then(Self::answered),
            request: self.request,
            idle: self.inside.is_empty(),
        }
    }

    /// The answer to a message, once the memory has answered it.
    fn answered(of: &Inside) -> Option<TileLinkAnswer> {
        let (data, fails) = of.memory?;
        let denied = of.refused || fails;
        Some(TileLinkAnswer {
            opcode: of.opcode,
            size: of.size,
            source: of.source,
            denied,
            data,
            corrupt: denied && of.opcode == answer::ACCESS_ACK_DATA,
        })
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &TileLinkInputs) -> TileLinkOutputs {
        let outputs = self.eval(inputs.grant);
        self.commit(inputs);
        outputs
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &TileLinkInputs) {
        if inputs.rst {
            self.request = None;
            self.inside.clear();
            return;
        }
        let outputs = self.eval(inputs.grant);
        if let Some(memory) = inputs.memory {
            let waits = self.inside.iter_mut().find(|m| m.memory.is_none());
            // The lane answers its request, and nothing else.
            waits.expect("an answer without a request").memory = Some(memory);
        }
        if outputs.answer.is_some() && inputs.d_ready {
            self.inside.pop_front();
        }
        if inputs.grant {
            self.request = None;
        }
        if let Some(taken) = inputs.message.filter(|_| outputs.a_ready) {
            self.take(&taken);
        }
    }

    fn take(&mut self, taken: &TileLinkMessage) {
        let refused = self.refuses(taken);
        self.request = Some(TileLinkRequest {
            add: (taken.address / self.word_bytes) & ((1 << self.addr_bits) - 1),
            reads: taken.opcode == message::GET && !refused,
            data: taken.data,
            be: if refused { 0 } else { taken.mask },
        });
        self.inside.push_back(Inside {
            opcode: match taken.opcode {
                message::GET | message::ARITHMETIC_DATA | message::LOGICAL_DATA => {
                    answer::ACCESS_ACK_DATA
                }
                message::INTENT => answer::HINT_ACK,
                _ => answer::ACCESS_ACK,
            },
            size: taken.size,
            source: taken.source,
            refused,
            memory: None,
        });
    }

    /// Whether TL-UL with words of this size does not have the message.
    fn refuses(&self, of: &TileLinkMessage) -> bool {
        let bytes = 1 << of.size;
        if bytes > self.word_bytes || !of.address.is_multiple_of(bytes) {
            return true;
        }
        let offset = of.address % self.word_bytes;
        let active = |byte: u32| (offset..offset + bytes).contains(&byte);
        let masked = |byte: u32| of.mask >> byte & 1 == 1;
        let mut word = 0..self.word_bytes;
        match of.opcode {
            message::GET => word.any(|b| masked(b) != active(b)),
            message::PUT_FULL_DATA => of.corrupt || word.any(|b| masked(b) != active(b)),
            message::PUT_PARTIAL_DATA => of.corrupt || word.any(|b| masked(b) && !active(b)),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: TileLinkMessage = TileLinkMessage {
        opcode: message::GET,
        size: 2,
        source: 5,
        address: 0x8000_0014,
        mask: 15,
        data: 0,
        corrupt: false,
    };

    fn offers(message: TileLinkMessage) -> TileLinkInputs {
        TileLinkInputs {
            message: Some(message),
            ..TileLinkInputs::default()
        }
    }

    /// The request of the next cycle that a message causes.
    fn request(word_bytes: u32, message: TileLinkMessage) -> TileLinkRequest {
        let mut lane = TileLinkLane::new(4, word_bytes, 1);
        lane.commit(&offers(message));
        lane.eval(false).request.unwrap()
    }

    /// microarchitecture/bus.md: taken in t, requests in t + 1, answered in t + 3.
    #[test]
    fn a_message_is_answered_after_three_cycles() {
        let mut lane = TileLinkLane::new(4, 4, 4);
        assert!(lane.step(&offers(GET)).idle);
        let granted = TileLinkInputs {
            grant: true,
            ..TileLinkInputs::default()
        };
        let asks = lane.step(&granted);
        let read = TileLinkRequest {
            add: 5,
            reads: true,
            data: 0,
            be: 15,
        };
        assert_eq!((asks.request, asks.answer), (Some(read), None));
        let answers = TileLinkInputs {
            memory: Some((77, false)),
            ..TileLinkInputs::default()
        };
        assert_eq!(lane.step(&answers).answer, None);
        let last = lane.step(&TileLinkInputs::default());
        let answer = last.answer.unwrap();
        let got = (answer.opcode, answer.size, answer.source, answer.data);
        assert_eq!(got, (answer::ACCESS_ACK_DATA, 2, 5, 77));
        assert!(!answer.denied && !answer.corrupt && !last.idle);
        // It is not accepted, so it is kept.
        assert_eq!(lane.eval(false).answer, Some(answer));
    }

    #[test]
    fn what_tl_ul_does_not_have_writes_no_byte_and_is_denied() {
        let partial = TileLinkMessage {
            opcode: message::PUT_PARTIAL_DATA,
            mask: 6,
            ..GET
        };
        assert_eq!(request(4, partial).be, 6);
        let bad = [
            TileLinkMessage { mask: 14, ..GET },
            TileLinkMessage { size: 3, ..GET },
            TileLinkMessage { opcode: 6, ..GET },
            TileLinkMessage {
                address: 0x16,
                ..GET
            },
            TileLinkMessage { size: 1, ..partial },
            TileLinkMessage {
                corrupt: true,
                ..partial
            },
        ];
        for message in bad {
            let asked = request(4, message);
            assert!(!asked.reads && asked.be == 0, "{message:?}");
        }
        // Corrupt data that nobody reads do not matter; 8 bytes are a word of 64 bits.
        let fine = TileLinkMessage {
            corrupt: true,
            ..GET
        };
        assert!(request(4, fine).reads);
        let double = TileLinkMessage {
            size: 3,
            mask: 255,
            address: 0x18,
            ..GET
        };
        assert_eq!(
            (request(8, double).reads, request(8, double).add),
            (true, 3)
        );
    }

    #[test]
    fn it_takes_what_it_has_room_for_until_a_reset() {
        let mut lane = TileLinkLane::new(4, 4, 2);
        let granted = TileLinkInputs {
            grant: true,
            ..offers(GET)
        };
        assert!(lane.step(&offers(GET)).a_ready);
        assert!(!lane.eval(false).a_ready, "its request is not granted");
        assert!(lane.step(&granted).a_ready);
        assert!(!lane.step(&granted).a_ready, "two are inside");
        lane.commit(&TileLinkInputs {
            rst: true,
            ..granted
        });
        let after = lane.eval(false);
        assert!(after.idle && after.a_ready && after.request.is_none());
    }
}
