//! Which adapter or model serves each role, for `shotlog check` and the startup log.

use std::fmt::Debug;

use crate::config::Config;
use domain::{Models, Stores};

/// Each role's name and the kind or model that serves it.
pub(super) fn describe(
    config: &Config,
    stores: &Stores,
    models: &Models,
) -> Vec<(&'static str, String)> {
    let kind = |kind: &dyn Debug| format!("{kind:?}").to_lowercase();
    let model = |model: Option<&str>| model.unwrap_or("none").to_owned();
    let storage = format!("{} ({})", kind(&config.storage.kind), stores.storage.bucket());
    vec![
        ("storage", storage),
        ("index", kind(&config.index.kind)),
        ("jobs", kind(&config.jobs.kind)),
        ("decoder", adapters::decoder::describe(&config.decoder)),
        ("embedder", models.embedder.model().to_owned()),
        ("reranker", model(models.reranker.as_ref().map(|port| port.model()))),
        ("language model", models.llm.model().to_owned()),
        ("text reader", model(models.ocr.as_ref().map(|port| port.model()))),
        ("object detector", model(models.detector.as_ref().map(|port| port.model()))),
        ("image classifier", model(models.classifier.as_ref().map(|port| port.model()))),
        ("image embedder", model(models.image_embedder.as_ref().map(|port| port.model()))),
        ("voice activity", model(models.vad.as_ref().map(|port| port.model()))),
        ("speech recogniser", model(models.transcriber.as_ref().map(|port| port.model()))),
        (
            "speaker segmentation",
            model(models.speaker_segmentation.as_ref().map(|port| port.model())),
        ),
        ("speaker vectors", model(models.speaker_embedder.as_ref().map(|port| port.model()))),
        ("sentiment", model(models.sentiment.as_ref().map(|port| port.model()))),
        ("named entities", model(models.ner.as_ref().map(|port| port.model()))),
    ]
}
