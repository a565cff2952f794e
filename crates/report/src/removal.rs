//! The effect of a mapping on the conflicts, as parts of a sentence.

use spadkit_launch::readable::counted;

/// `removes all 12 conflicts`, `leaves 3 of 12 conflicts`; `None` where it leaves no fewer.
pub fn removal(left: u64, all: u64) -> Option<String> {
    let conflicts = counted(all, "conflict");
    match left {
        left if left >= all => None,
        0 => Some(format!("removes all {conflicts}")),
        left => Some(format!("leaves {left} of {conflicts}")),
    }
}

/// Restricts a statement about mappings if accesses are wider than a word:
/// ` that keeps vectors of 16 bytes whole`.
pub fn that_keeps_vectors(bytes: Option<u32>) -> String {
    bytes.map_or(String::new(), |bytes| {
        format!(" that keeps vectors of {bytes} bytes whole")
    })
}

#[cfg(test)]
mod tests {
    use super::removal;

    #[test]
    fn a_mapping_removes_leaves_or_does_nothing() {
        let text = |left, all| removal(left, all).unwrap_or_default();
        assert_eq!(text(0, 12), "removes all 12 conflicts");
        assert_eq!(text(3, 12), "leaves 3 of 12 conflicts");
        assert_eq!(text(0, 1), "removes all 1 conflict");
        assert_eq!([text(12, 12), text(13, 12), text(0, 0)], ["", "", ""]);
    }
}
