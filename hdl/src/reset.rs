//! Reset of registers: with the clock or at any time, by a high or a low level.

use crate::port::Port;
use serde::Serialize;

/// The style of reset of a design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// While `rst` is high, with the rising edge of the clock.
    #[default]
    Sync,
    /// Resets as soon as `rst` is high. Its falling edge must be away from the
    /// clock's edge.
    Async,
    /// While `rst_n` is low, with the rising edge of the clock.
    SyncLow,
    /// Resets as soon as `rst_n` is low. Its rising edge must be away from the
    /// clock's edge.
    AsyncLow,
}

/// The reset of the styles in which it is active low.
const LOW: &str = "rst_n";

impl Reset {
    /// Whether registers do not wait for the clock.
    pub fn is_async(self) -> bool {
        matches!(self, Reset::Async | Reset::AsyncLow)
    }

    /// Whether the reset is active low.
    pub fn is_low(self) -> bool {
        matches!(self, Reset::SyncLow | Reset::AsyncLow)
    }

    /// The reset, active low.
    pub fn low(self) -> Self {
        if self.is_async() {
            Reset::AsyncLow
        } else {
            Reset::SyncLow
        }
    }

    /// The name of the port.
    pub fn port(self) -> &'static str {
        if self.is_low() { LOW } else { "rst" }
    }

    /// The style of Verilog that was emitted with one.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let any = |part: &str| texts.clone().any(|text| text.contains(part));
        let styles = [
            ("or negedge rst_n)", Reset::AsyncLow),
            ("input wire rst_n", Reset::SyncLow),
            ("or posedge rst)", Reset::Async),
        ];
        let found = styles.into_iter().find(|(text, _)| any(text));
        found.map_or(Reset::Sync, |(_, style)| style)
    }

    /// The condition under which it resets.
    pub(crate) fn active(self) -> &'static str {
        if self.is_low() { "!rst_n" } else { "rst" }
    }

    /// The second event of a clocked block with a reset.
    pub(crate) fn or_edge(self) -> &'static str {
        match self {
            Reset::Sync | Reset::SyncLow => "",
            Reset::Async => " or posedge rst",
            Reset::AsyncLow => " or negedge rst_n",
        }
    }

    /// The ports of a module, of which one may be the reset.
    pub(crate) fn ports(self, ports: &[Port]) -> Vec<Port> {
        let styled = |port: &Port| Port {
            name: self.port().into(),
            doc: self.doc(&port.doc),
            ..port.clone()
        };
        let port = |port: &Port| match port.name.as_str() {
            "rst" => styled(port),
            _ => port.clone(),
        };
        ports.iter().map(port).collect()
    }

    /// The port's comment, made from that of a synchronous reset.
    fn doc(self, doc: &str) -> String {
        let style = match self {
            Reset::Sync => "synchronous reset",
            Reset::Async => "asynchronous reset",
            Reset::SyncLow => "synchronous reset, active low",
            Reset::AsyncLow => "asynchronous reset, active low",
        };
        doc.replace("synchronous reset", style)
    }
}
