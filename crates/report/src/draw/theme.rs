//! The colours of charts, in a light and a dark theme.
//!
//! A chart is drawn in the colours of the light theme, so that a program without
//! CSS shows it. [`dark_style`] adds what a browser uses where the reader's system
//! is dark. A page of the kit, whose reader can choose the theme, puts its own
//! variables in.

/// The ground of a chart.
pub const PAPER: &str = "#ffffff";
/// Text.
pub const INK: &str = "#1f2933";
/// Text of less weight, and lines.
pub const MUTED: &str = "#52606d";
/// Lines of a grid.
pub const GRID: &str = "#e3e8ee";
/// Frames of boxes.
pub const LINE: &str = "#7b8794";
/// The ground of a box.
pub const BOX: &str = "#f6f8fa";
/// A result that is wanted.
pub const GOOD: &str = "#1f7a4d";
/// Published values, and what stands out.
pub const MARK: &str = "#d1242f";
/// The colour of what is recommended.
pub const ACCENT: &str = "#2563eb";
/// The colour of what is not.
pub const OTHER: &str = "#7d8894";
/// The ground of a block of PTX that is shared in part.
pub const PARTLY: &str = "#fdf1d8";
/// The ground of a range.
pub const RANGE: &str = "#f8d9a8";
/// Text on a bright shape, which has no other colour in the dark.
pub const INK_ON_BRIGHT: &str = "#14202b";
/// Text on a deep shape.
pub const INK_ON_DEEP: &str = "#fdfdfd";

/// Series that have no order. Each stands out from both grounds.
pub const SERIES: [&str; 8] = [
    "#4279b5", "#c2771a", "#3f8f3f", "#9560b2", "#2f8f8c", "#96694a", "#78848f", "#93891f",
];

/// Shades of one colour, from bright to deep: series in an order.
pub const SHADES: [&str; 8] = [
    "#c9def2", "#a3c8e8", "#7bb0dc", "#5797cf", "#3a7dbf", "#2864a6", "#1b4c86", "#103463",
];

/// A colour that differs between the themes.
pub(super) struct Role {
    /// Colour as it is drawn.
    light: &'static str,
    dark: &'static str,
    /// The variable of a page.
    variable: &'static str,
}

const fn role(light: &'static str, dark: &'static str, variable: &'static str) -> Role {
    Role {
        light,
        dark,
        variable,
    }
}

/// Every role. The last are those of the drawings in docs/.
const ROLES: [Role; 16] = [
    role(PAPER, "#10151a", "bg"),
    role(INK, "#e7edf2", "ink"),
    role(MUTED, "#9dabb8", "muted"),
    role(GRID, "#27323c", "grid"),
    role(LINE, "#8593a0", "muted"),
    role(BOX, "#182028", "panel"),
    role(GOOD, "#67cf95", "good"),
    role(MARK, "#ff7b72", "bad"),
    role(ACCENT, "#74b4ff", "accent"),
    role(OTHER, "#8593a0", "muted"),
    role(PARTLY, "#3a2e12", "partly"),
    role(RANGE, "#5f4413", "range"),
    role("#c9d1d8", "#3a4652", "grid"),
    role("#0b62a4", "#74b4ff", "accent"),
    role("#e3effa", "#1b3048", "slot"),
    role("#eef1f4", "#202a33", "panel"),
];

/// An element that gives `svg` its dark theme: the rules of the colours that it
/// has.
pub fn dark_style(svg: &str) -> String {
    let mut rules = String::new();
    for Role { light, dark, .. } in &ROLES {
        for what in ["fill", "stroke"] {
            let drawn = format!("{what}=\"{light}\"");
            if svg.contains(&drawn) {
                rules += &format!("[{drawn}]{{{what}:{dark}}}");
            }
        }
    }
    format!("<style>@media (prefers-color-scheme: dark) {{{rules}}}</style>\n")
}

/// `svg` with the variables of a page in place of the colours, and of its own
/// dark theme.
pub(crate) fn with_variables(svg: &str) -> String {
    let lines = svg.lines().filter(|line| !line.starts_with("<style>"));
    let mut svg: String = lines.flat_map(|line| [line, "\n"]).collect();
    for Role {
        light, variable, ..
    } in &ROLES
    {
        svg = svg.replace(&format!("\"{light}\""), &format!("\"var(--{variable})\""));
    }
    // The one series of a page's chart, and what is written on it.
    svg.replace(&format!("\"{}\"", SHADES[0]), "\"var(--ideal)\"")
        .replace(&format!("\"{INK_ON_BRIGHT}\""), "\"var(--b-text)\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark(light: &str) -> &str {
        let role = ROLES.iter().find(|r| r.light == light);
        role.map_or(light, |r| r.dark)
    }

    /// The relative luminance of a colour, as WCAG defines it.
    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let value = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
            let c = f64::from(value) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    /// In both themes.
    fn assert_contrast(color: &str, ground: &str, least: f64) {
        for (color, ground) in [(color, ground), (dark(color), dark(ground))] {
            let found = contrast(color, ground);
            assert!(found >= least, "{color} on {ground}: {found:.2}");
        }
    }

    #[test]
    fn texts_and_shapes_stand_out_in_both_themes() {
        for ground in [PAPER, BOX, PARTLY, RANGE, "#e3effa", "#eef1f4"] {
            assert_contrast(INK, ground, 4.5);
        }
        for text in [MUTED, GOOD, MARK, "#0b62a4"] {
            assert_contrast(text, PAPER, 4.5);
        }
        for shape in SERIES.into_iter().chain([ACCENT, OTHER, LINE]) {
            assert_contrast(shape, PAPER, 3.0);
        }
    }

    #[test]
    fn texts_stand_out_from_the_shades_below_them() {
        for (i, shade) in SHADES.into_iter().enumerate() {
            let text = if i < 4 { INK_ON_BRIGHT } else { INK_ON_DEEP };
            let found = contrast(text, shade);
            assert!(found >= 4.2, "{text} on {shade}: {found:.2}");
        }
    }

    #[test]
    fn the_dark_theme_has_the_colours_that_are_drawn() {
        let style = dark_style("<rect fill=\"#ffffff\"/><path stroke=\"#1f2933\"/>");
        assert!(style.contains("[fill=\"#ffffff\"]{fill:#10151a}"));
        assert!(style.contains("[stroke=\"#1f2933\"]{stroke:#e7edf2}"));
        assert!(!style.contains("[fill=\"#1f2933\"]"));
        let drawn = format!("<rect fill=\"#ffffff\"/>\n{style}");
        assert_eq!(with_variables(&drawn), "<rect fill=\"var(--bg)\"/>\n");
    }
}
