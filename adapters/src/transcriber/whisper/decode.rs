//! Decodes one window into tokens, as in openai/whisper's `decoding.py` and `transcribe.py`. It
//! applies timestamp rules and decodes greedily, or with higher temperatures if the answer loops or
//! is unlikely.

use std::cmp::Ordering::Greater;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use ports::{ErrorKind, PortError, Result, vad::SpeechSpan};

use super::network::{EncodedWindow, Network};
use super::tokens::{PRECISION, Vocabulary};

/// Maximum first timestamp in a window, in seconds. Speech is assumed to begin by this time.
const LATEST_START: f64 = 1.0;
/// Text with a higher compression ratio is repetitive.
const MAX_COMPRESSION: f64 = 2.4;
/// Minimum average log probability per token of a likely answer.
const MIN_LOG_PROBABILITY: f64 = -1.0;
/// An unlikely answer is discarded if the window's no-speech probability is higher than this.
const MAX_NO_SPEECH: f32 = 0.6;
/// Assumed error of timestamps, in seconds.
const STAMP_ERROR: f64 = 0.3;
/// Minimum probability (0..1) at which a language counts as possibly spoken.
const MIN_LANGUAGE_SHARE: f32 = 0.1;
/// Sampling temperature of each attempt.
const TEMPERATURES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// The decoded tokens of a window.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct DecodedWindow {
    /// The text and timestamp tokens, without the end token.
    pub(super) tokens: Vec<u32>,
    /// The probability (0..1) of each token among the tokens allowed at its position.
    pub(super) probabilities: Vec<f32>,
    /// Sum of the log probabilities of the tokens and the end token.
    pub(super) log_probability: f64,
    /// Probability (0..1) that the window contains no speech.
    pub(super) no_speech: f32,
}

impl DecodedWindow {
    fn mean_log_probability(&self) -> f64 {
        self.log_probability / (self.tokens.len() + 1) as f64
    }

    fn is_unlikely(&self) -> bool {
        self.mean_log_probability() < MIN_LOG_PROBABILITY
    }

    /// Returns whether the text repeats itself although the window's `speech` does not.
    fn loops(&self, vocabulary: &Vocabulary, speech: &[SpeechSpan]) -> bool {
        let repeats = |tokens: &[u32]| {
            let text = vocabulary.text(tokens);
            compression(text.trim()) > MAX_COMPRESSION
        };
        if !repeats(&self.tokens) {
            return false;
        }
        let segments = timed_segments(&self.tokens, vocabulary);
        let within = segments.iter().any(|(tokens, _)| repeats(tokens));
        let spans: Vec<(f64, f64)> = segments.into_iter().map(|(_, span)| span).collect();
        within || !have_separate_speech(&spans, speech)
    }

    /// Keeps only one occurrence of a repetition at the end.
    fn cut_repetition(&mut self) {
        if let Some(length) = before_repetition(&self.tokens) {
            self.tokens.truncate(length);
            self.probabilities.truncate(length);
        }
    }
}

/// Splits tokens into the texts between timestamps. Returns each text with its start and end in
/// seconds from the start of the window. The end is infinite if there is no closing timestamp.
fn timed_segments<'t>(tokens: &'t [u32], vocabulary: &Vocabulary) -> Vec<(&'t [u32], (f64, f64))> {
    let is_stamp = |token: &u32| vocabulary.seconds(*token).is_some();
    let mut segments = Vec::new();
    let mut at = 0;
    for run in tokens.chunk_by(|a, b| is_stamp(a) == is_stamp(b)) {
        let (from, to) = (at, at + run.len());
        at = to;
        if is_stamp(&run[0]) {
            continue;
        }
        let stamp = |place: Option<usize>| vocabulary.seconds(*tokens.get(place?)?);
        let start = stamp(from.checked_sub(1)).unwrap_or(0.0);
        let end = stamp(Some(to)).unwrap_or(f64::INFINITY);
        segments.push((run, (start, end)));
    }
    segments
}

/// Returns whether each segment has a separate span of speech. A speaker who repeats words pauses
/// in between, but a looping network leaves no pauses.
fn have_separate_speech(segments: &[(f64, f64)], speech: &[SpeechSpan]) -> bool {
    let holds = |(start, end): &(f64, f64), span: &SpeechSpan| {
        let middle = f64::midpoint(span.start, span.end);
        (*start..*end).contains(&middle)
    };
    let spoken = |segment: &(f64, f64)| speech.iter().any(|span| holds(segment, span));
    let crosses = |time: f64, span: &SpeechSpan| {
        span.start + STAMP_ERROR < time && time < span.end - STAMP_ERROR
    };
    let apart = |pair: &[(f64, f64)]| {
        let edges = [pair[0].1, pair[1].0];
        !edges.iter().any(|time| speech.iter().any(|span| crosses(*time, span)))
    };
    segments.len() > 1 && segments.iter().all(spoken) && segments.windows(2).all(apart)
}

/// Finds the answer for a window. The answer is empty for silence. It is the first answer that is
/// likely and does not loop. If there is none, it is the most likely answer that does not loop.
/// Repetition is genuine if `speech` confirms it. Times in `speech` are in seconds from the start
/// of the window.
pub(super) fn answer(
    network: &mut Network,
    encoded: &EncodedWindow,
    vocabulary: &Vocabulary,
    prompt: &[u32],
    speech: &[SpeechSpan],
) -> Result<DecodedWindow> {
    let mut best: Option<DecodedWindow> = None;
    let mut last = DecodedWindow::default();
    for temperature in TEMPERATURES {
        last = sample(network, encoded, vocabulary, prompt, temperature)?;
        if last.is_unlikely() && last.no_speech > MAX_NO_SPEECH {
            return Ok(DecodedWindow::default());
        }
        if last.loops(vocabulary, speech) {
            continue;
        }
        if !last.is_unlikely() {
            return Ok(last);
        }
        let likelier =
            |best: &DecodedWindow| last.mean_log_probability() > best.mean_log_probability();
        if best.as_ref().is_none_or(likelier) {
            best = Some(last.clone());
        }
    }
    Ok(best.unwrap_or_else(|| {
        last.cut_repetition();
        last
    }))
}

/// A language, its token, and its probability (0..1) among all languages of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LanguageScore {
    pub(super) code: String,
    pub(super) token: u32,
    pub(super) probability: f32,
}

/// Detects the languages that may be spoken, most probable first. Returns none for an English-only
/// model.
pub(super) fn languages(
    network: &mut Network,
    encoded: &EncodedWindow,
    vocabulary: &Vocabulary,
) -> Result<Vec<LanguageScore>> {
    if vocabulary.languages.is_empty() {
        return Ok(Vec::new());
    }
    let rows = network.start_decoding(encoded).step(&[vocabulary.start])?;
    let scores = rows.first().ok_or_else(silent)?;
    Ok(probable(scores, &vocabulary.languages))
}

/// Returns the most probable language by token scores, and all other languages that may be spoken.
fn probable(scores: &[f32], languages: &[(String, u32)]) -> Vec<LanguageScore> {
    let score = |token: u32| scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
    let shares = softmax(&languages.iter().map(|(_, token)| score(*token)).collect::<Vec<_>>());
    let best = largest(&shares);
    let spoken = languages.iter().zip(&shares).enumerate();
    let spoken = spoken.filter(|(at, (_, share))| *at == best || **share >= MIN_LANGUAGE_SHARE);
    let mut spoken: Vec<LanguageScore> = spoken
        .map(|(_, ((code, token), share))| LanguageScore {
            code: code.clone(),
            token: *token,
            probability: *share,
        })
        .collect();
    spoken.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    spoken
}

/// Returns the language, among several likely ones, in which the words are most probable.
pub(super) fn likeliest_language(
    network: &mut Network,
    encoded: &EncodedWindow,
    vocabulary: &Vocabulary,
    languages: Vec<(LanguageScore, Vec<u32>)>,
    speech: &[SpeechSpan],
) -> Result<Option<LanguageScore>> {
    if languages.len() < 2 {
        return Ok(languages.into_iter().next().map(|(spoken, _)| spoken));
    }
    let mut best: Option<(LanguageScore, (bool, f64))> = None;
    for (spoken, prompt) in languages {
        let answer = sample(network, encoded, vocabulary, &prompt, 0.0)?;
        let says = answer.tokens.iter().any(|token| vocabulary.seconds(*token).is_none());
        let sound = says && !answer.loops(vocabulary, speech);
        let merit = (sound, answer.mean_log_probability());
        if best
            .as_ref()
            .is_none_or(|(_, best_merit)| merit.partial_cmp(best_merit) == Some(Greater))
        {
            best = Some((spoken, merit));
        }
    }
    Ok(best.map(|(spoken, _)| spoken))
}

/// Makes one attempt. At temperature 0, selects the most probable token each time.
fn sample(
    network: &mut Network,
    encoded: &EncodedWindow,
    vocabulary: &Vocabulary,
    prompt: &[u32],
    temperature: f32,
) -> Result<DecodedWindow> {
    let max_tokens = network.shape().max_target_positions / 2;
    let mut chance = SplitMix64(u64::from(temperature.to_bits()));
    let mut session = network.start_decoding(encoded);
    let mut rows = session.step(prompt)?;
    let start = prompt.iter().position(|t| *t == vocabulary.start).unwrap_or(0);
    let mut answer = DecodedWindow {
        no_speech: match (vocabulary.no_speech, rows.get(start)) {
            (Some(token), Some(row)) => softmax(row).get(token as usize).copied().unwrap_or(0.0),
            _ => 0.0,
        },
        ..DecodedWindow::default()
    };
    while answer.tokens.len() < max_tokens {
        let mut scores = rows.pop().ok_or_else(silent)?;
        mask_disallowed(&mut scores, &answer.tokens, vocabulary);
        let probabilities = softmax(&scores);
        let token = match temperature {
            0.0 => largest(&scores),
            heat => {
                scores.iter_mut().for_each(|s| *s /= heat);
                chance.draw(&softmax(&scores))
            }
        };
        let probability = probabilities.get(token).copied().unwrap_or(0.0);
        answer.log_probability += f64::from(probability.max(f32::MIN_POSITIVE)).ln();
        let token = token as u32;
        if token == vocabulary.end {
            break;
        }
        answer.tokens.push(token);
        answer.probabilities.push(probability);
        if answer.tokens.len() < max_tokens {
            rows = session.step(&[token])?;
        }
    }
    Ok(answer)
}

fn silent() -> PortError {
    PortError::new(ErrorKind::Invalid, "the speech model gives no scores")
}

/// Masks tokens that must not come next. The answer begins with a timestamp. Timestamps come in
/// pairs around text and never decrease. A timestamp is forced if the total probability of all
/// timestamps exceeds the probability of every single text token.
fn mask_disallowed(scores: &mut [f32], tokens: &[u32], vocabulary: &Vocabulary) {
    const NEVER: f32 = f32::NEG_INFINITY;
    let (stamps, end) = (vocabulary.timestamps as usize, vocabulary.end as usize);
    let stamps = stamps.min(scores.len());
    let is_stamp = |token: &u32| *token >= vocabulary.timestamps;
    let never = |scores: &mut [f32], tokens: &[u32]| {
        for token in tokens {
            if let Some(score) = scores.get_mut(*token as usize) {
                *score = NEVER;
            }
        }
    };
    if tokens.is_empty() {
        never(scores, &vocabulary.suppressed_first);
    }
    never(scores, &vocabulary.suppressed);
    let last_is_stamp = tokens.last().is_some_and(is_stamp);
    let closes = tokens.len() >= 2 && last_is_stamp && !is_stamp(&tokens[tokens.len() - 2]);
    if last_is_stamp {
        match closes {
            // At the end of a segment, the start of the next segment or the end token must follow.
            true => scores[..end].fill(NEVER),
            false => scores[stamps..].fill(NEVER),
        }
    }
    if let Some(latest) = tokens.iter().rev().find(|token| is_stamp(token)) {
        // Segments must not be empty, or decoding could loop forever.
        let first = *latest as usize + usize::from(!closes);
        let first = first.min(scores.len());
        scores[stamps..first].fill(NEVER);
    }
    if tokens.is_empty() {
        scores[..stamps].fill(NEVER);
        let latest = stamps + (LATEST_START / PRECISION).round() as usize;
        if latest + 1 < scores.len() {
            scores[latest + 1..].fill(NEVER);
        }
    }
    let likeliest_text = scores[..stamps].iter().copied().fold(NEVER, f32::max);
    let top = scores.iter().copied().fold(NEVER, f32::max);
    if top > NEVER {
        let share = |score: f32| f64::from(score - top).exp();
        let all: f64 = scores[stamps..].iter().map(|s| share(*s)).sum();
        if all > share(likeliest_text) {
            scores[..stamps].fill(NEVER);
        }
    }
}

fn softmax(scores: &[f32]) -> Vec<f32> {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if top == f32::NEG_INFINITY {
        return vec![0.0; scores.len()];
    }
    let shares: Vec<f64> = scores.iter().map(|s| f64::from(s - top).exp()).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter().map(|share| (share / sum) as f32).collect()
}

/// Returns the index of the first maximum.
fn largest(scores: &[f32]) -> usize {
    let mut best = 0;
    for (i, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = i;
        }
    }
    best
}

/// Returns the zlib compression ratio of `text`.
fn compression(text: &str) -> f64 {
    if text.is_empty() {
        return 0.0;
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.map_or(0.0, |short| text.len() as f64 / short.len() as f64)
}

/// Returns the index after the first occurrence of tokens that repeat until the end. Returns `None`
/// if no tokens occur three times or more.
fn before_repetition(tokens: &[u32]) -> Option<usize> {
    (1..=tokens.len() / 3).find_map(|period| {
        let repeated = tokens.iter().rev().zip(tokens.iter().rev().skip(period));
        let run = repeated.take_while(|(a, b)| a == b).count();
        (run >= 2 * period).then(|| tokens.len() - run)
    })
}

/// Deterministic pseudo-random numbers (SplitMix64).
struct SplitMix64(u64);

impl SplitMix64 {
    /// Draws an index from a probability distribution.
    fn draw(&mut self, shares: &[f32]) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let mut left = (mixed >> 40) as f32 / (1 << 24) as f32;
        for (i, share) in shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return i;
            }
        }
        largest(shares)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Makes the first, greedy attempt, for which the reference result is known.
    pub(in super::super) fn greedy(
        network: &mut Network,
        encoded: &EncodedWindow,
        vocabulary: &Vocabulary,
        prompt: &[u32],
    ) -> (Vec<u32>, f64, f32) {
        let answer = sample(network, encoded, vocabulary, prompt, 0.0).unwrap();
        (answer.tokens, answer.log_probability, answer.no_speech)
    }

    #[test]
    fn loops_are_detected_and_cut() {
        assert!(compression(&"thank you. ".repeat(20)) > MAX_COMPRESSION);
        let speech = "and so my fellow americans ask not what your country can do for you";
        assert!(compression(speech) < MAX_COMPRESSION);
        assert_eq!(compression(""), 0.0);
        let cases: [(&[u32], Option<usize>); 6] = [
            (&[], None),
            (&[7, 7], None),
            (&[1, 2, 3, 4], None),
            (&[1, 7, 7, 7], Some(2)),
            (&[9, 1, 2, 1, 2, 1, 2, 1], Some(3)),
            (&[1, 2, 3, 1, 2, 3, 1, 2, 3], Some(3)),
        ];
        for (tokens, expected) in cases {
            assert_eq!(before_repetition(tokens), expected, "{tokens:?}");
        }
    }

    fn spans(spans: &[(f64, f64)]) -> Vec<SpeechSpan> {
        spans.iter().map(|(start, end)| SpeechSpan { start: *start, end: *end }).collect()
    }

    #[test]
    fn repetition_with_pauses_is_kept() {
        let speech = spans(&[(0.4, 1.3), (3.4, 4.3), (6.8, 7.7), (9.8, 10.7)]);
        let apart = [(0.0, 2.0), (3.2, 5.2), (6.6, 8.6), (9.6, 11.6)];
        assert!(have_separate_speech(&apart, &speech));
        let adjacent = [(0.0, 3.3), (3.3, 6.6), (6.6, 9.9), (9.9, 13.0)];
        assert!(have_separate_speech(&adjacent, &speech), "timestamps are a little off");
        let more = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.2, 5.2)];
        assert!(!have_separate_speech(&more, &speech), "more is written than said");
        let steady = spans(&[(0.0, 12.0)]);
        assert!(!have_separate_speech(&apart, &steady), "nobody pauses");
        assert!(!have_separate_speech(&[(0.0, 30.0)], &steady));
    }

    #[test]
    fn similar_languages_are_all_considered() {
        let known: Vec<(String, u32)> =
            ["en", "yi", "de"].iter().zip(1..).map(|(code, id)| ((*code).into(), id)).collect();
        let codes = |shares: [f32; 3]| -> Vec<String> {
            let scores: Vec<f32> = [1.0].into_iter().chain(shares).map(f32::ln).collect();
            probable(&scores, &known).into_iter().map(|spoken| spoken.code).collect()
        };
        assert_eq!(codes([0.02, 0.72, 0.26]), ["yi", "de"]);
        assert_eq!(codes([0.95, 0.03, 0.02]), ["en"]);
    }

    #[test]
    fn sampling_follows_the_distribution_deterministically() {
        let shares = [0.1, 0.0, 0.6, 0.3];
        let mut chance = SplitMix64(1);
        let mut counts = [0; 4];
        for _ in 0..4000 {
            counts[chance.draw(&shares)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((350..450).contains(&counts[0]), "{counts:?}");
        assert!((2300..2500).contains(&counts[2]), "{counts:?}");
        assert_eq!(SplitMix64(5).draw(&shares), SplitMix64(5).draw(&shares));
    }

    #[test]
    fn empty_sum_is_not_finite() {
        assert_eq!(softmax(&[f32::NEG_INFINITY; 3]), [0.0; 3]);
        assert_eq!(softmax(&[0.0, 0.0]), [0.5; 2]);
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
    }
}
