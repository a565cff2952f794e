//! Table 1 of the RAP paper: computes its points, and prints each value beside the
//! published one. Runs in the repository, which has the data of the figures.
//!
//! ```text
//! cargo run -p spadkit-papers --example rap_table
//! ```

use spadkit_base::error::Result;
use spadkit_papers::reproduce::{
    Change, Library, Point, Store, Watch, compute, points, results, table_of,
};

/// Computes all points without saying so.
struct Quiet;

impl Watch for Quiet {
    fn point(&self, _: &Point, _: usize) {}

    fn goes_on(&self) -> bool {
        true
    }
}

fn main() -> Result<()> {
    let library = Library::load()?;
    let figures = library.select(&["rap.t1".to_owned()])?;
    let (store, change) = (Store::in_memory(), Change::default());
    let wanted = points(&library.root, &figures, &change)?;
    compute(&wanted, &store, &Quiet)?;
    for figure in figures {
        let table = table_of(&library.root, figure, &store, &change)?;
        for line in results(figure, figure.machine_name()?.as_deref(), &table) {
            let workload = line.workload.as_deref().unwrap_or("all");
            let value = line.measured.map_or("-".to_owned(), |v| format!("{v:.3}"));
            let verdict = line.verdict.word();
            println!("{} of {workload}: {value} {verdict}", line.quantity);
        }
    }
    Ok(())
}
