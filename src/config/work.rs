//! The sections on how the service works: sources, pipeline, answers, jobs, logs and traces.

use serde::{Deserialize, Serialize};

section! {
    /// Downloads.
    Fetch {
        /// Allow addresses that are not public: for trusted networks only.
        allow_private: bool = false,
        /// Largest download, bytes; `SERVICE_MAX_BYTES` sets it too.
        max_bytes: u64 = 4 << 30,
        /// Redirects that are followed.
        max_redirects: usize = 5,
        /// Longest wait for a connection, seconds.
        connect_timeout: u64 = 10,
        /// Longest silence of the server, seconds.
        read_timeout: u64 = 30,
        /// Longest download, seconds.
        timeout: u64 = 3600,
    }
}

section! {
    /// Decoding.
    Decoder {
        /// Threads per file; 0 is as many as the processor has use for.
        threads: usize = 0,
        /// Largest picture, width × height.
        max_pixels: u64 = 8192 * 4608,
        /// Streams a file may have.
        max_streams: u32 = 64,
        /// Longest wait for a file to open, seconds.
        open_timeout: u64 = 15,
        /// Width of the frames the detectors look at, pixels.
        scan_width: u32 = 160,
        /// Their height, pixels.
        scan_height: u32 = 90,
    }
}

section! {
    /// The pipeline.
    Ingest {
        /// Jobs that run at once; 0 leaves them to other instances (nats).
        workers: usize = 1,
        /// Jobs that may wait.
        queue: usize = 100,
        /// Chunks analyzed at once within a job.
        concurrency: usize = 2,
        /// Largest upload, bytes.
        max_upload_bytes: u64 = 4 << 30,
        /// Longest video, seconds.
        max_duration: u64 = 12 * 3600,
        /// Most chunks of one video.
        max_chunks: usize = 10_000,
        /// Frames per chunk that models look at.
        frames_per_chunk: usize = 3,
        /// Largest side of those frames and of posters, pixels.
        frame_side: u32 = 1280,
    }
}

section! {
    /// Pictures of stored videos, for storyboards and thumbnails.
    Frames {
        /// Most bytes of pictures kept below `data_dir`; the longest unused go first.
        cache_bytes: u64 = 512 << 20,
        /// Widest frame, pixels.
        max_width: u32 = 1920,
        /// Decodes at once.
        concurrency: usize = 2,
        /// Requests that may wait for a decode; past them the answer is 503.
        queue: usize = 64,
        /// Videos whose file is kept for the next frame.
        sources: usize = 2,
    }
}

section! {
    /// How searches rank, and what their scores mean.
    Search {
        /// The constant of reciprocal rank fusion: the larger, the less the first places count.
        fusion_k: f64 = 60.0,
        /// Hits of each list that are merged, at least.
        fusion_depth: usize = 50,
        /// Weight of nearness in meaning where both are merged.
        vector_weight: f64 = 1.0,
        /// Weight of the words where both are merged.
        text_weight: f64 = 1.0,
        /// Searches for unrelated things that scores are measured against, at most 64.
        null_probes: usize = 64,
        /// Longest time until they are measured again, seconds.
        null_seconds: u64 = 300,
        /// Standard deviations above what absent things score: the recommended threshold.
        threshold_deviations: f32 = 3.0,
    }
}

section! {
    /// Answers.
    Ask {
        /// Most tokens of evidence for one answer.
        context_tokens: u32 = 6000,
        /// Most videos that one answer is drawn from.
        max_videos: usize = 20,
    }
}

/// Where jobs are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobsKind {
    /// In memory: a restart forgets them.
    #[default]
    Memory,
    /// A NATS server with JetStream: every instance works on them, and goes on with those of one that died.
    Nats,
}

section! {
    /// Jobs.
    Jobs {
        /// Where.
        kind: JobsKind = JobsKind::Memory,
        /// Finished jobs that are remembered.
        history: usize = 1000,
        /// Times that a job may end with the instance that works on it before it is given up (nats).
        attempts: u32 = 3,
        /// Addresses of one cluster, separated by commas, as `nats://user:password@host:4222` or `tls://host:4222` (nats).
        url: String = "nats://127.0.0.1:4222".into(),
        /// A credentials file, where the server asks for one (nats).
        credentials: String = String::new(),
        /// Begins the names of the stream, the bucket and the subjects: letters, digits, `-` and `_` (nats).
        name: String = "shotlog".into(),
        /// Copies that a cluster keeps of each job, when they are made (nats).
        replicas: usize = 1,
        /// Seconds of silence after which a job is offered to another instance (nats).
        redelivery: u64 = 30,
        /// Seconds for one request (nats).
        timeout: u64 = 10,
    }
}

section! {
    /// Notices to the addresses that ingests name.
    Callbacks {
        /// Key of their signatures; empty: ingests may not name any.
        secret: String = String::new(),
        /// Times a notice is sent until it is taken.
        attempts: u32 = 5,
        /// Seconds before the second time; each further pause is twice as long.
        pause: u64 = 2,
    }
}

section! {
    /// Stopping.
    Shutdown {
        /// How long running jobs and requests may go on, seconds.
        grace: u64 = 30,
    }
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object per line.
    Json,
}

section! {
    /// What is logged.
    Log {
        /// The form of a line.
        format: LogFormat = LogFormat::Text,
        /// Levels by module, as `info` or `shotlog=debug,info`.
        filter: String = "info".into(),
    }
}

section! {
    /// What is traced.
    Traces {
        /// An OpenTelemetry collector that takes OTLP over HTTP, as `http://127.0.0.1:4318`; empty: nothing is traced.
        endpoint: String = String::new(),
        /// What the traces are filed under.
        service_name: String = "shotlog".into(),
        /// Share of requests and jobs that are traced, 0 to 1.
        share: f64 = 1.0,
        /// Seconds for sending a batch.
        timeout: u64 = 10,
    }
}
