//! Speech on a stereo track with one voice per channel, as produced by call and interview recorders.
//! Both channels are stored while the track is decoded. Whether each channel has its own voice is
//! decided afterwards, based on the channels' levels during speech and the speech on each channel.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::decoder::AudioBlock;

use super::envelope::Envelope;
use super::sound::{Sound, SoundWriter};
use super::voices::{SAME_TURN, name_speakers};
use crate::kernel::error::Result;
use crate::kernel::time::Span;
use crate::media::speech::VoiceTurn;

/// Minimum length of speech that is kept between spans of bleed, in seconds.
const MIN_SPEECH: f64 = 0.2;

/// Writes the channels of a track to disk while the track is decoded. Writing starts at the first
/// difference between the channels.
pub(crate) struct ChannelWriter {
    folder: PathBuf,
    channels: Option<Open>,
    /// Whether the channels are too similar to be stored.
    is_identical: bool,
}

struct Open {
    writers: [SoundWriter; 2],
    /// Time of the first difference between the channels, in seconds.
    from: f64,
    envelope: Envelope,
}

/// Two channels that differ.
pub(crate) struct Channels {
    sounds: [Sound; 2],
    from: f64,
    envelope: Envelope,
}

/// A channel and its speaker's speech.
pub(crate) struct ChannelSpeech {
    pub(crate) sound: Arc<Sound>,
    /// The spans of speech, in order and without overlaps.
    pub(crate) spans: Vec<Span>,
}

impl ChannelWriter {
    /// Creates a writer that stores its temporary files in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), channels: None, is_identical: false }
    }

    /// Appends a block of audio. `mix` contains the mixed sound before that block.
    pub(crate) fn push(
        &mut self,
        block: &AudioBlock<'_>,
        mix: &mut SoundWriter,
    ) -> std::io::Result<()> {
        if self.is_identical || (self.channels.is_none() && block.channels.is_none()) {
            return Ok(());
        }
        let open = match &mut self.channels {
            Some(open) => open,
            none => none.insert(Open {
                writers: [mix.copy(&self.folder)?, mix.copy(&self.folder)?],
                from: block.time,
                envelope: Envelope::default(),
            }),
        };
        let channels = block.channels.unwrap_or([block.samples; 2]);
        open.envelope.push(channels);
        for (writer, samples) in open.writers.iter_mut().zip(channels) {
            writer.push(samples)?;
        }
        if open.envelope.is_identical() {
            self.is_identical = true;
            self.channels = None;
        }
        Ok(())
    }

    /// Returns the channels, or `None` if they do not differ.
    pub(crate) fn finish(self) -> Result<Option<Channels>> {
        let Some(Open { writers: [left, right], from, envelope }) = self.channels else {
            return Ok(None);
        };
        Ok(Some(Channels { sounds: [left.finish()?, right.finish()?], from, envelope }))
    }
}

impl Channels {
    /// Returns each channel with its speech. Returns `None` unless each channel has its own voice.
    /// `speech` is the speech in the mix, and `find_speech` detects speech in a channel. *Blocks*.
    pub(crate) fn separate(
        self,
        speech: &[Span],
        find_speech: impl Fn(&Sound) -> Result<Vec<Span>>,
    ) -> Result<Option<[ChannelSpeech; 2]>> {
        let Self { sounds, from, envelope } = self;
        let shifted = |spans: &[Span], by: f64| -> Vec<Span> {
            spans.iter().map(|s| Span { start: s.start + by, end: s.end + by }).collect()
        };
        let Some(separation) = envelope.separate_voices(&shifted(speech, -from)) else {
            return Ok(None);
        };
        let mut channels = Vec::with_capacity(2);
        for (channel, mut sound) in sounds.into_iter().enumerate() {
            let mut muted = shifted(&envelope.bleeding(channel, separation), from);
            if channel == 1 && from > sound.span().start {
                // The channels are identical until `from`, so the second channel is muted until
                // then.
                muted.insert(0, Span { start: sound.span().start, end: from });
            }
            let spans = subtract(&find_speech(&sound)?, &muted);
            if !envelope.has_own(channel, separation, &shifted(&spans, -from)) {
                return Ok(None);
            }
            sound.mute(muted);
            channels.push(ChannelSpeech { sound: Arc::new(sound), spans });
        }
        Ok(channels.try_into().ok())
    }
}

/// Subtracts the spans `taken` from `spans`. Both must be sorted and without overlaps.
fn subtract(spans: &[Span], taken: &[Span]) -> Vec<Span> {
    let mut left = Vec::new();
    for span in spans {
        let mut start = span.start;
        for taken in taken.iter().filter(|taken| taken.overlap(span) > 0.0) {
            left.push(Span { start, end: taken.start });
            start = taken.end;
        }
        left.push(Span { start, end: span.end });
    }
    left.retain(|span| span.end - span.start >= MIN_SPEECH);
    left
}

/// Diarizes speech with one speaker per channel. Returns the turns in order of start. The speakers
/// are named `S1` and `S2` in the order in which they first speak.
pub(crate) fn channel_turns(channels: &[ChannelSpeech]) -> Vec<VoiceTurn> {
    let mut turns: Vec<(usize, Span)> = Vec::new();
    for (channel, ChannelSpeech { spans, .. }) in channels.iter().enumerate() {
        for span in spans {
            match turns.last_mut() {
                Some((own, last)) if *own == channel && span.start - last.end < SAME_TURN => {
                    last.end = span.end;
                }
                _ => turns.push((channel, *span)),
            }
        }
    }
    turns.sort_by(|a, b| a.1.start.total_cmp(&b.1.start));
    let channels: Vec<usize> = turns.iter().map(|(channel, _)| *channel).collect();
    let turns = name_speakers(turns).into_iter().zip(channels);
    turns.map(|(turn, channel)| VoiceTurn { channel: Some(channel), ..turn }).collect()
}

#[cfg(test)]
mod tests {
    use ports::decoder::SAMPLE_RATE;

    use super::*;

    const RATE: f64 = SAMPLE_RATE as f64;

    /// Generates deterministic noise.
    fn noise(seed: u32, seconds: f64, loudness: f32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(state >> 8) / f64::from(1_u32 << 23) - 1.0) as f32 * loudness
        };
        (0..(seconds * RATE) as usize).map(|_| next()).collect()
    }

    /// Generates synthetic speech within spans: noise in syllables of a quarter of a second.
    fn voice(seed: u32, seconds: f64, spans: &[(f64, f64)]) -> Vec<f32> {
        let mut samples = noise(seed, seconds, 0.5);
        let pace = 4.0 + f64::from(seed % 5) * 0.3;
        for (at, sample) in samples.iter_mut().enumerate() {
            let time = at as f64 / RATE;
            let speaks = spans.iter().any(|(start, end)| (*start..*end).contains(&time));
            let syllable = (std::f64::consts::PI * pace * time).sin().abs() as f32;
            *sample *= if speaks { syllable } else { 0.0 };
        }
        samples
    }

    fn mixed(a: &[f32], b: &[f32], share: f32) -> Vec<f32> {
        a.iter().zip(b).map(|(a, b)| (a + share * b).clamp(-1.0, 1.0)).collect()
    }

    /// Detects voice activity by loudness alone.
    fn find_loud(sound: &Sound) -> Result<Vec<Span>> {
        let span = sound.span();
        let samples = sound.read_blocking(span.start, span.end)?;
        let mut spans: Vec<Span> = Vec::new();
        for (at, part) in samples.chunks(1600).enumerate() {
            let loudest = part.iter().fold(0.0_f32, |loudest, sample| loudest.max(sample.abs()));
            let start = span.start + at as f64 * 0.1;
            match spans.last_mut() {
                _ if loudest < 0.04 => {}
                Some(last) if start - last.end < 0.25 => last.end = start + 0.1,
                _ => spans.push(Span { start, end: start + 0.1 }),
            }
        }
        Ok(spans)
    }

    /// Returns the channels of a track that begins at 2 s, if each has its own voice.
    fn separated(left: &[f32], right: &[f32]) -> Option<Vec<ChannelSpeech>> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mix = SoundWriter::create(folder.path()).expect("a writer");
        mix.starts_at(2.0);
        let mut writer = ChannelWriter::new(folder.path());
        let mut time = 2.0;
        for (left, right) in left.chunks(3000).zip(right.chunks(3000)) {
            let samples: Vec<f32> = left.iter().zip(right).map(|(l, r)| (l + r) / 2.0).collect();
            let channels = (left != right).then_some([left, right]);
            let block = AudioBlock { time, samples: &samples, channels };
            writer.push(&block, &mut mix).expect("room");
            mix.push(&samples).expect("room");
            time += samples.len() as f64 / RATE;
        }
        let speech = find_loud(&mix.finish().expect("a sound")).expect("spans");
        let channels = writer.finish().expect("channels")?;
        channels.separate(&speech, find_loud).expect("a decision").map(Vec::from)
    }

    fn spans(channel: &ChannelSpeech) -> Vec<(f64, f64)> {
        let tenths = |time: f64| (time * 10.0).round() / 10.0;
        channel.spans.iter().map(|span| (tenths(span.start), tenths(span.end))).collect()
    }

    #[test]
    fn each_channel_has_its_own_speech() {
        let left = voice(1, 12.0, &[(0.0, 5.0), (8.0, 12.0)]);
        let right = voice(2, 12.0, &[(4.0, 8.5)]);
        let channels = separated(&left, &right).expect("voices");
        assert_eq!(spans(&channels[0]), [(2.0, 7.0), (10.0, 14.0)]);
        assert_eq!(spans(&channels[1]), [(6.0, 10.5)]);
        let turns = channel_turns(&channels);
        let turns: Vec<_> = turns.iter().map(|t| (t.speaker.as_str(), t.channel)).collect();
        assert_eq!(turns, [("S1", Some(0)), ("S2", Some(1)), ("S1", Some(0))]);
    }

    #[test]
    fn speakers_are_named_in_order_of_first_speech() {
        let left = voice(1, 8.0, &[(5.0, 8.0)]);
        let right = voice(2, 8.0, &[(1.0, 4.0)]);
        let turns = channel_turns(&separated(&left, &right).expect("voices"));
        let turns: Vec<_> = turns.iter().map(|t| (t.speaker.as_str(), t.channel)).collect();
        assert_eq!(turns, [("S1", Some(1)), ("S2", Some(0))]);
    }

    #[test]
    fn a_greeting_over_the_words_of_the_other_channel_is_heard() {
        let left = voice(1, 10.0, &[(0.0, 10.0)]);
        let right = voice(2, 10.0, &[(4.0, 5.0)]);
        let channels = separated(&left, &right).expect("voices");
        assert_eq!(spans(&channels[0]), [(2.0, 12.0)]);
        assert_eq!(spans(&channels[1]), [(6.0, 7.0)]);
    }

    #[test]
    fn a_channel_is_silent_where_it_has_only_the_voice_of_the_other() {
        let (left, right) = (voice(1, 12.0, &[(0.0, 6.0)]), voice(2, 12.0, &[(6.0, 12.0)]));
        let bleeding = separated(&mixed(&left, &right, 0.2), &mixed(&right, &left, 0.2));
        let channels = bleeding.expect("voices");
        let near = |found: &[(f64, f64)], start: f64, end: f64| {
            let first = found.first().expect("speech").0;
            let last = found.last().expect("speech").1;
            assert!((first - start).abs() < 0.4 && (last - end).abs() < 0.4, "{found:?}");
        };
        near(&spans(&channels[0]), 2.0, 8.0);
        near(&spans(&channels[1]), 8.0, 14.0);
        let other = channels[0].sound.read_blocking(9.0, 13.0).expect("samples");
        assert!(other.iter().all(|sample| *sample == 0.0), "the other voice is muted");
    }

    #[test]
    fn microphones_and_voices_may_differ_in_loudness() {
        let (left, right) = (voice(1, 12.0, &[(0.0, 6.0)]), voice(2, 12.0, &[(6.0, 12.0)]));
        let scaled =
            |samples: &[f32], by: f32| -> Vec<f32> { samples.iter().map(|s| s * by).collect() };
        // One speaker is 10 dB quieter, with equal microphone gain.
        let low = scaled(&right, 0.3);
        assert!(separated(&mixed(&left, &low, 0.25), &mixed(&low, &left, 0.25)).is_some());
        // The microphone on the right has 14 dB less gain.
        let set_lower = scaled(&mixed(&right, &left, 0.2), 0.2);
        assert!(separated(&mixed(&left, &right, 0.2), &set_lower).is_some());
    }

    #[test]
    fn what_both_channels_have_is_heard_on_one() {
        let both = voice(3, 12.0, &[(0.0, 3.0)]);
        let left = mixed(&both, &voice(1, 12.0, &[(4.0, 8.0)]), 1.0);
        let right = mixed(&both, &voice(2, 12.0, &[(7.0, 12.0)]), 1.0);
        let channels = separated(&left, &right).expect("voices");
        assert_eq!(spans(&channels[0]), [(2.0, 5.0), (6.0, 10.0)]);
        assert_eq!(spans(&channels[1]), [(9.0, 14.0)]);
    }

    #[test]
    fn channels_that_share_their_voices_stay_together() {
        let speaks = [(0.0, 4.0), (5.0, 9.0)];
        let speech = voice(1, 10.0, &speaks);
        let scaled = |by: f32| -> Vec<f32> { speech.iter().map(|s| s * by).collect() };
        let wide = |seed| mixed(&scaled(0.7), &voice(seed, 10.0, &speaks), 0.3);
        let (other, silence) = (voice(2, 10.0, &[(3.0, 8.0)]), vec![0.0; speech.len()]);
        // The same rhythm on different instruments: samples that have nothing in common.
        let pulse = |seed| -> Vec<f32> {
            let beat = noise(seed, 10.0, 0.5);
            let level = |at: usize| (at as f64 / RATE * 6.0).sin().abs() as f32;
            beat.iter().enumerate().map(|(at, sample)| sample * level(at)).collect()
        };
        for (name, left, right) in [
            ("identical", speech.clone(), speech.clone()),
            ("3 dB to the left", speech.clone(), scaled(0.7)),
            ("opposite sign", speech.clone(), scaled(-1.0)),
            ("right silent", speech.clone(), silence),
            ("noise on the right", speech.clone(), noise(7, 10.0, 0.01)),
            ("music", pulse(5), pulse(6)),
            ("voice and width", wide(11), wide(21)),
            ("4 dB of bleed", mixed(&speech, &other, 0.63), mixed(&other, &speech, 0.63)),
            ("silence", vec![0.0; 16_000], vec![1e-4; 16_000]),
        ] {
            assert!(separated(&left, &right).is_none(), "{name}");
        }
    }
}
