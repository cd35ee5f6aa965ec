//! Vector, full-text and hybrid search over moments.

pub(crate) mod calibration;
mod diagnostics;
pub(crate) mod embedding;
mod example_picture;
pub mod filters;
mod listing;
pub mod pages;
mod plan;
pub mod request;
pub(crate) mod rerank;
mod results;
mod retrieval;
pub(crate) mod scope;
mod settings;
mod similar;
pub mod values;

use std::collections::HashSet;
use std::sync::Arc;

use ports::index::{Filter, VectorQuery};

use crate::analysis::Analyzers;
use crate::catalog::Catalog;
use crate::indexing::health::IndexHealth;
use crate::indexing::point::restrict_to_revisions;
use crate::kernel::access::Access;
use crate::kernel::error::Result;
use crate::kernel::ports::{Models, Stores};
use crate::records::extractors::ExtractorStore;
use crate::records::record::VideoRecord;
use calibration::Calibrator;
use diagnostics::Diagnoser;
use embedding::QueryEmbedder;
use listing::MomentListing;
use plan::SearchPlan;
use rerank::HitReranker;
use retrieval::Retriever;
use scope::ScopeResolver;
use similar::SimilarMoments;

pub(crate) use calibration::LIKELY;
pub use calibration::Thresholds;
pub use example_picture::ExamplePicture;
pub(crate) use example_picture::MAX_SIDE;
pub use pages::PageStart;
pub use request::{
    ALL_ANALYZERS, ListingOrder, SearchRequest, SearchTarget, SearchedAnalyzers, VectorField,
};
pub use results::{DETAIL_LEVELS, Detail, Diagnostics, ScoreKind, SearchPage, SearchResult};
pub use retrieval::mode::{MODES, Mode};
pub use settings::SearchSettings;
pub(crate) use similar::ExampleFrame;

/// The best hits of a search.
struct RankedHits {
    /// The hits, best first.
    hits: Vec<SearchResult>,
    /// Whether there may be more hits.
    more: bool,
}

/// Runs searches: plans a request, ranks the hits and returns a page of them.
pub struct Search {
    /// Embeds search texts.
    pub(crate) embedder: Arc<QueryEmbedder>,
    /// Estimates probabilities and recommends thresholds.
    pub(crate) calibrator: Arc<Calibrator>,
    /// Resolves filters.
    pub(crate) scopes: Arc<ScopeResolver>,
    /// Retrieves hits.
    pub(crate) retriever: Arc<Retriever>,
    /// Whether the index is damaged or being rebuilt.
    pub health: Arc<IndexHealth>,
    listing: MomentListing,
    similar: SimilarMoments,
    diagnoser: Arc<Diagnoser>,
    reranker: HitReranker,
    extractors: Arc<ExtractorStore>,
    analyzers: Analyzers,
    models: Models,
    page_window: usize,
    max_image_pixels: u64,
}

impl Search {
    pub(crate) fn new(
        stores: &Stores,
        models: &Models,
        catalog: &Catalog,
        settings: SearchSettings,
    ) -> Self {
        let analyzers = catalog.analyzers.clone();
        let health: Arc<IndexHealth> = Arc::default();
        let scopes = Arc::new(ScopeResolver::new(catalog));
        let deviations = settings.threshold_deviations;
        let calibrator = Calibrator::new(models.clone(), analyzers.clone(), deviations);
        let calibrator = Arc::new(calibrator);
        let embedder = Arc::new(QueryEmbedder::new(models, &settings));
        let retriever = Retriever::new(
            stores,
            catalog,
            health.clone(),
            calibrator.clone(),
            embedder.clone(),
            settings,
        );
        let retriever = Arc::new(retriever);
        let diagnoser = Diagnoser::new(stores, catalog, scopes.clone(), retriever.clone());
        let diagnoser = Arc::new(diagnoser);
        Self {
            listing: MomentListing {
                index: stores.index.clone(),
                health: health.clone(),
                analyzers: analyzers.clone(),
                listing: catalog.listing.clone(),
                hits: retriever.hits.clone(),
                scopes: scopes.clone(),
                diagnoser: diagnoser.clone(),
                max_sorted: settings.page_window,
            },
            similar: SimilarMoments {
                index: stores.index.clone(),
                health: health.clone(),
                analyzers: analyzers.clone(),
                library: catalog.library.clone(),
                scopes: scopes.clone(),
            },
            reranker: HitReranker {
                reranker: models.reranker.clone(),
                max_texts: settings.rerank_texts,
            },
            extractors: catalog.extractors.clone(),
            models: models.clone(),
            page_window: settings.page_window,
            max_image_pixels: settings.max_image_pixels,
            embedder,
            calibrator,
            scopes,
            retriever,
            health,
            diagnoser,
            analyzers,
        }
    }

    /// Searches the videos that the caller can see. Returns `Invalid` for an unknown analyzer or
    /// filter, and for a parameter that does not apply to the target.
    pub(crate) async fn run(&self, access: &Access, request: &SearchRequest) -> Result<SearchPage> {
        self.check(request).await?;
        let plan = match &request.target {
            SearchTarget::Listing(_) => return self.listing.page(access, request).await,
            SearchTarget::Similar(moment) => self.similar.plan(access, request, moment).await?,
            SearchTarget::Picture(picture) => self.picture_plan(access, request, picture).await?,
            SearchTarget::Text(text) => {
                let (vector, filter) = futures::try_join!(
                    self.embedder.request_vector(request, text),
                    self.request_scope(access, request)
                )?;
                SearchPlan::for_text(request, text, vector, filter)
            }
        };
        let from = match request.page {
            PageStart::Offset(hits) => hits,
            PageStart::First | PageStart::AfterChunk(..) => 0,
        };
        let mut page = self.page(&plan, request.limit as usize, from).await?;
        if page.results.is_empty() {
            page.diagnostics = Some(self.diagnoser.diagnose(access, request, &plan).await?);
        }
        Ok(page)
    }

    /// Plans a search for moments that look like a picture.
    async fn picture_plan(
        &self,
        access: &Access,
        request: &SearchRequest,
        picture: &ExamplePicture,
    ) -> Result<SearchPlan> {
        let filter = self.request_scope(access, request).await?;
        let image = picture.decode(self.max_image_pixels).await?;
        let vector = self.embedder.image_vector(image).await?;
        Ok(SearchPlan::for_picture(request, vector, filter, picture.chunk))
    }

    /// Returns the frame that stands for the example of a search for similar pictures, if the index
    /// has no vector of the example's frames.
    pub(crate) async fn example_frame(
        &self,
        access: &Access,
        request: &SearchRequest,
    ) -> Result<Option<ExampleFrame>> {
        match &request.target {
            SearchTarget::Similar(moment) if request.field == VectorField::VISUAL => {
                self.check(request).await?;
                self.similar.frame_without_vector(access, request, moment).await
            }
            _ => Ok(None),
        }
    }

    /// Searches for a text, using the vector that the caller has already computed. Does not
    /// diagnose an empty result.
    pub(crate) async fn run_with_vector(
        &self,
        access: &Access,
        request: &SearchRequest,
        vector: Vec<f32>,
    ) -> Result<Vec<SearchResult>> {
        self.check(request).await?;
        let filter = self.request_scope(access, request).await?;
        self.run_in_scope(request, vector, filter).await
    }

    /// Searches the published points of a video for a text, using the vector that the caller has
    /// already computed. Points that interrupted ingests left in the index cannot crowd them out.
    pub(crate) async fn run_in_record(
        &self,
        record: &VideoRecord,
        request: &SearchRequest,
        vector: Vec<f32>,
    ) -> Result<Vec<SearchResult>> {
        self.check(request).await?;
        let filter = self.request_scope(&Access::default(), request).await?;
        let filter = filter.in_videos([record.video_id]);
        let published = record.revisions().into_iter().collect();
        self.run_in_scope(request, vector, restrict_to_revisions(filter, published)).await
    }

    /// Lists the published moments of a video that match the filters, in chronological order.
    pub(crate) async fn list_in_record(
        &self,
        record: &VideoRecord,
        request: &SearchRequest,
    ) -> Result<Vec<SearchResult>> {
        self.check(request).await?;
        self.listing.video_moments(record.video_id, request).await
    }

    async fn run_in_scope(
        &self,
        request: &SearchRequest,
        vector: Vec<f32>,
        filter: Filter,
    ) -> Result<Vec<SearchResult>> {
        let SearchTarget::Text(text) = &request.target else { return Ok(Vec::new()) };
        let plan = SearchPlan::for_text(request, text, vector, filter);
        Ok(self.rank(&plan, request.limit as usize).await?.hits)
    }

    /// Checks a request. Returns `Invalid` for an unknown analyzer or a parameter that does not
    /// apply to the target, `Unprocessable` if the search text is too long, and `Busy` while the
    /// index is not ready.
    pub(crate) async fn check(&self, request: &SearchRequest) -> Result<()> {
        request.check()?;
        if request.searched_field() == VectorField::VISUAL {
            self.embedder.images()?;
        }
        self.embedder.check_length("text", request.target.search_text())?;
        self.health.ensure_ready()?;
        if let Some(id) = request.analyzers.id() {
            self.extractors.load_if_unknown(id).await?;
            self.analyzers.find(&self.models, id)?;
        }
        Ok(())
    }

    async fn request_scope(&self, access: &Access, request: &SearchRequest) -> Result<Filter> {
        let video_ids = request.video_ids.as_deref();
        self.scopes.scope(access, request.analyzers.id(), video_ids, &request.filters).await
    }

    /// Runs a plan and returns the first `limit` hits.
    async fn rank(&self, plan: &SearchPlan, limit: usize) -> Result<RankedHits> {
        let limit_with_example = limit + usize::from(plan.exclude.is_some());
        let query = VectorQuery { limit: limit_with_example, ..plan.query.clone() };
        let mut hits = match plan.analyzers {
            SearchedAnalyzers::All => {
                self.retriever.search_all_analyzers(plan.mode, &plan.text, query).await?
            }
            SearchedAnalyzers::One(_) => {
                self.retriever.search(plan.mode, &plan.text, query).await?
            }
        };
        hits.retain(|hit| plan.exclude != Some((hit.video_id, hit.chunk_id)));
        hits.truncate(limit);
        let more = hits.len() == limit;
        if plan.rerank {
            self.reranker.rerank(&plan.text, &mut hits).await?;
        }
        hits.retain(|hit| hit.p_present >= plan.min_p_present);
        Ok(RankedHits { hits, more })
    }

    /// Returns a page of `limit` hits. The order of the hits depends on the depth of the search, so
    /// every page after the first is taken from one ranking of
    /// [`page_window`](SearchSettings::page_window) hits, excluding those on the first page.
    async fn page(&self, plan: &SearchPlan, limit: usize, from: usize) -> Result<SearchPage> {
        let RankedHits { mut hits, mut more } = self.rank(plan, limit).await?;
        if from > 0 {
            let first_page: HashSet<_> =
                hits.iter().map(|hit| (hit.video_id, hit.chunk_id)).collect();
            let deep = self.rank(plan, self.page_window.max(limit)).await?.hits;
            hits.extend(
                deep.into_iter().filter(|h| !first_page.contains(&(h.video_id, h.chunk_id))),
            );
            more = hits.len() > from + limit;
        }
        let results: Vec<_> = hits.into_iter().skip(from).take(limit).collect();
        let next_pages = (from + 1..).map(PageStart::Offset).take(results.len()).collect();
        Ok(SearchPage { score_kind: plan.score_kind, results, next_pages, more, diagnostics: None })
    }
}
