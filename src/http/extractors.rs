//! `/extractors`: analyzers of one's own, defined by a JSON schema.

use poem_openapi::param::Path;
use poem_openapi::{Object, OpenApi};
use serde_json::Value;

use super::auth::{Service, Token};
use super::body::Json;
use super::errors::{ApiError, Change, Plain, Rerun};
use super::values::AnyObject;
use crate::domain::analysis::extraction::ExtractorDefinition;
use crate::domain::catalog::extractors::ExtractorDraft;

/// The routes of this section.
pub(super) struct ExtractorsApi(pub(super) Service);

#[OpenApi]
impl ExtractorsApi {
    /// Every extractor.
    #[oai(path = "/extractors", method = "get", operation_id = "extractors")]
    async fn extractors(&self, token: Token) -> Result<Json<ExtractorList>, ApiError<Plain>> {
        let extractors =
            self.0.of(&token).extractors().await?.into_iter().map(Into::into).collect();
        Ok(Json(ExtractorList { extractors }))
    }

    /// One extractor.
    #[oai(path = "/extractors/:name", method = "get", operation_id = "extractor")]
    async fn extractor(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<ExtractorDetail>, ApiError<Change>> {
        Ok(Json(self.0.of(&token).extractor(&name).await?.into()))
    }

    /// Define an analyzer of your own.
    ///
    /// It fills in the schema for every chunk, from what is said, shown and seen. Its name can then be
    /// used wherever an analyzer is named: an ingest runs it, searches and questions go by what it
    /// finds, tables have its columns. Defined anew, what it has found is out of date and found again
    /// by the next ingest.
    #[oai(path = "/extractors/:name", method = "put", operation_id = "put_extractor")]
    async fn put_extractor(
        &self,
        token: Token,
        /// A lower-case letter, then lower-case letters, digits or `_`, 40 at most.
        name: Path<String>,
        Json(request): Json<ExtractorRequest>,
    ) -> Result<Json<ExtractorDetail>, ApiError<Rerun>> {
        let schema = Value::Object(request.schema.0).to_string();
        let draft = ExtractorDraft { description: request.description, schema };
        Ok(Json(self.0.of(&token).put_extractor(&name, &draft).await?.into()))
    }

    /// Forget an extractor.
    ///
    /// What it has found stays with the videos, as output of an analyzer that is not there, until they
    /// are ingested again.
    #[oai(path = "/extractors/:name", method = "delete", operation_id = "delete_extractor")]
    async fn delete_extractor(
        &self,
        token: Token,
        name: Path<String>,
    ) -> Result<Json<ForgottenExtractor>, ApiError<Change>> {
        self.0.of(&token).delete_extractor(&name).await?;
        Ok(Json(ForgottenExtractor { name: name.0, deleted: true }))
    }
}

#[derive(Object)]
struct ExtractorRequest {
    /// What it is for, in a sentence.
    #[oai(default)]
    description: String,
    /// A JSON schema of type object. Its parts are objects with `properties`, arrays with `items`
    /// (`maxItems`), strings (`enum`, `format`: `email`, `uri`, `date`, `time`), numbers and integers
    /// (`minimum`, `maximum`), booleans, and spans of the video (an object of the format `span`). Each
    /// may have a `description`, which a language model is told. What a chunk does not show is null.
    schema: AnyObject,
}

#[derive(Object)]
struct ExtractorList {
    /// By name.
    extractors: Vec<ExtractorDetail>,
}

#[derive(Object)]
struct ExtractorDetail {
    name: String,
    description: String,
    schema: AnyObject,
    /// When it was defined first, in UTC.
    created_at: String,
    /// When it was last changed, in UTC.
    updated_at: String,
}

#[derive(Object)]
struct ForgottenExtractor {
    name: String,
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
