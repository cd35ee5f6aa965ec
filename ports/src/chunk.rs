//! The id of a chunk, which identifies it within its video.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// The id of a chunk within its video: its index in the video's list of chunks, starting at 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ChunkId(pub u32);

impl ChunkId {
    /// Returns the id of the chunk at `index` in the video's list of chunks.
    pub fn from_index(index: usize) -> Self {
        Self(index.try_into().expect("a video has fewer than 2^32 chunks"))
    }

    /// Returns the chunk's index in a list that has one element per chunk.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the id of the next chunk; saturates at `u32::MAX`.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Converts the id to the type of integer fields in the vector index.
impl From<ChunkId> for i64 {
    fn from(id: ChunkId) -> Self {
        id.0.into()
    }
}

/// The schema is that of a plain `u32`.
impl JsonSchema for ChunkId {
    fn inline_schema() -> bool {
        u32::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        u32::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        u32::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        u32::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn json_form_is_the_number() {
        let ids = vec![ChunkId(0), ChunkId(3)];
        assert_eq!(json!(ids), json!([0, 3]));
        assert_eq!(serde_json::from_value::<Vec<ChunkId>>(json!([0, 3])).expect("ids"), ids);
        let by_id = BTreeMap::from([(ChunkId(3), "a"), (ChunkId(10), "b")]);
        let text = serde_json::to_string(&by_id).expect("JSON");
        assert_eq!(text, r#"{"3":"a","10":"b"}"#);
        let read: BTreeMap<ChunkId, &str> = serde_json::from_str(&text).expect("ids");
        assert_eq!(read, by_id);
        for none in [json!(-1), json!(4_294_967_296_u64), json!("3")] {
            assert!(serde_json::from_value::<ChunkId>(none.clone()).is_err(), "{none}");
        }
        let schema = schemars::schema_for!(ChunkId);
        assert_eq!(schema, schemars::schema_for!(u32));
    }

    #[test]
    fn displays_as_the_number() {
        assert_eq!(ChunkId(12).to_string(), "12");
        assert_eq!(format!("{:>4}", ChunkId(12)), "  12");
    }

    #[test]
    fn index_starts_at_0() {
        assert_eq!((ChunkId::from_index(7), ChunkId(7).index()), (ChunkId(7), 7));
        assert_eq!((i64::from(ChunkId(7)), ChunkId(7).next()), (7, ChunkId(8)));
        assert_eq!(ChunkId(u32::MAX).next(), ChunkId(u32::MAX), "a cursor may name any number");
    }
}
