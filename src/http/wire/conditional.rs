//! HEAD, conditional and range requests for a file, and conditional changes of a resource (RFC 9110,
//! sections 9.3.2, 13 and 14).

use std::ops::Range;

use poem::Request;
use poem::http::Method;

/// Marks a HEAD request, because the framework routes HEAD as GET.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadOnly;

/// Whether the request is a HEAD request.
pub(crate) fn is_head(request: &Request) -> bool {
    request.method() == Method::HEAD || request.extensions().get::<HeadOnly>().is_some()
}

/// The kind of response to a request for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileReply {
    Whole,
    Part(Range<u64>),
    NotModified,
    OutOfRange,
    /// The file does not match `If-Match`.
    Changed,
}

impl FileReply {
    /// Evaluates the conditions of a request for a file of `size` bytes. Modification times are
    /// unknown, so date conditions are ignored.
    pub(crate) fn for_request(request: &Request, etag: Option<&str>, size: u64) -> Self {
        if request.header("if-match").is_some_and(|known| !matches_strongly(known, etag)) {
            return Self::Changed;
        }
        if request.header("if-none-match").is_some_and(|known| matches_weakly(known, etag)) {
            return Self::NotModified;
        }
        // If the file has changed, it is sent whole: the client would combine a range of it with an
        // old copy.
        let same =
            request.header("if-range").is_none_or(|known| etag.is_some_and(|e| known == quoted(e)));
        // Ranges apply to GET only (RFC 9110, section 14.2).
        let ranged = same && !is_head(request);
        match request.header("range").filter(|_| ranged) {
            Some(range) => Self::range(range, size),
            None => Self::Whole,
        }
    }

    /// Parses a single byte range. Returns `Whole` for multiple ranges, other units and malformed
    /// values, as RFC 9110 section 14.2 allows.
    fn range(header: &str, size: u64) -> Self {
        let Some((first, last)) =
            header.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-'))
        else {
            return Self::Whole;
        };
        let (first, last) = (first.trim(), last.trim());
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !digits(first) || !digits(last) || (first.is_empty() && last.is_empty()) {
            return Self::Whole;
        }
        let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
        let (start, end) = if first.is_empty() {
            (size.saturating_sub(number(last)), size)
        } else if last.is_empty() {
            (number(first), size)
        } else if number(last) < number(first) {
            return Self::Whole;
        } else {
            (number(first), number(last).saturating_add(1).min(size))
        };
        if start < end { Self::Part(start..end) } else { Self::OutOfRange }
    }
}

pub(crate) fn quoted(etag: &str) -> String {
    format!("\"{etag}\"")
}

/// Returns the version of a resource that a change is based on: the highest one in `If-Match`.
/// Returns `None` for `*`, and 0, which is no version, if `If-Match` has no entity tag that the
/// service could have sent.
pub(crate) fn expected_version(if_match: &str) -> Option<u64> {
    let tags = if_match.split(',').map(str::trim);
    if tags.clone().any(|tag| tag == "*") {
        return None;
    }
    let version = |tag: &str| tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok();
    Some(tags.filter_map(version).max().unwrap_or(0))
}

/// Whether `known`, a list of entity tags or `*`, matches `etag` by strong comparison.
fn matches_strongly(known: &str, etag: Option<&str>) -> bool {
    let etag = etag.map(quoted);
    known.split(',').map(str::trim).any(|k| k == "*" || Some(k) == etag.as_deref())
}

/// Whether `known`, a list of entity tags or `*`, matches `etag` by weak comparison.
pub(crate) fn matches_weakly(known: &str, etag: Option<&str>) -> bool {
    let etag = etag.map(quoted);
    let same = |known: &str| Some(known.strip_prefix("W/").unwrap_or(known)) == etag.as_deref();
    known.split(',').map(str::trim).any(|known| known == "*" || same(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_names_a_version() {
        for (header, expected) in [
            ("*", None),
            ("\"7\", *", None),
            ("\"7\"", Some(7)),
            ("\"7\", \"12\",\"x\"", Some(12)),
            ("W/\"7\"", Some(0)),
            ("7", Some(0)),
            ("", Some(0)),
            ("\"-1\"", Some(0)),
            ("\"99999999999999999999\"", Some(0)),
        ] {
            assert_eq!(expected_version(header), expected, "{header:?}");
        }
    }

    #[test]
    fn ranges() {
        use FileReply::{OutOfRange, Part, Whole};
        for (header, size, expected) in [
            ("bytes=0-0", 10, Part(0..1)),
            ("bytes=2-5", 10, Part(2..6)),
            ("bytes=2-", 10, Part(2..10)),
            ("bytes=-3", 10, Part(7..10)),
            ("bytes=-30", 10, Part(0..10)),
            ("bytes=5-99", 10, Part(5..10)),
            ("bytes=0-18446744073709551615", 10, Part(0..10)),
            ("bytes=99999999999999999999-", 10, OutOfRange),
            ("bytes=10-", 10, OutOfRange),
            ("bytes=-0", 10, OutOfRange),
            ("bytes=0-", 0, OutOfRange),
            ("bytes=5-2", 10, Whole),
            ("bytes=0-1,4-5", 10, Whole),
            ("bytes=a-b", 10, Whole),
            ("bytes=-", 10, Whole),
            ("items=0-1", 10, Whole),
        ] {
            assert_eq!(FileReply::range(header, size), expected, "{header} of {size}");
        }
    }
}
