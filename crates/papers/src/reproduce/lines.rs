//! PTX without its line information, which changes no result.

/// The text without `.loc`, `.file`, the labels of debug data and, for an empty
/// line each, sections of it: what the compiler writes without `-lineinfo`.
pub(super) fn without_lines(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut in_section = false;
    for line in ptx.split_inclusive('\n') {
        let word = line.split_whitespace().next().unwrap_or_default();
        if in_section {
            in_section = word != "}";
            if !in_section {
                text.push('\n');
            }
        } else if word == ".section" {
            in_section = true;
        } else if !matches!(word, ".loc" | ".file") && !is_debug_label(word) {
            text += line;
        }
    }
    text
}

/// `$L__tmp12:`, `$L__func_begin0:` or `$L__func_end0:`.
fn is_debug_label(word: &str) -> bool {
    ["$L__tmp", "$L__func_begin", "$L__func_end"]
        .iter()
        .filter_map(|name| word.strip_prefix(name)?.strip_suffix(':'))
        .any(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_text_without_line_information() {
        let plain = "ld.local.u32 %r1, [%rd1];\n$L__BB0_1:\nret;\n\n}\n\n";
        let with_lines = "\t.loc\t1 3 5\nld.local.u32 %r1, [%rd1];\n$L__tmp3:\n$L__BB0_1:\n\
                          .loc 1 4 0, function_name $L__info_string0, inlined_at 1 9 1\nret;\n\
                          $L__func_end0:\n\n}\n\t.file\t1 \"k.cu\"\n\t.section\t.debug_str\n{\n\
                          $L__info_string0:\n.b8 102\n}\n";
        assert_eq!(without_lines(with_lines), plain);
        assert_eq!(without_lines(plain), plain);
    }
}
