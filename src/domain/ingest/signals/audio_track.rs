//! Chooses the audio track of a file: the requested one, or the one with the most speech.

use std::path::PathBuf;

use ports::decoder::{AudioBlock, AudioInfo, SAMPLE_RATE, ScanFrame, ScanSink};
use ports::vad::VoiceActivitySession;
use ports::{ErrorKind, PortError};

use crate::ingest::request::IngestRequest;
use crate::ingest::signals::SignalExtraction;
use crate::ingest::sources::FetchedSource;
use crate::kernel::error::{Error, Result};
use crate::kernel::progress::Progress;
use crate::media::decode::decode;
use crate::records::record::VideoRecord;

/// The default track is chosen if its amount of speech or sound is at least this share of the
/// largest amount in any track.
const DEFAULT_TRACK_SHARE: f64 = 0.8;

/// Minimum amplitude at which sound counts as audible: −50 dB.
const AUDIBLE: f32 = 0.003;

/// The chosen track of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AudioTrack {
    /// Index of the track; `None` if the file has only one.
    pub(crate) track: Option<u32>,
    /// Warnings about the choice.
    pub(crate) warnings: Vec<String>,
}

/// Duration of the speech and of the audible sound in a track, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct TrackContent {
    speech: f64,
    audible: f64,
}

impl SignalExtraction {
    /// Chooses the requested track. If no track is requested, chooses the track that was used
    /// previously or, for a new video, the one with the most speech. Returns `Unprocessable` if the
    /// requested track does not exist.
    pub(in crate::ingest) async fn choose_audio_track(
        &self,
        fetched: &FetchedSource,
        request: &IngestRequest,
        previous: Option<&VideoRecord>,
        progress: &Progress,
    ) -> Result<AudioTrack> {
        let audio = fetched.info.audio;
        if let Some(track) = request.audio_track {
            check(track, audio)?;
        }
        let Some(audio) = audio.filter(|audio| audio.tracks > 1) else {
            return Ok(AudioTrack { track: None, warnings: Vec::new() });
        };
        if request.audio_track.is_some() {
            return Ok(AudioTrack { track: request.audio_track, warnings: Vec::new() });
        }
        if let Some(record) = previous.filter(|record| record.audio_track.is_some()) {
            let (track, warnings) = (record.audio_track, record.warnings.clone());
            return Ok(AudioTrack { track, warnings });
        }
        let mut contents = Vec::new();
        for track in 0..audio.tracks {
            let file = fetched.file.path.to_path_buf();
            let measuring = self.measure_track(file, track, progress.clone());
            contents.push(progress.cancellable(measuring).await?);
        }
        let track = best_track(&contents, audio.default_track);
        let warnings = vec![warning(&contents, audio.default_track, track)];
        Ok(AudioTrack { track: Some(track), warnings })
    }

    /// Measures the beginning of a track. The result is zero if the track cannot be decoded.
    async fn measure_track(
        &self,
        file: PathBuf,
        track: u32,
        progress: Progress,
    ) -> Result<TrackContent> {
        let (vad, seconds) = (self.vad.clone(), self.settings.audio_track_probe_duration);
        decode(&self.decoder, move |decoder| {
            let voice = vad.map(|voice| voice.begin()).transpose()?;
            let remaining = seconds.saturating_mul(u64::from(SAMPLE_RATE));
            let mut meter = TrackMeter { voice, remaining, audible: 0, progress };
            let decoded = decoder.sound(&file, Some(track), &mut meter);
            meter.progress.check()?;
            if let Err(error) = decoded.as_ref()
                && meter.remaining > 0
            {
                tracing::warn!(%error, track, "ignoring an audio track that cannot be decoded");
                return Ok(TrackContent::default());
            }
            meter.finish()
        })
        .await
    }
}

/// Measures the beginning of a track.
struct TrackMeter {
    voice: Option<Box<dyn VoiceActivitySession>>,
    /// Number of samples left to measure.
    remaining: u64,
    audible: u64,
    progress: Progress,
}

impl TrackMeter {
    fn finish(self) -> Result<TrackContent> {
        let spans = self.voice.map_or(Ok(Vec::new()), |voice| voice.finish())?;
        Ok(TrackContent {
            speech: spans.iter().map(|span| span.end - span.start).sum(),
            audible: self.audible as f64 / f64::from(SAMPLE_RATE),
        })
    }
}

impl ScanSink for TrackMeter {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let stop = |why: String| PortError::new(ErrorKind::Other, why);
        self.progress.check().map_err(|e| stop(e.to_string()))?;
        let samples = &block.samples
            [..block.samples.len().min(usize::try_from(self.remaining).unwrap_or(usize::MAX))];
        self.audible += samples.iter().filter(|sample| sample.abs() >= AUDIBLE).count() as u64;
        if let Some(voice) = &mut self.voice {
            voice.push(samples)?;
        }
        self.remaining -= samples.len() as u64;
        if self.remaining == 0 { Err(stop("enough was heard".into())) } else { Ok(()) }
    }
}

/// Returns the track with the most speech, or the one with the most sound if no track has speech.
/// Prefers the default track `played` if it has nearly as much.
fn best_track(contents: &[TrackContent], played: u32) -> u32 {
    let speech = contents.iter().any(|track| track.speech > 0.0);
    let amount = |track: &TrackContent| if speech { track.speech } else { track.audible };
    let mut best_track = played;
    for (track, one) in (0..).zip(contents) {
        let now = contents.get(best_track as usize).map_or(0.0, amount);
        if amount(one) > now && (best_track != played || now < DEFAULT_TRACK_SHARE * amount(one)) {
            best_track = track;
        }
    }
    best_track
}

fn warning(contents: &[TrackContent], played: u32, chosen: u32) -> String {
    let silent: Vec<String> = (0..)
        .zip(contents)
        .filter(|(_, track)| track.audible == 0.0)
        .map(|(track, _): (u32, _)| track.to_string())
        .collect();
    let reason = if chosen == played { "" } else { ", in which more is said or heard" };
    let silent = match silent.as_slice() {
        [] => String::new(),
        [track] => format!("; track {track} is silent"),
        tracks => format!("; tracks {} are silent", tracks.join(", ")),
    };
    format!(
        "the file has {} sound tracks, and track {chosen} was used{reason}{silent}; audio_track chooses \
         another, counted from 0",
        contents.len()
    )
}

fn check(track: u32, audio: Option<AudioInfo>) -> Result<()> {
    let tracks = audio.map_or(0, |audio| audio.tracks);
    if track < tracks {
        return Ok(());
    }
    let available = match tracks {
        0 => "the file has no sound".into(),
        1 => "the file has one sound track, 0".into(),
        n => format!("the file has {n} sound tracks, 0 to {}", n - 1),
    };
    Err(Error::Unprocessable(format!("audio_track is {track}; {available}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(speech: f64, audible: f64) -> TrackContent {
        TrackContent { speech, audible }
    }

    #[test]
    fn track_with_most_speech_is_used() {
        for (tracks, played, expected) in [
            (vec![contents(0.0, 0.0), contents(9.0, 12.0)], 0, 1),
            (vec![contents(9.0, 12.0), contents(0.0, 60.0)], 0, 0),
            // The same speech in two languages: the default track is chosen.
            (vec![contents(9.0, 12.0), contents(9.5, 12.0)], 0, 0),
            (vec![contents(9.0, 12.0), contents(9.5, 12.0)], 1, 1),
            (vec![contents(0.0, 0.0), contents(0.0, 7.0), contents(0.0, 8.0)], 0, 2),
            (vec![contents(0.0, 0.0), contents(0.0, 0.0)], 1, 1),
        ] {
            assert_eq!(best_track(&tracks, played), expected, "{tracks:?}");
        }
    }

    #[test]
    fn warnings_explain_the_choice() {
        let tracks = [contents(0.0, 0.0), contents(9.0, 12.0)];
        assert_eq!(
            warning(&tracks, 0, 1),
            "the file has 2 sound tracks, and track 1 was used, in which more is said or heard; \
             track 0 is silent; audio_track chooses another, counted from 0"
        );
    }
}
