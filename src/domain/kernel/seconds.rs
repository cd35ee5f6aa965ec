//! Durations that the configuration gives in whole seconds: `#[serde(with = "seconds")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// Writes whole seconds.
pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(duration.as_secs())
}

/// Reads whole seconds.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    u64::deserialize(from).map(Duration::from_secs)
}
