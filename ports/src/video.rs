//! The id of a video, which identifies it in every store.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of a video: the first 16 hexadecimal digits, in lower case, of the SHA-1 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VideoId([u8; 16]);

/// The error for text that is not a video id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidVideoId(String);

impl VideoId {
    /// Returns the id of the video with this SHA-1 digest.
    pub fn from_digest(digest: [u8; 20]) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |at: usize| match at % 2 {
            0 => digest[at / 2] >> 4,
            _ => digest[at / 2] & 0xf,
        };
        Self(std::array::from_fn(|at| DIGITS[usize::from(digit(at))]))
    }

    /// Returns the digits as ASCII bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Returns the digits as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }
}

impl AsRef<str> for VideoId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for VideoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for VideoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl FromStr for VideoId {
    type Err = InvalidVideoId;

    fn from_str(text: &str) -> Result<Self, InvalidVideoId> {
        let digits = text.as_bytes().try_into().ok();
        let valid =
            |digits: &[u8; 16]| digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.filter(valid).map(Self).ok_or_else(|| InvalidVideoId(text.to_owned()))
    }
}

impl TryFrom<String> for VideoId {
    type Error = InvalidVideoId;

    fn try_from(text: String) -> Result<Self, InvalidVideoId> {
        text.parse()
    }
}

impl From<VideoId> for String {
    fn from(id: VideoId) -> Self {
        id.as_str().to_owned()
    }
}

impl fmt::Display for InvalidVideoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no video id; one has 16 hexadecimal digits in lower case", self.0)
    }
}

impl std::error::Error for InvalidVideoId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_round_trips_through_text_and_json() {
        let id: VideoId = "0123456789abcdef".parse().expect("an id");
        assert_eq!(
            (id.as_str(), id.to_string().as_str()),
            ("0123456789abcdef", "0123456789abcdef")
        );
        assert_eq!(format!("{id:?}"), r#""0123456789abcdef""#);
        let json = serde_json::to_value(id).expect("JSON");
        assert_eq!(json, "0123456789abcdef");
        assert_eq!(serde_json::from_value::<VideoId>(json).expect("an id"), id);
    }

    #[test]
    fn malformed_ids_are_rejected() {
        for text in [
            "",
            "0123456789abcde",
            "0123456789abcdef0",
            "0123456789ABCDEF",
            "0123456789abcdeg",
            "0123456789abcd/.",
            "0123456789abcdé",
        ] {
            let error = text.parse::<VideoId>().expect_err(text).to_string();
            assert!(error.contains("16 hexadecimal digits"), "{error}");
            assert!(serde_json::from_value::<VideoId>(text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn id_is_the_prefix_of_the_digest() {
        let mut digest = [0; 20];
        digest[..9].copy_from_slice(&[0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xff]);
        assert_eq!(VideoId::from_digest(digest).as_str(), "a9993e364706816a");
    }

    #[test]
    fn ids_sort_like_their_text() {
        let [a, b]: [VideoId; 2] =
            ["9fffffffffffffff", "a000000000000000"].map(|id| id.parse().expect("an id"));
        assert!(a < b && a.as_str() < b.as_str());
    }
}
