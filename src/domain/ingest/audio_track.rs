//! Which sound track of a file is used: the one that is asked for, or the one in which most is said.

use std::path::PathBuf;

use ports::decoder::{AudioBlock, AudioInfo, SAMPLE_RATE, ScanFrame, ScanSink};
use ports::vad::VoiceActivitySession;
use ports::{ErrorKind, PortError};

use crate::domain::catalog::record::VideoRecord;
use crate::domain::ingest::fetch::FetchedSource;
use crate::domain::ingest::{Ingest, IngestRequest};
use crate::domain::kernel::error::{Error, Result};
use crate::domain::kernel::progress::Progress;
use crate::domain::media::decode::decode;

/// The track that a player would play is kept while it has this part of the most that is said or heard.
const AS_MUCH: f64 = 0.8;

/// Amplitude from which sound counts as heard: −50 dB.
const AUDIBLE: f32 = 0.003;

/// The track of a file with several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AudioTrack {
    /// Counted from 0; `None` where the file has no choice.
    pub(crate) track: Option<u32>,
    /// What a person should know of the choice.
    pub(crate) warnings: Vec<String>,
}

/// What there is in a track, seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Heard {
    said: f64,
    audible: f64,
}

impl Ingest {
    /// The track that is asked for, else the one that was used before, else the one with speech.
    /// `Unprocessable` where the file has no such track.
    pub(super) async fn audio_track(
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
        let mut heard = Vec::new();
        for track in 0..audio.tracks {
            let file = fetched.file.path.to_path_buf();
            let listening = self.listen_to_track(file, track, progress.clone());
            heard.push(progress.cancellable(listening).await?);
        }
        let track = best(&heard, audio.default_track);
        let warnings = vec![warning(&heard, audio.default_track, track)];
        Ok(AudioTrack { track: Some(track), warnings })
    }

    /// How much there is in the beginning of a track; nothing where it cannot be decoded.
    async fn listen_to_track(
        &self,
        file: PathBuf,
        track: u32,
        progress: Progress,
    ) -> Result<Heard> {
        let (vad, seconds) =
            (self.models.vad.clone(), self.settings.ingest.audio_track_probe_duration);
        decode(&self.models.decoder, move |decoder| {
            let voice = vad.map(|voice| voice.begin()).transpose()?;
            let left = seconds.saturating_mul(u64::from(SAMPLE_RATE));
            let mut listener = Listener { voice, left, audible: 0, progress };
            let listened = decoder.sound(&file, Some(track), &mut listener);
            listener.progress.check()?;
            if let Err(error) = listened.as_ref()
                && listener.left > 0
            {
                tracing::warn!(%error, track, "a sound track is left out");
                return Ok(Heard::default());
            }
            listener.heard()
        })
        .await
    }
}

/// Listens to so much of a track.
struct Listener {
    voice: Option<Box<dyn VoiceActivitySession>>,
    /// Samples that it still listens to.
    left: u64,
    audible: u64,
    progress: Progress,
}

impl Listener {
    fn heard(self) -> Result<Heard> {
        let spans = self.voice.map_or(Ok(Vec::new()), |voice| voice.finish())?;
        Ok(Heard {
            said: spans.iter().map(|span| span.end - span.start).sum(),
            audible: self.audible as f64 / f64::from(SAMPLE_RATE),
        })
    }
}

impl ScanSink for Listener {
    fn frame(&mut self, _: ScanFrame<'_>) -> ports::Result<()> {
        Ok(())
    }

    fn audio(&mut self, block: AudioBlock<'_>) -> ports::Result<()> {
        let stop = |why: String| PortError::new(ErrorKind::Other, why);
        self.progress.check().map_err(|e| stop(e.to_string()))?;
        let samples = &block.samples
            [..block.samples.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))];
        self.audible += samples.iter().filter(|sample| sample.abs() >= AUDIBLE).count() as u64;
        if let Some(voice) = &mut self.voice {
            voice.push(samples)?;
        }
        self.left -= samples.len() as u64;
        if self.left == 0 { Err(stop("enough was heard".into())) } else { Ok(()) }
    }
}

/// The track in which most is said, or without speech the one in which most is heard.
fn best(heard: &[Heard], played: u32) -> u32 {
    let speech = heard.iter().any(|track| track.said > 0.0);
    let most = |track: &Heard| if speech { track.said } else { track.audible };
    let mut best = played;
    for (track, one) in (0..).zip(heard) {
        let now = heard.get(best as usize).map_or(0.0, most);
        if most(one) > now && (best != played || now < AS_MUCH * most(one)) {
            best = track;
        }
    }
    best
}

fn warning(heard: &[Heard], played: u32, chosen: u32) -> String {
    let silent: Vec<String> = (0..)
        .zip(heard)
        .filter(|(_, track)| track.audible == 0.0)
        .map(|(track, _): (u32, _)| track.to_string())
        .collect();
    let why = if chosen == played { "" } else { ", in which more is said or heard" };
    let silent = match silent.as_slice() {
        [] => String::new(),
        [track] => format!("; track {track} is silent"),
        tracks => format!("; tracks {} are silent", tracks.join(", ")),
    };
    format!(
        "the file has {} sound tracks, and track {chosen} was used{why}{silent}; audio_track chooses \
         another, counted from 0",
        heard.len()
    )
}

fn check(track: u32, audio: Option<AudioInfo>) -> Result<()> {
    let tracks = audio.map_or(0, |audio| audio.tracks);
    if track < tracks {
        return Ok(());
    }
    let there = match tracks {
        0 => "the file has no sound".into(),
        1 => "the file has one sound track, 0".into(),
        n => format!("the file has {n} sound tracks, 0 to {}", n - 1),
    };
    Err(Error::Unprocessable(format!("audio_track is {track}; {there}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: f64, audible: f64) -> Heard {
        Heard { said, audible }
    }

    #[test]
    fn the_track_in_which_most_is_said_is_used() {
        for (tracks, played, expected) in [
            (vec![heard(0.0, 0.0), heard(9.0, 12.0)], 0, 1),
            (vec![heard(9.0, 12.0), heard(0.0, 60.0)], 0, 0),
            // The same in two languages: the one that plays.
            (vec![heard(9.0, 12.0), heard(9.5, 12.0)], 0, 0),
            (vec![heard(9.0, 12.0), heard(9.5, 12.0)], 1, 1),
            (vec![heard(0.0, 0.0), heard(0.0, 7.0), heard(0.0, 8.0)], 0, 2),
            (vec![heard(0.0, 0.0), heard(0.0, 0.0)], 1, 1),
        ] {
            assert_eq!(best(&tracks, played), expected, "{tracks:?}");
        }
    }

    #[test]
    fn a_choice_is_explained() {
        let tracks = [heard(0.0, 0.0), heard(9.0, 12.0)];
        assert_eq!(
            warning(&tracks, 0, 1),
            "the file has 2 sound tracks, and track 1 was used, in which more is said or heard; \
             track 0 is silent; audio_track chooses another, counted from 0"
        );
    }
}
