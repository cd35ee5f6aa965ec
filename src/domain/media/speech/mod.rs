//! The speech in a video: voice activity, diarization and words. Speech is computed once per video,
//! stored with the video's record and sliced into chunks by time.

mod channels;
mod coverage;
mod envelope;
mod groups;
mod languages;
mod packs;
mod piece;
mod recognise;
mod sound;
mod utterances;
mod voices;

use std::ops::Range;

use ports::transcriber::Word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::time::Span;

pub(crate) use channels::{ChannelSpeech, ChannelWriter, Channels, channel_turns};
pub use languages::LanguageSpan;
pub(crate) use piece::{Recognition, TranscriptCache};
pub(crate) use recognise::recognise;
pub(crate) use sound::{Sound, SoundWriter};
pub use utterances::{Pause, Utterance};
pub(crate) use voices::{Diarizer, is_speaker_label};

use utterances::distance;
pub(crate) use utterances::sentences;

/// A turn of one voice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoiceTurn {
    /// Label of the speaker: `S1`, `S2` … in order of first appearance in the video.
    pub speaker: String,
    /// The span, with times in seconds from the start of the video.
    #[serde(flatten)]
    pub span: Span,
    /// The index of the speaker's channel in [`Words::channels`]; `None` unless each channel has
    /// its own voice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<usize>,
}

/// A turn of one speaker, with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeakerTurn {
    /// Label of the speaker within the video.
    pub speaker: String,
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
    /// The words spoken in the turn.
    pub text: String,
}

/// The recognised words in a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Words {
    /// The name of the recogniser's model.
    pub recogniser: String,
    /// ISO 639-1 code of the predominant language, if known.
    pub language: Option<String>,
    /// The spans in each language, in order; empty if there is only one language.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<LanguageSpan>,
    /// The words in order of start, with times in seconds from the start of the video. Empty if
    /// each channel has its own words.
    pub words: Vec<Word>,
    /// The words on each channel, if each channel of a stereo track has its own voice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Vec<Word>>,
}

impl Words {
    /// Returns the words on each channel, or a single list if the channels share their voices.
    pub fn by_channel(&self) -> &[Vec<Word>] {
        if self.channels.is_empty() { std::slice::from_ref(&self.words) } else { &self.channels }
    }

    /// Returns the words of an utterance of this speech.
    pub(crate) fn words_of(&self, utterance: &Utterance) -> Option<&[Word]> {
        let words = self.by_channel().get(utterance.channel)?.get(utterance.words.clone())?;
        (!words.is_empty()).then_some(words)
    }

    /// Returns mutable lists of the words, like [`Self::by_channel`].
    pub(crate) fn by_channel_mut(&mut self) -> &mut [Vec<Word>] {
        if self.channels.is_empty() {
            std::slice::from_mut(&mut self.words)
        } else {
            &mut self.channels
        }
    }

    /// Groups all words into segments, in order of start.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        segments_by_channel(self.by_channel().iter().map(Vec::as_slice))
    }
}

/// The speech in a video.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Speech {
    /// The names of the models that found `spans` and `turns`.
    pub voices_by: String,
    /// The spans of voice activity, in order and without overlaps.
    pub spans: Vec<Span>,
    /// The speaker turns in order of start. Turns of simultaneous speakers overlap.
    pub turns: Vec<VoiceTurn>,
    /// The words; `None` if recognition has not been requested yet.
    pub words: Option<Words>,
}

/// A group of words, as shown in one caption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// Start, in seconds from the start of the video.
    pub start: f64,
    /// End, in seconds from the start of the video.
    pub end: f64,
    /// The words, with punctuation.
    pub text: String,
    /// Mean confidence of the words, 0..1.
    pub confidence: f32,
}

/// Minimum pause between two segments, in seconds.
const SEGMENT_PAUSE: f64 = 0.7;

/// Maximum length of a segment, in seconds. This corresponds to about two lines of a caption.
const MAX_SEGMENT: f64 = 7.0;

impl Speech {
    /// Returns the words whose midpoint lies within a span, in order of start.
    pub fn words_in(&self, span: Span) -> Vec<&Word> {
        let mut words: Vec<&Word> =
            self.channels().iter().flat_map(|words| &words[indices_in(words, span)]).collect();
        if self.channels().len() > 1 {
            words.sort_by(|a, b| a.start.total_cmp(&b.start));
        }
        words
    }

    /// Groups the words within a span into segments. Segments end at pauses and at sentence ends,
    /// and are returned in order of start.
    pub fn segments_in(&self, span: Span) -> Vec<Segment> {
        segments_by_channel(self.channels().iter().map(|words| &words[indices_in(words, span)]))
    }

    /// Returns all utterances in order of start.
    pub fn utterances(&self) -> Vec<Utterance> {
        let by_channel = |(channel, words): (usize, &Vec<Word>)| {
            let on_channel = |turn: &&VoiceTurn| turn.channel.is_none_or(|own| own == channel);
            let turns: Vec<&VoiceTurn> = self.turns.iter().filter(on_channel).collect();
            utterances::utterances(channel, words, &turns)
        };
        let mut utterances: Vec<Utterance> =
            self.channels().iter().enumerate().flat_map(by_channel).collect();
        if self.channels().len() > 1 {
            utterances.sort_by(|a, b| a.start.total_cmp(&b.start));
        }
        utterances
    }

    /// Returns the words on each channel, or nothing if they have not been recognised.
    fn channels(&self) -> &[Vec<Word>] {
        self.words.as_ref().map_or(&[], Words::by_channel)
    }

    /// Returns the ISO 639-1 code of the predominant language within a span, if known.
    pub fn language_in(&self, span: Span) -> Option<&str> {
        let words = self.words.as_ref()?;
        let spoken = words.languages.iter().filter(|spoken| spoken.language.is_some());
        let longest = spoken.max_by(|a, b| a.span.overlap(&span).total_cmp(&b.span.overlap(&span)));
        let longest = longest.filter(|longest| longest.span.overlap(&span) > 0.0);
        longest.map_or(words.language.as_deref(), |longest| longest.language.as_deref())
    }

    /// Selects the utterances that have a word within a span. `utterances` covers the whole video.
    pub fn utterances_in<'a>(
        &self,
        utterances: &'a [Utterance],
        span: Span,
    ) -> impl Iterator<Item = &'a Utterance> {
        let within: Vec<Range<usize>> =
            self.channels().iter().map(|words| indices_in(words, span)).collect();
        utterances.iter().filter(move |utterance| {
            let within = within.get(utterance.channel).cloned().unwrap_or_default();
            utterance.words.start.max(within.start) < utterance.words.end.min(within.end)
        })
    }

    /// Cuts utterances to the words whose midpoint lies within a span, and omits those without such
    /// words. `utterances` covers the whole video.
    pub fn excerpts(&self, utterances: &[Utterance], span: Span) -> Vec<Utterance> {
        let excerpt = |utterance: &Utterance| {
            let words = self.channels().get(utterance.channel)?;
            utterance.cut(words, indices_in(words, span))
        };
        utterances.iter().filter_map(excerpt).collect()
    }

    /// Returns the turns within a span, clipped to the span, with their words. A word is assigned
    /// to the speaker of its utterance. Words between turns are assigned to the nearest turn.
    pub fn turns_in(&self, utterances: &[Utterance], span: Span) -> Vec<SpeakerTurn> {
        let mut turns: Vec<SpeakerTurn> = self
            .turns
            .iter()
            .filter(|turn| turn.span.start < span.end && turn.span.end > span.start)
            .map(|turn| SpeakerTurn {
                speaker: turn.speaker.clone(),
                start: turn.span.start.max(span.start),
                end: turn.span.end.min(span.end),
                text: String::new(),
            })
            .collect();
        for (channel, words) in self.channels().iter().enumerate() {
            let own: Vec<&Utterance> = utterances.iter().filter(|u| u.channel == channel).collect();
            for at in indices_in(words, span) {
                let whole = own.get(own.partition_point(|u| u.words.end <= at));
                let speaker = whole.and_then(|utterance| utterance.speaker.as_deref());
                if let Some(turn) = nearest_turn(&mut turns, speaker, &words[at]) {
                    push_word(&mut turn.text, &words[at].text);
                }
            }
        }
        turns
    }
}

/// Finds the turn nearest to a word among the turns of the word's speaker. If the speaker has no
/// turns, all turns are considered.
fn nearest_turn<'a>(
    turns: &'a mut [SpeakerTurn],
    speaker: Option<&str>,
    word: &Word,
) -> Option<&'a mut SpeakerTurn> {
    let is_known = turns.iter().any(|turn| speaker == Some(&turn.speaker));
    let own = turns.iter_mut().filter(|turn| !is_known || speaker == Some(&turn.speaker));
    let from = |turn: &SpeakerTurn| distance(Span { start: turn.start, end: turn.end }, word);
    own.min_by(|a, b| from(a).total_cmp(&from(b)))
}

/// Returns the range of words whose midpoint lies within a span.
fn indices_in(words: &[Word], span: Span) -> Range<usize> {
    let place = |time: f64| words.partition_point(|w| middle(w) < time);
    let start = place(span.start);
    start..place(span.end).max(start)
}

/// Groups the words on each channel into segments, in order of start.
fn segments_by_channel<'a>(channels: impl ExactSizeIterator<Item = &'a [Word]>) -> Vec<Segment> {
    let count = channels.len();
    let mut all: Vec<Segment> = channels.flat_map(segments).collect();
    if count > 1 {
        all.sort_by(|a, b| a.start.total_cmp(&b.start));
    }
    all
}

/// Groups words into segments. Segments end at pauses and at sentence ends.
fn segments(words: &[Word]) -> Vec<Segment> {
    let mut segments: Vec<(Segment, u32)> = Vec::new();
    for word in words {
        let open = segments.last_mut().filter(|(segment, _)| {
            word.start - segment.end < SEGMENT_PAUSE
                && word.end - segment.start <= MAX_SEGMENT
                && !ends_sentence(&segment.text, &word.text)
        });
        if let Some((segment, count)) = open {
            push_word(&mut segment.text, &word.text);
            segment.end = word.end.max(segment.end);
            segment.confidence += word.confidence;
            *count += 1;
        } else {
            let text = word.text.clone();
            let (start, end, confidence) = (word.start, word.end, word.confidence);
            segments.push((Segment { start, end, text, confidence }, 1));
        }
    }
    let mean = |(mut segment, count): (Segment, u32)| {
        segment.confidence /= count as f32;
        segment
    };
    segments.into_iter().map(mean).collect()
}

/// Returns the name under which a model's results for an audio track are stored. If a track is
/// given, the name contains its number, so that results for different tracks are stored separately.
pub(crate) fn track_model(model: &str, audio_track: Option<u32>) -> String {
    audio_track.map_or_else(|| model.to_owned(), |track| format!("{model}/track {track}"))
}

/// Punctuation marks that end a sentence.
const FULL_STOPS: [char; 6] = ['.', '?', '!', '。', '？', '！'];

/// Whether a sentence ends before `next`. Abbreviations such as "Mr." do not end a sentence.
fn ends_sentence(text: &str, next: &str) -> bool {
    if !text.ends_with(FULL_STOPS) {
        return false;
    }
    let whole = format!("{text} {next}");
    text::sentences(&whole, text::Quotations::Split).pop() == Some(next)
}

/// Returns the midpoint of a word, which determines the chunk that the word belongs to.
fn middle(word: &Word) -> f64 {
    (word.start + word.end) / 2.0
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, start: f64, end: f64) -> Word {
        Word { text: text.into(), start, end, confidence: 0.5 }
    }

    fn speech() -> Speech {
        let words = vec![
            word("good", 1.0, 1.3),
            word("morning.", 1.3, 1.9),
            word("hello", 3.9, 4.5),
            word("there", 4.5, 4.8),
            word("again", 6.0, 6.4),
        ];
        let turn = |speaker: &str, start, end| VoiceTurn {
            speaker: speaker.into(),
            span: Span { start, end },
            channel: None,
        };
        Speech {
            turns: vec![turn("S1", 1.0, 2.0), turn("S2", 4.0, 5.0), turn("S1", 6.1, 6.5)],
            words: Some(Words {
                recogniser: "test".into(),
                language: None,
                languages: Vec::new(),
                words,
                channels: Vec::new(),
            }),
            ..Speech::default()
        }
    }

    #[test]
    fn words_belong_to_the_chunk_with_their_middle() {
        let speech = speech();
        let texts = |start, end| {
            let words = speech.words_in(Span { start, end });
            words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(0.0, 4.0), "good morning.");
        assert_eq!(texts(4.0, 7.0), "hello there again");
        assert_eq!(texts(2.0, 3.0), "");
    }

    #[test]
    fn language_of_a_span_is_the_predominant_one() {
        let mut speech = speech();
        let spoken = |start, end, code: Option<&str>| LanguageSpan {
            span: Span { start, end },
            language: code.map(str::to_owned),
        };
        if let Some(words) = &mut speech.words {
            words.language = Some("en".into());
            words.languages = vec![spoken(0.0, 4.0, Some("en")), spoken(4.0, 7.0, Some("de"))];
        }
        let language = |start, end| speech.language_in(Span { start, end });
        assert_eq!(language(0.0, 6.0), Some("en"));
        assert_eq!(language(3.0, 7.0), Some("de"));
        assert_eq!(language(8.0, 9.0), Some("en"), "that of the video");
    }

    #[test]
    fn segments_end_with_sentences_pauses_and_length() {
        let text = |segments: Vec<Segment>| -> Vec<String> {
            segments.into_iter().map(|s| s.text).collect()
        };
        let all = speech().segments_in(Span { start: 0.0, end: 10.0 });
        assert_eq!(all[0].confidence, 0.5);
        assert_eq!(text(all), ["good morning.", "hello there", "again"]);
        let quilter = [
            word("Mr.", 0.0, 0.3),
            word("Quilter", 0.3, 0.9),
            word("left.", 0.9, 1.2),
            word("He", 1.2, 1.4),
        ];
        assert_eq!(text(segments(&quilter)), ["Mr. Quilter left.", "He"]);
        let steady: Vec<Word> =
            (0..20).map(|i| word("la", f64::from(i) * 0.5, f64::from(i) * 0.5 + 0.5)).collect();
        assert_eq!(segments(&steady)[0].end, 7.0);
    }

    #[test]
    fn turns_are_clipped_and_take_the_nearest_words() {
        let turns = speech();
        let turns = turns.turns_in(&turns.utterances(), Span { start: 4.2, end: 7.0 });
        let seen: Vec<_> =
            turns.iter().map(|t| (t.speaker.as_str(), t.start, t.end, t.text.as_str())).collect();
        assert_eq!(seen, [("S2", 4.2, 5.0, "hello there"), ("S1", 6.1, 6.5, "again")]);
    }

    #[test]
    fn utterances_are_whole_in_every_chunk() {
        let speech = speech();
        let all = speech.utterances();
        let texts = |start, end| -> Vec<&str> {
            let found = speech.utterances_in(&all, Span { start, end });
            found.map(|utterance| utterance.text.as_str()).collect()
        };
        assert_eq!(texts(0.0, 1.5), ["good morning."]);
        assert_eq!(texts(1.5, 4.6), ["good morning.", "hello there"]);
        assert_eq!(texts(4.6, 9.0), ["hello there", "again"]);
        assert_eq!(texts(2.0, 3.0), [""; 0]);
    }
}
