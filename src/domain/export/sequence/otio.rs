//! An OpenTimelineIO timeline with one clip per clip of the sequence, in the schema versions of
//! OpenTimelineIO 0.17.

use std::ops::Range;

use ports::FrameRate;
use serde_json::{Map, Value, json};

use crate::export::Content;
use crate::export::sequence::{Sequence, SequenceClip, SequenceMarker, SourceVideo};
use crate::kernel::error::{Error, Result};

/// The key of a clip's only media reference.
const MEDIA_KEY: &str = "DEFAULT_MEDIA";

pub(crate) fn write(sequence: &Sequence) -> Result<Content> {
    let track = item(
        "Track.1",
        "clips",
        [
            ("kind", json!("Video")),
            ("markers", sequence.markers.iter().map(|m| marker(m, sequence.rate)).collect()),
            ("children", sequence.clips.iter().map(clip).collect()),
        ],
    );
    let stack = item("Stack.1", "tracks", [("children", json!([track]))]);
    let timeline = json!({
        "OTIO_SCHEMA": "Timeline.1",
        "name": sequence.name,
        "global_start_time": time(sequence.start.frames(), sequence.rate),
        "metadata": {"shotlog": {
            "frame_rate": sequence.rate,
            "drop_frame": sequence.start.is_drop_frame(),
        }},
        "tracks": stack,
    });
    serde_json::to_string_pretty(&timeline)
        .map(Content::Text)
        .map_err(|e| Error::corrupt(format!("cannot write the timeline: {e}")))
}

/// Builds an item with the fields that every item has, some of which `fields` sets.
fn item<const N: usize>(schema: &str, name: &str, fields: [(&str, Value); N]) -> Value {
    let mut item = Map::new();
    item.insert("OTIO_SCHEMA".into(), json!(schema));
    item.insert("name".into(), json!(name));
    item.insert("source_range".into(), Value::Null);
    item.insert("enabled".into(), json!(true));
    item.insert("metadata".into(), json!({}));
    item.insert("effects".into(), json!([]));
    item.insert("markers".into(), json!([]));
    item.extend(fields.map(|(field, value)| (field.to_owned(), value)));
    Value::Object(item)
}

fn clip(clip: &SequenceClip) -> Value {
    let source = &clip.source;
    item(
        "Clip.2",
        &clip.name,
        [
            ("source_range", range(clip.source_frames(), source.rate)),
            ("media_references", json!({MEDIA_KEY: media(source)})),
            ("active_media_reference_key", json!(MEDIA_KEY)),
            ("metadata", json!({"shotlog": metadata(clip)})),
        ],
    )
}

fn media(source: &SourceVideo) -> Value {
    let first = source.start.frames();
    json!({
        "OTIO_SCHEMA": "ExternalReference.1",
        "name": source.filename,
        "target_url": source.url,
        "available_range": range(first..first + source.frames, source.rate),
        "available_image_bounds": null,
        "metadata": {"shotlog": {
            "reel": source.reel,
            "frame_rate": source.rate,
            "drop_frame": source.start.is_drop_frame(),
            "has_picture": source.has_picture,
            "picture_size": source.picture_size,
            "audio_tracks": source.audio_tracks,
        }},
    })
}

fn metadata(clip: &SequenceClip) -> Value {
    let mut metadata = Map::new();
    metadata.insert("video_id".into(), json!(clip.source.video_id));
    if let Some(chunk_id) = clip.chunk_id {
        metadata.insert("chunk_id".into(), json!(chunk_id));
    }
    metadata.insert("description".into(), json!(clip.note));
    if !clip.tags.is_empty() {
        metadata.insert("tags".into(), json!(clip.tags));
    }
    if clip.rating > 0 {
        metadata.insert("rating".into(), json!(clip.rating));
    }
    Value::Object(metadata)
}

/// Builds a marker, whose time is relative to the track.
fn marker(marker: &SequenceMarker, rate: FrameRate) -> Value {
    json!({
        "OTIO_SCHEMA": "Marker.2",
        "name": marker.name,
        "color": "GREEN",
        "marked_range": range(marker.frames.clone(), rate),
        "metadata": {},
    })
}

fn range(frames: Range<u64>, rate: FrameRate) -> Value {
    json!({
        "OTIO_SCHEMA": "TimeRange.1",
        "start_time": time(frames.start, rate),
        "duration": time(frames.end.saturating_sub(frames.start), rate),
    })
}

/// Builds a time in whole frames. The format has only a decimal for the rate.
fn time(frames: u64, rate: FrameRate) -> Value {
    json!({
        "OTIO_SCHEMA": "RationalTime.1",
        "rate": rate.per_second(),
        "value": frames as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::sequence::testing::{clip, sequence, source};

    #[test]
    fn clips_are_counted_in_frames_of_their_video() {
        let (film, video) =
            (source(1, "24/1", "10:00:00:00", "A"), source(2, "30000/1001", "01:00:00;00", "B"));
        let mut sequence = sequence(vec![clip(&film, 12..36), clip(&video, 7..8)]);
        sequence.markers = vec![SequenceMarker { frames: 24..25, name: "two".into() }];
        let Content::Text(text) = write(&sequence).expect("a timeline") else {
            panic!("a timeline is text");
        };
        let timeline: Value = serde_json::from_str(&text).expect("JSON");
        let track = &timeline["tracks"]["children"][0];
        let times = |range: &Value| {
            [&range["start_time"], &range["duration"]].map(|time| time["value"].as_f64())
        };
        let [first, second] = [&track["children"][0], &track["children"][1]];
        assert_eq!(times(&first["source_range"]), [Some(864_012.0), Some(24.0)]);
        assert_eq!(times(&second["source_range"]), [Some(107_899.0), Some(1.0)]);
        assert_eq!(second["source_range"]["start_time"]["rate"], 30_000.0 / 1001.0);
        let media = &second["media_references"]["DEFAULT_MEDIA"];
        assert_eq!(times(&media["available_range"]), [Some(107_892.0), Some(107_892.0)]);
        let properties = &media["metadata"]["shotlog"];
        assert_eq!(properties["drop_frame"], true);
        assert_eq!(properties["frame_rate"], "30000/1001");
        assert_eq!(timeline["metadata"]["shotlog"]["drop_frame"], false);
        assert_eq!(times(&track["markers"][0]["marked_range"]), [Some(24.0), Some(1.0)]);
    }
}
