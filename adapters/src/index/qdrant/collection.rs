//! The collection behind the alias. It is created on the first start and checked on every later
//! start. `shotlog reindex` fills a new collection next to it and then replaces it.

use std::collections::HashMap;
use std::sync::Arc;

use ports::index::{PAYLOAD_FIELDS, PayloadType};
use ports::{ErrorKind, PortError, Result};
use qdrant_client::qdrant::{
    CollectionConfig, CreateAliasBuilder, CreateCollectionBuilder,
    CreateFieldIndexCollectionBuilder, Distance, FieldType, HnswConfigDiffBuilder, Modifier,
    SparseVectorParamsBuilder, SparseVectorsConfigBuilder, TextIndexParamsBuilder, TokenizerType,
    UpdateCollectionBuilder, Value, VectorParams, VectorParamsBuilder, VectorsConfigBuilder, value,
    vectors_config,
};

use super::{QdrantIndex, QdrantOptions, pictures};

/// The sparse vector for full-text search.
pub(super) const TEXT: &str = "text";

/// The metadata key for the installation that owns the points.
const OWNER: &str = "install";

/// Number of links per point in an HNSW graph that is added to an existing collection. It equals
/// Qdrant's default.
const LINKS: u64 = 16;

/// The payload field with a point's words in order.
pub(super) const WORDS: &str = "words";

impl QdrantIndex {
    /// Creates an empty collection next to the collection in use. The caller fills the new
    /// collection and then calls [`Self::publish`] on it. Removes the remains of an earlier
    /// attempt.
    pub async fn begin_rebuild(options: QdrantOptions) -> Result<Self> {
        let mut index = Self::connect(options)?;
        let current = index.current().await?;
        index.target = index.numbered(current.as_deref().map_or(1, |name| index.number(name) + 1));
        index.remove(&index.target).await?;
        index.create(&index.target).await?;
        if let Some(current) = current
            && let Some(owner) = index.owner(&current).await?
        {
            index.enter_owner(&index.target, &owner).await?;
        }
        Ok(index)
    }

    /// Finds the collection in use, which [`Self::publish`] removes.
    pub async fn previous(&self) -> Result<Option<Self>> {
        let current = self.current().await?;
        let complete = Arc::default();
        Ok(current.map(|target| Self { target, pictures_complete: complete, ..self.clone() }))
    }

    pub(super) async fn adopt_collection(&self, install: &str) -> Result<String> {
        if let Some(owner) = self.owner(&self.target).await? {
            return Ok(owner);
        }
        self.enter_owner(&self.target, install).await?;
        // If several instances record an owner at once, the last one wins.
        Ok(self.owner(&self.target).await?.unwrap_or_default())
    }

    /// Reads the configuration of a collection or an alias.
    pub(super) async fn config(&self, collection: &str) -> Result<CollectionConfig> {
        let info = self.server.retrying(|| self.server.client.collection_info(collection)).await?;
        Ok(info.result.and_then(|info| info.config).unwrap_or_default())
    }

    /// Reads the owner that is recorded for a collection or an alias.
    async fn owner(&self, collection: &str) -> Result<Option<String>> {
        let config = self.config(collection).await?;
        match config.metadata.get(OWNER).and_then(|owner| owner.kind.as_ref()) {
            Some(value::Kind::StringValue(owner)) => Ok(Some(owner.clone())),
            _ => Ok(None),
        }
    }

    async fn enter_owner(&self, collection: &str, install: &str) -> Result<()> {
        let mut request = UpdateCollectionBuilder::new(collection).build();
        request.metadata.insert(OWNER.into(), Value::from(install.to_owned()));
        self.server.retrying(|| self.server.client.update_collection(request.clone())).await?;
        Ok(())
    }

    /// Switches every instance to this collection and removes the previous one.
    pub async fn publish(&self) -> Result<()> {
        let previous = self.current().await?;
        let alias = self.options.collection.as_str();
        if previous.as_deref() == Some(alias) {
            let message = format!(
                "Qdrant has a collection named {alias:?} where an alias is expected; delete it or \
                 choose another index.collection, and reindex"
            );
            return Err(PortError::new(ErrorKind::Invalid, message));
        }
        self.point_alias(&self.target).await?;
        match previous {
            Some(previous) if previous != self.target => self.remove(&previous).await,
            _ => Ok(()),
        }
    }

    pub(super) async fn open_collection(&self) -> Result<()> {
        let Some(current) = self.current().await? else {
            let first = self.numbered(1);
            self.create(&first).await?;
            return self.point_alias(&first).await;
        };
        let config = self.config(&current).await?;
        match mismatch(&config, &self.options) {
            None => {
                self.build_graph(&current, &config).await?;
                self.index_payload(&current).await
            }
            Some(mismatch) => Err(PortError::new(
                ErrorKind::Invalid,
                format!(
                    "the Qdrant collection {current:?} {mismatch}; `shotlog reindex` fills a new one \
                     from the records"
                ),
            )),
        }
    }

    /// Finds the collection behind the alias, or a collection with the alias's name.
    async fn current(&self) -> Result<Option<String>> {
        let alias = &self.options.collection;
        let aliases = self.server.retrying(|| self.server.client.list_aliases()).await?.aliases;
        if let Some(found) = aliases.into_iter().find(|a| a.alias_name == *alias) {
            return Ok(Some(found.collection_name));
        }
        let exists = self.server.retrying(|| self.server.client.collection_exists(alias)).await?;
        Ok(exists.then(|| alias.clone()))
    }

    async fn point_alias(&self, collection: &str) -> Result<()> {
        let alias = &self.options.collection;
        let request = CreateAliasBuilder::new(collection, alias).build();
        self.server.retrying(|| self.server.client.create_alias(request.clone())).await?;
        Ok(())
    }

    async fn remove(&self, collection: &str) -> Result<()> {
        if self.server.retrying(|| self.server.client.collection_exists(collection)).await? {
            self.server.retrying(|| self.server.client.delete_collection(collection)).await?;
        }
        Ok(())
    }

    /// Creates an empty collection unless another instance has just created it.
    async fn create(&self, name: &str) -> Result<()> {
        let options = &self.options;
        let mut vectors = VectorsConfigBuilder::default();
        for field in &options.fields {
            let params = VectorParamsBuilder::new(options.dimension as u64, Distance::Cosine);
            vectors.add_named_vector_params(field, params);
        }
        if let Some(space) = &options.pictures {
            for field in &space.fields {
                let params = VectorParamsBuilder::new(space.dimension as u64, Distance::Cosine);
                vectors.add_named_vector_params(field, params);
            }
        }
        let mut sparse = SparseVectorsConfigBuilder::default();
        let params = SparseVectorParamsBuilder::default().modifier(Modifier::Idf);
        sparse.add_named_vector_params(TEXT, params);
        let mut request = CreateCollectionBuilder::new(name)
            .vectors_config(vectors)
            .sparse_vectors_config(sparse)
            .shard_number(options.shards)
            .replication_factor(options.replicas)
            .on_disk_payload(true)
            .build();
        if options.exact {
            // If the graph is not used, the server should not spend hours and memory on building it
            // over millions of points.
            request.hnsw_config = Some(HnswConfigDiffBuilder::default().m(0).build());
        }
        request.metadata.insert("model".into(), Value::from(options.model.clone()));
        if let Some(space) = &options.pictures {
            request.metadata.insert(pictures::MODEL.into(), Value::from(space.model.clone()));
        }
        if let Err(e) =
            self.server.retrying(|| self.server.client.create_collection(request.clone())).await
            && !self.server.retrying(|| self.server.client.collection_exists(name)).await?
        {
            return Err(e);
        }
        self.index_payload(name).await
    }

    /// Makes the server build the HNSW graph if the collection was created without a graph.
    /// Searches scan every point until the graph is ready. A graph that is no longer used is not
    /// removed.
    async fn build_graph(&self, collection: &str, config: &CollectionConfig) -> Result<()> {
        let links = config.hnsw_config.as_ref().and_then(|graph| graph.m);
        if self.options.exact || links != Some(0) {
            return Ok(());
        }
        let request = UpdateCollectionBuilder::new(collection)
            .hnsw_config(HnswConfigDiffBuilder::default().m(LINKS))
            .build();
        self.server.retrying(|| self.server.client.update_collection(request.clone())).await?;
        Ok(())
    }

    /// Creates missing payload indexes.
    async fn index_payload(&self, collection: &str) -> Result<()> {
        let info = self.server.retrying(|| self.server.client.collection_info(collection)).await?;
        let indexed = info.result.map(|info| info.payload_schema).unwrap_or_default();
        for (field, kind) in PAYLOAD_FIELDS.iter().filter(|(f, _)| !indexed.contains_key(*f)) {
            let kind = match kind {
                PayloadType::Keyword => FieldType::Keyword,
                PayloadType::Integer => FieldType::Integer,
                PayloadType::Float => FieldType::Float,
            };
            let request =
                CreateFieldIndexCollectionBuilder::new(collection, *field, kind).wait(true).build();
            self.server.retrying(|| self.server.client.create_field_index(request.clone())).await?;
        }
        if !indexed.contains_key(WORDS) {
            let params = TextIndexParamsBuilder::new(TokenizerType::Whitespace)
                .lowercase(false)
                .phrase_matching(true);
            let request =
                CreateFieldIndexCollectionBuilder::new(collection, WORDS, FieldType::Text)
                    .field_index_params(params)
                    .wait(true)
                    .build();
            self.server.retrying(|| self.server.client.create_field_index(request.clone())).await?;
        }
        Ok(())
    }

    fn numbered(&self, number: u64) -> String {
        format!("{}-{number}", self.options.collection)
    }

    /// Returns the number in a collection name that this adapter has assigned, or 0 for any other
    /// name.
    fn number(&self, name: &str) -> u64 {
        let number = name.strip_prefix(&self.options.collection).and_then(|n| n.strip_prefix('-'));
        number.and_then(|n| n.parse().ok()).unwrap_or(0)
    }
}

/// Returns the parameters of the collection's vector fields, keyed by name.
pub(super) fn named_vectors(config: &CollectionConfig) -> Option<&HashMap<String, VectorParams>> {
    match config.params.as_ref()?.vectors_config.as_ref()?.config.as_ref()? {
        vectors_config::Config::ParamsMap(named) => Some(&named.map),
        vectors_config::Config::Params(_) => None,
    }
}

/// Explains why the collection does not fit this configuration; returns `None` if it fits.
fn mismatch(config: &CollectionConfig, options: &QdrantOptions) -> Option<String> {
    let Some(named) = named_vectors(config) else {
        return Some("has no named vectors".to_owned());
    };
    let sparse = config.params.as_ref().and_then(|p| p.sparse_vectors_config.as_ref());
    if !sparse.is_some_and(|s| s.map.contains_key(TEXT)) {
        return Some(format!("has no sparse vector `{TEXT}`"));
    }
    for field in &options.fields {
        match named.get(field) {
            None => return Some(format!("has no vector field `{field}`")),
            Some(params) if params.size != options.dimension as u64 => {
                return Some(format!(
                    "holds vectors of {} dimensions, the model {} makes {}",
                    params.size, options.model, options.dimension
                ));
            }
            Some(params) if params.distance != Distance::Cosine as i32 => {
                return Some(format!("does not compare `{field}` by cosine"));
            }
            Some(_) => {}
        }
    }
    match config.metadata.get("model").and_then(|model| model.kind.as_ref()) {
        Some(value::Kind::StringValue(model)) if *model != options.model => Some(format!(
            "was filled by the model {model}, the configured one is {}",
            options.model
        )),
        _ => None,
    }
}
