//! Fake adapters for ports whose real adapters need models or media.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use adapters::records::MemoryRecords;
use adapters::storage::OpendalStorage;
use async_trait::async_trait;
use ports::decoder::{
    AudioBlock, AudioInfo, CancellationToken, Clip, ClipRequest, Frame, Image, MediaInfo,
    RenderFormat, RenderPart, RenderParts, SAMPLE_RATE, ScanFrame, ScanOptions, ScanSink,
    ScanSummary, Still, VideoDecoder, VideoDecoderExt, VideoInfo,
};
use ports::embedder::{Embedder, estimate_tokens};
use ports::llm::{
    Answer, AnswerSentence, Completion, Description, Event, Events, Extraction, LanguageModel,
    Narrative, Person, Persons, Request, Summary, Task, Title, Usage,
};
use ports::records::{Precondition, RecordStore, Version};
use ports::storage::{ObjectInfo, ObjectStorage, ObjectUrls};
use ports::{ByteStream, ErrorKind, FrameRate, PortError, Result};
use serde_json::{Value, json};
use tokio::sync::Barrier;

/// The bytes of a clip that [`SceneDecoder`] reads: JSON with its length and optional defects.
pub fn clip(seconds: f64) -> Vec<u8> {
    json!({"seconds": seconds}).to_string().into_bytes()
}

/// Decodes the clips of [`clip`]: one colour per ten seconds, and a tone. `"poster": false` makes
/// single frames undecodable; `"video": false` and `"audio": false` omit a stream; `"claims"` is the
/// duration that the container declares, `"frame_rate"` its frame rate, `"timecode"` and `"reel_name"` those
/// of its first frame; of `"tracks"` audio tracks the one numbered `"silent"` is silent.
pub struct SceneDecoder;

impl SceneDecoder {
    fn read(file: &Path) -> Result<Value> {
        let invalid =
            || PortError::new(ErrorKind::Invalid, "the file is not a video that can be decoded");
        let bytes = std::fs::read(file)?;
        let clip: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        if clip["seconds"].as_f64().is_none() { Err(invalid()) } else { Ok(clip) }
    }

    fn colour(time: f64) -> [u8; 3] {
        let scene = (time / 10.0) as u8;
        [
            40_u8.wrapping_add(scene.wrapping_mul(60)),
            200_u8.wrapping_sub(scene.wrapping_mul(50)),
            90,
        ]
    }
}

impl VideoDecoder for SceneDecoder {
    fn probe(&self, file: &Path) -> Result<MediaInfo> {
        let clip = Self::read(file)?;
        let frame_rate = FrameRate::nearest(clip["frame_rate"].as_f64().unwrap_or(10.0));
        let video = VideoInfo { codec: "h264".into(), width: 64, height: 36, frame_rate };
        Ok(MediaInfo {
            container: "mov,mp4,m4a,3gp,3g2,mj2".into(),
            extension: "mp4".into(),
            content_type: "video/mp4".into(),
            duration: clip["claims"].as_f64().or_else(|| clip["seconds"].as_f64()),
            video: (clip["video"] != false).then_some(video),
            audio: (clip["audio"] != false).then(|| AudioInfo {
                tracks: clip["tracks"].as_u64().unwrap_or(1) as u32,
                default_track: 0,
            }),
            undecodable_video: clip["left_out"].as_str().map(str::to_owned),
            timecode: clip["timecode"].as_str().map(str::to_owned),
            reel_name: clip["reel_name"].as_str().map(str::to_owned),
            recorded_at: clip["recorded_at"].as_str().map(str::to_owned),
        })
    }

    fn scan(
        &self,
        file: &Path,
        options: &ScanOptions,
        sink: &mut dyn ScanSink,
    ) -> Result<ScanSummary> {
        let clip = Self::read(file)?;
        let seconds = clip["seconds"].as_f64().unwrap_or_default();
        let pixels = (options.width * options.height) as usize;
        let mut summary = ScanSummary { end: seconds, ..ScanSummary::default() };
        for tenth in 0..(seconds * 10.0) as u64 {
            let time = tenth as f64 / 10.0;
            if clip["video"] != false {
                let rgb = &Self::colour(time).repeat(pixels);
                sink.frame(ScanFrame::new(time, rgb))?;
                summary.frames += 1;
            }
            if clip["audio"] != false {
                let played = u64::from(options.audio_track.unwrap_or(0));
                let loud = if clip["silent"] == played { 0.0 } else { 0.2 };
                let samples: Vec<f32> =
                    (0..SAMPLE_RATE / 10).map(|i| (i as f32 * 0.1).sin() * loud).collect();
                sink.audio(AudioBlock::mono(time, &samples))?;
                summary.samples += samples.len() as u64;
            }
        }
        Ok(summary)
    }

    fn sound(&self, file: &Path, audio_track: Option<u32>, sink: &mut dyn ScanSink) -> Result<()> {
        self.scan_sound(file, audio_track, sink)
    }

    fn stills(&self, file: &Path, stills: &[Still]) -> Result<Vec<Option<Frame>>> {
        let clip = Self::read(file)?;
        let decodable = clip["poster"] != false || stills.len() > 1;
        let frame = |&Still { time, .. }: &Still| {
            let mut image =
                Image { width: 64, height: 36, rgb: Self::colour(time).repeat(64 * 36) };
            // A pattern, so that the picture is not uniform.
            image.rgb[..3].fill(255);
            decodable.then_some(Frame { time, image })
        };
        Ok(stills.iter().map(frame).collect())
    }

    /// A scene has no packets to cut, so the clip is the whole file.
    fn clip(
        &self,
        file: &Path,
        cut: &ClipRequest,
        mut out: File,
        _: &CancellationToken,
    ) -> Result<Clip> {
        let clip = Self::read(file)?;
        std::io::Write::write_all(&mut out, clip.to_string().as_bytes())?;
        Ok(Clip { start: cut.start, copied: true, video: clip["video"] != false })
    }

    /// Writes the format and the parts as JSON.
    fn render(
        &self,
        format: &RenderFormat,
        parts: &mut RenderParts<'_>,
        mut out: File,
        _: &CancellationToken,
    ) -> Result<()> {
        let mut rendered = Vec::new();
        for part in parts {
            let RenderPart { file, start, frames, captions, .. } = part?;
            Self::read(&file)?;
            let mut part = json!({"start": start, "frames": frames});
            if !captions.is_empty() {
                part["captions"] = json!(captions);
            }
            rendered.push(part);
        }
        let RenderFormat { width, height, rate, frames, .. } = *format;
        let size = json!([width, height]);
        let rate = rate.to_string();
        let json = json!({"size": size, "rate": rate, "frames": frames, "parts": rendered});
        std::io::Write::write_all(&mut out, json.to_string().as_bytes())?;
        Ok(())
    }
}

/// Embeds a text as its word counts, so that texts that share words are similar.
pub struct FakeEmbedder {
    /// Fails every call while set.
    pub down: AtomicBool,
    /// What its probes wait for.
    pub probes: Probes,
    /// Number of texts embedded so far.
    pub embedded: AtomicUsize,
    /// Number of calls that succeed before all later ones fail.
    left: AtomicUsize,
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self {
            down: AtomicBool::new(false),
            probes: Probes::default(),
            embedded: AtomicUsize::new(0),
            left: AtomicUsize::new(usize::MAX),
        }
    }
}

impl FakeEmbedder {
    pub const DIMENSION: usize = 64;

    /// Lets this number of calls succeed and fails all later ones.
    pub fn fail_after(&self, calls: usize) {
        self.left.store(calls, Ordering::SeqCst);
    }

    /// Ends [`Self::fail_after`].
    pub fn recover(&self) {
        self.left.store(usize::MAX, Ordering::SeqCst);
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn model(&self) -> &str {
        "words"
    }

    fn dimension(&self) -> usize {
        Self::DIMENSION
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let spent = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_err();
        if spent || self.down.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Unavailable, "the embedder cannot be reached"));
        }
        self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
        let vector = |text: &String| {
            let mut vector = vec![0.01_f32; Self::DIMENSION];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                let hash =
                    word.bytes().fold(7_usize, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
                vector[hash % Self::DIMENSION] += 1.0;
            }
            let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            vector.into_iter().map(|v| v / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(estimate_tokens(texts))
    }

    async fn probe(&self) -> Result<()> {
        self.probes.wait().await;
        if self.down.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Unavailable, "the embedder cannot be reached"));
        }
        Ok(())
    }
}

/// What the probes of a fake wait for; by default they return at once.
#[derive(Default)]
pub struct Probes {
    waits: Mutex<Option<Arc<Barrier>>>,
    asked: AtomicUsize,
}

impl Probes {
    /// Makes probes hang.
    pub fn hang(&self) {
        self.meet(Arc::new(Barrier::new(usize::MAX)));
    }

    /// Makes probes wait until as many have started as the barrier counts.
    pub fn meet(&self, barrier: Arc<Barrier>) {
        *self.waits.lock().expect("unpoisoned") = Some(barrier);
    }

    /// Number of probes so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    async fn wait(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let barrier = self.waits.lock().expect("unpoisoned").clone();
        if let Some(barrier) = barrier {
            barrier.wait().await;
        }
    }
}

/// A vision model whose description of a chunk depends on the chunk's timecode.
#[derive(Default)]
pub struct FakeModel {
    /// Tasks that fail, with their error messages.
    pub failing: Mutex<HashMap<Task, String>>,
    /// Timecodes of chunks with an empty description.
    pub blind: Mutex<Vec<String>>,
    /// Does not support images while set.
    pub sightless: AtomicBool,
    /// Calls hang while set.
    pub stalled: AtomicBool,
    /// Number of completed requests.
    pub calls: AtomicUsize,
    /// Number of descriptions returned.
    pub described: AtomicUsize,
    /// The sentences of answers, each with words of the passage that it cites; empty for no citation.
    pub says: Mutex<Vec<(&'static str, &'static str)>>,
}

impl FakeModel {
    /// Makes all later calls for the task fail.
    pub fn fail(&self, task: Task, message: &str) {
        self.failing.lock().expect("unpoisoned").insert(task, message.into());
    }

    fn describe(&self, timecode: &str) -> Description {
        if self.blind.lock().expect("unpoisoned").iter().any(|blind| blind == timecode) {
            return Description::default();
        }
        let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        if timecode.starts_with("0:0") {
            Description {
                description: "A woman in a red coat opens a wooden door.".into(),
                setting: "hallway".into(),
                people: strings(&["woman in a red coat"]),
                objects: strings(&["door"]),
                actions: strings(&["opening a door"]),
                tags: strings(&["arrival"]),
            }
        } else {
            Description {
                description: format!(
                    "{} At {timecode} an empty boat drifts.",
                    "Fog lies over a lake. ".repeat(12)
                ),
                setting: "lake".into(),
                people: vec![],
                objects: strings(&["boat"]),
                actions: strings(&["drifting"]),
                tags: strings(&["nature"]),
            }
        }
    }
}

#[async_trait]
impl LanguageModel for FakeModel {
    fn model(&self) -> &str {
        "fake"
    }

    fn supports_images(&self) -> bool {
        !self.sightless.load(Ordering::SeqCst)
    }

    fn is_billed(&self) -> bool {
        true
    }

    fn is_extractive(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> usize {
        8000
    }

    async fn complete(&self, request: &Request) -> Result<Completion> {
        while self.stalled.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
        if let Some(message) = self.failing.lock().expect("unpoisoned").get(&request.task) {
            return Err(PortError::new(ErrorKind::Unavailable, message.clone()));
        }
        let first =
            request.passages.first().map(|p| (p.id.clone(), p.text.clone())).unwrap_or_default();
        let answer = match request.task {
            Task::Extract => json!(Extraction::default()),
            Task::Describe => {
                self.described.fetch_add(1, Ordering::SeqCst);
                json!(self.describe(&first.1))
            }
            Task::Summarize => json!(Summary {
                summary: "A woman arrives; later a boat drifts on a lake.".into(),
                key_points: vec!["A woman arrives.".into()],
                topics: vec!["arrival".into()],
            }),
            Task::Title => json!(Title { title: "Arrival".into() }),
            Task::Events => json!(Events {
                events: vec![Event {
                    event: "A door opens.".into(),
                    actor: "woman".into(),
                    category: "movement".into(),
                    passage: first.0,
                }],
            }),
            Task::Answer if !self.says.lock().expect("unpoisoned").is_empty() => {
                let says = self.says.lock().expect("unpoisoned").clone();
                let cited = |words: &str| {
                    let has =
                        |p: &&ports::llm::Passage| !words.is_empty() && p.text.contains(words);
                    request.passages.iter().find(has).map(|p| p.id.clone())
                };
                json!(Answer {
                    sentences: says
                        .iter()
                        .map(|(text, words)| AnswerSentence {
                            text: (*text).into(),
                            passages: cited(words).into_iter().collect(),
                        })
                        .collect(),
                })
            }
            Task::Answer => json!(Answer {
                sentences: vec![AnswerSentence {
                    text: "A woman opens a door.".into(),
                    passages: vec![first.0]
                }],
            }),
            Task::Persons => {
                let clothes = ["green coat", "red jacket"].iter().cycle();
                let person =
                    |clothing: &&str| Person { clothing: (*clothing).into(), ..Person::default() };
                let persons = clothes.take(request.images.len()).map(person).collect();
                json!(Persons { persons })
            }
            Task::Narrate => json!(Narrative { narrative: "She arrives.".into() }),
        };
        Ok(Completion { answer, usage: Usage { calls: 1, input_tokens: 10, output_tokens: 5 } })
    }
}

/// Storage whose calls can be made to fail or hang.
pub struct FlakyStorage {
    inner: Arc<OpendalStorage>,
    /// Fails every call while set.
    pub down: AtomicBool,
    /// Fails deletes while set.
    pub keeps: AtomicBool,
    /// Deletes hang while set; [`Self::land`] executes them later.
    pub slow: AtomicBool,
    under_way: Mutex<Vec<String>>,
    /// What its probes wait for.
    pub probes: Probes,
}

impl FlakyStorage {
    pub fn new(inner: OpendalStorage) -> Self {
        Self {
            inner: Arc::new(inner),
            down: AtomicBool::new(false),
            keeps: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            under_way: Mutex::default(),
            probes: Probes::default(),
        }
    }

    /// Executes the deletes that hung and returns their number.
    pub async fn land(&self) -> usize {
        let late = std::mem::take(&mut *self.under_way.lock().expect("unpoisoned"));
        for key in &late {
            self.inner.delete(key).await.expect("a folder");
        }
        late.len()
    }

    fn reach(&self) -> Result<&OpendalStorage> {
        if self.down.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Unavailable, "the bucket cannot be reached"));
        }
        Ok(&self.inner)
    }
}

#[async_trait]
impl ObjectStorage for FlakyStorage {
    fn bucket(&self) -> &str {
        self.inner.bucket()
    }

    async fn put(&self, key: &str, content: ByteStream, content_type: &str) -> Result<()> {
        self.reach()?.put(key, content, content_type).await
    }

    async fn stat(&self, key: &str) -> Result<Option<ObjectInfo>> {
        self.reach()?.stat(key).await
    }

    async fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<ByteStream> {
        self.reach()?.get(key, range).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.reach()?.list(prefix).await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        if self.keeps.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Denied, "the bucket refuses to delete"));
        }
        if self.slow.load(Ordering::SeqCst) {
            self.under_way.lock().expect("unpoisoned").push(key.to_owned());
            std::future::pending::<()>().await;
        }
        self.reach()?.delete(key).await
    }

    async fn delete_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        if self.keeps.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Denied, "the bucket refuses to delete"));
        }
        self.reach()?.delete_prefix(prefix).await
    }

    async fn probe(&self) -> Result<()> {
        self.probes.wait().await;
        self.reach()?.probe().await
    }
}

#[async_trait]
impl ObjectUrls for FlakyStorage {
    fn public_url(&self, key: &str) -> String {
        self.inner.public_url(key)
    }

    async fn download_url(&self, key: &str) -> Result<String> {
        self.inner.download_url(key).await
    }

    fn key_from_url(&self, url: &str) -> Option<String> {
        self.inner.key_from_url(url)
    }
}

/// What happens to the next publication of a video.
pub enum Publication {
    /// The write succeeds, but its acknowledgement is lost.
    Unanswered,
    /// The write fails without effect.
    Refused,
    /// The write succeeds without acknowledgement, and every later call fails until
    /// [`FlakyRecords::recover`].
    Last,
    /// Another instance publishes this record just before it.
    Overtaken(Value),
}

/// Records whose calls can fail and whose documents can be corrupted.
#[derive(Default)]
pub struct FlakyRecords {
    inner: MemoryRecords,
    /// Fails every listing of a video's documents while set.
    pub unlisted: AtomicBool,
    down: AtomicBool,
    next: Mutex<Option<Publication>>,
    spoilt: Mutex<BTreeSet<String>>,
}

impl FlakyRecords {
    /// Sets what happens to the next publication.
    pub fn at_publication(&self, what: Publication) {
        *self.next.lock().expect("unpoisoned") = Some(what);
    }

    /// Ends the outage that [`Publication::Last`] began.
    pub fn recover(&self) {
        self.down.store(false, Ordering::SeqCst);
    }

    /// Corrupts a document, so that it cannot be read as JSON.
    pub async fn spoil(&self, key: &str) {
        self.inner.put(key, &Value::Null).await.expect("records");
        self.spoilt.lock().expect("unpoisoned").insert(key.to_owned());
    }

    fn reach(&self) -> Result<&MemoryRecords> {
        if self.down.load(Ordering::SeqCst) { Err(unreachable()) } else { Ok(&self.inner) }
    }
}

fn unreachable() -> PortError {
    PortError::new(ErrorKind::Unavailable, "the records cannot be reached")
}

#[async_trait]
impl RecordStore for FlakyRecords {
    async fn get(&self, key: &str) -> Result<Option<Value>> {
        if self.spoilt.lock().expect("unpoisoned").contains(key) {
            let message = format!("the record {key} is not JSON");
            return Err(PortError::new(ErrorKind::Corrupt, message));
        }
        self.reach()?.get(key).await
    }

    async fn version(&self, key: &str) -> Result<Option<Version>> {
        if self.spoilt.lock().expect("unpoisoned").contains(key) {
            return Ok(None);
        }
        self.reach()?.version(key).await
    }

    async fn folder_version(&self, prefix: &str) -> Result<Option<Version>> {
        self.reach()?.folder_version(prefix).await
    }

    async fn put(&self, key: &str, document: &Value) -> Result<()> {
        self.reach()?.put(key, document).await?;
        self.spoilt.lock().expect("unpoisoned").remove(key);
        Ok(())
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Precondition<'_>,
        document: &Value,
    ) -> Result<bool> {
        // A claim keeps the epoch; a tombstone without an epoch does too.
        let epoch = |record: &Value| record["epoch"].as_u64().unwrap_or(0);
        let before = match expected {
            Precondition::Document(before) => epoch(before),
            Precondition::Absent | Precondition::Unreadable => 0,
        };
        let is_publication = key.ends_with("/video.json") && epoch(document) > before;
        let next = is_publication.then(|| self.next.lock().expect("unpoisoned").take()).flatten();
        match &next {
            Some(Publication::Refused) => return Err(unreachable()),
            Some(Publication::Overtaken(other)) => self.put(key, other).await?,
            _ => {}
        }
        let swapped = expected.matches(self.get(key).await)?;
        if swapped {
            self.put(key, document).await?;
        }
        match next {
            Some(Publication::Unanswered) => Err(unreachable()),
            Some(Publication::Last) => {
                self.down.store(true, Ordering::SeqCst);
                Err(unreachable())
            }
            _ => Ok(swapped),
        }
    }

    async fn remove(&self, key: &str, expected: &Value) -> Result<bool> {
        self.reach()?.remove(key, expected).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<String>> {
        if prefix.starts_with("videos/") && self.unlisted.load(Ordering::SeqCst) {
            return Err(unreachable());
        }
        self.reach()?.list(prefix).await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        self.reach()?.children(prefix).await
    }

    async fn delete(&self, prefix: &str) -> Result<()> {
        self.reach()?.delete(prefix).await?;
        let gone =
            |key: &String| key == prefix || (prefix.ends_with('/') && key.starts_with(prefix));
        self.spoilt.lock().expect("unpoisoned").retain(|key| !gone(key));
        Ok(())
    }

    async fn probe(&self) -> Result<()> {
        self.reach()?.probe().await
    }
}
