//! The best configuration of each hash unit for a tile that is read by columns.
//!
//! ```text
//! cargo run -p spadkit-mapping --example best_hash
//! ```

use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::HashKind;
use spadkit_mapping::search::bitvec::all_pairs;
use spadkit_mapping::search::reference::Selection;
use spadkit_mapping::search::tune::{Method, Tuner};
use spadkit_mapping::search::{Control, Problem};
use spadkit_mapping::trace::ConflictProfile;

/// Words of a row of the tile; a warp has a lane for each.
const ROW: u32 = 32;

fn main() -> Result<()> {
    // 1,024 words, addresses of 10 bits, in 32 banks.
    let geometry = Geometry::new(10, 5)?;
    // Word addresses of the lanes of each warp access: rows, then columns.
    let rows = (0..ROW).map(|row| (0..ROW).map(|x| Some(row * ROW + x)).collect());
    let columns = (0..ROW).map(|x| (0..ROW).map(|row| Some(row * ROW + x)).collect());
    let accesses: Vec<Vec<Option<u32>>> = rows.chain(columns).collect();
    let profile = ConflictProfile::of_accesses(accesses.iter().map(Vec::as_slice), ROW);
    let unhashed = profile.count(|word| word % ROW);
    println!("no hash: {} conflicts", unhashed.conflicts);

    let problem = Problem::new(&profile, geometry);
    let tuner = Tuner {
        problem: &problem,
        sets: &[], // the heuristics alone look at single accesses
        pairs: &all_pairs(geometry),
        selection: Selection::Allowed,
    };
    for kind in HashKind::ALL {
        let found = tuner.run(kind, Method::default_for(kind), &Control::none())?;
        let proved = if found.optimal() { ", the fewest" } else { "" };
        println!(
            "{kind}: {} conflicts{proved}: {}",
            found.conflicts, found.spec
        );
    }
    Ok(())
}
