//! Extractors: user-defined analyzers, stored in one record that all service instances share.

use std::sync::Arc;

use ports::records::{Precondition, RecordStore};
use serde::Deserialize;
use serde_json::Value;

use crate::analysis::Analyzers;
use crate::analysis::extraction::form::{check_name, unknown_extractor};
use crate::analysis::extraction::{
    Extractor, ExtractorDefinition, ExtractorForm, ExtractorSettings,
};
use crate::catalog::Catalog;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::now;

/// Key of the record that holds all definitions, sorted by name.
const KEY: &str = "extractors.json";

/// Maximum length of a description, in characters.
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// Creates, updates and deletes extractors.
pub struct Extractors {
    catalog: Arc<Catalog>,
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
    pub(crate) fn new(catalog: Arc<Catalog>, settings: ExtractorSettings) -> Self {
        Self { catalog, settings }
    }

    /// Reads all definitions, sorted by name.
    pub async fn list(&self) -> Result<Vec<ExtractorDefinition>> {
        self.catalog.extractors.load().await
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
        check_name(name, self.catalog.analyzers.is_built_in(name))?;
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
        self.catalog.readiness.check()?;
        self.catalog.extractors.change(change).await
    }
}

/// The stored definitions of extractors.
pub(crate) struct ExtractorStore {
    store: Arc<dyn RecordStore>,
    analyzers: Analyzers,
}

impl ExtractorStore {
    pub(super) fn new(store: Arc<dyn RecordStore>, analyzers: Analyzers) -> Self {
        Self { store, analyzers }
    }

    /// Changes the definitions, and retries if another instance changes them at the same time.
    async fn change<T>(
        &self,
        change: impl Fn(&mut Vec<ExtractorDefinition>) -> Result<T>,
    ) -> Result<T> {
        loop {
            let stored = self.store.get(KEY).await?;
            let before = read(stored.as_ref())?;
            let mut definitions = before.clone();
            let outcome = change(&mut definitions)?;
            if definitions == before {
                return Ok(outcome);
            }
            let json = serde_json::to_value(&definitions)
                .map_err(|e| Error::corrupt(format!("cannot store {KEY}: {e}")))?;
            let expected = Precondition::from(stored.as_ref());
            if self.store.compare_and_swap(KEY, expected, &json).await? {
                self.load().await?;
                return Ok(outcome);
            }
        }
    }

    /// Loads the stored definitions into the set of analyzers and returns them.
    pub(crate) async fn load(&self) -> Result<Vec<ExtractorDefinition>> {
        let definitions = read(self.store.get(KEY).await?.as_ref())?;
        let analyzers = definitions.iter().cloned().map(Extractor::new).map(Arc::new);
        self.analyzers.set_extractors(analyzers.collect());
        Ok(definitions)
    }

    /// Loads the definitions if a comma-separated selection contains an analyzer that is not built
    /// in, since another instance may have defined or changed it.
    pub(crate) async fn load_for(&self, selection: &str) -> Result<()> {
        let mut ids = selection.split(',').map(str::trim).filter(|id| !id.is_empty());
        if !ids.all(|id| self.analyzers.is_built_in(id)) {
            self.load().await?;
        }
        Ok(())
    }

    /// Loads the definitions if the analyzer is unknown, since another instance may have defined
    /// it.
    pub(crate) async fn load_if_unknown(&self, analyzer: &str) -> Result<()> {
        if self.analyzers.get(analyzer).is_none() {
            self.load().await?;
        }
        Ok(())
    }
}

fn read(stored: Option<&Value>) -> Result<Vec<ExtractorDefinition>> {
    let Some(json) = stored else { return Ok(Vec::new()) };
    Vec::deserialize(json)
        .map_err(|e| Error::corrupt(format!("the record {KEY} does not read back: {e}")))
}

fn not_defined(name: &str, definitions: &[ExtractorDefinition]) -> Error {
    let names: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    unknown_extractor(name, &names)
}
