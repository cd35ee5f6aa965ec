//! What every adapter of the `speaker` port does.

use crate::{decoder::SAMPLE_RATE, speaker::SpeakerEmbedder};

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

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
