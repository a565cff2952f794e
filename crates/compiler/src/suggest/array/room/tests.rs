//! Declarations that grow, as text.

use super::*;
use crate::suggest::source::files::given;

/// Where `array` gets its room, as the last line of `source` sees it.
fn room_in(source: &str, array: &str, has: u32, needs: u32) -> Option<Room> {
    let array = Named {
        name: array,
        variable: "",
    };
    room_of(source, array, has, needs)
}

fn room_of(source: &str, array: Named, has: u32, needs: u32) -> Option<Room> {
    let last = source.lines().count();
    let places: BTreeSet<String> = [format!("k.cu:{last}")].into();
    let mut text = given(source);
    let files = ["k.cu:1"].into_iter();
    let declarations = Declarations::of(files, array, 4, &mut text);
    room(
        array,
        Bytes {
            has,
            needs,
            others: 1024,
        },
        &places,
        &declarations,
        &mut text,
    )
}

/// The declaration of `tile` in a kernel with these lines before it, with room for
/// `needs` bytes: what follows the old text, and the new.
fn changed(before: &str, declaration: &str, has: u32, needs: u32) -> Option<String> {
    let source = format!("{before}\nvoid f() {{\n{declaration}\ntile[i] = 0;");
    match room_in(&source, "tile", has, needs)? {
        Room::Static(changes) => {
            let [change] = &changes[..] else {
                panic!("{changes:?}")
            };
            assert_eq!(change.text, declaration.trim());
            Some(change.changed_text.clone())
        }
        Room::Dynamic => Some("dynamic".to_owned()),
    }
}

#[test]
fn the_outermost_dimension_grows() {
    for (declaration, has, needs, new) in [
        (
            "__shared__ float tile[64];",
            256,
            260,
            "__shared__ float tile[65];",
        ),
        (
            "static __shared__ __align__(16) float tile[4][16]; // rows",
            256,
            260,
            "static __shared__ __align__(16) float tile[5][16]; // rows",
        ),
        (
            "alignas(16) volatile __shared__ unsigned int a[3], tile[0x20], b[N];",
            128,
            256,
            "alignas(16) volatile __shared__ unsigned int a[3], tile[64], b[N];",
        ),
        (
            "__shared__ uint4 tile[2][3][4], other;",
            384,
            385,
            "__shared__ uint4 tile[3][3][4], other;",
        ),
        (
            "float __shared__ x, tile[8] __attribute__((aligned(16)));",
            32,
            33,
            "float __shared__ x, tile[9] __attribute__((aligned(16)));",
        ),
        (
            "__shared__ unsigned char tile[2][100];",
            200,
            301,
            "__shared__ unsigned char tile[4][100];",
        ),
    ] {
        let found = changed("", declaration, has, needs);
        assert_eq!(found.as_deref(), Some(new), "{declaration}");
    }
}

/// The bytes of the changed declaration: whole slices are added.
#[test]
fn the_bytes_of_a_slice_are_said() {
    let bytes = |declaration: &str, has: u32, needs: u32| {
        let source = format!("void f() {{\n{declaration}\ntile[i] = 0;");
        match room_in(&source, "tile", has, needs) {
            Some(Room::Static(changes)) => changes[0].bytes,
            other => panic!("{other:?}"),
        }
    };
    let large = "__shared__ float tile[2][8][8][9];";
    assert_eq!(bytes(large, 4608, 4656), Some([4608, 6912]));
    assert_eq!(
        bytes("__shared__ float tile[64];", 256, 260),
        Some([256, 260])
    );
    // Nobody knows how long a row is.
    assert_eq!(bytes("__shared__ float tile[ROWS][ROW];", 256, 260), None);
}

#[test]
fn constants_of_the_file_say_how_long_a_row_is() {
    let constants = "#define TILE 16\nconstexpr int PAD = 1;";
    for (declaration, has, needs, new) in [
        (
            "__shared__ float tile[TILE][TILE + PAD];",
            1088,
            1120,
            "__shared__ float tile[TILE + 1][TILE + PAD];",
        ),
        (
            "__shared__ float tile[1 << BITS];",
            1024,
            1056,
            "__shared__ float tile[(1 << BITS) + 8];",
        ),
        // The row follows from the rows.
        (
            "__shared__ float tile[TILE][STEPS * 4];",
            16 * 20 * 4,
            16 * 20 * 4 + 84,
            "__shared__ float tile[TILE + 2][STEPS * 4];",
        ),
        // The name is another constant here: the text of the row says it.
        (
            "__shared__ float tile[TILE][TILE];",
            32 * 32 * 4,
            32 * 32 * 4 + 8,
            "__shared__ float tile[TILE + (2 + TILE - 1) / TILE][TILE];",
        ),
        (
            "__shared__ T tile[N][M + 1];",
            32 * 32 * 4,
            32 * 32 * 4 + 8,
            "__shared__ T tile[N + (8 + (M + 1) * sizeof(T) - 1) / ((M + 1) * sizeof(T))][M + 1];",
        ),
        (
            "__shared__ Pair<3, 4> tile[N];",
            512,
            520,
            "__shared__ Pair<3, 4> tile[N + (8 + sizeof(Pair<3, 4>) - 1) / sizeof(Pair<3, 4>)];",
        ),
        // The size of the type follows from the elements.
        (
            "__shared__ Pair<3, 4> tile[2 * TILE];",
            512,
            520,
            "__shared__ Pair<3, 4> tile[2 * TILE + 1];",
        ),
    ] {
        let found = changed(constants, declaration, has, needs);
        assert_eq!(found.as_deref(), Some(new), "{declaration}");
    }
}

#[test]
fn arguments_of_a_template_say_how_long_a_row_is() {
    let source = "template <typename T, int ROWS, int ROW>\n\
                  __device__ void f() {\n\
                  __shared__ T tile[ROWS][ROW + 1];\n\
                  tile[i][j] = 0;";
    let grown = |variable: &str| {
        let name = "tile";
        let found = room_of(source, Named { name, variable }, 8 * 17 * 8, 8 * 17 * 8 + 8);
        match found? {
            Room::Static(changes) => Some(changes[0].changed_text.clone()),
            Room::Dynamic => None,
        }
    };
    assert_eq!(
        grown("_ZZ1fIdLi8ELi16EEvvE4tile").unwrap(),
        "__shared__ T tile[ROWS + 1][ROW + 1];"
    );
    // The name of another function says nothing.
    let rows = grown("_ZZ1gIdLi8ELi16EEvvE4tile").unwrap();
    assert!(rows.contains("sizeof(T)"), "{rows}");
}

#[test]
fn dynamic_shared_memory_grows_at_the_launch() {
    let declaration = "extern __shared__ float tile[];";
    assert_eq!(changed("", declaration, 256, 260).unwrap(), "dynamic");
    let of_the_file = format!("{declaration}\nvoid f() {{\ntile[i] = 0;");
    assert_eq!(room_in(&of_the_file, "tile", 8, 12), Some(Room::Dynamic));
}

#[test]
fn what_is_not_understood_is_left_to_a_person() {
    for declaration in [
        "__shared__ float *tile[64];",
        "__shared__ float (&tile)[64];",
        "__shared__ struct { float tile[64]; } s;",
        "float tile[64];",
        "__shared__ float other[64];",
        "extern __shared__ float tile[N];",
    ] {
        let found = changed("", declaration, 256, 260);
        let is_extern = declaration.starts_with("extern");
        assert_eq!(found.is_some(), is_extern, "{declaration}: {found:?}");
    }
    // The source counts the elements.
    let counted = |between: &str| {
        let source = format!("void g(float (&a)[8]);\nvoid h(float *a);\n{between}tile[i] = 0;");
        room_in(&source, "tile", 32, 36)
    };
    let declared = "void f() {\n__shared__ float tile[8];\n";
    for use_of_it in [
        "n = sizeof(tile) / 4;",
        "n = sizeof tile;",
        "for (float &x : tile) x = 0;",
        "n = std::size(tile);",
        "g(tile);",
        "g<4>(tile);",
    ] {
        assert_eq!(
            counted(&format!("{declared}{use_of_it}\n")),
            None,
            "{use_of_it}"
        );
    }
    for other in [
        "n = sizeof(tile[0]);",
        "h(tile);",
        "p = x ? y : tile;",
        "p = tile + 1;",
    ] {
        assert!(
            counted(&format!("{declared}{other}\n")).is_some(),
            "{other}"
        );
    }
}

#[test]
fn declarations_have_at_most_48_kib() {
    let most = (48 << 10) - 1024;
    for (needs, grows) in [(most, true), (most + 4, false)] {
        let found = changed("", "__shared__ int tile[64];", 256, needs);
        assert_eq!(found.is_some(), grows, "{needs}");
    }
    let dynamic = changed("", "extern __shared__ int tile[];", 256, most + 4);
    assert_eq!(dynamic.as_deref(), Some("dynamic"));
}

#[test]
fn every_declaration_that_a_preprocessor_chooses_from_grows() {
    let source = "__shared__ int tile[4];\n\
                  void f() {\n\
                  #if FIRST\n\
                  __shared__ int tile[B][B + 1], other[2];\n\
                  #else\n\
                  __shared__ int other[2], tile[B][B + 1];\n\
                  #endif\n\
                  if (x) { __shared__ int tile[3]; }\n\
                  tile[i][j] = 0;";
    let Some(Room::Static(changes)) = room_in(source, "tile", 1088, 1092) else {
        panic!("no declaration")
    };
    let found: Vec<(&str, &str)> = (changes.iter())
        .map(|c| (c.source.as_str(), c.changed_text.as_str()))
        .collect();
    let grown = "tile[B + (1 + (B + 1) - 1) / (B + 1)][B + 1]";
    let [first, second] = [
        format!("__shared__ int {grown}, other[2];"),
        format!("__shared__ int other[2], {grown};"),
    ];
    assert_eq!(found, [("k.cu:4", first.as_str()), ("k.cu:6", &second)]);
}

#[test]
fn a_declaration_of_several_lines_changes_in_the_line_of_its_dimension() {
    let source = "void f() {\n__shared__ unsigned a[N][D], // the first\n    tile[M][D],\n    b[N];\ntile[i][j] = 0;";
    let Some(Room::Static(changes)) = room_in(source, "tile", 64, 72) else {
        panic!("no declaration")
    };
    assert_eq!(changes[0].source, "k.cu:3");
    assert_eq!(changes[0].text, "tile[M][D],");
    assert_eq!(changes[0].changed_text, "tile[M + (2 + D - 1) / D][D],");
}
