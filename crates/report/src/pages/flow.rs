//! The report as one self-contained HTML file.

use super::{flow_hardware, flow_view, frame};
use crate::choice::ChoiceKind;
use crate::draw::trade_off::trade_off;
use crate::flow_report::FlowReport;
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_launch::readable::readable;
use spadkit_rtl::template::defect;
use tera::Context;

const NAME: &str = "flow.html.tera";
const TEMPLATE: &str = include_str!("flow.html.tera");

/// Renders the report; nothing in it refers to another file or host.
pub fn render(report: &FlowReport) -> Result<String> {
    let all = shown(report);
    let mut context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
    context.insert(
        "pictures",
        &flow_view::pictures(&report.situations, report.phases.len() > 1),
    );
    context.insert("trade_off", &trade_off(&report.choices));
    context.insert("script_data", &flow_view::script_data(report));
    // The lines of the source keep their tabs.
    context.insert("sources", &flow_view::sources(&report.sources));
    context.insert("code", &flow_view::code(report));
    frame::render(NAME, TEMPLATE, context)
}

fn shown(report: &FlowReport) -> Value {
    let verdict = report.verdict();
    let chosen = report.chosen().filter(|c| c.kind != ChoiceKind::Nothing);
    json!({
        "title": format!("{} on {}: {} {}", readable(&report.kernel.name), report.machine, verdict.problem, verdict.remedy),
        "sections": [
            ["why", "What"], ["where", "Where"], ["change", "Change"], ["gain", "Cycles"],
            ["cost", "Hardware"], ["checked", "Checked"], ["again", "Reproduce"],
        ],
        "kernel": report.kernel,
        "kernel_name": readable(&report.kernel.name),
        "machine": report.machine,
        "machine_text": report.machine_text,
        "machine_from": report.machine_from,
        "rule_text": report.rule_text,
        "hash_stage": report.hash_stage,
        "hash_unit": report.hash_unit,
        "verdict": verdict,
        "advice": report.advice,
        "worth_text": report.worth_text(),
        "chosen": chosen.map(|c| json!({"name": c.name, "hash": c.hash})),
        "phases": flow_view::phases(report),
        "sources_note": flow_view::sources_note(&report.sources, report.conflicts()),
        "choices": flow_view::choices(report),
        "on_sm": report.choices.iter().any(|c| c.resources.is_some()),
        "code_note": flow_view::code_note(
            flow_view::with_code(report).into_iter().flat_map(|choice| &choice.code),
        ),
        "cycles": flow_view::cycles(report),
        "bars_of": "Change",
        "parts": super::bars::key(),
        "units": flow_hardware::units(report),
        "technology": flow_hardware::technology(report),
        "sites": flow_hardware::sites(report),
        "mappings": flow_hardware::mappings(report),
        "checks": flow_hardware::checks(report),
        "since": flow_hardware::since(report.since.as_ref()),
        "commands": report.commands,
        "commands_of": "The whole report, then each of its tables, in a shell",
        "tools": report.tools,
        "inputs": report.inputs,
        "dynamic_shared": report.software.as_ref().and_then(|s| s.dynamic_shared),
        "ptx": report.software.as_ref().and_then(|s| s.ptx.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::{Advice, Timed, Worth};
    use crate::choice::{ChoiceLine, CodeText};
    use crate::flow_report::{KernelSummary, MappingLine, UnitSetting};
    use crate::skipped::{Part, Skipped};
    use crate::software_report::{RewrittenLine, Software, SoftwareLine};
    use crate::source_page::{Situation, SourceLine, SourcePage};
    use spadkit_mapping::trace::{Served, ServedWord};

    fn served() -> Served {
        Served {
            wavefronts: 1,
            busy: 1,
            cells: vec![ServedWord {
                lanes: vec![0],
                word: 0,
                bank: 0,
                wavefront: 0,
                waits: 0,
            }],
        }
    }

    fn choice() -> ChoiceLine {
        ChoiceLine {
            kind: ChoiceKind::Software,
            name: "Padding in software".into(),
            hash: "pad:<b>".into(),
            unit: None,
            conflicts: 0,
            wavefronts: 1,
            cycles: None,
            speed_up: Some(1.16),
            added_per_access: Some(1.25),
            wasted_bytes: 4,
            resources: None,
            cost: None,
            proof: Vec::new(),
            chosen: true,
            code: vec![CodeText {
                form: "CUDA",
                what: "w".into(),
                cost: "c".into(),
                text: "if (a < b) f();".into(),
                mapping: None,
                by_hand: 0,
                note: String::new(),
            }],
        }
    }

    fn timed(hash: &str, cycles: u64) -> Timed {
        Timed {
            hash: hash.into(),
            hash_stage: 0,
            cycles,
        }
    }

    #[test]
    fn names_from_a_trace_are_escaped() {
        let report = FlowReport {
            format_version: 1,
            kernel: KernelSummary {
                name: "<script>alert(1)</script>".into(),
                source: "a & \u{1b}[31mb".into(),
                block_dim: [32, 1, 1],
                shared_bytes: 128,
                accesses: 1,
                counted: None,
                mean_conflict_degree: 2.0,
                wavefronts: 2,
                ideal_wavefronts: 1,
            },
            machine: "fermi".into(),
            machine_text: "32 banks".into(),
            rule: "phases".into(),
            rule_text: "every word".into(),
            hash_stage: "none".into(),
            hash_unit: false,
            advice: vec![Advice {
                what: "mappings in software".into(),
                command: "spadkit tune '<i>' --software".into(),
            }],
            worth: Some(Worth {
                blocks: 2,
                before: timed("mod", 116),
                after: timed("xor", 100),
                speed_up: 1.16,
                rewritten: true,
            }),
            software: Some(Software {
                front: vec![SoftwareLine {
                    hash: "pad:<b>".into(),
                    kind: "pad".into(),
                    conflicts: 0,
                    max_degree: 1,
                    wavefronts: 1,
                    added_per_access: 2,
                    wasted_bytes: 4,
                    resources: None,
                    rewritten: Some(RewrittenLine {
                        added_per_access: Some(1.25),
                        conflicts_before: 1,
                        conflicts_after: 0,
                        cycles: Some(100),
                        machine_code: None,
                    }),
                }],
                in_order: None,
                declared: None,
                fewest_proved: true,
                cycles: Some(116),
                best: Some("pad:<b>".into()),
                ptx: Some("rewritten.ptx".into()),
                dynamic_shared: None,
                assembler: None,
                suggestions: Vec::new(),
                left_alone: Vec::new(),
                vector_bytes: None,
            }),
            instructions: Vec::new(),
            mappings: vec![MappingLine {
                hash: "mod".into(),
                unit: "none".into(),
                method: "fixed".into(),
                conflicts: 1,
                max_degree: 2,
                wavefronts: 2,
                ideal_wavefronts: 1,
                removed_pct: None,
                optimal: None,
                evaluated: None,
                ports: Vec::new(),
                config_unit: None,
                registers: Vec::new(),
                row_map: UnitSetting {
                    unit: "spad_row_map".into(),
                    ports: vec![("cfg_row_sel".into(), "0x8208".into())],
                    config_unit: Some("spad_hash_config_row_map".into()),
                    registers: vec!["0x0".into(), "0x2".into()],
                },
                path: None,
                recommended: true,
            }],
            skipped: vec![Skipped::new(Part::Other("co-simulation"), "no verilator")],
            choices: vec![choice()],
            sources: vec![SourcePage {
                file: "<k>.cu".into(),
                lines: vec![SourceLine {
                    line: 7,
                    text: "a<b>[i] = 0;".into(),
                    accesses: 1,
                    wavefronts: 2,
                    ideal_wavefronts: 1,
                    conflicts: 1,
                    max_degree: 2,
                    change: Some("a<b>[spad_place(i)] = 0;".into()),
                    ..SourceLine::default()
                }],
            }],
            situations: vec![Situation {
                place: "</script>".into(),
                phase: 0,
                op: "load",
                bytes: 4,
                warp: 0,
                conflicts: 1,
                before: served(),
                after: None,
            }],
            ..FlowReport::default()
        };
        let html = render(&report).unwrap();
        assert!(!html.contains("<script>alert"));
        assert!(html.contains("&lt;script&gt;alert"));
        assert!(
            !html.contains("\"</script>"),
            "the data must not end its element"
        );
        assert!(!html.contains('\u{1b}') && html.contains("\\x1b[31mb"));
        assert!(html.contains("no verilator") && html.contains("every word"));
        assert!(html.contains("a&lt;b&gt;[spad_place(i)]"));
        assert!(html.contains("pad:&lt;b&gt;") && html.contains("1.25 per access"));
        // The sentence has the line, the remedy and its worth.
        let verdict =
            "1 of this kernel&#39;s 2 wavefronts are bank conflicts, all at &lt;k&gt;.cu:7.";
        let at = html.find(verdict).unwrap();
        let remedy = "Padding of the array removes all of them: 1.16 times as fast.";
        assert!(at < html.find(remedy).unwrap() && html.contains("+1.25 instructions"));
        let advice = html.find("&lt;i&gt;").unwrap();
        assert!(at < advice && advice < html.find("Reproduce</h2>").unwrap());
        assert!(!html.contains("http://www.w3.org/1999/xhtml"));
    }
}
