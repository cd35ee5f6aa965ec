//! The suite for adapters of the `transcriber` port.

use crate::{
    decoder::SAMPLE_RATE,
    transcriber::{Transcriber, Transcript},
};

/// Checks every requirement of the port. `speech` holds samples with at least one recognisable
/// word.
pub async fn suite(transcriber: &dyn Transcriber, speech: &[f32]) {
    assert!(!transcriber.model().is_empty(), "a transcriber names its model");
    let longest = transcriber.max_seconds();
    assert!(longest.is_finite() && longest >= 1.0, "a transcriber takes at least a second");
    silence_has_no_words(transcriber).await;
    words_are_in_order(transcriber, speech).await;
    damaged_samples_are_accepted(transcriber).await;
}

async fn silence_has_no_words(transcriber: &dyn Transcriber) {
    for count in [0, 1, 160, 2 * SAMPLE_RATE as usize] {
        let transcript =
            transcriber.transcribe(&vec![0.0; count], None).await.expect("silence is no error");
        assert_eq!(transcript.words, [], "{count} samples of silence hold no words");
    }
}

async fn words_are_in_order(transcriber: &dyn Transcriber, speech: &[f32]) {
    let transcript = transcriber.transcribe(speech, None).await.expect("speech is recognised");
    assert!(!transcript.words.is_empty(), "the speech holds words");
    check(&transcript, speech.len());
}

async fn damaged_samples_are_accepted(transcriber: &dyn Transcriber) {
    let mut samples = vec![0.0_f32; SAMPLE_RATE as usize];
    samples[100] = f32::NAN;
    samples[200] = f32::INFINITY;
    samples[300] = -1e30;
    match transcriber.transcribe(&samples, None).await {
        Ok(transcript) => check(&transcript, samples.len()),
        Err(e) => assert!(!e.to_string().is_empty(), "an error says what was wrong"),
    }
}

fn check(transcript: &Transcript, samples: usize) {
    let end = samples as f64 / f64::from(SAMPLE_RATE) + 0.05;
    let mut last = 0.0;
    for word in &transcript.words {
        assert!(!word.text.is_empty(), "a word is not empty");
        assert_eq!(word.text, word.text.trim(), "no space surrounds a word");
        assert!(word.start >= 0.0 && word.end >= word.start, "{word:?} ends after it begins");
        assert!(word.end <= end, "{word:?} is inside the {end:.2} s of sound");
        assert!(word.start >= last, "words are in order of start: {word:?} begins before {last}");
        assert!((0.0..=1.0).contains(&word.confidence), "confidence of {word:?} is in 0..1");
        last = word.start;
    }
    if let Some(language) = &transcript.language {
        assert!(
            language.len() == 2 && language.bytes().all(|b| b.is_ascii_lowercase()),
            "{language:?} is an ISO 639-1 code"
        );
    }
}
