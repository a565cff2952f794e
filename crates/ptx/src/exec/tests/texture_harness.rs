//! Kernels with a texture or a surface, for tests.

use super::*;

/// A texture of numbers, random and with edges.
pub struct Case {
    pub extent: [u32; 3],
    pub dimensions: usize,
    pub sampler: Sampler,
}

/// Runs `body` for some threads with the texture's handle in `%tex`, `%in` the
/// address of three numbers of the thread, `%out` of four words, `%texels` of the first texel.
pub fn fetched(
    texture: impl Fn(BufferId) -> Texture,
    texels: Vec<u8>,
    body: &str,
    input: &[u32],
) -> (Vec<u32>, Vec<u8>, Outcome) {
    fetched_with(texture, texels, body, input, &Options::default())
}

/// The same with options.
pub fn fetched_with(
    texture: impl Fn(BufferId) -> Texture,
    texels: Vec<u8>,
    body: &str,
    input: &[u32],
    options: &Options,
) -> (Vec<u32>, Vec<u8>, Outcome) {
    let threads = input.len() / 3;
    let text = format!(
        ".version 8.5\n.target sm_80\n.address_size 64\n
         .visible .entry k(.param .u64 in, .param .u64 out, .param .u64 tex, .param .u64 texels) {{
         .reg .b64 %in, %out, %tex, %texels; .reg .b32 %t, %r<12>; .reg .f32 %x, %y, %z, %f<8>; .reg .pred %p;
         ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %tex, [tex];
         ld.param.u64 %texels, [texels];
         mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 12, %in; mad.wide.u32 %out, %t, 16, %out;
         ld.global.f32 %x, [%in]; ld.global.f32 %y, [%in+4]; ld.global.f32 %z, [%in+8];
         mov.b32 %r5, %x; mov.b32 %r6, %y; mov.b32 %r7, %z;
         {body}
         st.global.v4.b32 [%out], {{%r1, %r2, %r3, %r4}}; ret; }}"
    );
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let input = memory.alloc("in", bytes(input));
    let output = memory.alloc("out", vec![0; 16 * threads]);
    let array = memory.alloc("texels", texels);
    let handle = memory.texture(texture(array));
    let params = [
        memory.address(input),
        memory.address(output),
        handle,
        memory.address(array),
    ];
    let launch = Launch {
        entry: "k".to_owned(),
        grid: [1; 3],
        block: [threads as u32, 1, 1],
        dynamic_shared: 0,
        params: params.iter().flat_map(|p| p.to_le_bytes()).collect(),
    };
    let outcome = program
        .run(&mut memory, &launch, options)
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let words = memory
        .bytes(output)
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    (words.collect(), memory.bytes(array).to_vec(), outcome)
}

/// A texture of single floats.
pub fn singles(case: &Case, buffer: BufferId) -> Texture {
    Texture {
        name: "image".to_owned(),
        buffer,
        shape: Shape {
            format: Format {
                channel: Channel::Float,
                bits: 32,
                channels: 1,
            },
            geometry: Geometry {
                dimensions: case.dimensions as u32,
                layered: false,
                cube: false,
            },
            extent: case.extent,
            layers: 1,
            sampler: Some(case.sampler),
            normalized_read: false,
        },
    }
}

pub fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A surface of 3 x 2 texels of two 16-bit numbers.
pub fn surface(buffer: BufferId) -> Texture {
    Texture {
        name: "surface".to_owned(),
        buffer,
        shape: Shape {
            format: Format {
                channel: Channel::Unsigned,
                bits: 16,
                channels: 2,
            },
            geometry: Geometry {
                dimensions: 2,
                layered: false,
                cube: false,
            },
            extent: [3, 2, 1],
            layers: 1,
            sampler: None,
            normalized_read: false,
        },
    }
}
