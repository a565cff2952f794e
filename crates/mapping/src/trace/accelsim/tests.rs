use super::*;
use std::path::PathBuf;

const GOOD: &str = "-kernel name = k
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 256
-nregs = 16
-binary version = 80
-shmem base_addr = 0x00007f0000000000
-local mem base_addr = 0x00007f1000000000
-accelsim tracer version = 5
-enable lineinfo = 1

#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width ...

#BEGIN_TB

thread block = 1,0,0

warp = 0
insts = 3
7 0000 0000000f 0 STS 2 R2 R255 4 1 0x400 4 0
8 0010 ffffffff 0 BAR.SYNC 0 0 0
9 0020 00000005 1 R4 LD.E.64 1 R2 8 2 0x7f0000000410 -8 0

warp = 1
insts = 2
8 0010 ffffffff 0 BAR.SYNC 0 0 0
9 0030 00000003 1 R5 ATOMS.ADD 2 R2 UR4 4 0 0x4fc 0x4f8 0

#END_TB
";

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn all_address_modes_generic_addresses_and_the_systems_part_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "kernel-1.traceg", GOOD);
    let survey = Survey::read(&path).unwrap();
    assert_eq!(
        (survey.blocks.as_slice(), survey.reserved),
        (&[1][..], 1024)
    );
    assert_eq!((survey.instructions, survey.shared_accesses), (5, 3));
    let trace = access_trace(&survey, None).unwrap();
    let seen: Vec<(u32, u32, Vec<u32>)> = trace
        .accesses
        .iter()
        .map(|a| (a.warp, a.bytes, a.addrs.iter().flatten().copied().collect()))
        .collect();
    // The load is at 16 and 8 of the block's own part, the atomic at its end.
    let expected = [
        (0, 4, vec![0, 1, 2, 3]),
        (0, 8, vec![4, 2]),
        (1, 4, vec![63, 62]),
    ];
    assert_eq!(seen, expected);
    assert_eq!(trace.barriers, [1]);
    assert_eq!(trace.accesses[1].extra["line"], 9);
    assert!(
        access_trace(&survey, Some(0))
            .unwrap_err()
            .to_string()
            .contains("was not traced")
    );
}

#[test]
fn bad_traces_are_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, expected) in [
        ("version = 5", "version = 2", "version 2 is not supported"),
        ("-shmem = 256\n", "", "no '-shmem = ...'"),
        (
            "(2,1,1)",
            "(2,1)",
            "'(2,1)' is not a value of 'grid dim' at",
        ),
        ("(2,1,1)", "(0,1,1)", "'(0,1,1)' is not a value"),
        (
            "(2,1,1)",
            "(4294967295,1,1)",
            "is not a value of 'grid dim'",
        ),
        ("(64,1,1)", "(2048,1,1)", "is not a value of 'block dim'"),
        ("thread block = 1,0,0\n", "", "a warp of no thread block"),
        ("0x4fc", "0xffffffffffffffff", "but a block has 256"),
        (
            "block = 1,0,0",
            "block = 2,0,0",
            "'2,0,0' is not a thread block",
        ),
        ("warp = 1", "warp = 2", "'2' is not a warp of the block"),
        ("insts = 3", "insts = 2", "an instruction too many at"),
        (
            "insts = 3",
            "insts = 4",
            "1 instructions of the warp are missing at",
        ),
        ("#END_TB", "", "the file ends inside a thread block"),
        ("#BEGIN_TB", "", "outside of a thread block"),
        ("0000000f 0", "zz 0", "'zz' is not a mask"),
        (
            "4 1 0x400 4 0",
            "4 3 0x400 4 0",
            "'3' is not an address mode",
        ),
        ("4 1 0x400 4 0", "4 1 0x400", "the line ends too early"),
        ("2 R2 R255", "2 R2 Q", "'Q' is not a register"),
        (
            "0x4fc 0x4f8",
            "0x5fc 0x4f8",
            "up to byte 1536, but a block has 256",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let path = file(&folder, "kernel-1.traceg", &GOOD.replacen(from, to, 1));
        let error = Survey::read(&path).unwrap_err().to_string();
        assert!(error.contains(expected), "{to}: {error}");
    }
    let twice = GOOD.to_owned() + &GOOD[GOOD.find("#BEGIN_TB").unwrap()..];
    let path = file(&folder, "kernel-1.traceg", &twice);
    assert!(
        Survey::read(&path)
            .unwrap_err()
            .to_string()
            .contains("twice")
    );
}

#[test]
fn a_list_stands_for_its_one_kernel_with_shared_memory() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(&folder, "kernel-1.traceg", GOOD);
    let quiet = GOOD
        .replace("STS", "STG")
        .replace("LD.E", "LDG.E")
        .replace("ATOMS", "ATOMG");
    file(&folder, "kernel-2.traceg", &quiet);
    let text = "MemcpyHtoD,0x00007f,16\nkernel-1.traceg\nkernel-2.traceg\n";
    let list = file(&folder, "kernelslist.g", text);
    assert_eq!(find_kernel(&list).unwrap().path, one);
    file(&folder, "kernel-2.traceg", GOOD);
    let error = find_kernel(&list).unwrap_err().to_string();
    assert!(error.contains("2 kernels access shared memory"), "{error}");
    let list = file(&folder, "kernelslist.g", "../../etc/kernel\n");
    assert!(
        find_kernel(&list)
            .unwrap_err()
            .to_string()
            .contains("not a line of a kernel list")
    );
}

#[test]
fn opcodes_have_a_class_and_a_width() {
    use OpClass::{Alu, Atomic, Bar, Branch, Exit, Load, Sfu, Store};
    for (text, class) in [
        ("LDS.U.128", Load(Space::Shared)),
        ("STS.64", Store(Space::Shared)),
        ("ATOMS.POPC.INC.32", Atomic(Space::Shared)),
        ("RED.E.ADD.STRONG.GPU", Atomic(Space::Generic)),
        ("BAR.ARV", Alu),
        ("BAR.SYNC.DEFER_BLOCKING", Bar),
        ("MUFU.RCP", Sfu),
        ("BRA", Branch),
        ("EXIT", Exit),
        ("LDGSTS.E.BYPASS.128", Load(Space::Global)),
        ("FFMA", Alu),
    ] {
        assert_eq!(OpClass::of(text), class, "{text}");
    }
    assert_eq!(opcode::width("LDS.U.U16"), Some(2));
    assert_eq!(opcode::width("LDSM.16.M88.4"), Some(16));
    assert_eq!(opcode::matrix_lanes("LDSM.16.MT88.2"), Some(16));
    assert_eq!(opcode::width("LDS"), None);
}

#[test]
fn files_are_known_by_their_names() {
    for name in [
        "a/kernelslist.g",
        "kernel-1.traceg",
        "kernel-1.traceg.xz",
        "k.traceg.gz",
    ] {
        assert!(is_accelsim(Path::new(name)), "{name}");
    }
    assert!(!is_accelsim(Path::new("trace.json")));
}

/// Any damage is refused or harmless: bytes changed, cut out and doubled.
#[test]
fn damaged_traces_never_panic() {
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let folder = tempfile::tempdir().unwrap();
    let mut read = 0;
    for _ in 0..2000 {
        let mut bytes = GOOD.as_bytes().to_vec();
        for _ in 0..1 + rng.next_u32() % 4 {
            let at = rng.next_u32() as usize % bytes.len();
            let end = (at + rng.next_u32() as usize % 20).min(bytes.len());
            match rng.next_u32() % 4 {
                0 => bytes[at] = b"0123456789abcdefRx-=#,( "[rng.next_u32() as usize % 24],
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part).for_each(drop);
                }
                _ => bytes[at] = rng.next_u32() as u8,
            }
        }
        let path = folder.path().join("kernel-1.traceg");
        std::fs::write(&path, &bytes).unwrap();
        let survey = Survey::read(&path);
        read += usize::from(survey.is_ok());
        if let Ok(survey) = survey {
            let _ = access_trace(&survey, None);
        }
    }
    assert!((50..1950).contains(&read), "{read} of 2000 were read");
}
