//! Headers of the CUDA toolkit: lines of them are not what a user changes.

/// Folders that only the toolkit has; a slash ends each but the last, a prefix.
const FOLDERS: [&str; 5] = [
    "/cuda/std/",
    "/cuda_runtime/include/",
    "/cuda_cccl/include/",
    "/usr/include/",
    "/cuda/__",
];

/// What is in a folder of headers. Users have folders of these names, too, so they count only
/// right below a root of headers.
const BELOW_A_ROOT: [&str; 6] = [
    "crt/",
    "cooperative_groups/",
    "cub/",
    "thrust/",
    "nv/target",
    "nv/detail/",
];

/// Beginnings of the names of headers that have device code.
const NAMES: [&str; 14] = [
    "cuda_fp16.",
    "cuda_bf16.",
    "cuda_fp4.",
    "cuda_fp6.",
    "cuda_fp8.",
    "cuda_pipeline",
    "cuda_awbarrier",
    "cooperative_groups.",
    "vector_functions.",
    "device_functions.",
    "device_atomic_functions.",
    "math_functions.",
    "texture_fetch_functions.",
    "texture_indirect_functions.",
];

/// Whether `file` is a header of the toolkit, by where it is or by its name.
pub fn has(file: &str) -> bool {
    let path = file.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or(&path);
    let rooted = format!("/{path}");
    // `sm_32_intrinsics.hpp`, `sm_20_atomic_functions.hpp`.
    let kinds = ["_intrinsics.", "_atomic_functions."];
    let is_intrinsics = name.starts_with("sm_") && kinds.iter().any(|kind| name.contains(kind));
    // A compiler that was given the headers by their names has no path.
    let is_bare = ["mma.h", "mma.hpp"].contains(&path.as_str());
    is_intrinsics
        || is_bare
        || NAMES.iter().any(|begin| name.starts_with(begin))
        || FOLDERS.iter().any(|folder| rooted.contains(folder))
        || BELOW_A_ROOT
            .iter()
            .any(|inside| is_below_a_root(&path, inside))
        || is_installed(&rooted)
}

/// Whether the file of a `file:line` is a header of the toolkit.
pub fn has_line(place: &str) -> bool {
    has(place.rsplit_once(':').map_or(place, |(file, _)| file))
}

/// Whether a path has `inside` right below a root of headers: at its beginning, as a compiler
/// has it that was given the headers by their names; in a folder `include`; or in the library's
/// checkout, `cub/cub/` and `cub-2.1.0/cub/`.
fn is_below_a_root(path: &str, inside: &str) -> bool {
    let library = inside.trim_end_matches('/');
    path.match_indices(inside).any(|(at, _)| {
        let Some(root) = path[..at].strip_suffix('/') else {
            return at == 0;
        };
        let folder = root.rsplit('/').next().unwrap_or(root);
        let version = folder.strip_prefix(library);
        folder == "include"
            || version.is_some_and(|rest| {
                rest.trim_start_matches('-')
                    .chars()
                    .all(|c| c.is_ascii_digit() || c == '.')
            })
    })
}

/// Whether a path is below where the toolkit is installed: `/usr/local/cuda-12.4/`,
/// `.../NVIDIA GPU Computing Toolkit/`, `.../targets/x86_64-linux/include/`, and by pip
/// `.../nvidia/cu13/include/`.
fn is_installed(path: &str) -> bool {
    let is_release = |after: &str| {
        let release = after.split_once("/include/").map(|(release, _)| release);
        release.is_some_and(|r| !r.is_empty() && r.chars().all(|c| c.is_ascii_digit()))
    };
    let mut of_pip = path.match_indices("/nvidia/cu");
    let is_folder = |after: &str| {
        let (version, inside) = after.split_once('/').unwrap_or((after, ""));
        let is_version = |c: char| c.is_ascii_digit() || matches!(c, '-' | '.');
        version.chars().all(is_version) && inside.contains("include/")
    };
    let local = path.split_once("/usr/local/cuda");
    local.is_some_and(|(_, after)| is_folder(after))
        || of_pip.any(|(at, start)| is_release(&path[at + start.len()..]))
        || path.contains("/NVIDIA GPU Computing Toolkit/")
        || path.contains("-linux/include/") && path.contains("/targets/")
}

/// A source line; if it is in a header of the CUDA toolkit, also the user's line that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Users<'a> {
    /// `file:line` of the innermost line outside the toolkit; if all lines are in the
    /// toolkit, the innermost line.
    pub line: &'a str,
    /// The calls around that line, the innermost first.
    pub calls: &'a [String],
    /// The lines in the toolkit that the user's line leads to: the innermost, and the
    /// calls around it.
    pub through: Option<(&'a str, &'a [String])>,
}

impl<'a> Users<'a> {
    /// The users' lines for `source`, `file:line`, and the calls through which it
    /// was inlined into a kernel.
    pub fn of(source: &'a str, calls: &'a [String]) -> Self {
        let is_users = |place: &str| !has_line(place);
        let found = calls.iter().position(|call| is_users(call));
        match found.filter(|_| !is_users(source)) {
            Some(at) => Users {
                line: &calls[at],
                calls: &calls[at + 1..],
                through: Some((source, &calls[..at])),
            },
            None => Users {
                line: source,
                calls,
                through: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_known_by_their_place_or_name() {
        for file in [
            "cuda_fp16.hpp",
            "/usr/local/cuda/include/vector_types.h",
            "/usr/local/cuda-12.4/targets/x86_64-linux/include/mma.h",
            "/home/me/env/nvidia/cuda_nvcc/include/crt/mma.hpp",
            "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4\\include\\x.h",
            "crt/mma.hpp",
            "mma.hpp",
            "cub/block/block_load.cuh",
            "sm_32_intrinsics.hpp",
            "sm_60_atomic_functions.hpp",
            "/home/me/env/site-packages/nvidia/cu13/include/vector_types.h",
            "/opt/cuda/include/crt/mma.hpp",
            "/opt/cuda/include/nv/target",
            "/home/me/cccl/cub/cub/block/block_load.cuh",
            "third_party/thrust-1.9.5/thrust/pair.h",
            "/home/me/cccl/libcudacxx/include/cuda/std/array",
        ] {
            assert!(has(file), "{file}");
        }
        for file in [
            "k.cu",
            "include/mma.hpp",
            "/home/me/cuda/include/tile.cuh",
            "/usr/local/cuda-samples/include/helper.h",
            "my_cuda_fp16.h",
            "cubes/a.cu",
            "sm_60_atomics.cu",
            "/home/me/nvidia/cubes/include/a.h",
            "/home/me/nv/tile.cuh",
            "/home/me/include/nv/tile.cuh",
            "/work/crt/a.cuh",
            "/work/src/thrust/own.cuh",
            "/work/cubes/cub/own.cuh",
        ] {
            assert!(!has(file), "{file}");
        }
    }

    #[test]
    fn the_users_line_is_the_innermost_outside_of_the_toolkit() {
        let calls = ["crt/mma.h:7", "load.cuh:20", "k.cu:3"].map(str::to_owned);
        let found = Users::of("crt/mma.hpp:91", &calls);
        assert_eq!((found.line, found.calls), ("load.cuh:20", &calls[2..]));
        assert_eq!(found.through, Some(("crt/mma.hpp:91", &calls[..1])));
        let own = Users::of("load.cuh:20", &calls[2..]);
        assert_eq!(
            (own.line, own.calls, own.through),
            ("load.cuh:20", &calls[2..], None)
        );
        let header = Users::of("crt/mma.hpp:91", &calls[..1]);
        assert_eq!((header.line, header.through), ("crt/mma.hpp:91", None));
    }
}
