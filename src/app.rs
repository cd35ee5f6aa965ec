//! The composition root: builds a running service from the configuration. Each adapter module opens
//! its port from its section of the configuration; this module wires them together.

mod models;
mod roles;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use adapters::index::{DamagePolicy, IndexSpec, IndexStores, Rebuild};
use adapters::{OpenError, index};
use ports::index::PictureSpace;

use crate::config::Config;
use crate::http::{ExposureError, HttpOptions, origin};
use domain::analysis::{VECTOR_FIELDS, VISUAL_FRAMES};
use domain::maintenance::repair::{Repair, RepairReport};
use domain::status::ProbeSettings;
use domain::{Settings, Shotlog, Stores};
use models::Embedders;

/// Why the service cannot start. The message names the configuration key at fault and states what
/// would be valid.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An adapter failed to open.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The API would be reachable from other hosts without a token.
    #[error(transparent)]
    Exposure(#[from] ExposureError),
    /// The index rebuild failed.
    #[error("{}", .0.labelled())]
    Reindex(domain::Error),
    /// Replacing the index would delete vectors that other records may own.
    #[error(
        "the collection that would be replaced (index.collection) holds vectors of {0} videos that \
         have no record here; they may belong to other records than these (records.kind); if not, \
         --remove-orphans removes them"
    )]
    Orphans(u64),
}

type Result<T> = std::result::Result<T, StartError>;

/// A service and its HTTP options.
pub struct App {
    /// The use-cases.
    pub service: Arc<Shotlog>,
    /// The options with which HTTP serves the use-cases.
    pub http: HttpOptions,
    /// Each role with the adapter that serves it.
    pub roles: Vec<(&'static str, String)>,
}

/// Opens every adapter that the configuration selects. `address` is the address the service listens
/// on.
pub async fn build(config: &Config, address: SocketAddr) -> Result<App> {
    build_with_index(config, address, DamagePolicy::Refuse).await
}

/// Like [`build`], but for a service that is about to run. If the files of an embedded index are
/// damaged or have a different format, replaces the index with an empty one, which the startup
/// repair fills.
pub async fn build_to_serve(config: &Config, address: SocketAddr) -> Result<App> {
    let on_servers =
        config.index.kind == index::Kind::Qdrant || config.jobs.kind == adapters::jobs::Kind::Nats;
    if on_servers && !config.records.is_shared() {
        tracing::warn!(
            "the records are in a folder of this machine (records.kind), so that no other instance \
             can use the same index and queue: it would be refused"
        );
    }
    build_with_index(config, address, DamagePolicy::Replace).await
}

async fn build_with_index(
    config: &Config,
    address: SocketAddr,
    unreadable: DamagePolicy,
) -> Result<App> {
    let embedders = Embedders::open(config)?;
    let opened = index::open(&config.index, contents(config, &embedders), unreadable).await?;
    assemble(config, address, embedders, opened).await
}

/// Rebuilds every index point from the records. The points go into a new index, which replaces the
/// active one once it is complete. Unless `remove_orphans` is set, fails if this would drop the
/// vectors of more than a few videos that have no record.
pub async fn reindex(
    config: &Config,
    address: SocketAddr,
    remove_orphans: bool,
) -> Result<RepairReport> {
    let all = Repair { all: true, remove_orphans, ..Repair::default() };
    let embedders = Embedders::open(config)?;
    let fresh = Rebuild::open(&config.index, contents(config, &embedders)).await?;
    let opened = IndexStores { index: fresh.index.clone(), listing: fresh.listing.clone() };
    let service = assemble(config, address, embedders, opened).await?.service;
    let owned = fresh.current.as_ref().unwrap_or(&fresh.index);
    service.catalog.installation.restore(owned.as_ref()).await.map_err(StartError::Reindex)?;
    service.maintenance.startup.adopt_stores().await.map_err(StartError::Reindex)?;
    let reindexer = &service.maintenance.reindexer;
    if let Some(searched) = &fresh.current
        && !remove_orphans
    {
        let orphans = reindexer.excess_orphans(searched.as_ref()).await;
        if let Some(orphans) = orphans.map_err(StartError::Reindex)? {
            return Err(StartError::Orphans(orphans));
        }
    }
    let mut done = reindexer.reindex(all).await.map_err(StartError::Reindex)?;
    service.catalog.listing.rebuild().await.map_err(StartError::Reindex)?;
    if fresh.publish().await? {
        // Adds videos that were ingested into the old collection during the rebuild.
        let meanwhile = reindexer.reindex(Repair::default()).await;
        done.rebuilt += meanwhile.map_err(StartError::Reindex)?.rebuilt;
    }
    Ok(done)
}

/// Returns the OpenAPI document for a service with this configuration. Opens nothing outside the
/// process.
pub async fn openapi(config: &Config) -> Result<String> {
    let mut config = config.clone();
    config.storage.kind = adapters::storage::Kind::Memory;
    config.index.kind = adapters::index::Kind::Memory;
    config.jobs.kind = adapters::jobs::Kind::Memory;
    config.embedder.kind = adapters::embedder::Kind::Hashing;
    let app = build(&config, SocketAddr::from(([127, 0, 0, 1], 8080))).await?;
    Ok(crate::http::openapi(&app.service, &app.http))
}

/// Runs in the decoder subprocess: decodes the file on standard input as `request` describes.
pub fn decode(request: Option<OsString>) -> ExitCode {
    adapters::decoder::work(request)
}

fn contents<'a>(config: &'a Config, embedders: &'a Embedders) -> IndexSpec<'a> {
    let fields = VECTOR_FIELDS.iter().map(|(field, _)| (*field).to_owned()).collect();
    let pictures = embedders.images.as_ref().map(|images| PictureSpace {
        fields: VISUAL_FRAMES.map(str::to_owned).into(),
        dimension: images.dimension(),
        model: images.model().to_owned(),
    });
    let (data_dir, embedder) = (&*config.domain.data_dir, embedders.texts.as_ref());
    IndexSpec { data_dir, embedder, fields, pictures }
}

async fn assemble(
    config: &Config,
    address: SocketAddr,
    embedders: Embedders,
    IndexStores { index, listing }: IndexStores,
) -> Result<App> {
    use adapters::{fetcher, jobs, records, storage};

    let base_url = config.http.public_url(address);
    config.auth.check_exposure(address, &base_url)?;
    let data_dir = &config.domain.data_dir;
    let http = fetcher::open(&config.fetch)?;
    let stores = Stores {
        storage: storage::open(&config.storage, data_dir, &base_url)?,
        records: records::open(&config.records, &config.storage, data_dir)?,
        index,
        listing,
        jobs: jobs::open(&config.jobs)?,
        fetcher: http.clone(),
        webhooks: http,
    };
    let models = models::open(config, embedders)?;
    let settings = Settings {
        shared_records: config.records.is_shared(),
        probes: ProbeSettings {
            interval: Duration::from_secs_f64(config.http.probe_interval),
            idle_probe_interval: Duration::from_secs_f64(config.http.idle_probe_interval),
            timeout: Duration::from_secs_f64(config.http.probe_timeout),
            storage_is_local: config.storage.kind.is_served(),
            ..ProbeSettings::default()
        },
        ui: !config.http.api_only,
        ..config.domain.clone()
    };
    let served = config.storage.kind.is_served();
    let http = HttpOptions {
        server: config.http.clone(),
        auth: config.auth.clone(),
        base_url,
        serves_storage: served,
        storage_origin: if served { None } else { origin(&stores.storage.public_url("0/0")) },
        ..HttpOptions::default()
    };
    let roles = roles::describe(config, &stores, &models);
    Ok(App { service: Shotlog::new(stores, models, settings), http, roles })
}
