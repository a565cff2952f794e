//! Changes of lines, as text.

use super::*;
use crate::suggest::lines::types::Types;
use crate::suggest::source::files::given;

/// The change of a line after these statements.
fn change(before: &str, line: &str) -> Option<String> {
    let source = format!("void f() {{\n__shared__ float s[64];\n{before}\n{line}\nlast();\n}}");
    let number = source.lines().count() - 2;
    let mut text = given(&source);
    let types = Types::of("k.cu", &mut text);
    let kept = types.kept("s", Some(4));
    let found = pointers_change(
        &format!("k.cu:{number}"),
        kept,
        Mapped::words("s", "at"),
        &mut text,
    );
    found.map(|c| {
        assert_eq!(c.text, line);
        c.changed_text
    })
}

/// Rows through an outer index that varies, and the array behind a macro.
#[test]
fn every_element_of_rows_and_macros_is_wrapped() {
    let change = |head: &str, before: &str, line: &str| {
        let source = format!(
            "{head}\nvoid f() {{\n__shared__ float s[2][8][4];\n{before}\n{line}\nlast();\n}}"
        );
        let mut text = given(&source);
        let types = Types::of("k.cu", &mut text);
        let place = format!("k.cu:{}", source.lines().count() - 2);
        let found = pointers_change(
            &place,
            types.kept("s", Some(4)),
            Mapped::words("s", "at"),
            &mut text,
        );
        found.map(|c| c.changed_text)
    };
    let wrapped = |element: &str| Some(format!("(*at_at(s, &{element})) = v;"));
    for (head, before, element) in [
        ("", "float (*w)[4] = s[b];", "w[r][x]"),
        ("", "float (*w)[8][4] = s;", "w[b][r][x]"),
        ("", "float *row = s[b][y];", "row[x]"),
        ("", "float (*w)[8] = (float (*)[8])(s + 1);", "w[y][x]"),
        (
            "",
            "float (*w)[4] = s[0], (*u)[4] = s[1]; float (*t)[4] = w; w = u; u = t;",
            "w[y][x]",
        ),
        ("", "float (*w)[4] = s[b]; float *row = w[y];", "row[x]"),
        ("#define FLAT (&s[0][0][0])", "", "FLAT[i]"),
        ("#define ROWS ((float (*)[4])s)", "", "ROWS[r][x]"),
        (
            "#define ROWS ((float (*)[4])s)",
            "float *row = ROWS[y];",
            "row[x]",
        ),
    ] {
        let found = change(head, before, &format!("{element} = v;"));
        assert_eq!(found, wrapped(element), "{head}{before}");
    }
    for (head, before, line) in [
        // A row alone is no element.
        ("", "float (*w)[4] = s[b];", "g(w[r]);"),
        ("#define ROWS ((float (*)[4])s)", "", "ROWS[r] = v;"),
        // One element, other arrays, and macros that are chosen.
        ("", "float *p = s[b][y][x];", "p[0] = v;"),
        ("", "float *row = s[b][y]; row = other;", "row[x] = v;"),
        ("#define FLAT other", "", "FLAT[i] = v;"),
        (
            "#define FLAT (&s[0][0][0])\n#define FLAT other",
            "",
            "FLAT[i] = v;",
        ),
    ] {
        assert_eq!(change(head, before, line), None, "{head}{before}{line}");
    }
}

/// What an element of an array of pointers points to is not in the array.
#[test]
fn an_array_of_pointers_has_no_rows() {
    let source = "void f() {\n__shared__ float *s[4];\nfloat *row = s[b];\nrow[x] = v;\n}";
    let mut text = given(source);
    let types = Types::of("k.cu", &mut text);
    let found = pointers_change(
        "k.cu:4",
        types.kept("s", Some(8)),
        Mapped::words("s", "at"),
        &mut text,
    );
    assert!(found.is_none());
}

#[test]
fn every_element_of_a_pointer_into_the_array_is_wrapped() {
    let two = "float *re = s, *__restrict__ im = re + n;";
    for (before, line, changed) in [
        (
            two,
            "float a = re[i], b = im[i] * x[i];",
            "float a = (*at_at(s, &re[i])), b = (*at_at(s, &im[i])) * x[i];",
        ),
        (
            two,
            "re[j] += im[2 * i];",
            "(*at_at(s, &re[j])) += (*at_at(s, &im[2 * i]));",
        ),
        (
            "Pair *p = reinterpret_cast<Pair *>(&s[4]);\np = (Pair *)s;",
            "x = p[i].v[1] - 1;",
            "x = (*at_at(s, &p[i].v[1])) - 1;",
        ),
        (
            "Pair *p = (Pair *)s;",
            "x = p->v[1] + s[2].x;",
            "x = (*at_at(s, &p->v[1])) + (*at_at(s, &s[2].x));",
        ),
        (
            two,
            "x = a * re[i] * im[j] & im[k];",
            "x = a * (*at_at(s, &re[i])) * (*at_at(s, &im[j])) & (*at_at(s, &im[k]));",
        ),
        (
            "float *p = s, *q = s;",
            "for (int i = 0; i < 4; i++, p += 32, ++q) *p = a * *q;",
            "for (int i = 0; i < 4; i++, p += 32, ++q) (*at_at(s, p)) = a * (*at_at(s, q));",
        ),
        (
            "float *const p = s, *q = p;",
            "for (q = p + 1; q != p + 4; ++q) *q = q - p;",
            "for (q = p + 1; q != p + 4; ++q) (*at_at(s, q)) = q - p;",
        ),
        (
            "",
            "{ float *e = &s[i]; auto d = &s[4]; e[1] = *d; }",
            "{ float *e = &s[i]; auto d = &s[4]; (*at_at(s, &e[1])) = (*at_at(s, d)); }",
        ),
        (
            "float *q = s;",
            "return *q++ + x;",
            "return (*at_at(s, q++)) + x;",
        ),
        (
            "Pair *p = s;\nconst Pair &mine = s[t], &other = p[2];",
            "x = mine.v[0];",
            "x = (*at_at(s, &mine.v[0]));",
        ),
        (
            "Tiles &t = *reinterpret_cast<Tiles *>(s);",
            "t.b[i][j] = t.a[j][i];",
            "(*at_at(s, &t.b[i][j])) = (*at_at(s, &t.a[j][i]));",
        ),
        (
            "",
            "*reinterpret_cast<float *>(&s[i * 8]) = *(const float *)&out[i];",
            "*reinterpret_cast<float *>(at_at(s, &s[i * 8])) = *(const float *)&out[i];",
        ),
        (
            "",
            "x = (*((int *)(&s[i]))) + ((int *)&s[j])[0];",
            "x = (*((int *)(at_at(s, &s[i])))) + ((int *)at_at(s, &s[j]))[0];",
        ),
    ] {
        assert_eq!(change(before, line).as_deref(), Some(changed), "{line}");
    }
}

#[test]
fn pointers_that_may_be_elsewhere_are_left_to_a_person() {
    for (before, line) in [
        ("float *re = s;", "x = **re + re[1];"),
        ("float *re = s;", "x = re++[1];"),
        ("float &x = s[1];", "x = 2;"),
        ("float &x = s[1], *q = s;", "*q = x == 2;"),
        ("float *q = s;", "x = q == p ? *q : g(q);"),
        ("float *q = s;", "{ float *e = &s[i]; e = out; e[1] = *q; }"),
        (
            "Pair &mine = *reinterpret_cast<Pair *>(out);",
            "x = mine.x;",
        ),
        ("Pair mine = s[1];", "x = mine.x;"),
        ("Pair &mine = out[1];", "x = mine.x;"),
        ("", "use(reinterpret_cast<float4 *>(&s[4 * i]));"),
        ("", "x = reinterpret_cast<float4 *>(&s[4 * i])[1];"),
        ("", "x = *(float4 *)&s[4 * i] + s[1];"),
        ("float *re = s;", "use(&re[1]);"),
        ("float *re = s;", "use(x, *re[1]);"),
        ("float *re = s;", "return *re[1];"),
        // The mapping keeps 4 bytes together.
        ("float2 *re = (float2 *)s;", "x = re[1];"),
        ("float *re = s;", "x = re[re[1]];"),
        ("float *re = s;", "x = re[1] + s[2];"),
        ("float *re = s;", "x = re[1].get();"),
        ("float *re = s;", "use(re);"),
        ("float *re = s; re = out;", "x = re[1] + re[2];"),
        ("float *re = c ? s : out;", "x = re[1] + re[2];"),
        ("float *re = rows[s[1]];", "x = re[1] + re[2];"),
        ("float *re = s[1];", "x = re[1] + re[2];"),
        ("float re = s;", "x = re[1] + re[2];"),
        ("", "x = out[1];"),
    ] {
        assert_eq!(change(before, line), None, "{before} {line}");
    }
}

/// A mapping that keeps structures whole maps the address of each.
#[test]
fn structures_are_copied_as_a_whole() {
    let change = |shape: &str, unit: u32, line: &str| {
        let source = format!(
            "struct Pair {{ int key, value; }};\nvoid f() {{\n__shared__ Pair s{shape};\n{line}\n}}"
        );
        let mut text = given(&source);
        let types = Types::of("k.cu", &mut text);
        let kept = types.kept("s", Some(unit));
        let found = pointers_change("k.cu:4", kept, Mapped::words("s", "at"), &mut text);
        found.map(|c| c.changed_text)
    };
    let line = "Pair a = s[i], b = s[i + n];";
    let wrapped = "Pair a = (*at_at(s, &s[i])), b = (*at_at(s, &s[i + n]));";
    assert_eq!(change("[64]", 8, line).as_deref(), Some(wrapped));
    assert_eq!(change("[64]", 4, line), None);
    // A row is none of them.
    assert_eq!(change("[8][8]", 8, line), None);
    assert_eq!(change("[64]", 8, "use(&s[i]);"), None);
    assert_eq!(change("[64]", 8, "use(n, s[i]);"), None);
}
