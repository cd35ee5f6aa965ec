//! The suite for adapters of the `vad` port.

use crate::{
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector},
};

/// Checks every requirement of the port. `speech` holds samples with detectable speech.
pub fn activity(detector: &dyn VoiceActivityDetector, speech: &[f32]) {
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
    streams_are_independent(detector, speech, &whole);
}

fn streams_are_independent(
    detector: &dyn VoiceActivityDetector,
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
    assert_eq!(other.finish().unwrap(), [], "silence parallel to speech stays silence");
}

fn spans(detector: &dyn VoiceActivityDetector, samples: &[f32], block: usize) -> Vec<SpeechSpan> {
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
