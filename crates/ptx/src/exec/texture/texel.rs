//! Texels: channels of integers and numbers, and what registers get of them.

use crate::scalar::soft::{F16, F32, Round};

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Integers without a sign.
    Unsigned,
    /// Integers with a sign.
    Signed,
    /// Numbers of 16 or 32 bits.
    Float,
}

/// The format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Type of each channel.
    pub channel: Channel,
    /// Bits of a channel: 8, 16 or 32.
    pub bits: u32,
    /// Channels: 1, 2 or 4.
    pub channels: u32,
}

impl Format {
    /// Bytes of a texel.
    pub fn bytes(self) -> u32 {
        self.bits / 8 * self.channels
    }

    /// Whether texels can be weighted.
    pub fn is_real(self, normalized: bool) -> bool {
        self.channel == Channel::Float || normalized
    }

    /// A channel as a number: an integer as its part of the largest one.
    pub(super) fn number(self, bits: u64) -> f32 {
        let most = (1u64 << (self.bits - 1)) - 1;
        match (self.channel, self.bits) {
            (Channel::Float, 16) => half(bits),
            (Channel::Float, _) => f32::from_bits(bits as u32),
            (Channel::Unsigned, n) => bits as f32 / ((1u64 << n) - 1) as f32,
            (Channel::Signed, _) => (self.integer(bits) as f32 / most as f32).max(-1.0),
        }
    }

    /// An integer channel with its sign.
    pub(super) fn integer(self, bits: u64) -> i32 {
        let unused = 64 - self.bits;
        match self.channel {
            Channel::Signed => (((bits << unused) as i64) >> unused) as i32,
            _ => bits as i32,
        }
    }

    /// The value that a channel which the format does not have reads as.
    pub(super) fn missing(self, channel: usize, real: bool) -> u32 {
        match (channel, real) {
            (3, true) => 1f32.to_bits(),
            (3, false) => 1,
            _ => 0,
        }
    }

    /// The bits of a channel that a formatted store writes, of a register's 32.
    pub(in crate::exec) fn stored(self, register: u32) -> u64 {
        let value = f32::from_bits(register);
        match (self.channel, self.bits) {
            (Channel::Float, 16) => F16.pack(F32.unpack(register.into()), Round::Nearest),
            (Channel::Float, _) => value.to_bits().into(),
            // Integers are cut to the size of the channel by saturation.
            (Channel::Unsigned, n) => u64::from(register).min((1 << n) - 1),
            (Channel::Signed, n) => {
                let most = (1i64 << (n - 1)) - 1;
                let value = i64::from(register as i32).clamp(-most - 1, most);
                value as u64 & ((1 << n) - 1)
            }
        }
    }
}

/// A number of half precision.
fn half(bits: u64) -> f32 {
    f32::from_bits(F32.pack(F16.unpack(bits), Round::Nearest) as u32)
}
