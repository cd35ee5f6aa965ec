//! Validation of keys for object and record stores. The same rules apply to every technology, so
//! that if one store accepts a key, no other store rejects it or interprets it differently.

use ports::{ErrorKind, PortError, Result};

/// Maximum key length in S3 and GCS.
const KEY_BYTES: usize = 1024;
/// Maximum segment length. It leaves room for the suffix of a temporary file, because file systems
/// limit names to 255 bytes.
const SEGMENT_BYTES: usize = 200;

/// Fails unless `key` is valid.
pub(crate) fn check_key(key: &str) -> Result<()> {
    match fault(key) {
        None => Ok(()),
        Some(fault) => Err(PortError::new(
            ErrorKind::Invalid,
            format!(
                "the key {key:?} {fault}; keys are relative paths such as \
                 \"0123456789abcdef/clip.mp4\""
            ),
        )),
    }
}

/// Fails unless `prefix` is empty or consists of a key and a slash.
pub(crate) fn check_prefix(prefix: &str) -> Result<()> {
    match prefix.strip_suffix('/') {
        None if prefix.is_empty() => Ok(()),
        None => Err(PortError::new(
            ErrorKind::Invalid,
            format!("the prefix {prefix:?} does not end with a slash"),
        )),
        Some(folder) => check_key(folder),
    }
}

fn fault(key: &str) -> Option<&'static str> {
    if key.is_empty() {
        return Some("is empty");
    }
    if key.len() > KEY_BYTES {
        return Some("is longer than 1024 bytes");
    }
    if key.chars().any(|c| c.is_control() || c == '\\') {
        return Some("has a control character or a backslash");
    }
    if key.starts_with('.') {
        return Some("starts with a dot, which is reserved");
    }
    key.split('/').find_map(|segment| match segment {
        "" => Some("has an empty segment"),
        "." | ".." => Some("has a segment \".\" or \"..\""),
        _ if segment.len() > SEGMENT_BYTES => Some("has a segment longer than 200 bytes"),
        _ if segment.starts_with(' ') || segment.ends_with(' ') => {
            Some("has a segment that starts or ends with a space")
        }
        _ => None,
    })
}
