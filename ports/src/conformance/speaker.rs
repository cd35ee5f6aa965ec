//! The suites for adapters of the `speaker` ports.

use crate::vector::dot;
use crate::{
    ErrorKind, PortError,
    decoder::SAMPLE_RATE,
    speaker::{SpeakerEmbedder, SpeakerSegmentation, WindowActivity},
};

/// Checks every requirement of [`SpeakerSegmentation`]. `voice` holds samples of one speaker.
pub async fn segmentation(segmentation: &dyn SpeakerSegmentation, voice: &[f32]) {
    assert!(!segmentation.model().is_empty(), "a segmentation names its model");
    let (window, max_speakers) = (segmentation.window(), segmentation.max_speakers());
    assert!(
        window > 0 && (1..=8).contains(&max_speakers),
        "a window has a length and at most 8 speakers"
    );

    let segment = async |samples: &[f32]| {
        let mut found = segmentation.segment(vec![samples.to_vec()]).await?;
        assert_eq!(found.len(), 1, "a window has an answer");
        Ok::<_, PortError>(found.remove(0))
    };
    let silence = segment(&vec![0.0; window]).await.unwrap();
    assert!(silence.frames.iter().all(|frame| *frame == 0), "nobody speaks in silence");
    assert!(silence.step > 0.0 && silence.first >= 0.0, "frames have times");
    let end = window as f64 / f64::from(SAMPLE_RATE);
    let last = silence.first + (silence.frames.len() as f64 - 1.0) * silence.step;
    assert!(!silence.frames.is_empty() && last <= end, "every frame lies in the window");
    let alike = |activity: &WindowActivity| {
        (activity.first, activity.step, activity.frames.len())
            == (silence.first, silence.step, silence.frames.len())
    };

    let voice = &voice[..voice.len().min(window)];
    let activity = segment(voice).await.unwrap();
    assert!(alike(&activity), "every answer has the same frames");
    assert!(activity.frames.iter().any(|frame| *frame != 0), "a voice is heard");
    let speaker_bits = u8::MAX >> (8 - max_speakers);
    assert!(
        activity.frames.iter().all(|f| f & !speaker_bits == 0),
        "no speaker beyond {max_speakers}"
    );
    let again = segment(voice).await.unwrap();
    assert_eq!(again, activity, "the same sound gives the same answer");
    for count in [0, 1, voice.len() / 3] {
        let part = segment(&voice[..count]).await.expect("little sound is no error");
        assert!(alike(&part), "{count} samples give as many frames as a whole window");
    }
    let (first, second) = futures::join!(segment(voice), segment(&[]));
    assert_eq!(first.unwrap(), activity, "a second window changes nothing in the first");
    assert!(second.unwrap().frames.iter().all(|frame| *frame == 0), "no sound holds no speech");

    let third = &voice[..voice.len() / 3];
    let together = vec![third.to_vec(), vec![0.0; window], voice.to_vec()];
    let together = segmentation.segment(together).await.unwrap();
    assert!(
        together == [segment(third).await.unwrap(), silence.clone(), activity.clone()],
        "windows heard together are answered in their order, each as alone"
    );
    assert_eq!(segmentation.segment(Vec::new()).await.unwrap(), [], "no window has no answer");

    let error = segmentation.segment(vec![vec![0.0; window + 1], Vec::new()]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "more than a window is refused");
}

/// Checks every requirement of [`SpeakerEmbedder`]. `voice` holds at least two seconds of speech by
/// one speaker.
pub async fn embedder(embedder: &dyn SpeakerEmbedder, voice: &[f32]) {
    assert!(!embedder.model().is_empty(), "an embedder names its model");
    for count in [0, 1, 100] {
        let vector = embedder.embed(&vec![0.1; count]).await.expect("too little is no error");
        assert_eq!(vector, None, "{count} samples are too short to identify a voice");
    }
    let silent = embedder.embed(&vec![0.0; 2 * SAMPLE_RATE as usize]).await.unwrap();
    assert_eq!(silent, None, "silence has no voice");

    let vector = embedder.embed(voice).await.unwrap().expect("a voice has a vector");
    let norm = dot(&vector, &vector).sqrt();
    assert!((norm - 1.0).abs() < 1e-3, "the vector has length 1, not {norm}");
    let (again, part) =
        futures::join!(embedder.embed(voice), embedder.embed(&voice[..voice.len() / 2]));
    let (again, part) = (again.unwrap().unwrap(), part.unwrap());
    assert!(dot(&vector, &again) > 0.9999, "the same sound gives the same vector");
    if let Some(part) = part {
        assert_eq!(part.len(), vector.len(), "every vector has the same length");
    }
    let quieter: Vec<f32> = voice.iter().map(|s| s * 0.5).collect();
    let quieter = embedder.embed(&quieter).await.unwrap().expect("a quieter voice is a voice");
    assert!(dot(&vector, &quieter) > 0.9, "loudness is not part of a voice");
}
