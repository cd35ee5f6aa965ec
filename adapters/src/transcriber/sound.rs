//! Detection of possible speech, and conversion to PCM and WAV. The recognisers share this code.

use ports::{
    Result,
    decoder::SAMPLE_RATE,
    vad::{SpeechSpan, VoiceActivityDetector},
};

use crate::vad::{SpectralVoiceActivity, SpeechOptions};

/// Minimum pause between spans of speech, in seconds. It is longer than the pauses within a
/// sentence.
const PAUSE: f64 = 0.5;

/// Finds spans of possible speech that are separated by pauses of at least [`PAUSE`]. The result is
/// empty for silence, hum and hiss, in which recognisers hallucinate words.
pub(super) fn possible_speech(samples: &[f32]) -> Result<Vec<SpeechSpan>> {
    let speech = SpeechOptions { threshold: 0.3, min_speech: 0.1, ..SpeechOptions::default() };
    let mut session = SpectralVoiceActivity::new(speech).begin()?;
    session.push(samples)?;
    let mut spans: Vec<SpeechSpan> = Vec::new();
    for span in session.finish()? {
        match spans.last_mut() {
            Some(last) if span.start - last.end < PAUSE => last.end = span.end,
            _ => spans.push(span),
        }
    }
    Ok(spans)
}

/// Converts samples to 16 bits. NaN becomes silence.
pub(super) fn to_pcm(samples: &[f32]) -> Vec<i16> {
    let full = f32::from(i16::MAX);
    // The cast saturates and maps NaN to zero.
    samples.iter().map(|s| (s * full).round() as i16).collect()
}

/// Writes samples as a 16-bit mono WAV file.
pub(super) fn to_wav(samples: &[f32]) -> Vec<u8> {
    const BYTES: u32 = 2;
    let data = samples.len() as u32 * BYTES;
    let mut file = Vec::with_capacity(44 + data as usize);
    file.extend(b"RIFF");
    file.extend((36 + data).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    file.extend([1, 0, 1, 0]);
    file.extend(SAMPLE_RATE.to_le_bytes());
    file.extend((SAMPLE_RATE * BYTES).to_le_bytes());
    file.extend([BYTES as u8, 0, 8 * BYTES as u8, 0]);
    file.extend(b"data");
    file.extend(data.to_le_bytes());
    file.extend(to_pcm(samples).into_iter().flat_map(i16::to_le_bytes));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_clipped_and_nan_is_silence() {
        let samples = [0.0, 1.0, -1.0, 3.0, -3.0, f32::NAN, f32::INFINITY];
        assert_eq!(to_pcm(&samples), [0, 32_767, -32_767, 32_767, -32_768, 0, 32_767]);
    }

    #[test]
    fn wav_header_describes_the_samples() {
        let file = to_wav(&[0.5; 3]);
        assert_eq!(file.len(), 50);
        assert_eq!(&file[..4], b"RIFF");
        assert_eq!(file[4..8], 42_u32.to_le_bytes());
        assert_eq!(file[24..28], 16_000_u32.to_le_bytes());
        assert_eq!(file[40..44], 6_u32.to_le_bytes());
        assert_eq!(file[44..46], 16_384_i16.to_le_bytes());
    }
}
