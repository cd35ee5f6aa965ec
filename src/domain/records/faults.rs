//! Detects missing and corrupt documents of a published video.

use crate::kernel::error::Result;
use crate::records::Records;
use crate::records::record::VideoRecord;

impl Records {
    /// Finds the missing and corrupt documents of a published video.
    pub(crate) async fn faults(&self, record: &VideoRecord) -> Result<Vec<DocumentFault>> {
        let mut faults = Vec::new();
        let mut read = |part: DocumentContent, read: Result<()>| match read {
            Ok(()) => Ok(()),
            Err(error) if error.is_corrupt() => {
                faults.push(DocumentFault { part, error: error.to_string() });
                Ok(())
            }
            Err(error) => Err(error),
        };
        read(DocumentContent::Base, self.spans(record).await.map(drop))?;
        read(DocumentContent::Base, self.signals(record).await.map(drop))?;
        if let Some(document) = &record.speech_document {
            read(DocumentContent::Base, self.speech(document).await.map(drop))?;
        }
        read(DocumentContent::Corrections, self.corrections(record).await.map(drop))?;
        for (id, entry) in &record.analyzers {
            read(DocumentContent::Analyzer(id.clone()), self.outputs(record, id).await.map(drop))?;
            if entry.uncorrected.is_some() {
                let original = self.original_outputs(record, id).await.map(drop);
                read(DocumentContent::Analyzer(id.clone()), original)?;
            }
        }
        for id in record.aggregates.keys() {
            read(
                DocumentContent::Aggregate(id.clone()),
                self.stored_aggregate(record, id).await.map(drop),
            )?;
        }
        Ok(faults)
    }
}

/// A part of a published video whose document is missing or corrupt.
pub(crate) struct DocumentFault {
    pub(crate) part: DocumentContent,
    pub(crate) error: String,
}

/// What a document contains.
pub(crate) enum DocumentContent {
    /// Chunks, signals or speech, which everything else depends on.
    Base,
    /// The corrections that users made.
    Corrections,
    /// The outputs of this analyzer.
    Analyzer(String),
    /// The result of this aggregator.
    Aggregate(String),
}
