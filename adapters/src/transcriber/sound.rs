//! What the recognisers share about samples: whether there can be speech in them, and how they are
//! written as PCM.

use ports::{Result, voice::VoiceActivity};

use crate::voice::{SpectralVoiceActivity, SpeechOptions};

/// False for silence, hum and hiss, in which recognisers imagine words.
pub(super) fn may_hold_speech(samples: &[f32]) -> Result<bool> {
    let speech = SpeechOptions { threshold: 0.3, min_speech: 0.1, ..SpeechOptions::default() };
    let mut session = SpectralVoiceActivity::new(speech).begin()?;
    session.push(samples)?;
    Ok(!session.finish()?.is_empty())
}

/// 16-bit samples. What is not a number becomes silence.
pub(super) fn to_pcm(samples: &[f32]) -> Vec<i16> {
    let full = f32::from(i16::MAX);
    // The cast saturates, and makes zero of NaN.
    samples.iter().map(|s| (s * full).round() as i16).collect()
}
