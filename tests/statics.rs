//! Addresses from the PTX against addresses of the run, on every launch of
//! every launch file of kernels/.

use spadkit::capture::statics::launch_statics;
use spadkit::launch::LaunchFile;
use std::path::{Path, PathBuf};

fn launch_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let folders = std::fs::read_dir(root).unwrap().flatten();
    let mut files: Vec<PathBuf> = folders
        .filter(|f| f.file_name() != "faults" && f.path().is_dir())
        .flat_map(|f| std::fs::read_dir(f.path()).unwrap().flatten())
        .map(|f| f.path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

/// Every traced address of an affine access is what its expression says, and
/// most accesses are affine.
#[test]
fn the_run_does_as_the_ptx_says() {
    let (mut sites, mut affine, mut uniform, mut addresses) = (0, 0, 0, 0);
    for file in launch_files() {
        let launches = LaunchFile::load(&file).unwrap().launches().count();
        // Further launches are mostly the same kernels on smaller problems.
        for launch in 0..launches.min(2) {
            let input = format!("{}:{launch}", file.display());
            let statics =
                launch_statics(Path::new(&input), None).unwrap_or_else(|e| panic!("{input}: {e}"));
            for site in &statics.sites {
                sites += 1;
                affine += usize::from(site.address.is_ok());
                addresses += site.checked.addresses;
                let unexplained = site
                    .address
                    .as_ref()
                    .is_err_and(|u| u.place.ptx_line.is_none());
                assert!(!unexplained, "{input}: {site:?}");
                assert_eq!(site.checked.disagreements, 0, "{input}: {site:?}");
            }
        }
    }
    println!(
        "{affine} of {sites} instructions are affine, {uniform} but for an offset; {addresses} \
         addresses compared"
    );
    assert!(affine * 2 > sites, "{affine} of {sites}");
    assert!(addresses > 1_000_000, "{addresses}");
}
