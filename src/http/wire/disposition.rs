//! The `Content-Disposition` header of downloads.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters to percent-encode in `filename*`: all except letters, digits, `-`, `.` and `_`, which
/// RFC 8187 allows unencoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// Returns the header value that makes a client save a file as `filename`, which must not contain
/// quotes. A non-ASCII name is given in both forms of RFC 6266.
pub(crate) fn attachment(filename: &str) -> String {
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
    fn non_ascii_names_are_given_in_both_forms() {
        assert_eq!(attachment("clip-1s-2s.mp4"), "attachment; filename=\"clip-1s-2s.mp4\"");
        assert_eq!(
            attachment("Größe.mp4"),
            "attachment; filename=\"Gr__e.mp4\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.mp4"
        );
    }
}
