//! Each term over made-up stored outputs.

use serde_json::{Value, json};

use super::super::evaluate::IntervalProof;
use super::super::set::Interval;
use super::super::table::IntervalTable;
use super::{compile, facts, spans, speech, table};
use crate::aggregation::testing::{diarized, output, video};
use crate::analysis::analyzers::{default_video, diarization, object_detection, ocr, people};
use crate::analysis::video::AnalyzedVideo;
use crate::facts::{Coverage, VideoFacts};
use crate::kernel::time::Span;
use crate::media::speech::{Speech, Words};

/// Three chunks of ten seconds.
fn thirty_seconds() -> AnalyzedVideo {
    video(10.0, 3)
}

fn analyzed(analyzer: &str, outputs: [Option<Value>; 3]) -> IntervalTable {
    let video = thirty_seconds().with(analyzer, outputs.to_vec());
    table(&facts(&video, None))
}

fn heard(speech: Speech) -> IntervalTable {
    table(&facts(&thirty_seconds(), Some(speech)))
}

#[track_caller]
fn assert_spans(table: &IntervalTable, cases: &[(Value, &[(f64, f64)])]) {
    for (expression, expected) in cases {
        assert_eq!(spans(table, expression), *expected, "{expression}");
    }
}

const NOWHERE: &[(f64, f64)] = &[];

#[test]
fn words_have_their_own_times() {
    let table = heard(speech(
        &[(1.0, 9.0)],
        &[
            ("The", 1.0, 1.2),
            ("Webb", 1.2, 1.5),
            ("telescope,", 1.5, 2.25),
            ("telescopes", 4.0, 4.75),
            ("don't", 5.0, 5.4),
            ("look", 5.4, 5.4),
            ("back.", 5.6, 6.0),
            ("Twenty-five", 7.0, 7.5),
        ],
    ));
    assert_spans(
        &table,
        &[
            (json!({"says": "telescope"}), &[(1.5, 2.25), (4.0, 4.75)]),
            (json!({"says": "\"telescope\""}), &[(1.5, 2.25)]),
            (json!({"says": "webb telescope"}), &[(1.2, 2.25)]),
            (json!({"says": "telescope webb"}), NOWHERE),
            (json!({"says": "the telescope"}), NOWHERE),
            (json!({"says": "DON'T look"}), &[(5.0, 5.401)]),
            (json!({"says": "looked"}), &[(5.4, 5.401)]),
            (json!({"says": "five"}), &[(7.0, 7.5)]),
            (json!({"says": "scope"}), NOWHERE),
            (json!({"not": {"says": "telescope"}}), &[(0.0, 1.5), (2.25, 4.0), (4.75, 30.0)]),
        ],
    );
}

#[test]
fn phrases_do_not_cross_channels() {
    let channel = |text: &str, start: f64| speech(&[], &[(text, start, start + 0.5)]);
    let words = |speech: Speech| speech.words.map(|words| words.words).unwrap_or_default();
    let both = vec![words(channel("good", 1.0)), words(channel("morning", 1.5))];
    let mut stereo = speech(&[(1.0, 2.0)], &[]);
    stereo.words = stereo.words.map(|words| Words { channels: both, ..words });
    assert_spans(
        &heard(stereo),
        &[(json!({"says": "good morning"}), NOWHERE), (json!({"says": "morning"}), &[(1.5, 2.0)])],
    );
}

#[test]
fn silence_is_the_complement_of_voice_activity() {
    let table = heard(speech(&[(1.04, 4.0), (9.5, 31.0)], &[]));
    assert_spans(
        &table,
        &[
            (json!({"speech": true}), &[(1.04, 4.0), (9.5, 30.0)]),
            (json!({"silence": true}), &[(0.0, 1.04), (4.0, 9.5)]),
            (json!({"not": {"speech": true}}), &[(0.0, 1.04), (4.0, 9.5)]),
            (json!({"at_least": {"seconds": 2}, "of": {"silence": true}}), &[(4.0, 9.5)]),
        ],
    );
    assert_spans(&heard(speech(&[], &[])), &[(json!({"silence": true}), &[(0.0, 30.0)])]);
}

#[test]
fn a_video_without_transcript_is_never_silent() {
    let undetected = Speech { voices_by: "none/none/v2".into(), ..speech(&[], &[]) };
    for unknown in [table(&facts(&thirty_seconds(), None)), heard(undetected)] {
        assert_spans(
            &unknown,
            &[
                (json!({"silence": true}), NOWHERE),
                (json!({"not": {"speech": true}}), NOWHERE),
                (json!({"any": [{"speech": true}, {"between": [1, 2]}]}), &[(1.0, 2.0)]),
            ],
        );
    }
}

#[test]
fn speakers_are_named_regardless_of_case() {
    let table = analyzed(
        diarization::ID,
        [
            diarized(&[("Zoë", 1.0, 4.0, "hello"), ("S2", 4.5, 10.0, "hi")]),
            diarized(&[("S2", 10.0, 12.0, "so")]),
            None,
        ],
    );
    assert_spans(
        &table,
        &[
            (json!({"speaker": "zoË"}), &[(1.0, 4.0)]),
            (json!({"speaker": "s2"}), &[(4.5, 12.0)]),
            (json!({"speaker": "S3"}), NOWHERE),
            (json!({"not": {"speaker": "S2"}}), &[(0.0, 4.5), (12.0, 30.0)]),
            (
                json!({"then": [{"speaker": "Zoë"}, {"speaker": "S2"}], "within": 0.5}),
                &[(1.0, 12.0)],
            ),
            (json!({"then": [{"speaker": "Zoë"}, {"speaker": "S2"}], "within": 0.4}), NOWHERE),
        ],
    );
}

fn line(text: &str, first: f64, last: f64) -> Value {
    json!({"text": text, "confidence": 0.95, "first_seen": first, "last_seen": last})
}

#[test]
fn lines_last_from_their_first_to_their_last_frame() {
    let frames = |lines: Vec<Value>, frames: &[f64]| {
        output(json!({"text": "x", "texts": lines, "_frames": frames}))
    };
    let table = analyzed(
        ocr::ID,
        [
            frames(vec![line("SPEEDLIMIT45", 2.0, 4.5), line("NEWS", 8.0, 9.5)], &[0.5, 9.5]),
            frames(vec![line("NEWS", 10.5, 12.0)], &[10.5, 19.5]),
            None,
        ],
    );
    assert_spans(
        &table,
        &[
            (json!({"reads": "speed limit"}), &[(2.0, 4.5)]),
            (json!({"reads": "news"}), &[(8.0, 12.0)]),
            (json!({"reads": "\"limit 45\""}), &[(2.0, 4.5)]),
            (json!({"reads": "exit"}), NOWHERE),
            (json!({"not": {"reads": "news"}}), &[(0.0, 8.0), (12.0, 30.0)]),
        ],
    );
}

#[test]
fn lines_that_are_visible_together_show_a_phrase_together() {
    let lines =
        vec![line("RUE", 2.0, 4.0), line("DE LONDRES", 3.0, 6.0), line("DE LYON", 7.0, 8.0)];
    let outputs = [output(json!({"text": "x", "texts": lines})), None, None];
    assert_spans(
        &analyzed(ocr::ID, outputs),
        &[
            (json!({"reads": "rue de londres"}), &[(3.0, 4.0)]),
            (json!({"reads": "\"rue de londres\""}), &[(3.0, 4.0)]),
            (json!({"reads": "rue de lyon"}), NOWHERE),
        ],
    );
}

fn location(t: f64) -> Value {
    json!({"t": t, "box": [0.1, 0.1, 0.2, 0.2], "confidence": 0.9})
}

/// The objects of a chunk: a label, its certainty and the times of its tracks.
fn objects(found: &[(&str, f64, &[&[f64]])], frames: &[f64]) -> Option<Value> {
    let mut certainty = json!({});
    let detections: Vec<Value> = found
        .iter()
        .map(|(label, probability, tracks)| {
            certainty[*label] = json!(probability);
            let mut times: Vec<(f64, usize)> = Vec::new();
            for (track, own) in tracks.iter().enumerate() {
                times.extend(own.iter().map(|time| (*time, track)));
            }
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let points = |track| -> Vec<usize> {
                let own = times.iter().enumerate().filter(|(_, (_, own))| *own == track);
                own.map(|(at, _)| at).collect()
            };
            let tracks =
                (0..tracks.len()).map(|t| json!({"movement": "still", "points": points(t)}));
            json!({
                "label": label, "count": tracks.len(), "confidence": 0.9,
                "first_seen": times[0].0, "last_seen": times[times.len() - 1].0,
                "locations": times.iter().map(|(time, _)| location(*time)).collect::<Vec<_>>(),
                "_tracks": tracks.collect::<Vec<_>>(),
            })
        })
        .collect();
    let labels: Vec<&str> = found.iter().map(|(label, ..)| *label).collect();
    output(json!({
        "objects": labels, "detections": detections, "_certainty": certainty, "_frames": frames,
    }))
}

#[test]
fn things_are_visible_while_their_tracks_are() {
    let seconds: Vec<f64> = (0..10).map(f64::from).collect();
    let table = analyzed(
        object_detection::ID,
        [
            // The second track is lost for a frame, and later for four seconds.
            objects(
                &[
                    ("car", 0.9, &[&[1.0, 2.0, 3.0], &[4.0, 6.0, 9.0]]),
                    ("German shepherd", 0.4, &[&[7.0, 8.0]]),
                ],
                &seconds,
            ),
            None,
            objects(&[("truck", 0.7, &[&[20.0, 21.0]])], &[20.0, 21.0, 25.0]),
        ],
    );
    assert_spans(
        &table,
        &[
            (json!({"sees": "car"}), &[(1.0, 6.0), (9.0, 9.001)]),
            (json!({"sees": "vehicles"}), &[(1.0, 6.0), (9.0, 9.001), (20.0, 21.0)]),
            (json!({"sees": "dog"}), &[(7.0, 8.0)]),
            (json!({"sees": "dog", "min_probability": 0.4}), &[(7.0, 8.0)]),
            (json!({"sees": "dog", "min_probability": 0.41}), NOWHERE),
            (json!({"sees": "unheard-of"}), NOWHERE),
            (
                json!({"not": {"sees": "vehicle"}}),
                &[(0.0, 1.0), (6.0, 9.0), (9.001, 20.0), (21.0, 30.0)],
            ),
        ],
    );
}

#[test]
fn things_that_are_seen_on_both_sides_of_a_boundary_are_seen_in_between() {
    let table = analyzed(
        object_detection::ID,
        [
            objects(&[("car", 0.9, &[&[8.0, 9.5]])], &[8.0, 9.5]),
            objects(
                &[("car", 0.9, &[&[10.5, 12.0]]), ("cat", 0.9, &[&[12.0]])],
                &[10.5, 12.0, 15.0],
            ),
            objects(&[("cat", 0.9, &[&[21.0]])], &[21.0]),
        ],
    );
    let crossing = json!({"all": [{"sees": "car"}, {"between": [9.8, 10.2]}]});
    assert_spans(
        &table,
        &[
            (json!({"sees": "car"}), &[(8.0, 12.0)]),
            (json!({"sees": "cat"}), &[(12.0, 12.001), (21.0, 21.001)]),
            (crossing.clone(), &[(9.8, 10.2)]),
        ],
    );
    let proofs = compile(&crossing).proofs(&table, Interval::new(9800, 10_200), 5);
    let times: Vec<Vec<f64>> =
        proofs.iter().map(|p| p.moments.iter().map(|m| m.start).collect()).collect();
    assert_eq!(times, [vec![9.8], vec![8.0, 10.5]], "the sightings before and after");
}

#[test]
fn things_are_counted_frame_by_frame() {
    let table = analyzed(
        object_detection::ID,
        [
            objects(
                &[
                    ("car", 0.9, &[&[1.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 6.0]]),
                    ("truck", 0.9, &[&[3.0, 6.0]]),
                ],
                &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            ),
            None,
            None,
        ],
    );
    let at_least =
        |count: u32, thing: &str| json!({"at_least": {"count": count}, "of": {"sees": thing}});
    assert_spans(
        &table,
        &[
            (at_least(2, "car"), &[(2.0, 3.0)]),
            (at_least(2, "vehicle"), &[(2.0, 3.0), (6.0, 6.001)]),
            (at_least(3, "vehicle"), &[(3.0, 3.001)]),
            (at_least(4, "vehicle"), NOWHERE),
        ],
    );
}

#[test]
fn people_are_counted_by_chunk() {
    let crowd = |count: u64| output(json!({"people": [], "people_count": count}));
    let table = analyzed(people::ID, [crowd(2), None, crowd(5)]);
    assert_spans(
        &table,
        &[
            (json!({"people": true}), &[(0.0, 10.0), (20.0, 30.0)]),
            (json!({"people": {"at_least": 3}}), &[(20.0, 30.0)]),
            (json!({"people": {"at_most": 2}}), &[(0.0, 20.0)]),
            (json!({"people": {"at_least": 1, "at_most": 2}}), &[(0.0, 10.0)]),
            (json!({"not": {"people": true}}), &[(10.0, 20.0)]),
        ],
    );
    let described = analyzed(default_video::ID, [output(json!({"people": ["a man"]})), None, None]);
    assert_spans(&described, &[(json!({"people": true}), NOWHERE)]);
}

#[test]
fn tags_and_probable_things_have_the_times_of_their_frames() {
    let described = output(json!({
        "objects": ["kite"], "tags": ["dim", "collie"], "_certainty": {"collie": 0.6},
        "seen": [{"label": "collie", "probability": 0.6, "times": [12.0, 16.0]},
                 {"label": "spatula", "probability": 0.4, "times": [14.0]}],
    }));
    let table = analyzed(default_video::ID, [None, described, None]);
    assert_spans(
        &table,
        &[
            (json!({"tag": "Dim"}), &[(10.0, 20.0)]),
            (json!({"tag": "collie"}), &[(12.0, 16.0)]),
            (json!({"tag": "collie", "min_probability": 0.7}), NOWHERE),
            (json!({"tag": "dog"}), NOWHERE),
            (json!({"sees": "dog"}), &[(12.0, 16.0)]),
            (json!({"sees": "kite"}), &[(10.0, 20.0)]),
            (json!({"sees": "spatula"}), NOWHERE),
            (json!({"sees": "spatula", "min_probability": 0.4}), &[(14.0, 14.001)]),
            (json!({"not": {"tag": "dim"}}), &[(0.0, 10.0), (20.0, 30.0)]),
        ],
    );
}

#[test]
fn times_outside_the_video_hold_nowhere() {
    let table = heard(speech(&[(1.0, 2.0)], &[]));
    assert_spans(
        &table,
        &[
            (json!({"between": [10, 12.5]}), &[(10.0, 12.5)]),
            (json!({"between": [29, 90]}), &[(29.0, 30.0)]),
            (json!({"between": [null, 1]}), &[(0.0, 1.0)]),
            (json!({"between": [28, null]}), &[(28.0, 30.0)]),
            (json!({"between": [40, 90]}), NOWHERE),
            (json!({"between": [40, null]}), NOWHERE),
            (json!({"not": {"between": [40, 90]}}), &[(0.0, 30.0)]),
            (json!({"all": [{"speech": true}, {"not": {"speech": true}}]}), NOWHERE),
        ],
    );
}

#[test]
fn what_was_not_analyzed_is_unknown() {
    let mut known = facts(&thirty_seconds(), Some(speech(&[(0.0, 30.0)], &[])));
    let left_out = [Span { start: 0.0, end: 10.0 }, Span { start: 20.0, end: 30.0 }];
    known.coverage = Coverage { screen: left_out.to_vec(), ..Coverage::default() };
    known.lines = Some(Vec::new());
    let table = table(&VideoFacts { people: None, ..known });
    let neither = json!({"all": [{"not": {"reads": "news"}}, {"not": {"tag": "dim"}}]});
    assert_spans(
        &table,
        &[
            (json!({"not": {"reads": "news"}}), &[(0.0, 10.0), (20.0, 30.0)]),
            (json!({"not": {"tag": "dim"}}), NOWHERE),
            (neither, NOWHERE),
            // Speech is known, so one of both holds.
            (json!({"any": [{"speech": true}, {"tag": "dim"}]}), &[(0.0, 30.0)]),
            (json!({"not": {"all": [{"silence": true}, {"tag": "dim"}]}}), &[(0.0, 30.0)]),
        ],
    );
}

#[test]
fn proofs_show_every_term() {
    let words = speech(&[(1.0, 9.0)], &[("hello", 1.0, 1.5), ("world", 4.0, 4.5)]);
    let video = thirty_seconds()
        .with(ocr::ID, vec![output(json!({"texts": [line("NEWS", 6.0, 7.0)]})), None, None]);
    let table = table(&facts(&video, Some(words)));
    let proofs = |expression: &Value, start: u32, end: u32| -> Vec<IntervalProof> {
        compile(expression).proofs(&table, Interval::new(start, end), 1)
    };
    let found = proofs(&json!({"all": [{"speech": true}, {"not": {"reads": "news"}}]}), 1000, 9000);
    let [absence, speech] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&absence.term, absence.is_absence), (&json!({"reads": "news"}), true));
    let moment = &absence.moments[0];
    assert_eq!((moment.start, moment.end, absence.more), (1.0, 6.0, 1), "and from 7 to 9");
    assert_eq!((&speech.term, speech.is_absence), (&json!({"speech": true}), false));

    let said = &proofs(&json!({"any": [{"says": "hello"}, {"says": "mars"}]}), 1000, 1500);
    assert_eq!(said.len(), 1, "only what holds: {said:?}");
    let moment = &said[0].moments[0];
    assert_eq!((moment.text.as_deref(), moment.probability), (Some("hello"), Some(0.9)));

    let greeting = json!({"then": [{"says": "world"}, {"says": "hello"}], "within": 5});
    let never = &proofs(&json!({"not": greeting}), 0, 30_000);
    assert_eq!((&never[0].term["within"], never[0].is_absence), (&json!(5.0), true));
}
