//! The commands: a row each, in the order of `spadkit --help`.

use super::execute::{Example, Execute};
use super::machine::DEFAULT_PRESET;
use super::values::alternatives;
use super::{
    cmd_classify, cmd_completions, cmd_conflicts, cmd_congestion, cmd_cosim, cmd_doctor, cmd_emit,
    cmd_encode, cmd_flow, cmd_gate, cmd_init, cmd_mutate, cmd_prove, cmd_reproduce, cmd_rewrite,
    cmd_run, cmd_share, cmd_sim, cmd_synth, cmd_trace, cmd_tune,
};
use crate::config::PRESETS;
use clap::Subcommand;

/// The inputs of a command's result, besides its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// `--preset` and `--config`.
    Machine,
    /// `--preset` and `--config`; where neither is given, the machine of the `.target`
    /// of its PTX.
    MachineOrTarget,
    /// No machine, or that of a paper alone: every command takes `--preset` and
    /// `--config`, and this one says that they have no effect.
    Nothing,
}

/// A command as the help lists it.
pub(super) struct Row {
    /// The group of commands in the help.
    pub(super) group: &'static str,
    variant: &'static str,
    pub(super) needs: Needs,
    pub(super) examples: fn() -> &'static [Example],
}

impl Row {
    /// The name on the command line.
    pub(super) fn name(&self) -> String {
        self.variant.to_lowercase()
    }

    /// The row of the command of that name; none of `help`, which is clap's.
    pub(super) fn of(name: &str) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.name() == name)
    }
}

macro_rules! commands {
    ($($group:literal { $($variant:ident($args:path) needs $needs:ident,)+ })+) => {
        #[derive(Subcommand)]
        pub(super) enum Command {
            $($($variant($args),)+)+
        }

        impl Command {
            pub(super) fn get(&self) -> &dyn Execute {
                match self {
                    $($(Command::$variant(args) => args,)+)+
                }
            }

            pub(super) fn row(&self) -> &'static Row {
                let variant = match self {
                    $($(Command::$variant(_) => stringify!($variant),)+)+
                };
                let row = ROWS.iter().find(|row| row.variant == variant);
                row.expect("each variant has a row")
            }
        }

        /// All commands.
        pub(super) const ROWS: &[Row] = &[
            $($(Row {
                group: $group,
                variant: stringify!($variant),
                needs: Needs::$needs,
                examples: <$args as Execute>::examples,
            },)+)+
        ];
    };
}

// A group lists its commands in the order in which they are used.
commands! {
    "Kernel" {
        Init(cmd_init::InitArgs) needs Nothing,
        Run(cmd_run::RunArgs) needs Nothing,
        Trace(cmd_trace::TraceArgs) needs Nothing,
        Conflicts(cmd_conflicts::ConflictsArgs) needs MachineOrTarget,
        Classify(cmd_classify::ClassifyArgs) needs MachineOrTarget,
        Tune(cmd_tune::TuneArgs) needs MachineOrTarget,
        Rewrite(cmd_rewrite::RewriteArgs) needs MachineOrTarget,
        Encode(cmd_encode::EncodeArgs) needs Machine,
        Share(cmd_share::ShareArgs) needs MachineOrTarget,
        Sim(cmd_sim::SimArgs) needs MachineOrTarget,
        Flow(cmd_flow::FlowArgs) needs MachineOrTarget,
    }
    "Hardware" {
        Emit(cmd_emit::EmitArgs) needs Machine,
        Cosim(cmd_cosim::CosimArgs) needs Machine,
        Prove(cmd_prove::ProveArgs) needs Machine,
        Mutate(cmd_mutate::MutateArgs) needs Machine,
        Synth(cmd_synth::SynthArgs) needs Machine,
    }
    "Papers" {
        Reproduce(cmd_reproduce::ReproduceArgs) needs Nothing,
        Merge(cmd_reproduce::MergeArgs) needs Nothing,
        Compose(cmd_reproduce::ComposeArgs) needs Nothing,
        Congestion(cmd_congestion::CongestionArgs) needs Nothing,
    }
    "Tools" {
        Gate(cmd_gate::GateArgs) needs MachineOrTarget,
        Doctor(cmd_doctor::DoctorArgs) needs Nothing,
        Completions(cmd_completions::CompletionsArgs) needs Nothing,
    }
}

/// The help of `--preset` for a command that needs that, or for all commands.
pub(super) fn preset_help(needs: Option<Needs>) -> String {
    let default = match needs {
        Some(Needs::MachineOrTarget) => {
            format!("that of the PTX's .target from sm_70 on, else {DEFAULT_PRESET}")
        }
        Some(_) => DEFAULT_PRESET.to_owned(),
        None => format!("{DEFAULT_PRESET}; on kernels, that of the PTX's .target from sm_70 on"),
    };
    format!(
        "Machine: {} [default: {default}]",
        alternatives(&PRESETS, "or")
    )
}
