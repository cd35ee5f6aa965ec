//! Point names for the server. They are UUIDs that sort like the points' ids, so that points with
//! equal scores can be ordered by name.

use ports::index::{Point, PointId};
use uuid::{Builder, Uuid};

/// Namespace for the digest at the end of a name.
const NAMESPACE: Uuid = Uuid::from_u128(0x6d1c_6a3e_0f0b_4f5c_9a51_5107_1065_0001);

// Sizes of the parts of a name in bits. They add up to the 122 bits that a version 8 UUID leaves
// free. If ids differ only in truncated bits, their digests differ, and the points sort by digest.
const VIDEO: u32 = 48;
const CHUNK: u32 = 20;
const ANALYZER: u32 = 24;
const DIGEST: u32 = 30;

/// Returns the name of a point. It consists of a prefix of the video id, the chunk id, a prefix of
/// the analyzer id, and a digest of the whole id and the revision. The name is the same on every
/// instance, so that writing a point again replaces it.
pub(super) fn name(point: &Point) -> Uuid {
    let PointId { video_id, chunk_id, analyzer_id } = &point.id;
    let whole = format!("{video_id}\0{chunk_id}\0{analyzer_id}\0{}", point.revision());
    let digest = Uuid::new_v5(&NAMESPACE, whole.as_bytes()).as_u128();
    let video = u128::from_str_radix(video_id.as_str(), 16).unwrap_or_default() >> (64 - VIDEO);
    let chunk = u128::from(chunk_id.0).min((1 << CHUNK) - 1);
    let analyzer = analyzer_id.bytes().chain(std::iter::repeat(0)).take(ANALYZER as usize / 8);
    let analyzer = analyzer.fold(0, |bits, byte| bits << 8 | u128::from(byte));
    let bits =
        ((video << CHUNK | chunk) << ANALYZER | analyzer) << DIGEST | digest & ((1 << DIGEST) - 1);
    // The version bits follow the first 48 bits, and the variant bits follow the first 60.
    let (first, second, third) = (bits >> 74, bits >> 62 & 0xfff, bits & ((1 << 62) - 1));
    Builder::from_custom_bytes((first << 80 | second << 64 | third).to_be_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use ports::index::FieldValue;
    use ports::{ChunkId, VideoId};

    use super::*;

    fn named(video: u8, chunk: u32, analyzer: &str, revision: &str) -> Uuid {
        let revision = FieldValue::Keywords(vec![revision.to_owned()]);
        name(&Point {
            id: PointId {
                video_id: VideoId::from_digest([video; 20]),
                chunk_id: ChunkId(chunk),
                analyzer_id: analyzer.to_owned(),
            },
            vectors: BTreeMap::new(),
            text: String::new(),
            payload: BTreeMap::from([("revision".to_owned(), revision)]),
            document: serde_json::Value::Null.into(),
        })
    }

    #[test]
    fn names_sort_like_ids() {
        let ids = [
            (0x00, 7, "ocr"),
            (0x0f, 0, "a"),
            (0x0f, 0, "ab"),
            (0x0f, 0, "people"),
            (0x0f, 1, "default_video"),
            (0x0f, 1, "diarization"),
            (0x0f, 2, "default_video"),
            (0x0f, 255, "ocr"),
            (0x0f, 256, "ocr"),
            (0x0f, 1 << 19, "ocr"),
            (0x10, 0, "ocr"),
            (0xff, 0, "a"),
        ];
        let names: Vec<Uuid> = ids.iter().map(|(v, c, a)| named(*v, *c, a, "r1")).collect();
        assert!(names.is_sorted());
        let spelled: Vec<String> = names.iter().map(Uuid::to_string).collect();
        assert!(spelled.is_sorted(), "in the server's notation");
        assert!(names.iter().all(|name| name.get_version_num() == 8), "a version that it accepts");
    }

    #[test]
    fn overlong_ids_have_distinct_names() {
        let chunks = [0, 1, 1 << 20, u32::MAX - 1, u32::MAX];
        let analyzers = ["object_detection", "object_counting"];
        let names: Vec<Uuid> = chunks
            .iter()
            .flat_map(|c| analyzers.map(|a| ["r1", "r2"].map(|r| named(1, *c, a, r))))
            .flatten()
            .collect();
        let distinct: BTreeSet<&Uuid> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
