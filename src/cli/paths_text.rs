//! The tables of slowest paths by stages.

use crate::synth::{PathReport, SynthReport, UnitResult, WorstPath};
use crate::terminal::{Details, Table};

/// The slowest paths of each unit that has them, of its fastest netlist.
pub(super) fn all(report: &SynthReport) -> Details {
    let units = report.units().into_iter();
    let fastest = units.filter_map(|unit| {
        let results = report.of_unit(unit).into_iter();
        let with = results.filter_map(|r| Some((r, r.paths.as_ref()?)));
        with.min_by(|(_, a), (_, b)| {
            let clock = |p: &PathReport| p.clock_ps.unwrap_or(f64::INFINITY);
            clock(a).total_cmp(&clock(b))
        })
    });
    let mut details = Details::new();
    fastest.for_each(|(r, paths)| unit(r, paths, &mut details));
    details
}

fn unit(result: &UnitResult, paths: &PathReport, details: &mut Details) {
    let critical = paths.paths.iter().find(|p| p.is_internal());
    let clock = match paths.clock_ps {
        Some(ps) => format!("clock {ps:.0} ps, {:.0} MHz", 1e6 / ps),
        None => "no path from register to register".to_owned(),
    };
    details.heading(format!(
        "{} for {} ps: {clock}; {:.0} µm², {} flip-flops, {} RAM bits",
        result.unit, result.period_ps, result.area_um2, result.flops, result.memory_bits,
    ));
    registers(paths, details);
    ports(paths, details);
    if let Some(critical) = critical {
        chain(critical, details);
    }
}

/// A row per group of registers: the slowest path into it and out of it.
fn registers(paths: &PathReport, details: &mut Details) {
    let (into, out) = (paths.of_groups(false), paths.of_groups(true));
    if into.is_empty() {
        return;
    }
    let header = [
        "registers",
        "stage",
        "in ps",
        "slack",
        "levels",
        "from",
        "path",
        "out ps",
        "to",
    ];
    let row = |(group, path): &(&str, &WorstPath)| {
        let leaves = out.iter().find(|(name, _)| name == group).map(|(_, p)| p);
        vec![
            (*group).to_owned(),
            path.stage.clone().unwrap_or_default(),
            format!("{:.0}", path.ps),
            format!("{:+.0}", path.slack_ps),
            path.levels.to_string(),
            path.from.name().to_owned(),
            ends(path),
            leaves.map_or(String::new(), |p| format!("{:.0}", p.ps)),
            leaves.map_or(String::new(), |p| p.to.name().to_owned()),
        ]
    };
    let table = Table::new(&header, into.iter().map(row))
        .right(&["in ps", "slack", "levels", "out ps"])
        .minor(&["path", "from", "to", "stage", "out ps"]);
    details.table(table);
    details.note(
        "The slowest path into each group of registers, and out of it; stage: what ends there",
    );
    details.gap();
}

/// A row per group of ports.
fn ports(paths: &PathReport, details: &mut Details) {
    let ports = paths.of_ports();
    if ports.is_empty() {
        return;
    }
    let header = ["ports", "", "ps", "slack", "levels", "registers", "path"];
    let rows = ports.into_iter().map(|path| {
        let (port, side, other) = match (path.from.is_registers(), path.to.is_registers()) {
            (false, true) => (&path.from, "in", path.to.name().to_owned()),
            (true, _) => (&path.to, "out", path.from.name().to_owned()),
            (false, false) => (&path.from, "through", format!("to {}", path.to.name())),
        };
        vec![
            port.name().to_owned(),
            side.to_owned(),
            format!("{:.0}", path.ps),
            format!("{:+.0}", path.slack_ps),
            path.levels.to_string(),
            other,
            ends(path),
        ]
    });
    let table = Table::new(&header, rows).right(&["ps", "slack", "levels"]);
    details.table(table.minor(&["path"]));
    details.note(
        "The slowest path of each group of ports, with no time reserved outside the unit; \
         through: no register in between",
    );
    details.gap();
}

fn ends(path: &WorstPath) -> String {
    format!("{} to {}", path.start(), path.end())
}

/// The critical path: by instances where the netlist has them, and pin by pin.
fn chain(path: &WorstPath, details: &mut Details) {
    details.say(format!(
        "Critical path: {}, {} levels",
        ends(path),
        path.levels
    ));
    let segments = path.segments();
    if segments.len() > 1 {
        let rows = segments.iter().map(|s| {
            let name = match s.instance.as_str() {
                "" => "(top)",
                name => name,
            };
            vec![
                name.to_owned(),
                s.levels.to_string(),
                format!("{:.0}", s.ps),
            ]
        });
        let table = Table::new(&["instance", "levels", "ps"], rows);
        details.table(table.right(&["levels", "ps"]));
        details.gap();
    }
    let outputs = path.steps.iter().step_by(2);
    let mut since = 0.0;
    let rows = outputs.chain(path.steps.last()).map(|step| {
        let delay = step.ps - since;
        since = step.ps;
        vec![
            format!("{:.0}", step.ps),
            format!("{delay:.0}"),
            step.cell.clone(),
            step.pin.clone(),
        ]
    });
    let table = Table::new(&["ps", "delay", "cell", "pin"], rows);
    details.table(table.right(&["ps", "delay"]));
}
