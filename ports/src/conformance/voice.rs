//! What every adapter of the `voice` port does.

use crate::{
    decoder::SAMPLE_RATE,
    voice::{SpeakerEmbedder, SpeechSpan, VoiceActivity},
};

/// Every duty of [`VoiceActivity`]. `speech` are samples in which the adapter finds speech.
pub fn activity(detector: &dyn VoiceActivity, speech: &[f32]) {
    assert!(!detector.model().is_empty(), "a detector names its model");
    assert_eq!(spans(detector, &[], 512), [], "no sound holds no speech");
    for count in [1, 700, 3 * SAMPLE_RATE as usize] {
        assert_eq!(spans(detector, &vec![0.0; count], 4096), [], "silence holds no speech");
    }

    let whole = spans(detector, speech, speech.len());
    assert!(!whole.is_empty(), "the sound holds speech");
    check(&whole, speech.len());
    for block in [161, 512, 4099] {
        assert_eq!(spans(detector, speech, block), whole, "blocks of {block} give the same spans");
    }
    let head = &speech[..speech.len().min(SAMPLE_RATE as usize)];
    assert_eq!(
        spans(detector, head, 1),
        spans(detector, head, head.len()),
        "single samples give the same spans"
    );
    streams_do_not_disturb_each_other(detector, speech, &whole);
}

/// Every duty of [`SpeakerEmbedder`]. `voice` are at least two seconds of one voice.
pub async fn embedder(embedder: &dyn SpeakerEmbedder, voice: &[f32]) {
    assert!(!embedder.model().is_empty(), "an embedder names its model");
    for count in [0, 1, 100] {
        let vector = embedder.embed(&vec![0.1; count]).await.expect("too little is no error");
        assert_eq!(vector, None, "{count} samples are too short to tell a voice by");
    }
    let silent = embedder.embed(&vec![0.0; 2 * SAMPLE_RATE as usize]).await.unwrap();
    assert_eq!(silent, None, "silence has no voice");

    let vector = embedder.embed(voice).await.unwrap().expect("a voice has a vector");
    let norm = cosine(&vector, &vector).sqrt();
    assert!((norm - 1.0).abs() < 1e-3, "the vector has length 1, not {norm}");
    let (again, part) =
        futures::join!(embedder.embed(voice), embedder.embed(&voice[..voice.len() / 2]));
    let (again, part) = (again.unwrap().unwrap(), part.unwrap());
    assert!(cosine(&vector, &again) > 0.9999, "the same sound gives the same vector");
    if let Some(part) = part {
        assert_eq!(part.len(), vector.len(), "every vector has the same length");
    }
    let quieter: Vec<f32> = voice.iter().map(|s| s * 0.5).collect();
    let quieter = embedder.embed(&quieter).await.unwrap().expect("a quieter voice is a voice");
    assert!(cosine(&vector, &quieter) > 0.9, "loudness is not part of a voice");
}

fn streams_do_not_disturb_each_other(
    detector: &dyn VoiceActivity,
    speech: &[f32],
    whole: &[SpeechSpan],
) {
    let mut one = detector.begin().unwrap();
    let mut other = detector.begin().unwrap();
    for block in speech.chunks(1000) {
        one.push(block).unwrap();
        other.push(&vec![0.0; block.len()]).unwrap();
    }
    assert_eq!(one.finish().unwrap(), whole, "a second stream changes nothing in the first");
    assert_eq!(other.finish().unwrap(), [], "silence beside speech stays silence");
}

fn spans(detector: &dyn VoiceActivity, samples: &[f32], block: usize) -> Vec<SpeechSpan> {
    let mut session = detector.begin().expect("a stream begins");
    for block in samples.chunks(block.max(1)) {
        session.push(block).expect("samples are taken");
    }
    session.finish().expect("a stream ends")
}

fn check(spans: &[SpeechSpan], samples: usize) {
    let end = samples as f64 / f64::from(SAMPLE_RATE);
    let mut last = 0.0;
    for span in spans {
        assert!(span.start >= last, "{span:?} begins at or after the end of the one before");
        assert!(span.end > span.start, "{span:?} has a length");
        assert!(span.end <= end + 1e-6, "{span:?} is inside the {end} s of sound");
        last = span.end;
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
