//! An instruction has the modifiers that `ptxas` takes, and no others, by its
//! judgement of each word as one more modifier of some seven hundred
//! instructions (`ptxas_words.txt`).

use super::super::decode::decode;
use super::ptxas::is_unsupported;
use crate::Module;
use crate::names::{Space, Type, Word};
use crate::opcodes::{Class, Opcode};
use std::collections::{BTreeSet, HashMap, HashSet};

const TABLE: &str = include_str!("ptxas_words.txt");
const HEAD: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n.func f() { ret; }
.visible .entry k(.param .u64 p) {
.reg .pred %pred_<6>; .reg .b8 %b8_<6>; .reg .b16 %b16_<6>; .reg .b32 %b32_<6>;
.reg .b64 %b64_<6>; .reg .b128 %b128_<6>; .reg .f32 %f32_<6>; .reg .f64 %f64_<6>;
T: .branchtargets L;
";

/// The words of a line that begins with `name`.
fn listed(name: &str) -> Vec<&'static str> {
    let line = TABLE.lines().find_map(|l| l.strip_prefix(name));
    line.unwrap().split_whitespace().collect()
}

/// The instructions, and the words that `ptxas` takes as one more modifier.
fn table() -> impl Iterator<Item = (&'static str, HashSet<&'static str>)> {
    let lines = TABLE.lines().filter(|l| !l.starts_with('#'));
    let parts = lines.filter_map(|l| l.split_once(" |"));
    parts.map(|(text, words)| (text, words.split_whitespace().collect()))
}

fn opcode(instruction: &str) -> Opcode {
    let name = instruction.split(['.', ' ', ';']).next().unwrap();
    Opcode::from_text(name).unwrap()
}

/// The instruction with the word as its last modifier.
fn with(instruction: &str, word: &str) -> String {
    let end = instruction.find([' ', ';']).unwrap();
    let (name, rest) = instruction.split_at(end);
    format!("{name}.{word}{rest}")
}

/// Why each of the instructions is refused, if it is.
pub(super) fn reasons(instructions: &[String]) -> Vec<Option<String>> {
    let text = format!("{HEAD}{}\nL: ret;\n}}\n", instructions.join("\n"));
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let problems = decode(&module, 1, &HashMap::new(), true).err();
    let mut reasons = vec![None; instructions.len()];
    for problem in problems.unwrap_or_default() {
        let at = problem.place.line as usize - HEAD.lines().count() - 1;
        reasons[at] = Some(problem.reason);
    }
    reasons
}

/// What `ptxas` takes although the PTX ISA does not have it, and it means nothing: words of
/// instructions that begin so, and why.
const IDLE: &[(&str, &str, &str)] = &[
    ("", "pred", "ignored next to a type"),
    ("addc", "sat", "in no edition of the PTX ISA"),
    ("subc", "sat", "in no edition of the PTX ISA"),
    ("madc", "sat", "in no edition of the PTX ISA"),
    ("bar.", "all any", "words of vote"),
    ("fence", "async", "read as a proxy, without .proxy"),
    ("cp.async.bulk.", "b128", "ignored"),
    (
        "cp.async.bulk.wait_group",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
        "ignored",
    ),
    (
        "fence.mbarrier_init",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
        "ignored",
    ),
    (
        "fence.proxy.a",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
        "ignored",
    ),
    (
        "fence.proxy.tensormap",
        "sync_restrict::shared::cta sync_restrict::shared::cluster",
        "ignored",
    ),
    (
        "fence.proxy.async::generic",
        "global shared shared::cta shared::cluster",
        "ignored",
    ),
    (
        "fence.release.sync_restrict",
        "mbarrier_init",
        "restricted twice",
    ),
    ("cp.async.bulk.tensor", "cta cluster gpu sys", "ignored"),
    (
        "cp.reduce.async.bulk.tensor",
        "cta cluster gpu sys",
        "ignored",
    ),
    ("ldmatrix", "row col", "a layout of wmma"),
    ("stmatrix", "row col", "a layout of wmma"),
    ("movmatrix", "row col", "a layout of wmma"),
    ("wgmma", "row col", "a layout of wmma"),
    (
        "movmatrix",
        "bf16 bf16x2 tf32 s4 u4 s2 u2 b1",
        "ignored next to a type",
    ),
    (
        "mma",
        "bf16 bf16x2 tf32 s4 u4 s2 u2 b1",
        "ignored next to four types",
    ),
    ("mma", "and or xor", "needs .popc"),
    ("mma.sp", "v4", "the size of an operand"),
    ("wgmma", "v4", "the size of an operand"),
    ("wmma", "v2 v8", "the size of an operand"),
    ("st.async", "v2 v4", "the size of an operand"),
    ("sust", "v2 v4", "the size of an operand"),
    ("tex", "uni", "ignored"),
    ("tld4", "uni", "ignored"),
];

/// What is taken here although `ptxas` refuses it: words of instructions that begin so, and
/// why.
const LENIENT: &[(&str, &str, &str)] = &[
    (
        "cp.async.commit_group",
        "bulk",
        "cp.async.bulk.commit_group: the order of words is free",
    ),
    (
        "cp.async.wait_group",
        "bulk",
        "cp.async.bulk.wait_group: the order of words is free",
    ),
    (
        "mbarrier.arrive",
        "expect_tx",
        "mbarrier.arrive.expect_tx: the order of words is free",
    ),
    (
        "ld.u32",
        "param::func",
        "registers hold generic addresses of parameters",
    ),
    (
        "st.u32",
        "param param::func",
        "registers hold generic addresses of parameters",
    ),
];

fn is_in(list: &[(&str, &str, &str)], instruction: &str, word: &str) -> bool {
    let has = |words: &str| words.split(' ').any(|w| w == word);
    list.iter()
        .any(|(begin, words, _)| instruction.starts_with(begin) && has(words))
}

/// A second time what is there: `ptxas` refuses some of these.
fn is_there(instruction: &str, word: &str) -> bool {
    let name = instruction.split([' ', ';']).next().unwrap();
    name.split('.').any(|w| w == word)
}

#[test]
fn each_word_is_judged_as_ptxas_does() {
    let (words, ignored) = (listed("words "), listed("ignored "));
    let mut wrong = Vec::new();
    let mut refused = 0;
    for (instruction, taken) in table() {
        let forms: Vec<String> = words.iter().map(|w| with(instruction, w)).collect();
        for (word, reason) in words.iter().zip(reasons(&forms)) {
            refused += usize::from(reason.is_some());
            match (taken.contains(word), reason) {
                (true, Some(reason)) => {
                    let excused = is_in(IDLE, instruction, word) || is_there(instruction, word);
                    if !(excused || is_unsupported(&reason)) {
                        wrong.push(format!("refused: {} {reason}", with(instruction, word)));
                    }
                }
                (false, None) if !is_in(LENIENT, instruction, word) => {
                    wrong.push(format!("taken: {}", with(instruction, word)));
                }
                _ => {}
            }
        }
    }
    assert!(refused > 150_000 && ignored.len() < 20, "{refused}");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_has_all_words_and_opcodes_and_its_instructions_are_taken() {
    let words = Word::ALL
        .iter()
        .filter(|w| **w != Word::Other)
        .map(|w| w.text());
    let spaces = Space::ALL.iter().map(|s| s.text());
    let types = Type::ALL.iter().map(|t| t.text());
    let all: Vec<&str> = words
        .chain(spaces)
        .chain(types)
        .chain(["m64n8k16"])
        .collect();
    assert_eq!(listed("words ").join(" "), all.join(" "));
    let instructions: Vec<String> = table().map(|(text, _)| text.to_owned()).collect();
    let known: BTreeSet<Opcode> = instructions.iter().map(|i| opcode(i)).collect();
    for &opcode in Opcode::ALL {
        let judged = !matches!(opcode.class(), Class::Hint | Class::Refused(_));
        assert_eq!(judged, known.contains(&opcode), "{}", opcode.text());
    }
    for (text, reason) in instructions.iter().zip(reasons(&instructions)) {
        let said = reason.unwrap_or_else(|| "not supported".to_owned());
        assert!(is_unsupported(&said), "{text}: {said}");
    }
}
