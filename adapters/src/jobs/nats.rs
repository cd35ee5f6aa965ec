//! Jobs on a NATS server with JetStream: a key-value bucket stores their documents, a work queue
//! delivers each to one instance at a time, and again if the instance sends no heartbeat for
//! [`NatsOptions::redelivery`].

use std::collections::BTreeSet;
use std::error::Error as StdError;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
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
use ports::jobs::{JobQueue, Lease, StoredJob};
use ports::{ErrorKind, PortError, Result};
use serde_json::Value;
use tokio::task::AbortHandle;

/// Documents read in parallel when listing.
const PARALLEL_READS: usize = 32;

/// How long a pull request waits on the server.
const PULL: Duration = Duration::from_secs(20);

/// Pause between attempts while the server does not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// A job is queued before its document is stored, so the consumer checks for the document this
/// often before it postpones the job.
const LOOKS: u32 = 10;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A job without a document is delivered again after a delay that doubles each time, up to this,
/// ...
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// ... and this often, which takes about an hour: a document stored later has no job.
const OFFERS: u32 = 65;

/// When a job is added, its document may take at most 1/`SHARE` of the server's maximum message
/// size, because it grows with progress.
const SHARE: usize = 2;

/// Heartbeats per [`NatsOptions::redelivery`].
const SIGNS: u32 = 3;

/// How to reach the server, and what to create there.
#[derive(Debug, Clone)]
pub struct NatsOptions {
    /// URLs of one cluster, separated by commas: `nats://host:4222`, or `tls://` for TLS; with user
    /// and password, or a token, before the host if the server requires them.
    pub url: String,
    /// A credentials file, if the server requires one.
    pub credentials: Option<PathBuf>,
    /// Prefix of the names of stream, bucket and subjects: letters, digits, `-` and `_`.
    pub name: String,
    /// Replicas of each job in a cluster; at least 1.
    pub replicas: usize,
    /// The queue delivers a job again if its holder sends no heartbeat for this long.
    pub redelivery: Duration,
    /// Timeout of one request.
    pub timeout: Duration,
}

/// Jobs on a NATS server.
pub struct NatsJobs {
    context: Context,
    documents: kv::Store,
    queue: Stream,
    consumer: Consumer<pull::Config>,
    options: NatsOptions,
}

/// The key of the installation that owns the jobs, in its own bucket.
const OWNER: &str = "install";

/// The durable consumer that all instances share.
const CONSUMER: &str = "workers";

impl NatsJobs {
    /// Connects and creates what is missing on the server. `Unavailable` if it does not answer.
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
                "'{}' is no address of a NATS server; one looks like nats://host:4222",
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
                let message = format!("the credentials in {} cannot be used", file.display());
                PortError::caused_by(ErrorKind::Invalid, message, e)
            })?;
        }
        // Not the URL as given, which may hold a password.
        let named: Vec<String> =
            servers.iter().map(|server| format!("{}:{}", server.host(), server.port())).collect();
        let client = connection.connect(servers).await.map_err(|e| {
            let message = format!("no NATS server takes us at {}: {e}", named.join(", "));
            PortError::caused_by(ErrorKind::Unavailable, message, e)
        })?;
        let mut context = jetstream::new(client);
        context.set_timeout(options.timeout);
        let documents = bucket(&context, &options, "jobs").await?;
        let queue = context
            .get_or_create_stream(streams::Config {
                name: format!("{}-queue", options.name),
                subjects: vec![format!("{}.queue.*", options.name)],
                retention: RetentionPolicy::WorkQueue,
                num_replicas: options.replicas,
                ..streams::Config::default()
            })
            .await
            .map_err(unanswered)?;
        let consumer = queue
            .create_consumer(pull::Config {
                durable_name: Some(CONSUMER.into()),
                ack_policy: AckPolicy::Explicit,
                ack_wait: options.redelivery,
                ..pull::Config::default()
            })
            .await
            .map_err(unanswered)?;
        Ok(Self { context, documents, queue, consumer, options })
    }

    fn subject(&self, job_id: &str) -> String {
        format!("{}.queue.{job_id}", self.options.name)
    }

    /// The next message of the queue, or `None` if none arrived in time.
    async fn next(&self) -> Result<Option<Message>> {
        let batch = self.consumer.batch().max_messages(1).expires(PULL).messages().await;
        let mut batch = batch.map_err(unanswered)?;
        batch.try_next().await.map_err(unanswered)
    }

    /// Whether the document of a message's job exists.
    async fn is_kept(&self, job_id: &str) -> Result<bool> {
        for _ in 0..LOOKS {
            if self.get(job_id).await?.is_some() {
                return Ok(true);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(false)
    }

    /// The lease for the message's job; `None` if the job does not exist.
    async fn accept(&self, message: Message) -> Result<Option<Taken>> {
        let job_id = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
        if self.is_kept(&job_id).await? {
            return Ok(Some(Taken::new(job_id, message, self.options.redelivery / SIGNS)));
        }
        let offers = offers(&message);
        if offers < OFFERS {
            let pause = (PAUSE * 2_u32.saturating_pow(offers - 1).min(60)).min(LONGEST_PAUSE);
            message.ack_with(AckKind::Nak(Some(pause))).await.map_err(unanswered)?;
            return Ok(None);
        }
        message.double_ack().await.map_err(unanswered)?;
        if self.get(&job_id).await?.is_some() {
            self.queue(&job_id).await?;
        }
        Ok(None)
    }

    /// Queues a job unless it is already queued.
    async fn queue(&self, job_id: &str) -> Result<()> {
        let place = PublishMessage::build().expected_last_subject_sequence(0);
        let queued = match self.context.send_publish(self.subject(job_id), place).await {
            Ok(acknowledged) => acknowledged.await,
            Err(error) => Err(error),
        };
        match queued {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(()),
            Err(error) => Err(unanswered(error)),
        }
    }

    /// Serializes a document. `TooLarge` if it exceeds 1/`share` of a message.
    fn body(&self, document: &Value, share: usize) -> Result<Bytes> {
        let body = Bytes::from(document.to_string());
        let most = self.context.client().max_payload() / share;
        if body.len() > most {
            let message = format!("{} bytes are too many for the job queue: {most}", body.len());
            return Err(PortError::new(ErrorKind::TooLarge, message));
        }
        Ok(body)
    }
}

/// Opens or creates a bucket by creating its stream: servers before 2.10 do not support the request
/// that the client sends before it creates a bucket.
async fn bucket(context: &Context, options: &NatsOptions, of: &str) -> Result<kv::Store> {
    let bucket = format!("{}-{of}", options.name);
    let stream = streams::Config {
        name: format!("KV_{bucket}"),
        subjects: vec![format!("$KV.{bucket}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        // Any replica may answer a direct read, including one that lags behind.
        allow_direct: false,
        num_replicas: options.replicas,
        ..streams::Config::default()
    };
    context.get_or_create_stream(stream).await.map_err(unanswered)?;
    context.get_key_value(bucket).await.map_err(unanswered)
}

#[async_trait]
impl JobQueue for NatsJobs {
    fn shared(&self) -> bool {
        true
    }

    async fn add(&self, job_id: &str, document: &Value) -> Result<Option<StoredJob>> {
        if let Some(kept) = self.get(job_id).await? {
            return Ok(Some(kept));
        }
        let body = self.body(document, SHARE)?;
        // Queued first: a document that is not in the queue would wait forever.
        self.queue(job_id).await?;
        match self.documents.create(job_id, body).await {
            Ok(_) => Ok(None),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => self.get(job_id).await,
            Err(error) => Err(unanswered(error)),
        }
    }

    async fn waiting_count(&self) -> Result<usize> {
        // Not the consumer's own count, which is wrong after a withdrawal on servers before 2.10.
        let queued = self.queue.get_info().await.map_err(unanswered)?.state.messages;
        let taken = self.queue.consumer_info(CONSUMER).await.map_err(unanswered)?.num_ack_pending;
        Ok((queued as usize).saturating_sub(taken))
    }

    async fn take(&self) -> Result<Box<dyn Lease>> {
        loop {
            if let Some(message) = self.next().await?
                && let Some(taken) = self.accept(message).await?
            {
                return Ok(Box::new(taken));
            }
        }
    }

    async fn get(&self, job_id: &str) -> Result<Option<StoredJob>> {
        let entry = self.documents.entry(job_id).await.map_err(unanswered)?;
        entry.map(kept).transpose().map(Option::flatten)
    }

    async fn list(&self) -> Result<Vec<StoredJob>> {
        let all = async {
            let ids = self.documents.keys().await.map_err(unanswered)?;
            // A job that changes in the meantime appears twice.
            let ids: BTreeSet<String> = ids.map_err(unanswered).try_collect().await?;
            stream::iter(ids)
                .map(|job_id| async move { self.get(&job_id).await })
                .buffer_unordered(PARALLEL_READS)
                .try_filter_map(|kept| async move { Ok(kept) })
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
            Err(error) => Err(unanswered(error)),
        }
    }

    async fn watch(&self, job_id: &str) -> Result<BoxStream<'static, Result<StoredJob>>> {
        let changes = self.documents.watch_with_history(job_id).await.map_err(unanswered)?;
        let kept = changes.map(|entry| kept(entry.map_err(unanswered)?));
        Ok(kept.try_filter_map(|kept| async move { Ok(kept) }).boxed())
    }

    async fn withdraw(&self, _job_id: &str) -> Result<bool> {
        // Its message may be on the way to a consumer.
        Ok(false)
    }

    async fn remove(&self, job_id: &str, version: u64) -> Result<()> {
        if self.get(job_id).await?.is_none_or(|kept| kept.version != version) {
            return Ok(());
        }
        // Neither the bucket's delete, which leaves a marker for each key, nor a purge of the
        // subject, after which consumers on servers before 2.10 skip other messages.
        match self.documents.stream.delete_message(version).await {
            Ok(_) => Ok(()),
            Err(error) => match error.kind() {
                DeleteMessageErrorKind::JetStream(told) if GONE.contains(&told.error_code()) => {
                    Ok(())
                }
                _ => Err(unanswered(error)),
            },
        }
    }

    async fn adopt(&self, install: &str) -> Result<String> {
        let owner = bucket(&self.context, &self.options, "owner").await?;
        match owner.create(OWNER, install.to_owned().into()).await {
            Ok(_) => return Ok(install.to_owned()),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(unanswered(error)),
        }
        let entered = owner.get(OWNER).await.map_err(unanswered)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&entered).into_owned())
    }

    async fn probe(&self) -> Result<()> {
        self.documents.stream.get_info().await.map_err(unanswered)?;
        self.queue.consumer_info(CONSUMER).await.map_err(unanswered)?;
        Ok(())
    }
}

/// How often the server has delivered a message.
fn offers(message: &Message) -> u32 {
    message.info().map_or(1, |info| info.delivered.try_into().unwrap_or(1))
}

struct Taken {
    job_id: String,
    offers: u32,
    message: Message,
    signs: AbortHandle,
}

impl Taken {
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
        Self { job_id, offers: offers(&message), message, signs: signs.abort_handle() }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.signs.abort();
    }
}

#[async_trait]
impl Lease for Taken {
    fn job_id(&self) -> &str {
        &self.job_id
    }

    fn delivery_count(&self) -> u32 {
        self.offers
    }

    async fn ack(self: Box<Self>) -> Result<()> {
        self.message.double_ack().await.map_err(unanswered)
    }

    async fn nack(self: Box<Self>) -> Result<()> {
        self.message.double_ack_with(AckKind::Nak(None)).await.map_err(unanswered)
    }
}

/// The errors for a message that no longer exists.
const GONE: [ErrorCode; 2] = [ErrorCode::NO_MESSAGE_FOUND, ErrorCode::SEQUENCE_NOT_FOUND];

/// The job of an entry, unless the entry is a delete marker.
fn kept(entry: Entry) -> Result<Option<StoredJob>> {
    if entry.operation != Operation::Put {
        return Ok(None);
    }
    // The consumer then sees that it is not a job.
    let document = serde_json::from_slice(&entry.value).unwrap_or_default();
    Ok(Some(StoredJob { job_id: entry.key, document, version: entry.revision }))
}

fn unanswered(error: impl Into<Box<dyn StdError + Send + Sync>>) -> PortError {
    let error = error.into();
    let message = format!("the NATS server did not do what was asked: {error}");
    PortError::caused_by(ErrorKind::Unavailable, message, error)
}
