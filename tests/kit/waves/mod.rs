//! The timing diagrams of the contract: golden models stepped through short
//! scenes, drawn, and compared with the pictures in
//! docs/reference/microarchitecture/waves. `UPDATE=1` (`make docs-waves`)
//! writes them.

mod bus;
mod issue;
mod memory;
mod path;
mod predict;
mod queues;
mod wave;

use std::collections::BTreeMap;
use std::path::PathBuf;
use wave::Wave;

/// The name of a picture, and what draws it.
type Scene = (&'static str, fn() -> Wave);

/// Every picture and its scene.
const SCENES: [Scene; 21] = [
    ("hash_stage", memory::hash_stage),
    ("conflict_arbiter", memory::conflict_arbiter),
    ("scratchpad", memory::scratchpad),
    ("lock_unit", memory::lock_unit),
    ("retry_sequencer", memory::retry_sequencer),
    ("premem_queue", queues::premem_queue),
    ("nonmem_queue", queues::nonmem_queue),
    ("writeback_mux", queues::writeback_mux),
    ("conflict_history", predict::conflict_history),
    ("warp_mask", predict::warp_mask),
    ("warp_scheduler", issue::warp_scheduler),
    ("access_unit", issue::access_unit),
    ("bank_ram", memory::bank_ram),
    ("stream", bus::stream),
    ("phases", bus::phases),
    ("tcdm", bus::tcdm),
    ("counters", bus::counters),
    ("pipeline_unified", path::unified),
    ("pipeline_split", path::split),
    ("pipeline_elastic", path::elastic),
    ("issue", path::issue),
];

fn folder() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("docs/reference/microarchitecture/waves")
}

/// The pictures that are committed.
fn committed() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    };
    files.map(|entry| file(entry.unwrap().path())).collect()
}

#[test]
fn the_pictures_show_what_the_models_do() {
    let drawn: BTreeMap<String, String> = SCENES
        .iter()
        .map(|(name, scene)| (format!("{name}.svg"), scene().svg()))
        .collect();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(folder()).unwrap();
        for (name, svg) in &drawn {
            std::fs::write(folder().join(name), svg).unwrap();
        }
    }
    let committed = committed();
    let names =
        |pictures: &BTreeMap<String, String>| -> Vec<String> { pictures.keys().cloned().collect() };
    assert_eq!(
        names(&committed),
        names(&drawn),
        "a scene for every picture"
    );
    let stale: Vec<&String> = drawn
        .iter()
        .filter(|(name, svg)| committed[*name] != **svg)
        .map(|(name, _)| name)
        .collect();
    assert!(
        stale.is_empty(),
        "not what the model does, run 'make docs-waves': {stale:?}"
    );
}

/// A signal that changes is drawn otherwise, and so is one that is missing.
#[test]
fn a_picture_depends_on_every_value() {
    let draw = |bits: [bool; 3], word: &str| {
        let mut wave = Wave::new("test");
        for bit in bits {
            wave.cycle();
            wave.input("bit", bit);
            wave.output("word", word);
        }
        wave.svg()
    };
    let all = [
        draw([false, true, false], "a"),
        draw([false, true, true], "a"),
        draw([false, true, false], "b"),
        draw([false, true, false], ""),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(all[i + 1..].iter().all(|other| other != one));
    }
}
