//! Extractors: the analyzers that users define, kept in one record that instances share.

use std::sync::Arc;

use ports::records::Precondition;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::analysis::extraction::form::{check_name, unknown};
use crate::domain::analysis::extraction::{
    Extractor, ExtractorDefinition, ExtractorSettings, Form,
};
use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::time::now;

/// The record with every definition, by name.
const KEY: &str = "extractors.json";

/// Longest description of an extractor, characters.
const LONGEST_DESCRIPTION: usize = 1000;

/// Defining extractors.
pub struct Extractors {
    catalog: Arc<Catalog>,
    settings: ExtractorSettings,
}

/// What somebody says of an extractor.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtractorDraft {
    /// What it is for, in a sentence.
    pub description: String,
    /// The JSON schema to fill in, as JSON.
    pub schema: String,
}

impl Extractors {
    pub(crate) fn new(catalog: Arc<Catalog>, settings: ExtractorSettings) -> Self {
        Self { catalog, settings }
    }

    /// Every definition, by name.
    pub async fn list(&self) -> Result<Vec<ExtractorDefinition>> {
        self.catalog.load_extractors().await
    }

    /// One definition. `NotFound` lists what there is.
    pub async fn get(&self, name: &str) -> Result<ExtractorDefinition> {
        let defined = self.list().await?;
        let found = defined.iter().find(|definition| definition.name == name).cloned();
        found.ok_or_else(|| not_defined(name, &defined))
    }

    /// Defines an extractor, or defines it anew: what the earlier one has found is then out of date.
    /// `Invalid` for a name that is taken by the service itself, and for a schema that is no form.
    pub async fn put(&self, name: &str, draft: &ExtractorDraft) -> Result<ExtractorDefinition> {
        check_name(name, self.catalog.analyzers.is_built_in(name))?;
        let description = draft.description.trim();
        if description.chars().count() > LONGEST_DESCRIPTION {
            return Err(Error::Invalid(format!(
                "description has more than {LONGEST_DESCRIPTION} characters"
            )));
        }
        let schema = Form::parse(&draft.schema, &self.settings)?;
        let most = self.settings.max;
        self.change(|defined| {
            let time = now();
            let definition = |created_at: String| ExtractorDefinition {
                name: name.to_owned(),
                description: description.to_owned(),
                schema: schema.clone(),
                created_at,
                updated_at: time.clone(),
            };
            if let Some(known) = defined.iter_mut().find(|known| known.name == name) {
                if known.description != description || known.schema != schema {
                    *known = definition(known.created_at.clone());
                }
                return Ok(known.clone());
            }
            if defined.len() >= most {
                return Err(Error::Invalid(format!(
                    "{most} extractors are defined, which is the most (extractors.max); delete one first"
                )));
            }
            let new = definition(time.clone());
            defined.push(new.clone());
            defined.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(new)
        })
        .await
    }

    /// Forgets an extractor. What it has found stays with the videos until they are ingested again.
    /// `NotFound` lists what there is.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.change(|defined| match defined.iter().position(|known| known.name == name) {
            Some(at) => {
                defined.remove(at);
                Ok(())
            }
            None => Err(not_defined(name, defined)),
        })
        .await
    }

    /// Changes the definitions, again where another instance does so at the same time.
    async fn change<T>(
        &self,
        change: impl Fn(&mut Vec<ExtractorDefinition>) -> Result<T>,
    ) -> Result<T> {
        self.catalog.opening.check()?;
        let records = &self.catalog.records;
        loop {
            let stored = records.get(KEY).await?;
            let before = read(stored.as_ref())?;
            let mut defined = before.clone();
            let outcome = change(&mut defined)?;
            if defined == before {
                return Ok(outcome);
            }
            let json = serde_json::to_value(&defined)
                .map_err(|e| Error::corrupt(format!("cannot store {KEY}: {e}")))?;
            if records.compare_and_swap(KEY, Precondition::from(stored.as_ref()), &json).await? {
                self.catalog.load_extractors().await?;
                return Ok(outcome);
            }
        }
    }
}

impl Catalog {
    /// Takes the stored definitions for those that are defined, and returns them.
    pub(crate) async fn load_extractors(&self) -> Result<Vec<ExtractorDefinition>> {
        let defined = read(self.records.get(KEY).await?.as_ref())?;
        let analyzers = defined.iter().cloned().map(Extractor::new).map(Arc::new);
        self.analyzers.define(analyzers.collect());
        Ok(defined)
    }

    /// Loads the definitions where one of a comma-separated selection is no analyzer that is compiled
    /// in: another instance may have defined it anew.
    pub(crate) async fn load_extractors_of(&self, selection: &str) -> Result<()> {
        let mut ids = selection.split(',').map(str::trim).filter(|id| !id.is_empty());
        if !ids.all(|id| self.analyzers.is_built_in(id)) {
            self.load_extractors().await?;
        }
        Ok(())
    }

    /// Loads the definitions where an analyzer of that id is not known: another instance may have
    /// defined it.
    pub(crate) async fn look_up(&self, analyzer: &str) -> Result<()> {
        if self.analyzers.known(analyzer).is_none() {
            self.load_extractors().await?;
        }
        Ok(())
    }
}

fn read(stored: Option<&Value>) -> Result<Vec<ExtractorDefinition>> {
    let Some(json) = stored else { return Ok(Vec::new()) };
    Vec::deserialize(json)
        .map_err(|e| Error::corrupt(format!("the record {KEY} does not read back: {e}")))
}

fn not_defined(name: &str, defined: &[ExtractorDefinition]) -> Error {
    let names: Vec<&str> = defined.iter().map(|definition| definition.name.as_str()).collect();
    unknown(name, &names)
}
