use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

/// What an error says, its help included.
fn told(error: &Error) -> String {
    let help = miette::Diagnostic::help(error).map(|h| h.to_string());
    format!("{error}\n{}", help.unwrap_or_default())
}

/// What an emission might write: `.v` files with a version in them.
fn files(names: &[&str], version: u32) -> Vec<OwnedFile> {
    let file = |name: &&str| OwnedFile::new(*name, format!("{name} {version}\n"));
    names.iter().map(file).collect()
}

/// Every file below `dir` with its content; links and folders as such.
fn tree(dir: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().display().to_string();
            if path.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                all.insert(name, format!("-> {}", target.display()));
            } else if path.is_dir() {
                all.insert(name, "folder".into());
                folders.push(path);
            } else {
                all.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

fn names(dir: &Path) -> Vec<String> {
    tree(dir).into_keys().collect()
}

/// A folder with two files and one in a folder below, and the user's notes.
fn written() -> (tempfile::TempDir, OwnedFolder) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = OwnedFolder::new(scratch.path(), false);
    folder.write(&files(&["a.v", "b.v", "tb/a.v"], 1)).unwrap();
    fs::write(scratch.path().join("notes"), "mine").unwrap();
    (scratch, folder)
}

/// Writing is refused for one reason, changes nothing, and is done by force.
fn refused(folder: &OwnedFolder, new: &[OwnedFile], reason: &str) {
    let before = tree(folder.dir());
    let error = folder.write(new).unwrap_err();
    assert_eq!(error.exit_status(), 2);
    assert!(told(&error).contains(reason), "{error}");
    assert_eq!(tree(folder.dir()), before);
    let names: Vec<&str> = new.iter().map(|f| f.name.as_str()).collect();
    let early = folder.check(&names).unwrap_err();
    assert!(told(&early).contains(reason), "{early}");
    assert_eq!(tree(folder.dir()), before);
    let by_force = OwnedFolder::new(folder.dir(), true);
    by_force.check(&names).unwrap();
    by_force.write(new).unwrap();
    for file in new {
        let there = fs::read(folder.dir().join(&file.name)).unwrap();
        assert_eq!(there, file.content);
    }
    folder.write(new).unwrap();
}

#[test]
fn the_folder_is_what_the_last_command_said() {
    let (scratch, folder) = written();
    folder.check(&["a.v", "c.v"]).unwrap();
    folder.write(&files(&["a.v", "c.v"], 2)).unwrap();
    let there = tree(scratch.path());
    assert_eq!(there["a.v"], "a.v 2\n");
    assert_eq!(there["notes"], "mine");
    let expected = ["a.v", "c.v", "notes", OWNED_LIST];
    assert_eq!(names(scratch.path()), expected);
    // The folder of benches comes back, and stays if there is more in it.
    folder.write(&files(&["a.v", "tb/a.v"], 2)).unwrap();
    fs::write(scratch.path().join("tb/mine.v"), "mine").unwrap();
    folder.write(&files(&["a.v"], 2)).unwrap();
    let expected = ["a.v", "notes", OWNED_LIST, "tb", "tb/mine.v"];
    assert_eq!(names(scratch.path()), expected);
}

#[test]
fn a_file_that_is_right_already_is_left_alone() {
    let (scratch, folder) = written();
    let stamp = |name: &str| {
        let meta = fs::metadata(scratch.path().join(name)).unwrap();
        (meta.modified().unwrap(), meta.permissions().mode())
    };
    let before = stamp("a.v");
    folder.write(&files(&["a.v", "b.v", "tb/a.v"], 1)).unwrap();
    assert_eq!(stamp("a.v"), before);
    // Also without the list, as in a copy that left it and the notes after.
    fs::remove_file(scratch.path().join("notes")).unwrap();
    fs::remove_file(scratch.path().join(OWNED_LIST)).unwrap();
    folder.write(&files(&["a.v", "b.v", "tb/a.v"], 1)).unwrap();
    assert!(scratch.path().join(OWNED_LIST).exists());
}

#[test]
fn an_edited_file_is_named_and_kept() {
    let (scratch, folder) = written();
    let edit = |name: &str| fs::write(scratch.path().join(name), "mine").unwrap();
    edit("a.v");
    let reason = "a.v has changed since spadkit wrote it";
    refused(&folder, &files(&["a.v", "b.v"], 2), reason);
    // Also where the new content of the folder does not have it.
    edit("b.v");
    let reason = "b.v has changed since spadkit wrote it";
    refused(&folder, &files(&["a.v"], 2), reason);
    assert!(!scratch.path().join("b.v").exists());
    // All of them are named at once.
    edit("a.v");
    edit("c.v");
    let error = folder.write(&files(&["a.v", "c.v"], 3)).unwrap_err();
    let text = told(&error);
    assert!(text.contains("a.v has changed") && text.contains("c.v was not written"));
}

#[test]
fn a_file_of_the_user_under_such_a_name_is_named_and_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = OwnedFolder::new(scratch.path(), false);
    fs::write(scratch.path().join("filelist.f"), "mine").unwrap();
    let reason = "filelist.f was not written by spadkit";
    refused(&folder, &files(&["filelist.f"], 1), reason);
}

#[test]
fn links_are_neither_followed_nor_replaced() {
    let (scratch, folder) = written();
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "mine").unwrap();
    let place = scratch.path().join("a.v");
    fs::remove_file(&place).unwrap();
    symlink(outside.path(), &place).unwrap();
    let reason = "a.v is a link or a device";
    refused(&folder, &files(&["a.v"], 2), reason);
    assert_eq!(fs::read_to_string(outside.path()).unwrap(), "mine");
    assert!(!place.is_symlink());
    // A link instead of a folder is not followed, not even with force.
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), scratch.path().join("tb")).unwrap();
    let by_force = OwnedFolder::new(scratch.path(), true);
    assert!(by_force.write(&files(&["tb/a.v"], 2)).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // The folder itself may be one.
    let link = elsewhere.path().join("link");
    symlink(scratch.path(), &link).unwrap();
    OwnedFolder::new(&link, false)
        .write(&files(&["d.v"], 1))
        .unwrap();
    assert!(scratch.path().join("d.v").exists() && link.is_symlink());
}

#[test]
fn a_read_only_file_is_named_and_kept() {
    let (scratch, folder) = written();
    let place = scratch.path().join("a.v");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o444)).unwrap();
    // Nothing is to be done to it.
    folder.write(&files(&["a.v", "b.v"], 1)).unwrap();
    refused(&folder, &files(&["a.v", "b.v"], 2), "a.v is read-only");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o444)).unwrap();
    refused(&folder, &files(&["b.v"], 2), "a.v is read-only");
    // Other permissions are kept.
    let place = scratch.path().join("b.v");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o660)).unwrap();
    folder.write(&files(&["b.v"], 3)).unwrap();
    let mode = fs::metadata(&place).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
}

#[test]
fn a_folder_in_the_way_is_never_removed() {
    let (scratch, folder) = written();
    fs::create_dir(scratch.path().join("c.v")).unwrap();
    let before = tree(scratch.path());
    for folder in [folder, OwnedFolder::new(scratch.path(), true)] {
        let error = folder.write(&files(&["a.v", "c.v"], 2)).unwrap_err();
        assert!(error.to_string().contains("c.v: is a directory"), "{error}");
        assert!(!help_of(&error).contains("--force"), "{error}");
        assert!(folder.check(&["c.v"]).is_err());
        assert_eq!(tree(scratch.path()), before);
    }
}

fn help_of(error: &Error) -> String {
    miette::Diagnostic::help(error).unwrap().to_string()
}

#[test]
fn files_and_folders_in_the_way_are_named_together() {
    let (scratch, folder) = written();
    fs::create_dir(scratch.path().join("c.v")).unwrap();
    fs::write(scratch.path().join("a.v"), "edited").unwrap();
    let all = files(&["a.v", "c.v"], 2);
    let error = folder.write(&all).unwrap_err();
    assert!(error.to_string().contains("c.v: is a directory"), "{error}");
    for part in ["a.v has changed since spadkit wrote it", "not folders"] {
        assert!(help_of(&error).contains(part), "{error:?}");
    }
}

#[test]
fn a_list_that_was_damaged_is_not_believed() {
    let (scratch, folder) = written();
    let place = scratch.path().join(OWNED_LIST);
    let good = fs::read_to_string(&place).unwrap();
    let cut = good.rfind("# 3").unwrap();
    let outside = format!("{}  ../x\n", sha256_hex(b"x"));
    for (bad, line) in [
        (good[..cut].to_owned(), ":6:1"),
        (good.replacen("  a.v", " a.v", 1), ":"),
        (good.replacen("# 3", "<<<<<<<\n# 3", 1), ":6:1"),
        (good.replacen("# 3", &format!("{outside}# 3"), 1), ":6:1"),
        (good[..cut - 9].to_owned(), ":5:1"),
        ("\u{0}".to_owned(), ":1:1"),
        (String::new(), ":1:1"),
    ] {
        fs::write(&place, &bad).unwrap();
        let error = folder.write(&files(&["a.v"], 2)).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        let text = error.to_string();
        assert!(text.contains(OWNED_LIST) && text.contains(line), "{text}");
        assert_eq!(fs::read_to_string(&place).unwrap(), bad);
    }
    // By force what it still says holds: b.v goes.
    fs::write(&place, good.replacen("# 3", "<<<<<<<\n# 3", 1)).unwrap();
    OwnedFolder::new(scratch.path(), true)
        .write(&files(&["a.v"], 2))
        .unwrap();
    assert_eq!(names(scratch.path()), ["a.v", "notes", OWNED_LIST]);
    folder.write(&files(&["a.v"], 3)).unwrap();
}

/// A run killed between any two changes: the next one finds its way, whatever
/// it writes, and no file is lost.
#[test]
fn a_killed_run_is_made_good_by_the_next() {
    let old = files(&["a.v", "b.v", "tb/a.v"], 1);
    let new = files(&["a.v", "c.v", "tb/c.v"], 2);
    let (scratch, folder) = written();
    let killed = tempfile::tempdir().unwrap();
    let mut states = 0;
    folder
        .write_in_steps(&new, Others::Go, &mut || {
            states += 1;
            copy(scratch.path(), &killed.path().join(states.to_string()));
        })
        .unwrap();
    assert!(states > 10, "{states} states");
    let whole = tree(scratch.path());
    for i in 1..=states {
        for next in [&new, &old] {
            let dir = killed.path().join(format!("{i} again"));
            copy(&killed.path().join(i.to_string()), &dir);
            let folder = OwnedFolder::new(&dir, false);
            folder.write(next).unwrap();
            folder.write(&new).unwrap();
            assert_eq!(tree(&dir), whole, "killed after {i} changes");
            fs::remove_dir_all(&dir).unwrap();
        }
    }
}

/// The folder as it would be found after a kill.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let place = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &place)
        } else {
            fs::copy(&path, place).unwrap();
        }
    }
}

#[test]
fn two_runs_at_once_leave_one_of_the_two() {
    // Once is rarely enough for one run to look while another writes.
    for _ in 0..20 {
        let scratch = tempfile::tempdir().unwrap();
        let folder = OwnedFolder::new(scratch.path(), false);
        std::thread::scope(|scope| {
            for version in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    let name = format!("{version}.v");
                    folder.check(&["a.v", &name]).unwrap();
                    folder.write(&files(&["a.v", &name], version)).unwrap();
                });
            }
        });
        let there = tree(scratch.path());
        assert_eq!(there.len(), 3, "{there:?}");
        let version = there["a.v"].trim().trim_start_matches("a.v ");
        assert!(there.contains_key(&format!("{version}.v")));
    }
}
