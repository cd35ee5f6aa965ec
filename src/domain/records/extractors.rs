//! The stored definitions of extractors, which are user-defined analyzers. One record holds them all, and
//! all service instances share it.

use std::sync::Arc;

use ports::records::RecordStore;

use crate::analysis::extraction::{Extractor, ExtractorDefinition};
use crate::analysis::{AnalyzerRef, Analyzers};
use crate::kernel::error::Result;
use crate::kernel::ports::Models;
use crate::records::documents::{change_document, read_document};

/// Key of the record that holds all definitions, sorted by name.
const KEY: &str = "extractors.json";

/// The stored definitions of extractors.
pub(crate) struct ExtractorStore {
    store: Arc<dyn RecordStore>,
    analyzers: Analyzers,
}

impl ExtractorStore {
    pub(crate) fn new(store: Arc<dyn RecordStore>, analyzers: Analyzers) -> Self {
        Self { store, analyzers }
    }

    /// Changes the definitions, and retries if another instance changes them at the same time.
    pub(crate) async fn change<T>(
        &self,
        change: impl Fn(&mut Vec<ExtractorDefinition>) -> Result<T>,
    ) -> Result<T> {
        let outcome = change_document(&*self.store, KEY, "extractors are", change).await?;
        self.load().await?;
        Ok(outcome)
    }

    /// Loads the stored definitions into the set of analyzers and returns them.
    pub(crate) async fn load(&self) -> Result<Vec<ExtractorDefinition>> {
        let stored: Option<Vec<ExtractorDefinition>> = read_document(&*self.store, KEY).await?;
        let definitions = stored.unwrap_or_default();
        let analyzers = definitions.iter().cloned().map(Extractor::new).map(Arc::new);
        self.analyzers.set_extractors(analyzers.collect());
        Ok(definitions)
    }

    /// Selects analyzers like [`Analyzers::select`]. Loads the definitions first if the selection
    /// contains an analyzer that is not built in, since another instance may have defined or
    /// changed it.
    pub(crate) async fn select(
        &self,
        models: &Models,
        selection: &str,
    ) -> Result<Vec<AnalyzerRef>> {
        let mut ids = selection.split(',').map(str::trim).filter(|id| !id.is_empty());
        if !ids.all(|id| self.analyzers.is_built_in(id)) {
            self.load().await?;
        }
        self.analyzers.select(models, selection)
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
