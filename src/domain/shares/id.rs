//! Ids of shares, which are the secrets of their links.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number of hexadecimal digits of the creation time, in milliseconds since 1970.
const TIME_DIGITS: usize = 12;

/// Number of random hexadecimal digits. All but the six bits that mark a random UUID are random,
/// which leaves 154 bits.
const RANDOM_DIGITS: usize = 40;

/// The id of a share: its creation time and a random number, in hexadecimal digits. Therefore later
/// ids sort after earlier ones, and nobody can guess an id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ShareId(String);

/// A text is not the id of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a share")]
pub struct MalformedShareId;

impl ShareId {
    /// Creates an id for a share that is created at `now`, in milliseconds since 1970.
    pub(super) fn random(now: i64) -> Self {
        let random: String = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()]
            .iter()
            .flat_map(|uuid| uuid.simple().to_string().chars().collect::<Vec<_>>())
            .take(RANDOM_DIGITS)
            .collect();
        Self(format!("{:0TIME_DIGITS$x}{random}", now.max(0)))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns when the share was created, in milliseconds since 1970.
    pub(super) fn created_at(&self) -> i64 {
        i64::from_str_radix(&self.0[..TIME_DIGITS], 16).unwrap_or_default()
    }
}

impl FromStr for ShareId {
    type Err = MalformedShareId;

    fn from_str(text: &str) -> Result<Self, MalformedShareId> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for ShareId {
    type Error = MalformedShareId;

    fn try_from(text: String) -> Result<Self, MalformedShareId> {
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        match text.len() == TIME_DIGITS + RANDOM_DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text)),
            false => Err(MalformedShareId),
        }
    }
}

impl From<ShareId> for String {
    fn from(id: ShareId) -> Self {
        id.0
    }
}

impl fmt::Display for ShareId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_and_sort_by_creation_time() {
        let now = 1_767_225_600_007;
        let (first, same_time, later) =
            (ShareId::random(now), ShareId::random(now), ShareId::random(now + 1));
        assert_ne!(first, same_time);
        assert!(first < later && same_time < later);
        assert_eq!(first.created_at(), now);
        assert_eq!(first.as_str().parse::<ShareId>(), Ok(first.clone()));
    }

    #[test]
    fn other_texts_are_no_ids() {
        let id = ShareId::random(0).to_string();
        for bad in ["", "..", "../videos", "ü", &id[1..], &format!("{id}0"), &id.replace('0', "A")]
        {
            assert_eq!(bad.parse::<ShareId>(), Err(MalformedShareId), "{bad}");
        }
    }
}
