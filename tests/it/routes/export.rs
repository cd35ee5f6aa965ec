use std::process::Command;

use serde_json::{Value, json};

use crate::support::readers::read_with;
use crate::support::{Reply, TestApp, clip, keys, mentions};

const FORMATS: [&str; 19] = [
    "srt",
    "vtt",
    "chapters.vtt",
    "ffmetadata",
    "edl",
    "markers.edl",
    "fcpxml",
    "xmeml",
    "otio",
    "clips.csv",
    "clips.md",
    "quotes.md",
    "quotes.docx",
    "transcript.txt",
    "transcript.md",
    "transcript.docx",
    "qdpx",
    "csv",
    "json",
];

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// A video with speech by two speakers, stored as the analyzers of another installation would.
async fn app_with_dialogue() -> (TestApp, String) {
    let app = TestApp::new().await;
    let id = app.video().await;
    let turns = |turns: Value| json!({"turns": turns, "speakers": ["S1", "S2"]});
    let outputs = json!([
        turns(json!([
            {"speaker": "S1", "start": 0.5, "end": 3.25, "text": "Is 2 < 3 & 4 --> 5?"},
            {"speaker": "S2", "start": 3.5, "end": 9.0,
             "text": "Nobody could have said it better than the captain himself did, standing on \
                      the bridge of his ship that evening."},
        ])),
        null,
        turns(json!([{"speaker": "S1", "start": 21.0, "end": 22.0, "text": "Grüße, Zoë."}])),
    ]);
    app.plant_output(&id, "diarization", outputs).await;
    (app, id)
}

async fn export(app: &TestApp, id: &str, format: &str) -> Reply {
    let reply = app.get(&format!("/videos/{id}/export?format={format}")).await;
    assert_eq!(reply.status, 200, "{format}: {}", reply.text());
    reply
}

/// Runs a program on an exported file; `None` if the program is not installed.
fn read_back(reply: &Reply, name: &str, program: &str, arguments: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, &reply.body).expect("a file");
    let file = file.display().to_string();
    let arguments = arguments.iter().map(|a| if *a == "FILE" { file.as_str() } else { a });
    let Ok(output) = Command::new(program).args(arguments).output() else {
        eprintln!("skipped: there is no program {program}");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test]
async fn every_format_is_a_downloadable_file() {
    let (app, id) = app_with_dialogue().await;
    for (format, kind, name) in [
        ("srt", "application/x-subrip", "clip.srt"),
        ("vtt", "text/vtt", "clip.vtt"),
        ("chapters.vtt", "text/vtt", "clip.chapters.vtt"),
        ("ffmetadata", "text/plain", "clip.ffmetadata.txt"),
        ("edl", "text/plain", "clip.edl"),
        ("markers.edl", "text/plain", "clip.markers.edl"),
        ("fcpxml", "application/xml", "clip.fcpxml"),
        ("xmeml", "application/xml", "clip.xml"),
        ("otio", "application/vnd.pixar.opentimelineio+json", "clip.otio"),
        ("clips.csv", "text/csv", "clip.clips.csv"),
        ("clips.md", "text/markdown", "clip.clips.md"),
        ("quotes.md", "text/markdown", "clip.quotes.md"),
        ("quotes.docx", DOCX, "clip.quotes.docx"),
        ("transcript.txt", "text/plain", "clip.transcript.txt"),
        ("transcript.md", "text/markdown", "clip.transcript.md"),
        ("transcript.docx", DOCX, "clip.transcript.docx"),
        ("qdpx", "application/zip", "clip.qdpx"),
        ("csv", "text/csv", "clip.csv"),
        ("json", "application/json", "clip.json"),
    ] {
        let reply = export(&app, &id, format).await;
        assert_eq!(reply.header("content-type").split(';').next(), Some(kind), "{format}");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(reply.header("content-disposition"), disposition);
        assert!(!reply.body.is_empty());
    }
}

#[tokio::test]
async fn invalid_exports_are_refused_with_a_reason() {
    let app = TestApp::new().await;
    let id = app.video().await;
    let path = format!("/videos/{id}/export");
    mentions(&app.get(&format!("{path}?format=avi")).await.error(400), &FORMATS);
    app.get(&path).await.error(422);
    for format in ["srt", "vtt", "transcript.txt", "transcript.md", "transcript.docx", "qdpx"] {
        let error = app.get(&format!("{path}?format={format}")).await.error(400);
        mentions(&error, &[format, "diarization", "transcript", "default_video"]);
    }
    app.edit_record(&id, |record| {
        record["aggregates"].as_object_mut().unwrap().remove("chapters");
    })
    .await;
    for format in ["chapters.vtt", "ffmetadata"] {
        let error = app.get(&format!("{path}?format={format}")).await.error(400);
        mentions(&error, &["chapters", "stats"]);
    }
    app.get("/videos/0123456789abcdef/export?format=csv").await.error(404);
}

#[tokio::test]
async fn captions_name_speakers_and_keep_markup_out() {
    let (app, id) = app_with_dialogue().await;
    let vtt = export(&app, &id, "vtt").await.text();
    assert!(vtt.starts_with("WEBVTT\n\n00:00:00.500 --> 00:00:03.250\n<v S1>"), "{vtt}");
    mentions(&vtt, &["<v S1>Is 2 &lt; 3 &amp; 4 → 5?</v>", "<v S2>Nobody", "Grüße, Zoë."]);
    let srt = export(&app, &id, "srt").await.text();
    assert!(srt.starts_with("1\n00:00:00,500 --> 00:00:03,250\nIs 2 < 3"), "{srt}");
}

#[tokio::test]
async fn captions_prefix_the_speaker_on_request() {
    let (app, id) = app_with_dialogue().await;
    let path = format!("/videos/{id}/export?format=srt&speakers=true");
    let srt = app.get(&path).await.text();
    assert!(srt.starts_with("1\n00:00:00,500 --> 00:00:03,250\nS1: Is 2 < 3"), "{srt}");
    mentions(&srt, &["\nS2: Nobody", "\nS1: Grüße, Zoë."]);
    assert!(srt.lines().all(|line| line.chars().count() <= 42), "{srt}");
    assert_eq!(srt.matches("S2: ").count(), srt.matches(" --> ").count() - 2, "{srt}");
    app.patch_json(&format!("/videos/{id}"), json!({"recorded_at": "2026-01-31T12:00:00Z"}))
        .await
        .ok();
    let both = app.get(&format!("{path}&wall_clock=true")).await.text();
    assert!(both.contains("2026-01-31T12:00:00.500Z\nS1: Is 2"), "{both}");
    let vtt = app.get(&format!("/videos/{id}/export?format=vtt&speakers=true")).await.text();
    assert_eq!(vtt, export(&app, &id, "vtt").await.text());
}

#[tokio::test]
async fn recorded_at_adds_the_time_of_day() {
    let (app, id) = app_with_dialogue().await;
    let unknown = app.get(&format!("/videos/{id}/export?format=srt&wall_clock=true")).await;
    mentions(&unknown.error(400), &["not known when", "PATCH", "recorded_at"]);
    let recorded = json!({"recorded_at": "2026-01-31T23:59:58Z"});
    app.patch_json(&format!("/videos/{id}"), recorded).await.ok();
    let captions = app.get(&format!("/videos/{id}/export?format=srt&wall_clock=true")).await.text();
    let first = "1\n00:00:00,500 --> 00:00:03,250\n2026-01-31T23:59:58.500Z\nIs 2";
    assert!(captions.starts_with(first), "{captions}");
    let plain = export(&app, &id, "srt").await.text();
    assert!(!plain.contains("2026"), "{plain}");
    let edits = export(&app, &id, "edl").await.text();
    mentions(
        &edits,
        &["* RECORDED AT: 2026-01-31T23:59:58.000Z", "* RECORDED AT: 2026-02-01T00:00:"],
    );
    let moment = app.get(&format!("/moments/m_{id}_2500_3000")).await.ok();
    assert_eq!(moment["recorded_at"], "2026-02-01T00:00:00.500Z");
    let search = json!({"text": "captain", "analyzer": "*", "synthesize": false});
    for hit in app.post_json("/query", search).await.ok()["results"].as_array().unwrap() {
        let recorded_at = hit["recorded_at"].as_str().unwrap();
        assert!(recorded_at.starts_with("2026-0"), "{hit}");
    }
}

#[tokio::test]
async fn ffmpeg_reads_captions_and_chapters() {
    let (app, id) = app_with_dialogue().await;
    for (format, name) in [("srt", "clip.srt"), ("vtt", "clip.vtt")] {
        let reply = export(&app, &id, format).await;
        let arguments = ["-v", "error", "-xerror", "-i", "FILE", "-f", "srt", "-"];
        if let Some(text) = read_back(&reply, name, "ffmpeg", &arguments) {
            mentions(&text, &["00:00:00,500 --> 00:00:03,250", "captain", "Zoë"]);
        }
    }
    let reply = export(&app, &id, "ffmetadata").await;
    let arguments = ["-v", "error", "-f", "ffmetadata", "-show_chapters", "-of", "json", "FILE"];
    if let Some(text) = read_back(&reply, "clip.txt", "ffprobe", &arguments) {
        let read: Value = serde_json::from_str(&text).expect("JSON");
        let stored = app.get(&format!("/videos/{id}/aggregates?aggregator=chapters")).await.ok();
        let stored = stored["result"]["chapters"].as_array().unwrap();
        let read = read["chapters"].as_array().unwrap();
        assert_eq!(read.len(), stored.len());
        for (read, stored) in read.iter().zip(stored) {
            assert_eq!(read["tags"]["title"], stored["title"]);
            let start: f64 = read["start_time"].as_str().unwrap().parse().unwrap();
            assert!((start - stored["start"].as_f64().unwrap()).abs() < 0.001);
        }
    }
    let reply = export(&app, &id, "chapters.vtt").await;
    let arguments = ["-v", "error", "-xerror", "-i", "FILE", "-f", "srt", "-"];
    if let Some(text) = read_back(&reply, "clip.vtt", "ffmpeg", &arguments) {
        mentions(&text, &["Arrival", "00:00:00,000 -->"]);
    }
}

/// Reads a timeline with OpenTimelineIO and prints name, start and duration of its clips.
const READ_TIMELINE: &str = "
import sys
try:
    import opentimelineio as otio
    if sys.argv[1].endswith('.edl'):
        import otio_cmx3600_adapter
except ImportError as missing:
    print('skipped:', missing)
    sys.exit()
rate = {'rate': 25} if sys.argv[1].endswith('.edl') else {}
timeline = otio.adapters.read_from_file(sys.argv[1], **rate)
for track in timeline.video_tracks():
    for clip in track.find_clips():
        span = clip.trimmed_range()
        print(span.start_time.to_seconds(), span.duration.to_seconds())
";

#[tokio::test]
async fn opentimelineio_reads_timelines() {
    let (app, id) = app_with_dialogue().await;
    app.edit_record(&id, |record| record["exact_frame_rate"] = json!("25/1")).await;
    let python = std::env::var("SHOTLOG_PYTHON")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/var/venv/bin/python").into());
    for (format, name) in [("otio", "clip.otio"), ("edl", "clip.edl")] {
        let reply = export(&app, &id, format).await;
        match read_back(&reply, name, &python, &["-c", READ_TIMELINE, "FILE"]) {
            Some(text) if !text.starts_with("skipped:") => {
                let clips: Vec<&str> = text.lines().collect();
                assert_eq!(clips, ["0.0 10.0", "10.0 10.0", "20.0 10.0"], "{format}");
            }
            Some(text) => eprintln!("{}", text.trim()),
            None => {}
        }
    }
    let edl = export(&app, &id, "edl").await.text();
    mentions(&edl, &["TITLE: clip\n", "001  clip     B     C        00:00:00:00 00:00:10:00"]);
}

#[tokio::test]
async fn chapters_and_moments_become_clips() {
    let (app, id) = app_with_dialogue().await;
    let chapters = json!({"chapters": [
        {"title": "One & <two>", "start": 0.0, "end": 12.0},
        {"title": "Three", "start": 12.0, "end": 30.0},
    ]});
    app.plant_aggregate(&id, "chapters", chapters).await;
    let clips = async |fields: &str| -> Vec<String> {
        let table = export(&app, &id, &format!("clips.csv&{fields}")).await.text();
        table.split("\r\n").skip(1).filter(|row| !row.is_empty()).map(str::to_owned).collect()
    };
    let source = format!("{id},clip.mp4,clip,10/1");
    let speech = "S1: Is 2 < 3 & 4 --> 5? S2: Nobody could have said it better than the captain \
                  himself did, standing on the bridge of his ship that evening.";
    let chapters = clips("clips=chapters").await;
    assert_eq!(
        chapters,
        [
            format!(
                "1,One & <two>,,\"{speech}\",,,{source},00:00:00:00,00:00:12:00,00:00:00:00,00:00:12:00,0,120,120,\
                 0.000,12.000,12.000"
            ),
            format!(
                "2,Three,,\"S1: Grüße, Zoë.\",,,{source},00:00:12:00,00:00:30:00,00:00:12:00,00:00:30:00,120,300,180,\
                 12.000,30.000,18.000"
            ),
        ]
    );
    let moments = format!("m_{id}_21000_22049,m_{id}_500_3250,m_{id}_7000_7000");
    let rows = clips(&format!("moment_ids={moments}")).await;
    let times: Vec<&str> = rows.iter().filter_map(|row| Some(row.split_once("10/1,")?.1)).collect();
    assert_eq!(
        times,
        [
            "00:00:21:00,00:00:22:00,00:00:00:00,00:00:01:00,210,220,10,21.000,22.000,1.000",
            "00:00:00:05,00:00:03:03,00:00:01:00,00:00:03:08,5,33,28,0.500,3.300,2.800",
            "00:00:07:00,00:00:07:01,00:00:03:08,00:00:03:09,70,71,1,7.000,7.100,0.100",
        ]
    );
    mentions(&rows[1], &["2,clip 0:00.50,", "A woman in a red coat"]);
    assert_eq!(clips(&format!("moment_ids=m_{id}_500_3250&start=10")).await, [""; 0]);
    // Captions of clips follow the clips.
    let captions = export(&app, &id, &format!("srt&moment_ids={moments}")).await.text();
    mentions(
        &captions,
        &["1\n00:00:00,000 --> 00:00:01,000\nGrüße, Zoë.\n", "\n2\n00:00:01,000 -->"],
    );
    let fcpxml = export(&app, &id, "fcpxml").await.text();
    mentions(&fcpxml, &["<marker start=\"12s\" duration=\"1/10s\" value=\"Three\"/>"]);
    mentions(&fcpxml, &["value=\"One &amp; &lt;two&gt;\""]);
}

#[tokio::test]
async fn invalid_clips_are_refused_with_a_reason() {
    let (app, id) = app_with_dialogue().await;
    let moment = format!("m_{id}_500_3250");
    for (fields, words) in [
        ("edl&clips=shots".to_owned(), ["'shots'", "chunks, chapters"]),
        (format!("edl&clips=chunks&moment_ids={moment}"), ["'clips'", "'moment_ids'"]),
        ("edl&moment_ids=m_1".into(), ["'m_1'", "names no moment"]),
        ("edl&moment_ids=m_0123456789abcdef_0_1".into(), ["m_0123456789abcdef_0_1", id.as_str()]),
        (format!("edl&moment_ids=m_{id}_30000_31000"), ["outside", "30 seconds"]),
        ("chapters.vtt&clips=chunks".into(), ["'chapters.vtt'", "srt, vtt, edl"]),
        (format!("json&moment_ids={moment}"), ["'json'", "clips.csv"]),
    ] {
        let path = format!("/videos/{id}/export?format={fields}");
        mentions(&app.get(&path).await.error(400), &words);
    }
}

#[tokio::test]
async fn transcripts_name_speakers_and_times() {
    let (app, id) = app_with_dialogue().await;
    let text = export(&app, &id, "transcript.txt").await.text();
    assert!(
        text.starts_with(
            "clip.mp4\n\n[00:00:00] S1\nIs 2 < 3 & 4 --> 5?\n\n[00:00:03] S2\nNobody could"
        ) && text.ends_with("\n\n[00:00:21] S1\nGrüße, Zoë.\n"),
        "{text}"
    );
    let markdown = export(&app, &id, "transcript.md").await.text();
    mentions(
        &markdown,
        &["# clip.mp4\n\n**S1** `00:00:00`\n\nIs 2 \\< 3 \\& 4 --\\> 5?\n\n**S2** `"],
    );
    let part = export(&app, &id, "transcript.txt&start=20.5&end=30&from_zero=true").await.text();
    assert_eq!(part, "clip.mp4\n\n[00:00:00] S1\nGrüße, Zoë.\n");
    app.edit_record(&id, |record| record["timecode"] = json!("10:00:00:05")).await;
    let timecodes = export(&app, &id, "transcript.txt").await.text();
    mentions(&timecodes, &["[10:00:01:00] S1\nIs", "[10:00:04:00] S2\n", "[10:00:21:05] S1\n"]);
    app.patch_json(&format!("/videos/{id}"), json!({"recorded_at": "2026-01-31T12:00:00Z"}))
        .await
        .ok();
    let clocks = export(&app, &id, "transcript.md&wall_clock=true").await.text();
    mentions(&clocks, &["**S1** `10:00:01:00 2026-01-31T12:00:00.500Z`"]);
}

#[tokio::test]
async fn word_documents_are_read_back() {
    let (app, id) = app_with_dialogue().await;
    let reply = export(&app, &id, "transcript.docx").await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("clip.docx");
    std::fs::write(&file, &reply.body).expect("a file");
    let Some(paragraphs) = read_with("document.py", &file, &[]) else { return };
    let paragraphs = paragraphs.as_array().expect("paragraphs");
    assert_eq!(
        paragraphs[..3],
        [
            json!(["Title", "clip.mp4"]),
            json!(["Speaker", "S1 00:00:00"]),
            json!(["Normal", "Is 2 < 3 & 4 --> 5?"]),
        ]
    );
    assert_eq!(paragraphs[6], json!(["Normal", "Grüße, Zoë."]));
    assert_eq!(paragraphs.len(), 7);
}

#[tokio::test]
async fn csv_and_json_exports_contain_the_whole_log() {
    let (app, id) = app_with_dialogue().await;
    let csv = export(&app, &id, "csv").await.text();
    let rows: Vec<&str> = csv.split("\r\n").collect();
    assert!(rows[0].starts_with("chunk_id,start,end,timecode,description"), "{}", rows[0]);
    assert_eq!(rows.len(), 5, "a header, three chunks and an empty last line: {csv}");
    mentions(rows[1], &["0:00.00-0:10.00", "A woman in a red coat", "S1: Is 2 < 3"]);
    let log = export(&app, &id, "json").await.json();
    assert_eq!(log["chunks"].as_array().unwrap().len(), 3);
    assert_eq!(log["frame_rate"], 10.0);
    assert_eq!(keys(&log["chunks"][0]["diarization"]), ["speakers", "turns"]);
    assert!(log["aggregates"]["summary"].is_object());
    assert!(!log.to_string().contains("_frames"));
}

/// Two videos in one collection and one in another, all with metadata.
async fn library() -> (TestApp, [String; 3]) {
    let app = TestApp::new().await;
    let mut ids = Vec::new();
    for (seconds, collection, camera) in
        [(10.0, "street", "north"), (20.0, "street", "south"), (30.0, "garden", "north")]
    {
        let metadata = json!({"camera": camera, "height": seconds}).to_string();
        let fields = [
            ("mode", "interval"),
            ("interval", "10"),
            ("collection", collection),
            ("metadata", &metadata),
            ("recorded_at", "2026-01-31T12:00:00Z"),
        ];
        let job = app.job_of(&fields, "clip, one.mp4", &clip(seconds)).await;
        ids.push(job["result"]["video_id"].as_str().unwrap().to_owned());
    }
    (app, ids.try_into().unwrap())
}

async fn lines(app: &TestApp, request: Value) -> Vec<Value> {
    let mut request = request;
    request["format"] = "jsonl".into();
    let reply = app.post_json("/export", request).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("content-type"), "application/jsonl");
    reply.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn chunks_of_many_videos_are_exported_as_one_file() {
    let (app, [first, second, third]) = library().await;
    let all = lines(&app, json!({})).await;
    assert_eq!(all.len(), 6);
    let count = |lines: &[Value], id: &str| lines.iter().filter(|l| l["video_id"] == id).count();
    assert_eq!((count(&all, &first), count(&all, &second), count(&all, &third)), (1, 2, 3));
    let line = all.iter().filter(|line| line["video_id"] == json!(third)).nth(1).unwrap();
    assert_eq!((&line["collection"], &line["chunk_id"]), (&json!("garden"), &json!(1)));
    assert_eq!(line["recorded_at"], "2026-01-31T12:00:10.000Z");
    let moment = app.get(&format!("/moments/{}", line["moment_id"].as_str().unwrap())).await.ok();
    assert_eq!(moment["video_id"], json!(third));
    let chunk = app.get(&format!("/videos/{third}/chunks/1")).await.ok();
    assert_eq!(line["default_video"], chunk["default_video"]);

    let reply = app.post_json("/export", json!({"format": "csv"})).await;
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"shotlog.csv\"");
    let table = reply.text();
    let rows: Vec<&str> = table.split("\r\n").collect();
    assert!(
        rows[0].starts_with("video_id,filename,collection,recorded_at,moment_id,chunk_id,start,")
    );
    assert_eq!(rows.len(), 1 + 6 + 1, "{table}");
    let lead =
        format!("{third},clip_one.mp4,garden,2026-01-31T12:00:10.000Z,m_{third}_10000_20000,1,");
    assert!(rows.iter().any(|row| row.starts_with(&lead)), "{table}");
    let columns = rows[0].split(',').count();
    assert!(rows[0].contains(",description,") && columns > 12, "{}", rows[0]);
}

#[tokio::test]
async fn filters_select_the_exported_chunks() {
    let (app, [first, second, third]) = library().await;
    let ids = |lines: &[Value]| -> Vec<String> {
        let mut ids: Vec<String> =
            lines.iter().map(|line| line["video_id"].as_str().unwrap().to_owned()).collect();
        ids.dedup();
        ids.sort();
        ids
    };
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let filtered = async |filters: Value| lines(&app, json!({"filters": filters})).await;
    assert_eq!(
        ids(&filtered(json!({"collections": ["street"]})).await),
        sorted(vec![first.clone(), second.clone()])
    );
    assert_eq!(
        ids(&filtered(json!({"metadata": {"camera": "north"}})).await),
        sorted(vec![first.clone(), third.clone()])
    );
    let any = json!({"metadata": {"camera": ["south", "west"]}});
    assert_eq!(ids(&filtered(any).await), [&*second]);
    let range = json!({"metadata": {"height": {"gte": 15, "lte": 25}}});
    assert_eq!(ids(&filtered(range).await), [&*second]);
    let late = filtered(json!({"after": 10, "before": 20})).await;
    assert!(late.len() == 2 && late.iter().all(|line| line["chunk_id"] == 1), "{late:?}");
    let by_video = lines(&app, json!({"video_ids": [second, "fedcba9876543210"]})).await;
    assert_eq!(ids(&by_video), [&*second]);
    assert_eq!(filtered(json!({"recorded_after": "2027-01-01T00:00:00Z"})).await.len(), 0);
    // An export selects the same chunks as a search with the same filter.
    let tags = app.get(&format!("/videos/{third}/chunks/1")).await.ok();
    let tag = tags["default_video"]["tags"][0].clone();
    let search = json!({"text": "a door", "limit": 50, "filters": {"tags": [tag]}});
    let page = app.post_json("/query", search).await.ok();
    let export = filtered(json!({"tags": [tag]})).await;
    let mut moments = [
        page["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["moment_id"].to_string())
            .collect(),
        export.iter().map(|line| line["moment_id"].to_string()).collect::<Vec<_>>(),
    ];
    moments.iter_mut().for_each(|moments| moments.sort());
    assert!(!moments[0].is_empty());
    assert_eq!(moments[0], moments[1]);

    let refused = async |request: Value| app.post_json("/export", request).await;
    let unknown = refused(json!({"filters": {"objcts": []}})).await;
    mentions(&unknown.error(400), &["did you mean 'objects'?"]);
    let unknown = refused(json!({"filters": {"metadata": {"camra": "north"}}})).await;
    mentions(&unknown.error(400), &["camra", "camera"]);
    mentions(&refused(json!({"format": "xlsx"})).await.error(400), &["'xlsx'", "csv, jsonl"]);
}

#[tokio::test]
async fn large_library_is_exported_page_by_page() {
    use ports::listing::VideoListing;
    let app = TestApp::new().await;
    let id = app.video().await;
    // Deleted videos that are still listed are skipped, and the last page is reached.
    let mut entries = app.listing.get(&[id.parse().unwrap()]).await.unwrap();
    entries[0].created_at -= 1_000_000;
    let gone = (0..1200_u64).map(|n| {
        let video_id = format!("{n:016x}").parse().unwrap();
        ports::listing::VideoEntry {
            video_id,
            created_at: entries[0].created_at + 1 + n as i64,
            ..entries[0].clone()
        }
    });
    app.listing.put(gone.chain(entries.clone()).collect()).await.unwrap();
    let lines = lines(&app, json!({})).await;
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["video_id"] == json!(id)));
}

#[tokio::test]
async fn time_range_is_exported_with_times_relative_to_its_start() {
    let (app, id) = app_with_dialogue().await;
    let chapters = json!({"chapters": [
        {"title": "One", "start": 0.0, "end": 12.0}, {"title": "Two", "start": 12.0, "end": 30.0},
    ]});
    app.plant_aggregate(&id, "chapters", chapters).await;
    let part = async |format: &str, from_zero: bool| {
        let part = format!("{format}&start=20.5&end=21.5&from_zero={from_zero}");
        let reply = export(&app, &id, &part).await;
        mentions(reply.header("content-disposition"), &["clip-0m20.50s-0m21.50s."]);
        reply.text()
    };
    for (format, from_zero, expected) in [
        ("srt", false, "00:00:21,000 --> 00:00:21,500\nGrüße, Zoë."),
        ("srt", true, "00:00:00,500 --> 00:00:01,000\nGrüße, Zoë."),
        ("vtt", true, "00:00:00.500 --> 00:00:01.000\n<v S1>Grüße, Zoë.</v>"),
        ("chapters.vtt", false, "00:00:20.500 --> 00:00:21.500\nTwo"),
        ("chapters.vtt", true, "00:00:00.000 --> 00:00:01.000\nTwo"),
        ("ffmetadata", true, "START=0\nEND=1000\ntitle=Two"),
        ("edl", false, "00:00:20:05 00:00:21:05 00:00:20:05 00:00:21:05"),
        ("edl", true, "00:00:20:05 00:00:21:05 00:00:00:00 00:00:01:00"),
    ] {
        let text = part(format, from_zero).await;
        mentions(&text, &[expected]);
        assert!(!text.contains("One") && !text.contains("captain"), "{format}: {text}");
    }
    let rows = part("csv", false).await;
    assert!(rows.lines().count() == 2 && rows.contains("2,20.000,30.000"), "{rows}");
    let log: Value = serde_json::from_str(&part("json", false).await).unwrap();
    assert_eq!(
        (log["chunks"].as_array().unwrap().len(), &log["chunks"][0]["chunk_id"]),
        (1, &json!(2))
    );
    let timeline: Value = serde_json::from_str(&part("otio", false).await).unwrap();
    let track = &timeline["tracks"]["children"][0];
    let source = &track["children"][0]["source_range"];
    assert_eq!(source["start_time"]["value"], 205.0, "{track}");
    assert_eq!(track["markers"][0]["marked_range"]["start_time"]["value"], 0.0, "{track}");

    for wrong in ["start=-1&end=3", "start=3&end=3", "start=99&end=100", "start=30"] {
        let path = format!("/videos/{id}/export?format=csv&{wrong}");
        mentions(&app.get(&path).await.error(400), &["'start' lies between 0 and 30"]);
    }
    app.get(&format!("/videos/{id}/export?format=csv&start=x")).await.error(422);
}
