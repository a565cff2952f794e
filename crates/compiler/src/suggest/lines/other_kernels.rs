//! Kernels that share a function with the one that changes: their elements would not
//! change with it.

use super::callees::{Handed, calls, only_hands_over};
use crate::suggest::source::scan::{Function, Text};
use crate::suggest::source::words::word;
use std::ops::RangeInclusive;

/// A kernel that calls one of the functions with an array of its own, whose other elements
/// would not change. `is_reached`: whether the run accesses the array in one of the lines
/// of a function, or in a function called there.
pub(super) fn other_kernel(
    text: &Text,
    all: &[Handed],
    array: &str,
    is_reached: &dyn Fn(&Function, RangeInclusive<u32>) -> bool,
) -> Option<String> {
    let calls = || all.iter().flat_map(|f| &f.calls);
    calls().find_map(|call| {
        let caller = text.function_around(*call)?;
        let body = (caller.body, text.block_end(caller.body));
        let is_known = is_reached(&caller, text.line_of(body.0)..=text.line_of(body.1));
        (!is_known && !only_hands_over(text, body, array, calls())).then_some(caller.name)
    })
}

/// A kernel that calls the function, too, and of which the run reaches no line.
pub(super) fn unreached_kernel(
    text: &Text,
    callee: &Function,
    is_reached: &dyn Fn(&Function, RangeInclusive<u32>) -> bool,
) -> Option<String> {
    let mut callers = calls(text, callee)?
        .into_iter()
        .filter_map(|call| text.function_around(call));
    let is_other = |caller: &Function| {
        let end = text.block_end(caller.body);
        let head = &text.masked[text.statement_start(caller.open)..caller.open];
        word(head, "__global__").is_some()
            && !is_reached(caller, text.line_of(caller.body)..=text.line_of(end))
    };
    callers.find(is_other).map(|caller| caller.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: &str = "template <int N> __device__ float sum(float *data, int n) {\n\
        float s = data[0] + data[n];\n\
        return s;\n\
        }";
    const KERNEL: &str = "__global__ void kernel(float *out) {\n\
        __shared__ float tile[64];\n\
        out[0] = tile[0];\n\
        }";

    /// Another kernel with an array of that name, which this run does not reach.
    #[test]
    fn elements_of_another_kernel_do_not_change() {
        let kernel =
            "\nvoid other() {\n__shared__ float tile[8];\ntile[0] = 1;\nsum<1>(tile, 1);\n}";
        let other = |source: String, is_reached: bool| {
            let text = Text::new(source);
            let at = text.text.find("float s =").unwrap();
            let callee = text.function_around(at).unwrap();
            let all = Handed::all(&text, &callee, "tile").unwrap();
            other_kernel(&text, &all, "tile", &|_, _| is_reached)
        };
        let source = || format!("{SUM}{kernel}");
        assert_eq!(other(source(), true), None);
        assert_eq!(other(source(), false).unwrap(), "other");
        assert_eq!(other(source().replace("tile[0] = 1;", ""), false), None);
    }

    /// A kernel that gives the function global memory, with the element unchanged.
    #[test]
    fn a_kernel_that_gives_other_memory_is_named() {
        let other = |head: &str, is_reached: bool| {
            let text = Text::new(format!(
                "{SUM}\n{KERNEL}\n{head} other(float *in) {{ in[0] = sum<1>(in, 1); }}"
            ));
            let at = text.text.find("float s =").unwrap();
            let callee = text.function_around(at).unwrap();
            unreached_kernel(&text, &callee, &|_, _| is_reached)
        };
        assert_eq!(other("__global__ void", false).unwrap(), "other");
        assert_eq!(other("__global__ void", true), None);
        // A function may pass on the memory of this kernel.
        assert_eq!(other("__device__ void", false), None);
    }
}
