//! Reel names, by which editing programs find the source of an edit.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum length of a reel name, in characters. It is the longest name that edit lists for files
/// have; edit lists for tapes have 8.
const MAX_CHARS: usize = 32;

/// Names that edit lists give to black, to colour bars and to a source without a name.
const RESERVED: [&str; 4] = ["AX", "BARS", "BL", "BLACK"];

/// Returns the reel name that the container states or, if it states none, the file name without its
/// extension. The name has only ASCII letters, digits, `_` and `-`. Returns `None` if nothing is
/// left of the name.
pub fn reel_name(stated: Option<&str>, filename: &str) -> Option<String> {
    let stem = filename.rsplit_once('.').map_or(filename, |(stem, _)| stem);
    stated.and_then(clean).or_else(|| clean(stem))
}

/// Removes accents, and replaces each run of other characters by `_`.
fn clean(name: &str) -> Option<String> {
    let mut cleaned = String::new();
    for c in name.nfkd().filter(|c| !is_combining_mark(*c)).take(MAX_CHARS * 4) {
        let is_allowed = c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let c = if is_allowed { c } else { '_' };
        if c != '_' || !cleaned.ends_with('_') {
            cleaned.push(c);
        }
    }
    let cleaned = cleaned.trim_matches(['_', '-']);
    let cleaned = cleaned[..cleaned.len().min(MAX_CHARS)].trim_end_matches(['_', '-']);
    match RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(cleaned)) {
        true => Some(format!("{cleaned}_1")),
        false => Some(cleaned.to_owned()).filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reel_names_are_clean() {
        let long = "a".repeat(100);
        for (stated, filename, expected) in [
            (Some("A001"), "clip.mov", Some("A001")),
            (Some("A001_C002 (1)"), "clip.mov", Some("A001_C002_1")),
            (Some("  "), "clip.mov", Some("clip")),
            (Some("\u{0}\n"), "clip.mov", Some("clip")),
            (None, "A001_C002_0101AB.mov", Some("A001_C002_0101AB")),
            (None, "Größe des Hauses.mp4", Some("Gro_e_des_Hauses")),
            (None, "été.mp4", Some("ete")),
            (None, "夏休み.mp4", None),
            (None, "archive.tar.gz", Some("archive_tar")),
            (None, "black.mp4", Some("black_1")),
            (Some("BL"), "clip.mov", Some("BL_1")),
            (None, &long, Some(&long[..32])),
        ] {
            assert_eq!(reel_name(stated, filename).as_deref(), expected, "{stated:?} {filename}");
        }
    }
}
