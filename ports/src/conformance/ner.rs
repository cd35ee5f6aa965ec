//! The suite for adapters of the `ner` port.

use std::collections::HashSet;

use crate::ner::{EntityRecognizer, EntitySpan};

/// Checks every requirement of the port. `text` contains at least one entity that the adapter
/// finds.
pub async fn suite(recognizer: &dyn EntityRecognizer, text: &str) {
    assert!(!recognizer.model().is_empty(), "a recogniser names its model");
    let labels = recognizer.labels();
    assert!(!labels.is_empty(), "a recogniser lists its labels");
    let distinct: HashSet<_> = labels.iter().collect();
    assert_eq!(distinct.len(), labels.len(), "no label is listed twice");

    assert!(recognize(recognizer, &[]).await.is_empty(), "no texts give no results");
    let alone = recognize(recognizer, &[text]).await;
    assert!(!alone[0].is_empty(), "{text:?} names an entity");
    let batch = recognize(recognizer, &["", "and so on", text]).await;
    assert_eq!(batch[2], alone[0], "each text is judged alone");
    assert_eq!(batch[0], [], "no text names nothing");

    let accented = format!("É — 日本 «{text}» 🙂");
    let long = format!("{text} ").repeat(2_000);
    recognize(recognizer, &[&accented, &long, "\u{0}", "   ", "🙂", "ß"]).await;
}

async fn recognize(recognizer: &dyn EntityRecognizer, texts: &[&str]) -> Vec<Vec<EntitySpan>> {
    let owned: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
    let results = recognizer.recognize(&owned).await.expect("texts are processed");
    assert_eq!(results.len(), texts.len(), "one list per text");
    for (text, spans) in texts.iter().zip(&results) {
        let mut last = 0;
        for span in spans {
            assert!(span.range.start >= last, "{span:?} begins after the one before");
            let named = text.get(span.range.clone());
            let named = named.expect("a range lies on character boundaries of the text");
            assert!(!named.trim().is_empty(), "{span:?} holds text");
            assert_eq!(named, named.trim(), "no space surrounds an entity");
            assert!(recognizer.labels().contains(&span.label), "{:?} is a label", span.label);
            assert!(
                span.confidence > 0.0 && span.confidence <= 1.0,
                "confidence of {span:?} is in 0..1"
            );
            last = span.range.end;
        }
    }
    results
}
