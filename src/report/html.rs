//! The report as one self-contained HTML file.

use super::flow_report::FlowReport;
use crate::error::Result;
use crate::quote::show_strings;
use crate::template::{defect, fill_html};
use serde_json::Value;
use tera::Context;

const NAME: &str = "report.html.tera";
const TEMPLATE: &str = include_str!("report.html.tera");

/// Renders the report; nothing in it refers to another file or host.
pub fn render(report: &FlowReport) -> Result<String> {
    // Names from a trace must not hide what they say.
    let safe = |part: serde_json::Result<Value>| {
        let mut part = part.expect("a report has string keys only");
        show_strings(&mut part);
        part
    };
    let all = safe(serde_json::to_value(report));
    let mut context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
    let recommended = safe(serde_json::to_value(report.recommended()));
    context.insert("recommended", &recommended);
    let with_lines = report.instructions.iter().any(|i| i.ptx_line.is_some());
    context.insert("with_lines", &with_lines);
    let speed_up = report.worth.as_ref().map(|w| format!("{:.3}", w.speed_up));
    context.insert("speed_up", &speed_up);
    context.insert(
        "worth_text",
        &safe(serde_json::to_value(report.worth_text())),
    );
    context.insert(
        "suggestions_text",
        &safe(serde_json::to_value(report.suggestions_text())),
    );
    context.insert("conflicts_chart", &report.conflicts_chart());
    context.insert("synthesis_chart", &report.synthesis_chart);
    context.insert("kit_version", env!("CARGO_PKG_VERSION"));
    fill_html(NAME, TEMPLATE, &context)
}

#[cfg(test)]
mod tests {
    use super::super::advice::{Advice, Timed, Worth};
    use super::super::flow_report::{Kernel, MappingLine, UnitSetting};
    use super::super::software_report::{RewrittenLine, Software, SoftwareLine};
    use super::*;

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
            kernel: Kernel {
                name: "<script>alert(1)</script>".into(),
                source: "a & \u{1b}[31mb".into(),
                block_dim: [32, 1, 1],
                shared_bytes: 128,
                accesses: 1,
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
                    }),
                }],
                fewest_proved: true,
                cycles: Some(116),
                best: Some("pad:<b>".into()),
                ptx: Some("rewritten.ptx".into()),
                dynamic_shared: None,
                assembler: None,
                suggestions: Vec::new(),
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
            cosim: Vec::new(),
            synthesis: serde_json::Value::Null,
            synthesis_chart: None,
            tools: Vec::new(),
            commands: Vec::new(),
            skipped: vec!["co-simulation: no verilator".into()],
        };
        let html = render(&report).unwrap();
        assert!(!html.contains("<script>"));
        assert!(html.contains("&lt;script&gt;"));
        assert!(!html.contains('\u{1b}') && html.contains("\\x1b[31mb"));
        assert!(html.contains("no verilator"));
        assert!(html.contains("0x8208") && html.contains("0x0 0x2"));
        assert!(html.contains("every word"));
        assert!(html.contains("pad:&lt;b&gt;") && html.contains("<td class=\"n\">1.25</td>"));
        assert!(html.contains("rewritten.ptx"));
        assert!(html.contains("<b>1.160 times</b>") && html.contains("116 cycles"));
        let advice = html.find("&lt;i&gt;").unwrap();
        assert!(advice < html.find("Access patterns").unwrap());
        assert!(!html.contains("http://www.w3.org/1999/xhtml"));
    }
}
