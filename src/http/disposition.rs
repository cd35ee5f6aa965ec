//! `Content-Disposition` of files to save.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What RFC 8187 lets stand for itself, of what names are made of.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// Has a client save a file under `filename`, which has no quotes; a name that is not ASCII is given in
/// both forms of RFC 6266.
pub(super) fn attachment(filename: &str) -> String {
    if filename.is_ascii() {
        return format!("attachment; filename=\"{filename}\"");
    }
    let plain: String = filename.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    let encoded = utf8_percent_encode(filename, ENCODED);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_script_fit_into_a_header() {
        assert_eq!(attachment("clip-1s-2s.mp4"), "attachment; filename=\"clip-1s-2s.mp4\"");
        assert_eq!(
            attachment("Größe.mp4"),
            "attachment; filename=\"Gr__e.mp4\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.mp4"
        );
    }
}
