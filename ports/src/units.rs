//! Durations and sizes in configuration. They are written with units (`"10s"`, `"1h 30m"`,
//! `"64KiB"`, `"100MB"`) or as a plain number of seconds or bytes. Fields use this module as
//! `#[serde(with = "seconds")]` and `#[serde(with = "byte_size")]`.
//!
//! ```
//! use std::time::Duration;
//!
//! use ports::units::{byte_size, seconds};
//! # use shotlog_ports as ports;
//!
//! #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
//! struct Limits {
//!     #[serde(with = "seconds")]
//!     timeout: Duration,
//!     #[serde(with = "byte_size")]
//!     max_bytes: u64,
//! }
//!
//! let limits = Limits { timeout: Duration::from_millis(1500), max_bytes: 64 << 20 };
//! let text = serde_json::json!({"timeout": "1.5s", "max_bytes": "64MiB"});
//! assert_eq!(serde_json::from_value::<Limits>(text)?, limits);
//! let plain = serde_json::json!({"timeout": 1.5, "max_bytes": 67_108_864});
//! assert_eq!(serde_json::from_value::<Limits>(plain)?, limits);
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A value from a configuration file or an environment variable.
#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Whole(u64),
    Decimal(f64),
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Decimal(number) => number.fmt(f),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    expected: &'static str,
    parse: impl Fn(&Value) -> Option<T>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer).map_err(|_| de::Error::custom(expected))?;
    parse(&value).ok_or_else(|| de::Error::custom(format!("{value} is not {expected}")))
}

/// Durations, written as text with units or as a number of seconds.
pub mod seconds {
    use serde::Serializer;

    use super::{Deserializer, Duration, Value, read};

    const EXPECTED: &str =
        "a duration, such as \"500ms\", \"10s\", \"5m\" or \"1h 30m\", or a number of seconds";

    /// The type of a field that holds a duration: [`Duration`] or a number of seconds.
    pub trait Seconds: Sized {
        /// Converts the value to a duration.
        fn to_duration(&self) -> Duration;
        /// Converts a duration to this type. Returns `None` if the type cannot hold the duration,
        /// for example if it holds whole seconds and the duration is half a second.
        fn from_duration(duration: Duration) -> Option<Self>;
    }

    impl Seconds for Duration {
        fn to_duration(&self) -> Duration {
            *self
        }
        fn from_duration(duration: Duration) -> Option<Self> {
            Some(duration)
        }
    }

    impl Seconds for u64 {
        fn to_duration(&self) -> Duration {
            Duration::from_secs(*self)
        }
        fn from_duration(duration: Duration) -> Option<Self> {
            (duration.subsec_nanos() == 0).then_some(duration.as_secs())
        }
    }

    impl Seconds for f64 {
        fn to_duration(&self) -> Duration {
            Duration::try_from_secs_f64(*self).unwrap_or_default()
        }
        fn from_duration(duration: Duration) -> Option<Self> {
            Some(duration.as_secs_f64())
        }
    }

    /// Writes the duration with units, such as `1m 30s`.
    pub fn serialize<S: Serializer>(value: &impl Seconds, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_duration(value.to_duration()))
    }

    /// Reads a duration with units, or a number of seconds. Fails if the duration is negative or
    /// infinite.
    pub fn deserialize<'de, T: Seconds, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        read(from, EXPECTED, |value| {
            let duration = match value {
                Value::Whole(seconds) => Some(Duration::from_secs(*seconds)),
                Value::Decimal(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
                Value::Text(text) => parse(text),
            };
            duration.and_then(T::from_duration)
        })
    }

    fn parse(text: &str) -> Option<Duration> {
        let text = text.trim();
        // humantime does not accept "1.5s" or "1.5".
        match text.strip_suffix('s').unwrap_or(text).trim().parse::<f64>() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            Err(_) => humantime::parse_duration(text).ok(),
        }
    }
}

/// Sizes, written as text with decimal units (`100MB`) or binary units (`64MiB`), or as a number of
/// bytes.
pub mod byte_size {
    use bytesize::ByteSize;
    use serde::Serializer;

    use super::{Deserializer, Value, read};

    const EXPECTED: &str = "a size, such as \"64KiB\", \"100MB\" or \"4GiB\", or a number of bytes";

    /// Writes the size in the largest binary unit in which it is a whole number.
    pub fn serialize<S: Serializer, T: Copy + TryInto<u64>>(
        size: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let size: u64 = (*size).try_into().unwrap_or(u64::MAX);
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.into_iter().find(|(unit, _)| size > 0 && size.is_multiple_of(*unit)) {
            Some((unit, name)) => to.collect_str(&format_args!("{}{name}", size / unit)),
            None => to.collect_str(&size),
        }
    }

    /// Reads a size with units, or a number of bytes. Fails if a plain number is negative or
    /// fractional.
    pub fn deserialize<'de, T: TryFrom<u64>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        read(from, EXPECTED, |value| {
            let size = match value {
                Value::Whole(bytes) => Some(*bytes),
                Value::Decimal(_) => None,
                Value::Text(text) => text.trim().parse::<ByteSize>().ok().map(|size| size.as_u64()),
            };
            size.and_then(|size| T::try_from(size).ok())
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Timeout<T: seconds::Seconds>(#[serde(with = "seconds")] T);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Size(#[serde(with = "byte_size")] u64);

    #[test]
    fn durations_have_units_or_are_seconds() {
        for (value, seconds) in [
            (json!(90), 90.0),
            (json!(1.5), 1.5),
            (json!("90"), 90.0),
            (json!("1.5s"), 1.5),
            (json!("500ms"), 0.5),
            (json!("2m"), 120.0),
            (json!("1h 30m"), 5400.0),
            (json!("1d"), 86_400.0),
        ] {
            let read: Timeout<f64> = serde_json::from_value(value.clone()).expect("a duration");
            assert_eq!(read, Timeout(seconds), "{value}");
        }
        for value in [
            json!("soon"),
            json!("10 parsecs"),
            json!("-1s"),
            json!(-1),
            json!("64KiB"),
            json!(true),
        ] {
            let error =
                serde_json::from_value::<Timeout<f64>>(value.clone()).expect_err("no duration");
            assert!(error.to_string().contains("a number of seconds"), "{value}: {error}");
        }
        assert!(serde_json::from_value::<Timeout<u64>>(json!("500ms")).is_err());
    }

    #[test]
    fn sizes_have_units_or_are_bytes() {
        for (value, size) in [
            (json!(100), 100),
            (json!("100"), 100),
            (json!("64KiB"), 65_536),
            (json!("100MB"), 100_000_000),
            (json!("4 GiB"), 4 << 30),
        ] {
            let read: Size = serde_json::from_value(value.clone()).expect("a size");
            assert_eq!(read, Size(size), "{value}");
        }
        for value in [json!("much"), json!("10s"), json!(-1), json!(1.5)] {
            let error = serde_json::from_value::<Size>(value.clone()).expect_err("no size");
            assert!(error.to_string().contains("a number of bytes"), "{value}: {error}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let written = |value: Value| value.as_str().expect("text").to_owned();
        for (seconds, text) in [(0, "0s"), (10, "10s"), (5400, "1h 30m"), (86_400, "1day")] {
            let value = serde_json::to_value(Timeout(seconds)).expect("JSON");
            assert_eq!(written(value.clone()), text);
            assert_eq!(
                serde_json::from_value::<Timeout<u64>>(value).expect("a duration").0,
                seconds
            );
        }
        for (size, text) in [(0, "0"), (1000, "1000"), (65_536, "64KiB"), (32 << 30, "32GiB")] {
            let value = serde_json::to_value(Size(size)).expect("JSON");
            assert_eq!(written(value.clone()), text);
            assert_eq!(serde_json::from_value::<Size>(value).expect("a size").0, size);
        }
    }
}
