//! Memories: rows of words that are written at clock edges. On a chip, a macro
//! replaces the module that contains one.

use crate::item::{Item, Memory};
use crate::signal::{Expr, Part};
use crate::size::{Size, index_bits};
use crate::tree::{Select, Tree};
use crate::unit::UnitBuilder;

/// The attribute by which Yosys, Quartus and Vivado know a memory whose reads of the
/// row that is written in the same cycle are not relied on. Without it they keep the
/// old word in flip-flops.
const ANY_WORD_ON_COLLISION: &str =
    "no_rw_check, ramstyle = \"no_rw_check\", rw_addr_collision = \"no\"";

impl Memory {
    /// The word in `row`: it can be read, or be what a clocked block writes.
    #[track_caller]
    pub(crate) fn word(self, row: impl Into<Expr>) -> Expr {
        let (row, bits): (Expr, _) = (row.into(), index_bits(self.rows));
        let (name, own) = (self.words.name, row.width);
        let fits = own.same(bits.into());
        assert!(fits, "{name} has rows of {bits} bits, {row} has {own}");
        let word = Tree::Bits(Box::new(Tree::Name(name)), Select::By(Box::new(row.tree)));
        Expr {
            of: vec![Part::all(self.words)],
            selectable: true,
            ..Expr::new(word, self.words.width)
        }
    }
}

impl UnitBuilder {
    /// A memory of `rows` words: without a reset, since no macro has one.
    #[track_caller]
    pub(crate) fn memory(&self, name: &str, rows: usize, width: impl Into<Size>) -> Memory {
        let words = self.words(name, width.into());
        let memory = Memory { rows, words };
        self.add(Item::Memory(memory));
        memory
    }

    /// A [memory](Self::memory) whose reads of the row that is written in the same cycle are
    /// not relied on.
    #[track_caller]
    pub(crate) fn memory_of_two_ports(
        &self,
        name: &str,
        rows: usize,
        width: impl Into<Size>,
    ) -> Memory {
        self.add(Item::Attributes(ANY_WORD_ON_COLLISION));
        self.memory(name, rows, width)
    }

    /// The memory is 0 when a simulation starts for which [`RAM_ZEROS`](crate::RAM_ZEROS) is
    /// defined.
    #[track_caller]
    pub(crate) fn starts_as_zeros(&self, memory: Memory) {
        self.add(Item::Zeros(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::UnitDoc;

    fn unit() -> UnitBuilder {
        UnitBuilder::new(UnitDoc::part("unit", "a unit.", "none".into(), "1"))
    }

    #[test]
    fn a_word_is_written_by_bytes_and_read() {
        let u = unit();
        let [_, rst] = u.clocked();
        let (row, be) = (u.input("row", 2, "row"), u.input("be", 2, "bytes"));
        let data = u.input("data", 16, "to write");
        let out = u.output("out", 16, "the word");
        let mem = u.memory("mem", 3, 16);
        u.starts_as_zeros(mem);
        u.at_clock().when(!rst).next_bytes(mem.word(row), be, data);
        u.assign(out, mem.word(row));
        let expected = "    reg [15:0] mem [0:2];\n`ifdef SPADKIT_RAM_ZEROS\n    \
                        integer r;\n    \
                        initial for (r = 0; r < 3; r = r + 1) mem[r] = 16'd0;\n`endif\n    \
                        integer k;\n    always @(posedge clk) begin\n        \
                        /* verilator lint_off SYNCASYNCNET */ \
                        // no write beside a reset, of any style\n        \
                        if (~rst) begin\n        \
                        /* verilator lint_on SYNCASYNCNET */\n            \
                        for (k = 0; k < 2; k = k + 1) begin\n                \
                        if (be[k]) mem[row][k*8 +: 8] <= data[k*8 +: 8];\n            \
                        end\n        end\n    end\n    assign out = mem[row];\nendmodule\n";
        let text = u.emit().unwrap().file.text;
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    #[should_panic(expected = "mem has rows of 2 bits, row has 3")]
    fn a_row_has_as_many_bits_as_the_memory_needs() {
        let u = unit();
        let row = u.input("row", 3, "row");
        u.memory("mem", 3, 16).word(row);
    }

    #[test]
    #[should_panic(expected = "be for ")]
    fn there_is_an_enable_for_each_byte() {
        let u = unit();
        let (row, be) = (u.input("row", 2, "row"), u.input("be", 3, "bytes"));
        let data = u.input("data", 16, "to write");
        let mem = u.memory("mem", 3, 16);
        u.at_clock().next_bytes(mem.word(row), be, data);
    }
}
