//! `spadkit emit`: Verilog with test benches, constraints, manifest, file list
//! and FuseSoC core.

use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::cosim::{BENCH_CYCLES, add_test_benches};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::output::OwnedFolder;
use crate::quote::shell;
use crate::readable::counted;
use crate::rtl::{Budget, Design, Manifest, Reset, Style, SystemVerilog, Timescale, write_design};
use crate::terminal::{Columns, Details, Hint};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

/// Write synthesizable Verilog, with test benches, constraints (SDC), a file list, a FuseSoC core
/// and a manifest.
///
/// Afterwards the directory holds exactly the spadkit files of this call. If a
/// file in the way was edited, or is not spadkit's, emit names it and writes
/// nothing.
#[derive(Args)]
pub struct EmitArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Directory to write into.
    #[arg(short, long = "output", alias = "out", value_name = "DIR")]
    out: PathBuf,
    /// Prefix of every module name, so that two machines can be in one chip.
    #[arg(long, value_name = "NAME_", default_value = "")]
    prefix: String,
    /// Clock cycles of each unit's test bench (hash units: eight times as
    /// many); 0: no test benches.
    #[arg(long, value_name = "N", default_value_t = BENCH_CYCLES,
          value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    bench_cycles: u32,
    /// The scratchpad behind a bus: stream (spad_stream, one warp-wide
    /// valid/ready port), wide-stream (spad_wide_stream, the same for accesses of
    /// 4, 8 and 16 bytes on a machine that serves them in phases) or tcdm
    /// (spad_tcdm, request, grant and valid per lane), with wrappers whose ports
    /// are SystemVerilog structs. The buses obi and tilelink are the same as tcdm;
    /// its other wrappers, spad_obi_sv and spad_tilelink_sv, speak OBI and
    /// TileLink-UL. Without UNIT, only that unit is emitted.
    #[arg(long, value_enum, value_name = "BUS")]
    wrapper: Vec<Bus>,
    /// Write modules with SystemVerilog assertions inside, too (MODULE.sv): rules
    /// for the modules that drive the path or a bus block, and invariants of the
    /// queues.
    #[arg(long)]
    assertions: bool,
    /// Clock period of the constraints, in the time unit of the library.
    #[arg(long = "clock", alias = "period", value_name = "TIME", default_value_t = Budget::default().period,
          value_parser = period)]
    period: f64,
    /// Fractions of the period that logic outside the block uses: before its
    /// inputs and after its outputs.
    #[arg(long, value_name = "BEFORE,AFTER", default_value = "0.3,0.3", value_parser = parts)]
    io_budget: (f64, f64),
    /// How registers are reset; those covered by a valid bit have no reset.
    #[arg(long, value_enum, value_name = "STYLE", default_value = "sync")]
    reset: ResetStyle,
    /// The reset is active low and called rst_n, in the style of --reset.
    #[arg(long)]
    active_low: bool,
    /// `timescale in every file: unit and precision of delays, such as 1ns/1ps.
    /// The Verilog has no delays, but if one file of a design has a `timescale,
    /// all need one.
    #[arg(long, value_name = "UNIT/PRECISION")]
    timescale: Option<Timescale>,
    /// Write a source map beside each module, MODULE.v.map (version 3, JSON): which
    /// line of which file in the kit's hdl/src wrote each line of the Verilog.
    #[arg(long)]
    source_map: bool,
    /// Replace and remove files that are in the way.
    #[arg(long)]
    force: bool,
}

/// A bus in front of the scratchpad.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bus {
    /// One warp-wide valid/ready port.
    Stream,
    /// The same for accesses of 4, 8 and 16 bytes.
    WideStream,
    /// Request, grant and valid per lane.
    Tcdm,
    /// spad_tcdm, with a wrapper that speaks OBI.
    Obi,
    /// spad_tcdm, with a wrapper that speaks TileLink-UL.
    #[value(name = "tilelink")]
    TileLink,
}

/// How registers are reset.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResetStyle {
    /// At the rising edge of the clock.
    Sync,
    /// As soon as `rst` is high; release it away from the clock edge.
    Async,
    /// As soon as `rst_n` is low: async with --active-low.
    AsyncLow,
}

impl From<ResetStyle> for Reset {
    fn from(style: ResetStyle) -> Self {
        match style {
            ResetStyle::Sync => Reset::Sync,
            ResetStyle::Async => Reset::Async,
            ResetStyle::AsyncLow => Reset::AsyncLow,
        }
    }
}

impl Bus {
    fn unit(self) -> &'static str {
        match self {
            Bus::Stream => "spad_stream",
            Bus::WideStream => "spad_wide_stream",
            Bus::Tcdm | Bus::Obi | Bus::TileLink => "spad_tcdm",
        }
    }
}

/// OBI and TileLink answer a write when its lane does.
fn refuse_unanswered(wrappers: &[Bus], machine: &Config) -> Result<()> {
    let answers = |bus: &&Bus| matches!(bus, Bus::Obi | Bus::TileLink);
    let bus = wrappers.iter().find(answers);
    match bus.filter(|_| machine.path.tcdm.posted) {
        None => Ok(()),
        Some(bus) => Err(Error::usage(
            format!(
                "--wrapper {} answers writes, and with [tcdm] posted = true no lane does",
                bus.to_possible_value()
                    .map_or(String::new(), |v| v.get_name().to_owned())
            ),
            "set posted = false, or take --wrapper tcdm",
        )),
    }
}

fn period(text: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|p: &f64| p.is_finite() && *p > 0.0);
    value.ok_or_else(|| "expected a positive number, such as 1.5".to_owned())
}

fn parts(text: &str) -> Result<(f64, f64), String> {
    let part = |t: &str| t.parse().ok().filter(|p| (0.0..1.0).contains(p));
    let two = text.split_once(',');
    let two = two.and_then(|(before, behind)| Some((part(before)?, part(behind)?)));
    two.ok_or_else(|| {
        "expected two fractions of the period, each at least 0 and below 1, such as 0.6,0.4".into()
    })
}

/// A combinational unit may use the part of the period that both budgets leave.
fn refuse_spent(design: &Design) -> Result<()> {
    let Budget { before, behind, .. } = design.budget;
    let through = design.units.iter().find(|u| u.latency_cycles == 0);
    match through.filter(|_| before + behind >= 1.0) {
        None => Ok(()),
        Some(unit) => Err(Error::usage(
            format!(
                "--io-budget {before},{behind} leaves no time for {}, whose outputs \
                 depend combinationally on its inputs",
                unit.top
            ),
            "expected two parts that are together below 1; units with registers in between may \
             have more",
        )),
    }
}

impl EmitArgs {
    fn reset(&self) -> Reset {
        let reset = Reset::from(self.reset);
        if self.active_low { reset.low() } else { reset }
    }
}

impl Execute for EmitArgs {
    fn examples() -> &'static [Example] {
        &[
            ("all units", "emit -o rtl"),
            (
                "a scratchpad behind a bus",
                "emit -o rtl --wrapper stream --preset small",
            ),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen(); // quickly done: all files or none
        let machine = global.machine()?.for_hardware();
        refuse_unanswered(&self.wrapper, &machine)?;
        let mut units = self.units.clone();
        units.extend(self.wrapper.iter().map(|bus| bus.unit().to_owned()));
        let wanted = SystemVerilog {
            wrappers: !self.wrapper.is_empty(),
            assertions: self.assertions,
        };
        let style = Style {
            reset: self.reset(),
            prefix: self.prefix.clone(),
        };
        let design = Design::emit_with(&units, &machine, style)?;
        let mut design = design.with_system_verilog(wanted, &machine)?;
        design.source_map = self.source_map;
        design.budget = Budget {
            period: self.period,
            before: self.io_budget.0,
            behind: self.io_budget.1,
        };
        refuse_spent(&design)?;
        add_test_benches(&mut design, &machine, self.bench_cycles as usize)?;
        if let Some(timescale) = self.timescale {
            design = design.with_timescale(timescale);
        }
        write_design(&design, &OwnedFolder::new(&self.out, self.force))?;
        if design.has_scheduler() {
            for note in machine.simulated_only() {
                printer.warn(format!("{}: {note}", machine.name));
            }
        }
        printer.show(&Emitted {
            manifest: design.manifest(),
            dir: self.out.to_string_lossy().into(),
            design: &design,
            again: match self.prefix.as_str() {
                "" => Some(global.machine_option()),
                // This check looks for modules without one.
                _ => None,
            },
        })
    }
}

/// The files in the directory.
#[derive(Serialize)]
struct Emitted<'a> {
    #[serde(flatten)]
    manifest: Manifest<'a>,
    dir: String,
    #[serde(skip)]
    design: &'a Design,
    /// The option that names the machine, where cosim takes the modules.
    #[serde(skip)]
    again: Option<String>,
}

impl CommandResult for Emitted<'_> {
    fn verdict(&self) -> String {
        let design = self.design;
        let modules = counted(design.files.len(), "module");
        format!(
            "Wrote {modules}{} for {} ({}) into {}.",
            if design.benches.is_empty() {
                ""
            } else {
                ", with test benches,"
            },
            design.preset,
            design.geometry,
            self.dir,
        )
    }

    fn details(&self) -> Details {
        let units = Columns::of(&self.design.units)
            .left("unit", |u| &u.top)
            .right("files", |u| u.files.len())
            .right("latency", |u| u.latency_cycles)
            .right("port bits", |u| {
                u.ports.iter().map(|p| p.width).sum::<usize>()
            });
        Details::of(units.table())
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(again) = &self.again else {
            return Vec::new();
        };
        let units: Vec<&str> = self.design.units.iter().map(|u| u.name.as_str()).collect();
        let units = match units[..] {
            [unit] => format!(" {unit}"),
            _ => String::new(),
        };
        let command = format!("spadkit cosim{units} --rtl {}", shell(&self.dir));
        let command = format!("{command} {again}");
        vec![Hint::new(
            "to verify it, also after a change by hand",
            command,
        )]
    }
}
