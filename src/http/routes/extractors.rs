//! `/extractors`: custom analyzers, defined by a JSON schema.

use poem_openapi::param::Path;
use poem_openapi::{Object, OpenApi};
use serde_json::Value;

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, Change, Plain, Rerun};
use crate::http::wire::values::AnyObject;
use domain::analysis::extraction::ExtractorDefinition;
use domain::library::extractors::ExtractorDraft;

/// The routes of this section.
pub(super) struct ExtractorsApi(pub(super) Service);

#[OpenApi]
impl ExtractorsApi {
    /// List extractors.
    #[oai(path = "/extractors", method = "get", operation_id = "extractors")]
    async fn extractors(&self, token: CallerToken) -> Result<Json<ExtractorList>, ApiError<Plain>> {
        let extractors =
            self.0.scoped(&token).extractors().await?.into_iter().map(Into::into).collect();
        Ok(Json(ExtractorList { extractors }))
    }

    /// Get an extractor.
    #[oai(path = "/extractors/:name", method = "get", operation_id = "extractor")]
    async fn extractor(
        &self,
        token: CallerToken,
        /// Name of the extractor.
        name: Path<String>,
    ) -> Result<Json<ExtractorDetail>, ApiError<Change>> {
        Ok(Json(self.0.scoped(&token).extractor(&name).await?.into()))
    }

    /// Define a custom analyzer.
    ///
    /// A language model fills in the schema for every chunk, based on speech, on-screen text and
    /// visible content. The name can be used wherever an analyzer is named: in ingests, searches,
    /// questions and tables. Redefining an extractor invalidates its stored output, which the next
    /// ingest computes again.
    #[oai(path = "/extractors/:name", method = "put", operation_id = "put_extractor")]
    async fn put_extractor(
        &self,
        token: CallerToken,
        /// Name of the extractor: a lowercase letter followed by lowercase letters, digits or `_`;
        /// at most 40 characters.
        name: Path<String>,
        Json(request): Json<ExtractorRequest>,
    ) -> Result<Json<ExtractorDetail>, ApiError<Rerun>> {
        let schema = Value::Object(request.schema.0).to_string();
        let draft = ExtractorDraft { description: request.description, schema };
        let service = self.0.scoped(&token);
        let extractors = service.unrestricted()?.for_write()?.extractors();
        Ok(Json(extractors.put(&name, &draft).await?.into()))
    }

    /// Delete an extractor.
    ///
    /// The extractor's stored output remains with the videos, like the output of an unavailable
    /// analyzer, until those videos are ingested again.
    #[oai(path = "/extractors/:name", method = "delete", operation_id = "delete_extractor")]
    async fn delete_extractor(
        &self,
        token: CallerToken,
        /// Name of the extractor.
        name: Path<String>,
    ) -> Result<Json<ForgottenExtractor>, ApiError<Change>> {
        self.0.scoped(&token).unrestricted()?.for_write()?.extractors().delete(&name).await?;
        Ok(Json(ForgottenExtractor { name: name.0, deleted: true }))
    }
}

#[derive(Object)]
struct ExtractorRequest {
    /// What the extractor extracts, in one sentence.
    #[oai(default)]
    description: String,
    /// JSON schema of type object. Supported: objects with `properties`, arrays with `items`
    /// (`maxItems`), strings (`enum`, `format`: `email`, `uri`, `date`, `time`), numbers and
    /// integers (`minimum`, `maximum`), booleans, and spans of the video (an object with format
    /// `span`). Any of them may have a `description`, which becomes part of the prompt. A field is
    /// null if the chunk does not show its value.
    schema: AnyObject,
}

#[derive(Object)]
struct ExtractorList {
    /// The extractors, sorted by name.
    extractors: Vec<ExtractorDetail>,
}

#[derive(Object)]
struct ExtractorDetail {
    /// Name of the extractor.
    name: String,
    /// What the extractor extracts.
    description: String,
    /// JSON schema of the extractor's output.
    schema: AnyObject,
    /// Creation time (ISO 8601, UTC).
    created_at: String,
    /// Time of the last change (ISO 8601, UTC).
    updated_at: String,
}

#[derive(Object)]
struct ForgottenExtractor {
    /// Name of the extractor.
    name: String,
    /// Always true.
    deleted: bool,
}

impl From<ExtractorDefinition> for ExtractorDetail {
    fn from(definition: ExtractorDefinition) -> Self {
        let schema = serde_json::to_value(&definition.schema).unwrap_or_default();
        Self {
            name: definition.name,
            description: definition.description,
            schema: AnyObject::from_value(schema),
            created_at: definition.created_at,
            updated_at: definition.updated_at,
        }
    }
}
