//! Jobs on a NATS server with JetStream. A key-value bucket stores the jobs' documents, and a work
//! queue per lane delivers each job to one instance at a time. The queue delivers the job again if
//! that instance sends no heartbeat for [`NatsOptions::redelivery`].

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, Info, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::kv::{self, CreateErrorKind, Entry, Operation, UpdateErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    self as streams, DeleteMessageErrorKind, DiscardPolicy, RetentionPolicy, Stream,
};
use async_nats::jetstream::{self, AckKind, Context, ErrorCode, Message};
use async_nats::{ConnectOptions, ServerAddr};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use ports::jobs::{JobQueue, Lease, QueueLane, StoredJob};
use ports::ownership::StoreOwnership;
use ports::{ErrorKind, PortError, Result};
use serde_json::Value;
use tokio::task::AbortHandle;

/// Number of documents to read in parallel when jobs are listed.
const PARALLEL_READS: usize = 32;

/// How long a pull request waits on the server.
const PULL: Duration = Duration::from_secs(20);

/// Pause between attempts while the server does not answer.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// How many times, and at what interval, a consumer looks for a job's document before it postpones
/// the job. A job is queued before its document is stored.
const LOOKUP_ATTEMPTS: u32 = 10;
const LOOKUP_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum delay before a job without a document is delivered again. The delay doubles each time.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Maximum number of deliveries of a job without a document. It is reached after about an hour. If
/// the document is stored later, its job is no longer queued.
const MAX_DELIVERIES: u32 = 65;

/// When a job is added, its document may take at most 1/`MAX_SHARE` of the server's maximum message
/// size, because the document grows as the job progresses.
const MAX_SHARE: usize = 2;

/// Number of heartbeats per [`NatsOptions::redelivery`].
const HEARTBEATS: u32 = 3;

/// How to reach the server, and what to create on it.
#[derive(Debug, Clone)]
pub struct NatsOptions {
    /// URLs of the servers in one cluster, separated by commas, such as `nats://host:4222`, or
    /// `tls://…` for TLS. If the server requires a user and password, or a token, these precede the
    /// host.
    pub url: String,
    /// A credentials file, if the server requires one.
    pub credentials: Option<PathBuf>,
    /// Prefix for the names of streams, buckets and subjects. It consists of letters, digits, `-`
    /// and `_`.
    pub name: String,
    /// Number of replicas of each job in a cluster; at least 1.
    pub replicas: usize,
    /// The queue delivers a job again if the job's holder sends no heartbeat for this long.
    pub redelivery: Duration,
    /// Timeout for one request.
    pub timeout: Duration,
}

/// Jobs on a NATS server.
pub struct NatsJobs {
    context: Context,
    documents: kv::Store,
    main: WorkQueue,
    follow_up: WorkQueue,
    options: NatsOptions,
}

/// The queue of one lane.
struct WorkQueue {
    stream: Stream,
    consumer: Consumer<pull::Config>,
    /// The subject of each job without its id.
    subjects: String,
}

/// The key for the installation that owns the jobs, stored in a separate bucket.
const OWNER: &str = "install";

/// The durable consumer of each lane that all instances share.
const CONSUMER: &str = "workers";

impl NatsJobs {
    /// Connects and creates the streams and buckets that are missing on the server. Returns
    /// `Unavailable` if the server does not answer.
    pub async fn connect(options: NatsOptions) -> Result<Self> {
        let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if options.name.is_empty() || !options.name.chars().all(fit) {
            return Err(PortError::new(
                ErrorKind::Invalid,
                format!("the name '{}' must be of letters, digits, - and _", options.name),
            ));
        }
        let servers = options.url.split(',').map(|url| url.trim().parse::<ServerAddr>());
        let servers: Vec<ServerAddr> = servers.collect::<Result<_, _>>().map_err(|e| {
            let message = format!(
                "'{}' is not a NATS server URL; use one like nats://host:4222",
                options.url
            );
            PortError::caused_by(ErrorKind::Invalid, message, e)
        })?;
        let mut connection = ConnectOptions::new()
            .name("shotlog")
            .connection_timeout(options.timeout)
            .request_timeout(Some(options.timeout))
            .max_reconnects(None);
        if let Some(file) = &options.credentials {
            connection = connection.credentials_file(file).await.map_err(|e| {
                let message = format!("cannot use the credentials in {}", file.display());
                PortError::caused_by(ErrorKind::Invalid, message, e)
            })?;
        }
        // Errors do not contain the configured URL, which may include a password.
        let named: Vec<String> =
            servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
        let client = connection.connect(servers).await.map_err(|e| {
            let message = format!("cannot connect to NATS at {}: {e}", named.join(", "));
            PortError::caused_by(ErrorKind::Unavailable, message, e)
        })?;
        let mut context = jetstream::new(client);
        context.set_timeout(options.timeout);
        let documents = bucket(&context, &options, "jobs").await?;
        let main = WorkQueue::open(&context, &options, "queue").await?;
        let follow_up = WorkQueue::open(&context, &options, "follow-up").await?;
        Ok(Self { context, documents, main, follow_up, options })
    }

    fn lane(&self, lane: QueueLane) -> &WorkQueue {
        match lane {
            QueueLane::Main => &self.main,
            QueueLane::FollowUp => &self.follow_up,
        }
    }

    /// Returns whether the document of a job exists, checking several times.
    async fn is_stored(&self, job_id: &str) -> Result<bool> {
        for _ in 0..LOOKUP_ATTEMPTS {
            if self.get(job_id).await?.is_some() {
                return Ok(true);
            }
            tokio::time::sleep(LOOKUP_INTERVAL).await;
        }
        Ok(false)
    }

    /// Creates a lease for the job of a message of `lane`. Returns `None` if the job does not exist.
    async fn accept(&self, lane: QueueLane, message: Message) -> Result<Option<NatsLease>> {
        let job_id = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
        if self.is_stored(&job_id).await? {
            return Ok(Some(NatsLease::new(job_id, message, self.options.redelivery / HEARTBEATS)));
        }
        let deliveries = deliveries(&message);
        if deliveries < MAX_DELIVERIES {
            let pause =
                (RETRY_PAUSE * 2_u32.saturating_pow(deliveries - 1).min(60)).min(MAX_BACKOFF);
            message.ack_with(AckKind::Nak(Some(pause))).await.map_err(request_failed)?;
            return Ok(None);
        }
        message.double_ack().await.map_err(request_failed)?;
        if self.get(&job_id).await?.is_some() {
            self.queue(lane, &job_id).await?;
        }
        Ok(None)
    }

    /// Queues a job unless it is already queued.
    async fn queue(&self, lane: QueueLane, job_id: &str) -> Result<()> {
        let place = PublishMessage::build().expected_last_subject_sequence(0);
        let subject = format!("{}.{job_id}", self.lane(lane).subjects);
        let queued = match self.context.send_publish(subject, place).await {
            Ok(acknowledged) => acknowledged.await,
            Err(error) => Err(error),
        };
        match queued {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(()),
            Err(error) => Err(request_failed(error)),
        }
    }

    /// Serializes a document. Returns `TooLarge` if it exceeds 1/`share` of the maximum message
    /// size.
    fn body(&self, document: &Value, share: usize) -> Result<Bytes> {
        let body = Bytes::from(document.to_string());
        let max_bytes = self.context.client().max_payload() / share;
        if body.len() > max_bytes {
            let message = format!(
                "the job document has {} bytes; at most {max_bytes} are accepted",
                body.len()
            );
            return Err(PortError::new(ErrorKind::TooLarge, message));
        }
        Ok(body)
    }
}

impl WorkQueue {
    /// Opens or creates the queue `of` the jobs named in `options`.
    async fn open(context: &Context, options: &NatsOptions, of: &str) -> Result<Self> {
        let subjects = format!("{}.{of}", options.name);
        let stream = context
            .get_or_create_stream(streams::Config {
                name: format!("{}-{of}", options.name),
                subjects: vec![format!("{subjects}.*")],
                retention: RetentionPolicy::WorkQueue,
                num_replicas: options.replicas,
                ..streams::Config::default()
            })
            .await
            .map_err(request_failed)?;
        let consumer = stream
            .create_consumer(pull::Config {
                durable_name: Some(CONSUMER.into()),
                ack_policy: AckPolicy::Explicit,
                ack_wait: options.redelivery,
                ..pull::Config::default()
            })
            .await
            .map_err(request_failed)?;
        Ok(Self { stream, consumer, subjects })
    }

    /// Waits for the next message. Returns `None` if no message arrives in time.
    async fn next(&self) -> Result<Option<Message>> {
        let batch = self.consumer.batch().max_messages(1).expires(PULL).messages().await;
        let mut batch = batch.map_err(request_failed)?;
        batch.try_next().await.map_err(request_failed)
    }

    async fn waiting_count(&self) -> Result<usize> {
        // The consumer's count is not used, because servers before 2.10 report a wrong count after
        // a withdrawal.
        let queued = self.stream.get_info().await.map_err(request_failed)?.state.messages;
        let taken = self.consumer_info().await?.num_ack_pending;
        Ok((queued as usize).saturating_sub(taken))
    }

    async fn consumer_info(&self) -> Result<Info> {
        self.stream.consumer_info(CONSUMER).await.map_err(request_failed)
    }
}

/// Opens or creates a bucket by creating its stream, because servers before 2.10 do not support the
/// request that the client sends before it creates a bucket.
async fn bucket(context: &Context, options: &NatsOptions, of: &str) -> Result<kv::Store> {
    let bucket = format!("{}-{of}", options.name);
    let stream = streams::Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        // Direct reads are disabled because any replica may answer them, even one that lags behind.
        allow_direct: false,
        num_replicas: options.replicas,
        ..streams::Config::default()
    };
    context.get_or_create_stream(stream).await.map_err(request_failed)?;
    context.get_key_value(bucket).await.map_err(request_failed)
}

#[async_trait]
impl JobQueue for NatsJobs {
    async fn add(
        &self,
        lane: QueueLane,
        job_id: &str,
        document: &Value,
    ) -> Result<Option<StoredJob>> {
        if let Some(stored_job) = self.get(job_id).await? {
            return Ok(Some(stored_job));
        }
        let body = self.body(document, MAX_SHARE)?;
        // The job is queued first, because a document without a queued job would wait forever.
        self.queue(lane, job_id).await?;
        match self.documents.create(job_id, body).await {
            Ok(_) => Ok(None),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => self.get(job_id).await,
            Err(error) => Err(request_failed(error)),
        }
    }

    async fn waiting_count(&self) -> Result<usize> {
        Ok(self.main.waiting_count().await? + self.follow_up.waiting_count().await?)
    }

    async fn take(&self, lane: QueueLane) -> Result<Box<dyn Lease>> {
        loop {
            if let Some(message) = self.lane(lane).next().await?
                && let Some(taken) = self.accept(lane, message).await?
            {
                return Ok(Box::new(taken));
            }
        }
    }

    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>> {
        let entry = self.documents.entry(job_id).await.map_err(request_failed)?;
        entry.map(stored_job).transpose().map(Option::flatten)
    }

    async fn list(&self) -> Result<Vec<StoredJob>> {
        let all = async {
            let ids = self.documents.keys().await.map_err(request_failed)?;
            // A job that changes during the listing appears twice.
            let ids: BTreeSet<String> = ids.map_err(request_failed).try_collect().await?;
            stream::iter(ids)
                .map(|job_id| async move { self.get(&job_id).await })
                .buffer_unordered(PARALLEL_READS)
                .try_filter_map(|stored_job| async move { Ok(stored_job) })
                .try_collect()
                .await
        };
        tokio::time::timeout(self.options.timeout, all).await.map_err(|_| {
            PortError::new(ErrorKind::Timeout, "the NATS server did not list the jobs in time")
        })?
    }

    async fn compare_and_swap(
        &self,
        job_id: &str,
        version: u64,
        document: &Value,
    ) -> Result<Option<u64>> {
        let body = self.body(document, 1)?;
        let swapped = self.documents.update(job_id, body, version).await;
        match swapped {
            Ok(version) => Ok(Some(version)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(request_failed(error)),
        }
    }

    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>> {
        let changes = self.documents.watch_with_history(job_id).await.map_err(request_failed)?;
        let stored_job = changes.map(|entry| stored_job(entry.map_err(request_failed)?));
        Ok(stored_job.try_filter_map(|stored_job| async move { Ok(stored_job) }).boxed())
    }

    async fn withdraw(&self, _job_id: &str) -> Result<bool> {
        // The job's message may be on its way to a consumer.
        Ok(false)
    }

    async fn remove(&self, job_id: &str, version: u64) -> Result<()> {
        if self.get(job_id).await?.is_none_or(|stored_job| stored_job.version != version) {
            return Ok(());
        }
        // Deleting the key from the bucket would leave a marker. Purging the subject would make
        // consumers on servers before 2.10 skip other messages.
        match self.documents.stream.delete_message(version).await {
            Ok(_) => Ok(()),
            Err(error) => match error.kind() {
                DeleteMessageErrorKind::JetStream(api_error)
                    if NOT_FOUND.contains(&api_error.error_code()) =>
                {
                    Ok(())
                }
                _ => Err(request_failed(error)),
            },
        }
    }

    async fn probe(&self) -> Result<()> {
        self.documents.stream.get_info().await.map_err(request_failed)?;
        self.main.consumer_info().await?;
        self.follow_up.consumer_info().await?;
        Ok(())
    }
}

#[async_trait]
impl StoreOwnership for NatsJobs {
    fn shared(&self) -> bool {
        true
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        let owner = bucket(&self.context, &self.options, "owner").await?;
        match owner.create(OWNER, install.to_owned().into()).await {
            Ok(_) => return Ok(install.to_owned()),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(request_failed(error)),
        }
        let entered = owner.get(OWNER).await.map_err(request_failed)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&entered).into_owned())
    }
}

/// Returns how often the server has delivered a message.
fn deliveries(message: &Message) -> u32 {
    message.info().map_or(1, |info| info.delivered.try_into().unwrap_or(1))
}

struct NatsLease {
    job_id: String,
    deliveries: u32,
    message: Message,
    signs: AbortHandle,
}

impl NatsLease {
    fn new(job_id: String, message: Message, every: Duration) -> Self {
        let holder = message.clone();
        let signs = tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                if let Err(error) = holder.ack_with(AckKind::Progress).await {
                    tracing::warn!(error, "a sign of life did not reach the NATS server");
                }
            }
        });
        Self { job_id, deliveries: deliveries(&message), message, signs: signs.abort_handle() }
    }
}

impl Drop for NatsLease {
    fn drop(&mut self) {
        self.signs.abort();
    }
}

#[async_trait]
impl Lease for NatsLease {
    fn job_id(&self) -> &str {
        &self.job_id
    }

    fn delivery_count(&self) -> u32 {
        self.deliveries
    }

    async fn ack(self: Box<Self>) -> Result<()> {
        self.message.double_ack().await.map_err(request_failed)
    }

    async fn nack(self: Box<Self>) -> Result<()> {
        self.message.double_ack_with(AckKind::Nak(None)).await.map_err(request_failed)
    }
}

/// The error codes that mean that a message no longer exists.
const NOT_FOUND: [ErrorCode; 2] = [ErrorCode::NO_MESSAGE_FOUND, ErrorCode::SEQUENCE_NOT_FOUND];

/// Returns the job in an entry, or `None` if the entry is a delete marker.
fn stored_job(entry: Entry) -> Result<Option<StoredJob>> {
    if entry.operation != Operation::Put {
        return Ok(None);
    }
    // Invalid JSON becomes `null`, which the caller recognizes as an invalid job.
    let document = serde_json::from_slice(&entry.value).unwrap_or_default();
    Ok(Some(StoredJob { job_id: entry.key, document, version: entry.revision }))
}

fn request_failed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> PortError {
    let error = error.into();
    let message = format!("the NATS request failed: {error}");
    PortError::caused_by(ErrorKind::Unavailable, message, error)
}
