//! The bit fields of a pass's control and of a request's tag on the ports of
//! the memory path (microarchitecture/sm-path.md).

use crate::config::Config;
use crate::model::{AccessTag, Pass, PassControl};

/// Widths of the fields.
#[derive(Clone, Copy)]
pub(super) struct TagLayout {
    pub(super) warp: usize,
    pub(super) tag: usize,
    pub(super) pc: usize,
    pub(super) pass: usize,
    pub(super) degree: usize,
}

impl TagLayout {
    pub(super) fn of(config: &Config) -> Self {
        let p = config.parameters();
        TagLayout {
            warp: p.WW,
            tag: p.TG,
            pc: p.PCW,
            pass: p.PW,
            degree: p.DG,
        }
    }

    /// {last, pass, pc, tag, kind, warp}, last on top.
    pub(super) fn control(&self, bits: u64) -> PassControl {
        let mut fields = Fields(bits);
        PassControl {
            warp: fields.take(self.warp) as u8,
            kind: fields.take(4) as u8,
            tag: fields.take(self.tag) as u8,
            pc: fields.take(self.pc) as u16,
            pass: fields.take(self.pass) as u16,
            last: fields.take(1) == 1,
        }
    }

    pub(super) fn control_bits(&self, control: &PassControl) -> u64 {
        join(&[
            (self.warp, control.warp.into()),
            (4, control.kind.into()),
            (self.tag, control.tag.into()),
            (self.pc, control.pc.into()),
            (self.pass, control.pass.into()),
            (1, control.last.into()),
        ])
    }

    /// {control, degree, error, source}, control on top.
    pub(super) fn tag(&self, bits: u64) -> AccessTag {
        let mut fields = Fields(bits);
        let (sequencer, error) = (fields.take(1) == 1, fields.take(1) == 1);
        let degree = fields.take(self.degree);
        AccessTag {
            pass: Pass {
                control: self.control(fields.0),
                slot: 0,
            },
            sequencer,
            context: 0,
            error,
            degree,
        }
    }

    pub(super) fn tag_bits(&self, tag: &AccessTag) -> u64 {
        let flags = [
            (1, tag.sequencer.into()),
            (1, tag.error.into()),
            (self.degree, tag.degree.into()),
        ];
        self.control_bits(&tag.pass.control) << (2 + self.degree) | join(&flags)
    }
}

/// Takes fields from the low end of a word.
struct Fields(u64);

impl Fields {
    fn take(&mut self, width: usize) -> u32 {
        let field = self.0 & ((1 << width) - 1);
        self.0 >>= width;
        field as u32
    }
}

/// Fields with their widths, the first one in the low bits.
#[inline(always)]
pub(super) fn join(fields: &[(usize, u64)]) -> u64 {
    let high_first = fields.iter().rev();
    high_first.fold(0, |word, &(width, field)| word << width | field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let config = Config::preset("fermi").unwrap();
        let layout = TagLayout::of(&config);
        let fields = layout.warp + layout.tag + layout.pc + layout.pass + layout.degree;
        let bits = (u64::MAX / 0b101) & ((1 << (fields + 4 + 3)) - 1);
        assert_eq!(layout.tag_bits(&layout.tag(bits)), bits);
        let control = layout.tag(bits).pass.control;
        assert_eq!(layout.control_bits(&control), bits >> (2 + layout.degree));
    }
}
