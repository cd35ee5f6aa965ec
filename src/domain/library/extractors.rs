//! Extractors: user-defined analyzers that clients create, update and delete.

use std::sync::Arc;

use crate::analysis::Analyzers;
use crate::analysis::extraction::form::{check_name, unknown_extractor};
use crate::analysis::extraction::{ExtractorDefinition, ExtractorForm, ExtractorSettings};
use crate::kernel::error::{Error, Result};
use crate::kernel::time::now;
use crate::records::extractors::ExtractorStore;
use crate::records::readiness::StoreReadiness;

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// Creates, updates and deletes extractors.
pub struct Extractors {
    store: Arc<ExtractorStore>,
    analyzers: Analyzers,
    readiness: Arc<StoreReadiness>,
    settings: ExtractorSettings,
}

/// The user's input for an extractor.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractorDraft {
    /// The extractor's purpose, in one sentence.
    pub description: String,
    /// The JSON schema of the form to fill in, as JSON text.
    pub schema: String,
}

impl Extractors {
    pub(crate) fn new(
        store: Arc<ExtractorStore>,
        analyzers: Analyzers,
        readiness: Arc<StoreReadiness>,
        settings: ExtractorSettings,
    ) -> Self {
        Self { store, analyzers, readiness, settings }
    }

    /// Reads all definitions, sorted by name.
    pub async fn list(&self) -> Result<Vec<ExtractorDefinition>> {
        self.store.load().await
    }

    /// Reads one definition. If none has this name, returns `NotFound` with a list of the available
    /// ones.
    pub async fn get(&self, name: &str) -> Result<ExtractorDefinition> {
        let definitions = self.list().await?;
        let found = definitions.iter().find(|definition| definition.name == name).cloned();
        found.ok_or_else(|| not_defined(name, &definitions))
    }

    /// Creates or replaces an extractor. Replacing an extractor makes its existing results
    /// outdated. Returns `Invalid` if the name is reserved by the service or the schema is not a
    /// valid form.
    pub async fn put(&self, name: &str, draft: &ExtractorDraft) -> Result<ExtractorDefinition> {
        check_name(name, self.analyzers.is_built_in(name))?;
        let description = draft.description.trim();
        if description.chars().count() > MAX_DESCRIPTION_CHARS {
            return Err(Error::Invalid(format!(
                "description has more than {MAX_DESCRIPTION_CHARS} characters"
            )));
        }
        let schema = ExtractorForm::parse(&draft.schema, &self.settings)?;
        let max = self.settings.max;
        self.change(|definitions| {
            let time = now();
            let definition = |created_at: String| ExtractorDefinition {
                name: name.to_owned(),
                description: description.to_owned(),
                schema: schema.clone(),
                created_at,
                updated_at: time.clone(),
            };
            if let Some(existing) = definitions.iter_mut().find(|existing| existing.name == name) {
                if existing.description != description || existing.schema != schema {
                    *existing = definition(existing.created_at.clone());
                }
                return Ok(existing.clone());
            }
            if definitions.len() >= max {
                return Err(Error::Invalid(format!(
                    "{max} extractors are defined, which is the maximum (extractors.max); delete one first"
                )));
            }
            let new = definition(time.clone());
            definitions.push(new.clone());
            definitions.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(new)
        })
        .await
    }

    /// Deletes an extractor. Videos keep its results until they are ingested again. If no extractor
    /// has this name, returns `NotFound` with a list of the available ones.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.change(|definitions| {
            match definitions.iter().position(|existing| existing.name == name) {
                Some(at) => {
                    definitions.remove(at);
                    Ok(())
                }
                None => Err(not_defined(name, definitions)),
            }
        })
        .await
    }

    async fn change<T>(
        &self,
        change: impl Fn(&mut Vec<ExtractorDefinition>) -> Result<T>,
    ) -> Result<T> {
        self.readiness.check()?;
        self.store.change(change).await
    }
}

fn not_defined(name: &str, definitions: &[ExtractorDefinition]) -> Error {
    let names: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    unknown_extractor(name, &names)
}
