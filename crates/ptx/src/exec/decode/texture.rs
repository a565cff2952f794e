//! Textures and surfaces.

use super::Decoder;
use super::atomic::atomic_update;
use super::operand::Reason;
use crate::ast::{Base, Instruction, Operand};
use crate::exec::image::form::Step;
use crate::exec::registers::{Slot, Width};
use crate::exec::texture::{Geometry, Operation, Outside, TextureOp};
use crate::names::{Space, Type, Word};
use crate::opcodes::Opcode;

const QUERIES: &[Word] = &[
    Word::QueryWidth,
    Word::QueryHeight,
    Word::QueryDepth,
    Word::ArraySize,
    Word::ChannelDataType,
    Word::ChannelOrder,
    Word::NormalizedCoords,
    Word::NumMipmapLevels,
    Word::NumSamples,
];

/// The dimensions that the coordinates of an instruction have.
fn geometry(i: &Instruction) -> Result<Geometry, Reason> {
    use Word::{A1d, A2d, Acube, Cube, D1, D2, D3};
    let word = i.one_of(&[D1, D2, D3, A1d, A2d, Cube, Acube]);
    let word = word.ok_or("expected .1d, .2d, .3d, .a1d, .a2d, .cube or .acube; multisampled textures are not supported")?;
    Ok(Geometry {
        dimensions: match word {
            D1 | A1d => 1,
            D3 => 3,
            _ => 2,
        },
        layered: matches!(word, A1d | A2d | Acube),
        cube: matches!(word, Cube | Acube),
    })
}

/// The treatment of an access outside of a surface.
fn outside(i: &Instruction) -> Outside {
    match i.one_of(&[Word::Clamp, Word::Zero]) {
        Some(Word::Clamp) => Outside::Clamp,
        Some(_) => Outside::Zero,
        // As ptxas takes it where nothing is said.
        None => Outside::Trap,
    }
}

impl Decoder<'_> {
    /// Any instruction of textures and surfaces.
    pub(super) fn texture(&mut self, i: &Instruction) -> Result<(), Reason> {
        let op = match i.opcode {
            Opcode::Txq | Opcode::Suq => self.query(i)?,
            Opcode::Tex | Opcode::Tld4 => self.fetch(i)?,
            _ => self.surface(i)?,
        };
        // Reductions commute, and everything else races where order counts.
        let texture = self.image.textures.len() as u32;
        self.image.textures.push(op);
        self.step(Step::Texture { texture });
        Ok(())
    }

    /// `txq`, `suq`
    fn query(&mut self, i: &Instruction) -> Result<TextureOp, Reason> {
        let word = i.one_of(QUERIES).ok_or_else(|| {
            let words: Vec<&str> = QUERIES.iter().map(|w| w.text()).collect();
            format!(
                "an unsupported query: expected one of .{}",
                words.join(" .")
            )
        })?;
        let [target, Operand::Address(base, 0), ..] = &i.operands[..] else {
            return Err("a register and a texture expected".to_owned());
        };
        let of = match base {
            Base::Register(register) => Operand::Register(*register),
            Base::Variable(symbol) => Operand::Variable(*symbol, 0),
            Base::Absolute => return Err("a texture expected".to_owned()),
        };
        Ok(TextureOp {
            operation: Operation::Query(word),
            geometry: Geometry {
                dimensions: 1,
                layered: false,
                cube: false,
            },
            handle: self.handle(&of)?,
            sampler: None,
            layer: None,
            coordinates: Vec::new(),
            real: false,
            ty: Type::B32,
            data: vec![self.target(target, Type::B32)?],
            resident: None,
        })
    }

    /// `tex`, `tld4`
    fn fetch(&mut self, i: &Instruction) -> Result<TextureOp, Reason> {
        let gathers = i.opcode == Opcode::Tld4;
        let (Some(ty), Some(of)) = (i.ty(0), i.ty(1)) else {
            return Err("the types of the texels and of the coordinates expected".to_owned());
        };
        if !matches!(ty, Type::U32 | Type::S32 | Type::F32) || !i.has(Word::V4) {
            return Err("texels other than .v4 with .u32, .s32 or .f32 are not supported".into());
        }
        if !matches!(of, Type::F32 | Type::S32) || gathers && of != Type::F32 {
            return Err(format!("coordinates of .{}: expected .f32{}", of.text(), {
                if gathers { "" } else { " or .s32" }
            }));
        }
        let geometry = geometry(i)?;
        if gathers && geometry.dimensions != 2 {
            return Err("`tld4` requires .2d, .a2d, .cube or .acube".to_owned());
        }
        if of == Type::S32 && geometry.cube {
            return Err("cubes have coordinates of .f32".to_owned());
        }
        let [target, place, rest @ ..] = &i.operands[..] else {
            return Err("too few operands".to_owned());
        };
        let offsets = self.offsets(i, rest, geometry.dimensions == 1)?;
        let (value, resident) = match target {
            Operand::Pair(pair) => (&pair.0, Some(self.target(&pair.1, Type::Pred)?)),
            value => (value, None),
        };
        let data = self.elements(value, ty, true)?;
        if data.len() != 4 {
            return Err(format!("{} registers where the texel has 4", data.len()));
        }
        let operation = match i.one_of(&[Word::R, Word::G, Word::B, Word::A]) {
            _ if !gathers => Operation::Fetch { offsets },
            Some(word) => Operation::Gather {
                channel: match word {
                    Word::R => 0,
                    Word::G => 1,
                    Word::B => 2,
                    _ => 3,
                },
                offsets,
            },
            None => return Err("`tld4` needs a channel: expected .r, .g, .b or .a".to_owned()),
        };
        self.placed(
            place,
            geometry,
            (operation, of == Type::F32, ty, data, resident),
        )
    }

    /// Offsets that are added to the coordinates of a fetch: the last of its operands.
    fn offsets(
        &mut self,
        i: &Instruction,
        rest: &[Operand],
        is_line: bool,
    ) -> Result<Vec<Slot>, Reason> {
        // The level: textures have one.
        let skipped = match i.one_of(&[Word::Level, Word::Grad]) {
            Some(Word::Level) => 1,
            Some(_) => 2,
            None => 0,
        };
        match rest.get(skipped..).ok_or("too few operands")? {
            [] => Ok(Vec::new()),
            [one] if matches!(one, Operand::Vector(_)) || is_line => {
                self.elements(one, Type::S32, false)
            }
            _ => Err("comparisons of depth are not supported".to_owned()),
        }
    }

    /// `suld`, `sust`, `sured`
    fn surface(&mut self, i: &Instruction) -> Result<TextureOp, Reason> {
        let geometry = geometry(i)?;
        if geometry.cube {
            return Err("surfaces of cubes are not supported: read their faces as .a2d".to_owned());
        }
        let formatted = i.has(Word::P);
        if !formatted && !i.has(Word::B) {
            return Err("expected .b for bytes or .p for texels".to_owned());
        }
        let ty = i.ty(0).ok_or("no type")?;
        let outside = outside(i);
        let loads = i.opcode == Opcode::Suld;
        let (at, data) = if loads { (1, 0) } else { (0, 1) };
        let (Some(place), Some(data)) = (i.operands.get(at), i.operands.get(data)) else {
            return Err("too few operands".to_owned());
        };
        let operation = match i.opcode {
            Opcode::Suld if formatted => {
                return Err("`suld.p` is not supported: expected .b".to_owned());
            }
            Opcode::Suld => Operation::Load(outside),
            Opcode::Sust => Operation::Store { formatted, outside },
            _ => {
                use Word::{Add, And, Max, Min, Or};
                let operator = i.one_of(&[Add, Min, Max, And, Or]);
                let operator = operator.ok_or("expected .add, .min, .max, .and or .or")?;
                // Bits are unsigned numbers.
                let number = match ty {
                    Type::B32 => Type::U32,
                    Type::B64 => Type::U64,
                    ty => ty,
                };
                let update = atomic_update(operator, number, Some(Space::Global));
                let update = update.filter(|_| matches!(ty.bits(), 32 | 64));
                let update = update.ok_or_else(|| format!("`sured` has no type .{}", ty.text()))?;
                Operation::Reduce {
                    formatted,
                    update,
                    outside,
                }
            }
        };
        if formatted && ty.bits() != 32 {
            return Err(format!("texels of .{}: expected 32 bits", ty.text()));
        }
        let data = self.elements(data, ty, loads)?;
        let wanted = match i.one_of(&[Word::V2, Word::V4]) {
            None => 1,
            Some(Word::V2) => 2,
            Some(_) => 4,
        };
        if data.len() != wanted {
            let have = data.len();
            return Err(format!("{have} registers where the vector has {wanted}"));
        }
        self.placed(place, geometry, (operation, false, ty, data, None))
    }

    /// The operation with its texture and coordinates.
    fn placed(
        &mut self,
        place: &Operand,
        geometry: Geometry,
        (operation, real, ty, data, resident): (Operation, bool, Type, Vec<Slot>, Option<Slot>),
    ) -> Result<TextureOp, Reason> {
        let Operand::Indexed(items) = place else {
            return Err("[texture, {coordinates}] expected".to_owned());
        };
        let (of, sampler, coordinates) = match &items[..] {
            [of, coordinates] => (of, None, coordinates),
            [of, sampler, coordinates] => (of, Some(self.handle(sampler)?), coordinates),
            _ => return Err("[texture, {coordinates}] expected".to_owned()),
        };
        let of_place = if real { Type::F32 } else { Type::S32 };
        let (layer, coordinates) = self.coordinates(coordinates, geometry, of_place)?;
        Ok(TextureOp {
            operation,
            geometry,
            handle: self.handle(of)?,
            sampler,
            layer,
            coordinates,
            real,
            ty,
            data,
            resident,
        })
    }

    /// The layer, where there are some, and the coordinates in it.
    fn coordinates(
        &mut self,
        operand: &Operand,
        geometry: Geometry,
        ty: Type,
    ) -> Result<(Option<Slot>, Vec<Slot>), Reason> {
        let items = match operand {
            Operand::Vector(items) => &items[..],
            one => std::slice::from_ref(one),
        };
        let dimensions = if geometry.cube {
            3
        } else {
            geometry.dimensions as usize
        };
        let wanted = dimensions + usize::from(geometry.layered);
        if items.len() < wanted {
            return Err(format!(
                "{} coordinates where .{} has {wanted}",
                items.len(),
                geometry.text()
            ));
        }
        let (layer, items) = if geometry.layered {
            (Some(self.source(&items[0], Type::B32)?), &items[1..])
        } else {
            (None, items)
        };
        let slots = items[..dimensions].iter();
        let slots = slots.map(|o| self.source(o, ty.as_bits()));
        let slots: Vec<Slot> = slots.collect::<Result<_, _>>()?;
        if slots.iter().chain(&layer).any(|s| s.width != Width::Word) {
            return Err("coordinates that are not 32 bits wide".to_owned());
        }
        Ok((layer, slots))
    }

    /// A handle, or the variable that has one.
    fn handle(&mut self, operand: &Operand) -> Result<Slot, Reason> {
        let slot = self.source(operand, Type::B64)?;
        match slot.width {
            Width::Double => Ok(slot),
            _ => Err("a handle that is not 64 bits wide".to_owned()),
        }
    }
}
