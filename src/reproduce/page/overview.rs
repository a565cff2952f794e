//! The head of the page: how to read it, and a line per figure.

use super::super::figure::Figure;
use super::super::results::{Result, Verdict};
use super::{Section, anchor};

pub(super) const HEAD: &str = "# Reproduction

The tables and figures of the five papers, measured on the models here, beside the published \
values. The data are in `reproduce/`: a file per figure, and a file per machine with the source of \
each parameter. No parameter is tuned per kernel.

```
spadkit reproduce                  # all of it, in minutes
spadkit reproduce hash.t6          # one figure; --format json for programs
spadkit reproduce --sensitivity    # with the range of each headline number
spadkit compose kernels/fwt/fwt.toml   # all mechanisms on a kernel of your own
make reproduction                  # writes this page and its charts
```

How to read the tables:

- A cell with two values is *published* / **measured**: `1.21 / 1.22`. A single value is measured; \
the paper has no number for it in its text. Bars that stand in no text are not invented.
- **Bold** differs from the published value by more than the tolerance, which stands in the head \
of the column (for workloads) or beside the mean. The causes are below the table, each from an \
experiment that isolates it.
- *verdict*: `reproduced` where all values of the column are within the tolerance, `differs` where \
none is, otherwise how many are.
- *range*: the median of the mean and its least and largest value in brackets, over changes of all \
latencies by 2.5 %, other inputs and other grids. The charts of what moves it also have the \
choices that no paper pins down.
- Workloads with the same values share a line.
";

/// A line per figure.
pub(super) fn table(sections: &[Section]) -> String {
    let mut text = "\n| ID | what | verdict | means | values | only measured |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for section in sections {
        text += &line(section);
    }
    text
}

fn line(section: &Section) -> String {
    let Figure { id, title, .. } = section.figure;
    let (means, values): (Vec<&Result>, Vec<&Result>) =
        section.results.iter().partition(|r| r.workload.is_none());
    let judged = section.results.iter().any(is_judged);
    let alone = section.results.iter().filter(|r| !is_judged(r));
    let verdict = match judged {
        false => "measured".to_owned(),
        true => verdict(&section.results.iter().collect::<Vec<_>>()),
    };
    format!(
        "| [{id}](#{}) | {title} | {verdict} | {} | {} | {} |\n",
        anchor(section.figure),
        share(&means),
        share(&values),
        alone.count(),
    )
}

fn is_judged(result: &Result) -> bool {
    result.verdict.is_judged()
}

/// In how many of the values that have a verdict it is that they are reproduced.
fn share(results: &[&Result]) -> String {
    let judged = results.iter().filter(|r| is_judged(r)).count();
    let good = results.iter().filter(|r| r.verdict == Verdict::Reproduced);
    match judged {
        0 => "–".to_owned(),
        _ => format!("{} of {judged}", good.count()),
    }
}

/// One verdict of many.
pub(super) fn verdict(results: &[&Result]) -> String {
    let count = |v| results.iter().filter(|r| r.verdict == v).count();
    match (count(Verdict::Reproduced), count(Verdict::Differs)) {
        (0, 0) => "–".to_owned(),
        (_, 0) => "reproduced".to_owned(),
        (0, _) => "**differs**".to_owned(),
        (good, bad) => format!("{good} of {}", good + bad),
    }
}
