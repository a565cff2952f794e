//! Results of synthesis, in the form of the `synth` command's JSON.

use super::effort::Effort;
use super::paths::PathReport;
use super::technology::TechnologySummary;
use crate::geometry::Geometry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One unit at one target period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitResult {
    /// The unit.
    pub unit: String,
    /// The geometry it was made for.
    pub geometry: Geometry,
    /// The target clock period in ps, which ABC sizes gates for.
    pub period_ps: u32,
    /// Number of cells.
    pub cells: u64,
    /// Number of flip-flops among them.
    pub flops: u64,
    /// Bits of the bank RAMs, which are left out of all other figures.
    pub memory_bits: u64,
    /// Area in µm².
    pub area_um2: f64,
    /// Area in two-input NAND gates; null if the library has none.
    pub nand2_equivalents: Option<f64>,
    /// ABC's delay of the slowest combinational path in ps.
    pub delay_ps: f64,
    /// ABC's delay in FO4 delays of the library; null if that is not known.
    pub delay_fo4: Option<f64>,
    /// OpenSTA's shortest clock period in ps, clock-to-output and set-up
    /// times included; null without OpenSTA.
    pub sta_delay_ps: Option<f64>,
    /// OpenSTA's shortest clock period with wires that load nothing.
    pub sta_delay_no_wires_ps: Option<f64>,
    /// The wire load in OpenSTA's figures: the library's default; null where
    /// wires load nothing.
    pub wire_load: Option<String>,
    /// Delay by which the unit is rated: `sta_delay_ps` if it has a clock,
    /// otherwise `delay_ps`.
    pub rated_ps: Option<f64>,
    /// Power in mW at the target period, or at the shortest period if that is
    /// longer; null without OpenSTA.
    pub power_mw: Option<f64>,
    /// Instances of each cell type.
    pub cells_by_type: BTreeMap<String, u64>,
    /// The slowest paths by stages, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathReport>,
}

/// Everything of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SynthReport {
    /// Versions of the tools.
    pub tools: BTreeMap<String, String>,
    /// Name of the technology.
    pub tech: String,
    /// Reference cells and surroundings.
    pub technology: TechnologySummary,
    /// The recipe that the units were mapped with.
    pub effort: Effort,
    /// Results by unit in the order asked for, then by period in the order asked
    /// for.
    pub results: Vec<UnitResult>,
    /// The tools' warnings.
    pub warnings: Vec<String>,
}

/// A whole multiprocessor's hash hardware.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmTotal {
    /// The unit that every lane has.
    pub unit: String,
    /// Configuration registers of the unit, which the lanes share; `None` for a fixed
    /// hash.
    pub config: Option<String>,
    /// Number of lanes.
    pub lanes: u32,
    /// Area of one unit in µm².
    pub unit_area_um2: f64,
    /// Area of the configuration registers in µm².
    pub config_area_um2: f64,
    /// Area of all of it in µm².
    pub area_um2: f64,
    /// Area of all of it in two-input NAND gates.
    pub nand2_equivalents: Option<f64>,
    /// ABC's delay of the unit in ps.
    pub delay_ps: f64,
    /// Power of all units in mW at `power_period_ps`; configuration registers
    /// are not clocked while a kernel runs.
    pub power_mw: Option<f64>,
    /// The slowest of the target periods, in ps.
    pub power_period_ps: u32,
}

impl SynthReport {
    /// The results of one unit.
    pub fn of_unit(&self, unit: &str) -> Vec<&UnitResult> {
        self.results.iter().filter(|r| r.unit == unit).collect()
    }

    /// The best result of a unit over the periods: the least product of area
    /// and its rated figure; of equals, the first.
    pub fn best(&self, unit: &str) -> Option<&UnitResult> {
        let product = |r: &UnitResult| r.area_um2 * r.rated_ps.unwrap_or(r.delay_ps);
        self.of_unit(unit)
            .into_iter()
            .min_by(|a, b| product(a).total_cmp(&product(b)))
    }

    /// The units, in order.
    pub fn units(&self) -> Vec<&str> {
        let mut units: Vec<&str> = Vec::new();
        for result in &self.results {
            if !units.contains(&result.unit.as_str()) {
                units.push(&result.unit);
            }
        }
        units
    }
}

impl SmTotal {
    /// `lanes` copies of the best netlist of `unit`, and one of `config`, if any;
    /// power at the slowest target period. `None` without results.
    pub fn new(
        report: &SynthReport,
        unit: &str,
        config: Option<&UnitResult>,
        lanes: u32,
    ) -> Option<Self> {
        let slowest = report
            .of_unit(unit)
            .into_iter()
            .max_by_key(|r| r.period_ps)?;
        let nand2_um2 = report.technology.nand2_um2;
        let unit = report.best(unit)?;
        let config_area_um2 = config.map_or(0.0, |c| c.area_um2);
        let area_um2 = f64::from(lanes) * unit.area_um2 + config_area_um2;
        Some(SmTotal {
            unit: unit.unit.clone(),
            config: config.map(|c| c.unit.clone()),
            lanes,
            unit_area_um2: unit.area_um2,
            config_area_um2,
            area_um2,
            nand2_equivalents: nand2_um2.map(|n| area_um2 / n),
            delay_ps: unit.delay_ps,
            power_mw: slowest.power_mw.map(|p| p * f64::from(lanes)),
            power_period_ps: slowest.period_ps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::MemoryTiming;

    fn result(unit: &str, period_ps: u32, area_um2: f64, delay_ps: f64) -> UnitResult {
        UnitResult {
            unit: unit.to_owned(),
            geometry: Geometry::new(14, 5).unwrap(),
            period_ps,
            cells: 1,
            flops: 0,
            memory_bits: 0,
            area_um2,
            nand2_equivalents: None,
            delay_ps,
            delay_fo4: None,
            sta_delay_ps: None,
            sta_delay_no_wires_ps: None,
            wire_load: None,
            rated_ps: Some(delay_ps),
            power_mw: Some(0.5),
            cells_by_type: BTreeMap::new(),
            paths: None,
        }
    }

    #[test]
    fn totals_take_the_best_unit_and_the_smallest_registers() {
        let report = SynthReport {
            tools: BTreeMap::new(),
            tech: "t".to_owned(),
            technology: TechnologySummary {
                name: "t".to_owned(),
                library: "t".to_owned(),
                driving_cell: "B".to_owned(),
                load_ff: 1.0,
                nand2_um2: Some(2.0),
                fo4_ps: None,
                memory: MemoryTiming {
                    clock_to_output_ps: 450.0,
                    setup_ps: 100.0,
                },
                wire_load: None,
            },
            effort: Effort::Area,
            results: vec![
                result("a", 80, 20.0, 100.0),
                result("a", 150, 10.0, 150.0),
                result("c", 80, 70.0, 1.0),
                result("c", 150, 60.0, 9.0),
            ],
            warnings: Vec::new(),
        };
        assert_eq!(report.units(), ["a", "c"]);
        assert_eq!(report.best("a").unwrap().period_ps, 150);
        assert!(report.best("none").is_none());
        let config = report.best("c").unwrap();
        assert_eq!(config.period_ps, 80);
        let total = SmTotal::new(&report, "a", Some(config), 32).unwrap();
        assert!(SmTotal::new(&report, "none", Some(config), 32).is_none());
        let fixed = SmTotal::new(&report, "a", None, 32).unwrap();
        assert_eq!((fixed.area_um2, fixed.config), (320.0, None));
        assert_eq!(total.area_um2, 32.0 * 10.0 + 70.0);
        assert_eq!(total.nand2_equivalents, Some(195.0));
        assert_eq!((total.power_mw, total.power_period_ps), (Some(16.0), 150));
    }
}
