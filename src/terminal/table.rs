//! Tables that fit: columns fold at words, or are left out, the least important
//! first.

use super::style::{Screen, Tone};
use super::wrap::{elided, folded, widest_piece, width, wrapped};
use crate::quote::shown;

/// Columns between two columns, and before the first.
const GAP: usize = 2;
const MARGIN: usize = 1;
/// Columns in which words can be read, where a column does not say another number.
const READABLE: usize = 20;
/// A name is not shortened below this.
const NAME: usize = 8;

/// A table: titles, and rows of cells.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
struct Column {
    title: String,
    right: bool,
    /// The order in which columns are left out; `None` for never.
    minor: Option<usize>,
    /// A column of words is not folded below this while another can be left out.
    readable: usize,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    text: String,
    tone: Tone,
}

impl Table {
    /// A table with `titles`, and rows with a cell for each of them.
    pub fn new<T: ToString, C: ToString>(
        titles: &[T],
        rows: impl IntoIterator<Item = Vec<C>>,
    ) -> Self {
        let column = |title: &T| Column {
            title: title.to_string(),
            right: false,
            minor: None,
            readable: READABLE,
        };
        let cell = |cell: &C| Cell {
            text: lines_shown(&cell.to_string()),
            tone: Tone::Plain,
        };
        let row = |row: Vec<C>| {
            let mut cells: Vec<Cell> = row.iter().map(cell).collect();
            cells.resize(titles.len(), Cell::default());
            cells
        };
        Table {
            columns: titles.iter().map(column).collect(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// The table with these columns aligned on the right: numbers.
    pub fn right<T: AsRef<str>>(mut self, titles: &[T]) -> Self {
        for column in &mut self.columns {
            column.right |= titles.iter().any(|t| t.as_ref() == column.title);
        }
        self
    }

    /// The table with columns that are left out if there is no room for them, the first
    /// one first.
    pub fn minor<T: AsRef<str>>(mut self, titles: &[T]) -> Self {
        for column in &mut self.columns {
            let rank = titles.iter().position(|t| t.as_ref() == column.title);
            column.minor = rank.or(column.minor);
        }
        self
    }

    /// The table with a column that is not folded below this many columns while another
    /// can be left out.
    pub fn readable(mut self, title: &str, columns: usize) -> Self {
        for column in self.columns.iter_mut().filter(|c| c.title == title) {
            column.readable = columns;
        }
        self
    }

    /// The table with the tone of a column's cells, from their text.
    pub fn tone(mut self, title: &str, tone: impl Fn(&str) -> Tone) -> Self {
        let at = self.columns.iter().position(|c| c.title == title);
        for row in &mut self.rows {
            if let Some(cell) = at.and_then(|at| row.get_mut(at)) {
                cell.tone = tone(&cell.text);
            }
        }
        self
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The whole table in the form of RFC 4180.
    pub fn csv(&self) -> String {
        let line = |cells: Vec<&str>| {
            let cells: Vec<String> = cells.into_iter().map(csv_cell).collect();
            cells.join(",") + "\n"
        };
        let titles = self.columns.iter().map(|c| c.title.as_str());
        let rows = self.rows.iter();
        let rows = rows.map(|row| line(row.iter().map(|cell| cell.text.as_str()).collect()));
        line(titles.collect()) + &rows.collect::<String>()
    }

    /// Lines for `screen`.
    pub(super) fn lines(&self, screen: &Screen) -> Vec<String> {
        let (kept, dropped) = self.kept(screen);
        let widths = self.widths(&kept, screen);
        let titles: Vec<Cell> = (kept.iter())
            .map(|&at| Cell {
                text: self.columns[at].title.clone(),
                tone: Tone::Strong,
            })
            .collect();
        let mut lines = self.line(&titles.iter().collect::<Vec<_>>(), &kept, &widths, screen);
        for row in &self.rows {
            let cells: Vec<&Cell> = kept.iter().map(|&at| &row[at]).collect();
            lines.extend(self.line(&cells, &kept, &widths, screen));
        }
        if !dropped.is_empty() {
            let names: Vec<&str> = dropped.iter().map(|&at| &*self.columns[at].title).collect();
            let note = format!(" more columns with --wide: {}", names.join(", "));
            let note = wrapped(&note, screen.width, 1).into_iter();
            lines.extend(note.map(|line| Tone::Quiet.paint(&line, screen)));
        }
        lines
    }

    /// The columns that are shown, and those that are not.
    fn kept(&self, screen: &Screen) -> (Vec<usize>, Vec<usize>) {
        let mut kept: Vec<usize> = (0..self.columns.len()).collect();
        let mut dropped = Vec::new();
        let needed = |kept: &[usize]| {
            let readable = |&at: &usize| self.comfortable(at);
            MARGIN + kept.iter().map(readable).sum::<usize>() + GAP * kept.len().saturating_sub(1)
        };
        while !screen.wide && needed(&kept) > screen.width {
            let minor = kept.iter().enumerate();
            let minor = minor.filter_map(|(i, &at)| Some((self.columns[at].minor?, i)));
            let Some((_, first)) = minor.min() else {
                break;
            };
            dropped.push(kept.remove(first));
        }
        dropped.sort_unstable();
        (kept, dropped)
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row[at].text.as_str())
    }

    /// Columns of all of its text in one line.
    fn natural(&self, at: usize) -> usize {
        let lines = self.cells(at).flat_map(str::lines);
        let title = width(&self.columns[at].title);
        lines.map(width).max().unwrap_or(0).max(title)
    }

    /// Columns in which no word is broken.
    fn least(&self, at: usize) -> usize {
        let title = widest_piece(&self.columns[at].title);
        let cells = self.cells(at);
        let cells = if self.columns[at].right {
            cells.map(width).max()
        } else {
            cells.map(widest_piece).max()
        };
        cells.unwrap_or(0).max(title)
    }

    /// Columns in which it can be read.
    fn comfortable(&self, at: usize) -> usize {
        let least = self.least(at);
        if self.columns[at].right {
            least
        } else {
            self.natural(at).min(self.columns[at].readable).max(least)
        }
    }

    fn widths(&self, kept: &[usize], screen: &Screen) -> Vec<usize> {
        let mut widths: Vec<usize> = kept.iter().map(|&at| self.natural(at)).collect();
        if screen.wide {
            return widths;
        }
        let room = screen
            .width
            .saturating_sub(MARGIN + GAP * kept.len().saturating_sub(1));
        let limits: [&dyn Fn(usize) -> usize; 4] = [
            // Titles first, then words, and only then names.
            &|at| {
                if self.columns[at].right {
                    self.least(at)
                } else {
                    self.natural(at)
                }
            },
            &|at| self.comfortable(at),
            &|at| self.least(at),
            &|at| {
                if self.columns[at].right {
                    self.least(at)
                } else {
                    self.least(at).min(NAME)
                }
            },
        ];
        for limit in limits {
            let floor: Vec<usize> = kept.iter().map(|&at| limit(at)).collect();
            while widths.iter().sum::<usize>() > room {
                let can = (0..widths.len()).filter(|&i| widths[i] > floor[i]);
                let Some(widest) = can.max_by_key(|&i| widths[i]) else {
                    break;
                };
                widths[widest] -= 1;
            }
        }
        widths
    }

    /// A row, in as many lines as its tallest cell has.
    fn line(
        &self,
        cells: &[&Cell],
        kept: &[usize],
        widths: &[usize],
        screen: &Screen,
    ) -> Vec<String> {
        let cells_lines: Vec<Vec<String>> = (cells.iter().zip(widths))
            .map(|(cell, &columns)| {
                let lines = folded(&cell.text, columns).into_iter();
                lines.map(|line| elided(&line, columns)).collect()
            })
            .collect();
        let height = cells_lines.iter().map(Vec::len).max().unwrap_or(0);
        let line = |i: usize| {
            let mut line = " ".repeat(MARGIN);
            let mut owed = 0;
            for (nth, lines) in cells_lines.iter().enumerate() {
                let text = lines.get(i).map_or("", String::as_str);
                let space = widths[nth].saturating_sub(width(text));
                let painted = cells[nth].tone.paint(text, screen);
                let (before, after) = if self.columns[kept[nth]].right {
                    (space, 0)
                } else {
                    (0, space)
                };
                if !text.is_empty() {
                    line += &" ".repeat(owed + before);
                    line += &painted;
                    owed = after + GAP;
                } else {
                    owed += widths[nth] + GAP;
                }
            }
            line
        };
        (0..height).map(line).collect()
    }
}

/// Control characters are shown; line ends stay.
fn lines_shown(text: &str) -> String {
    let lines = text.split('\n').map(|line| shown(line).into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A cell as RFC 4180 has it.
pub fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A table with a row for each of some values, made column by column.
pub struct Columns<R> {
    of: Vec<R>,
    table: Table,
}

impl<R> Columns<R> {
    /// No columns yet.
    pub fn of(values: impl IntoIterator<Item = R>) -> Self {
        let of: Vec<R> = values.into_iter().collect();
        Columns {
            table: Table {
                columns: Vec::new(),
                rows: vec![Vec::new(); of.len()],
            },
            of,
        }
    }

    fn column<C: ToString>(&mut self, title: &str, right: bool, cell: impl Fn(&R) -> C) {
        self.table.columns.push(Column {
            title: title.to_owned(),
            right,
            minor: None,
            readable: READABLE,
        });
        for (value, row) in self.of.iter().zip(&mut self.table.rows) {
            row.push(Cell {
                text: lines_shown(&cell(value).to_string()),
                tone: Tone::Plain,
            });
        }
    }

    /// Adds a column of words.
    pub fn left<C: ToString>(mut self, title: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(title, false, cell);
        self
    }

    /// Adds a column of numbers, right-aligned.
    pub fn right<C: ToString>(mut self, title: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(title, true, cell);
        self
    }

    /// Gives the last column's cells a tone.
    pub fn toned(mut self, tone: impl Fn(&R) -> Tone) -> Self {
        for (value, row) in self.of.iter().zip(&mut self.table.rows) {
            if let Some(cell) = row.last_mut() {
                cell.tone = tone(value);
            }
        }
        self
    }

    /// Columns that are left out if there is no room, the first one first.
    pub fn minor(mut self, titles: &[&str]) -> Self {
        self.table = self.table.minor(titles);
        self
    }

    /// The table.
    pub fn table(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: usize) -> Screen {
        Screen {
            width,
            prose: width,
            wide: false,
            color: false,
        }
    }

    fn sample() -> Table {
        let rows = [
            ["xor", "12", "no mapping of words leaves fewer", "17"],
            ["bitwise-xor:0,0^4,0^5,1^6", "3", "", "1234567"],
        ];
        let titles = ["mapping", "max degree", "reason", "evaluated"];
        Table::new(&titles, rows.map(Vec::from))
            .right(&["max degree", "evaluated"])
            .minor(&["evaluated"])
    }

    #[test]
    fn a_table_with_room_stays_as_it_is() {
        let expected = [
            " mapping                    max degree  reason                            evaluated",
            " xor                                12  no mapping of words leaves fewer         17",
            " bitwise-xor:0,0^4,0^5,1^6           3                                      1234567",
        ];
        assert_eq!(sample().lines(&screen(90)), expected);
    }

    #[test]
    fn titles_fold_before_words_and_minor_columns_go() {
        let expected = [
            " mapping                       max  reason",
            "                            degree",
            " xor                            12  no mapping of words",
            "                                    leaves fewer",
            " bitwise-xor:0,0^4,0^5,1^6       3",
            " more columns with --wide: evaluated",
        ];
        assert_eq!(sample().lines(&screen(60)), expected);
        let expected = [
            " mapping               max  reason",
            "                    degree",
            " xor                    12  no mapping of",
            "                            words leaves",
            "                            fewer",
            " bitwise-xor:0,          3",
            " 0^4,0^5,1^6",
            " more columns with --wide: evaluated",
        ];
        assert_eq!(sample().lines(&screen(44)), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_wide_has_all_columns() {
        for width_of in 40..120 {
            for line in sample().lines(&screen(width_of)) {
                assert!(width(&line) <= width_of, "{width_of}: {line}");
            }
        }
        let wide = Screen {
            wide: true,
            ..screen(40)
        };
        let lines = sample().lines(&wide);
        assert!(lines[0].contains("evaluated"), "{lines:?}");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn csv_has_all_cells() {
        assert_eq!(
            sample().csv().lines().last(),
            Some("\"bitwise-xor:0,0^4,0^5,1^6\",3,,1234567")
        );
    }
}
