//! One window of sound into tokens: the rules of timestamps, greedy choice, and another try with
//! some chance in it when the answer loops or is unlikely. As in openai/whisper's `decoding.py` and
//! `transcribe.py`.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use ports::{ErrorKind, PortError, Result};

use super::network::{Heard, Network};
use super::tokens::{PRECISION, Vocabulary};

/// Speech begins within the first second of a window that holds any.
const LATEST_START: f64 = 1.0;
/// Text that compresses better repeats itself.
const MAX_COMPRESSION: f64 = 2.4;
/// Answers less likely per token are doubted.
const MIN_LOG_PROBABILITY: f64 = -1.0;
/// An unlikely answer to a window that is more probably silent than this is none.
const MAX_NO_SPEECH: f32 = 0.6;
/// How much chance there is in each further try.
const TEMPERATURES: [f32; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// What was heard in a window.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Answer {
    /// Text and timestamps, without the end.
    pub(super) tokens: Vec<u32>,
    /// Of each token among those allowed at its place, 0..1.
    pub(super) probabilities: Vec<f32>,
    /// Sum over the tokens and the end.
    pub(super) log_probability: f64,
    /// How probably the window holds no speech, 0..1.
    pub(super) no_speech: f32,
}

impl Answer {
    fn mean_log_probability(&self) -> f64 {
        self.log_probability / (self.tokens.len() + 1) as f64
    }

    fn is_unlikely(&self) -> bool {
        self.mean_log_probability() < MIN_LOG_PROBABILITY
    }

    fn loops(&self, vocabulary: &Vocabulary) -> bool {
        let text = vocabulary.text(&self.tokens);
        compression(text.trim()) > MAX_COMPRESSION
    }

    /// What is said over and over at the end is kept once.
    fn cut_repetition(&mut self) {
        if let Some(length) = before_repetition(&self.tokens) {
            self.tokens.truncate(length);
            self.probabilities.truncate(length);
        }
    }
}

/// The best answer to a window, empty for silence: the first that is likely and does not repeat
/// itself, or the likeliest of those that do not repeat themselves.
pub(super) fn answer(
    network: &mut Network,
    heard: &Heard,
    vocabulary: &Vocabulary,
    prompt: &[u32],
) -> Result<Answer> {
    let mut best: Option<Answer> = None;
    let mut last = Answer::default();
    for temperature in TEMPERATURES {
        last = sample(network, heard, vocabulary, prompt, temperature)?;
        if last.is_unlikely() && last.no_speech > MAX_NO_SPEECH {
            return Ok(Answer::default());
        }
        if last.loops(vocabulary) {
            continue;
        }
        if !last.is_unlikely() {
            return Ok(last);
        }
        let likelier = |best: &Answer| last.mean_log_probability() > best.mean_log_probability();
        if best.as_ref().is_none_or(likelier) {
            best = Some(last.clone());
        }
    }
    Ok(best.unwrap_or_else(|| {
        last.cut_repetition();
        last
    }))
}

/// A language, its token, and how probably it is spoken among all that the model knows, 0..1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spoken {
    pub(super) code: String,
    pub(super) token: u32,
    pub(super) probability: f32,
}

/// The likeliest of a model's languages.
pub(super) fn language(
    network: &mut Network,
    heard: &Heard,
    vocabulary: &Vocabulary,
) -> Result<Option<Spoken>> {
    if vocabulary.languages.is_empty() {
        return Ok(None);
    }
    let rows = network.listen(heard).say(&[vocabulary.start])?;
    let scores = rows.first().ok_or_else(silent)?;
    let score = |token: u32| scores.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
    let languages = &vocabulary.languages;
    let shares = softmax(&languages.iter().map(|(_, token)| score(*token)).collect::<Vec<_>>());
    let at = largest(&shares);
    let (code, token) = languages[at].clone();
    Ok(Some(Spoken { code, token, probability: shares[at] }))
}

/// One try. At temperature 0 the likeliest token is taken every time.
fn sample(
    network: &mut Network,
    heard: &Heard,
    vocabulary: &Vocabulary,
    prompt: &[u32],
    temperature: f32,
) -> Result<Answer> {
    let most = network.shape().max_target_positions / 2;
    let mut chance = Chance(u64::from(temperature.to_bits()));
    let mut listening = network.listen(heard);
    let mut rows = listening.say(prompt)?;
    let start = prompt.iter().position(|t| *t == vocabulary.start).unwrap_or(0);
    let mut answer = Answer {
        no_speech: match (vocabulary.no_speech, rows.get(start)) {
            (Some(token), Some(row)) => softmax(row).get(token as usize).copied().unwrap_or(0.0),
            _ => 0.0,
        },
        ..Answer::default()
    };
    while answer.tokens.len() < most {
        let mut scores = rows.pop().ok_or_else(silent)?;
        allow(&mut scores, &answer.tokens, vocabulary);
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
        if answer.tokens.len() < most {
            rows = listening.say(&[token])?;
        }
    }
    Ok(answer)
}

fn silent() -> PortError {
    PortError::new(ErrorKind::Invalid, "the speech model gives no scores")
}

/// Rules out what may not follow: timestamps come in pairs around text, never go back, begin the
/// answer, and are said when all of them together are likelier than any text.
fn allow(scores: &mut [f32], said: &[u32], vocabulary: &Vocabulary) {
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
    if said.is_empty() {
        never(scores, &vocabulary.suppressed_first);
    }
    never(scores, &vocabulary.suppressed);
    let last_is_stamp = said.last().is_some_and(is_stamp);
    let closes = said.len() >= 2 && last_is_stamp && !is_stamp(&said[said.len() - 2]);
    if last_is_stamp {
        match closes {
            // The end of one stretch: the start of the next follows, or the end of all.
            true => scores[..end].fill(NEVER),
            false => scores[stamps..].fill(NEVER),
        }
    }
    if let Some(latest) = said.iter().rev().find(|token| is_stamp(token)) {
        // No stretch is empty, or the same could be said for ever.
        let first = *latest as usize + usize::from(!closes);
        let first = first.min(scores.len());
        scores[stamps..first].fill(NEVER);
    }
    if said.is_empty() {
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

/// The first of the largest.
fn largest(scores: &[f32]) -> usize {
    let mut best = 0;
    for (i, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = i;
        }
    }
    best
}

/// How many times shorter zlib makes a text.
fn compression(text: &str) -> f64 {
    if text.is_empty() {
        return 0.0;
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.map_or(0.0, |short| text.len() as f64 / short.len() as f64)
}

/// Where tokens begin to repeat to the end, after their first occurrence; `None` when they do so
/// less than three times.
fn before_repetition(tokens: &[u32]) -> Option<usize> {
    (1..=tokens.len() / 3).find_map(|period| {
        let repeated = tokens.iter().rev().zip(tokens.iter().rev().skip(period));
        let run = repeated.take_while(|(a, b)| a == b).count();
        (run >= 2 * period).then(|| tokens.len() - run)
    })
}

/// Numbers that pass for chance and are the same every time (SplitMix64).
struct Chance(u64);

impl Chance {
    /// An index, as often as its share of 1 says.
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

    /// The single greedy try, which the reference is known for.
    pub(in super::super) fn greedy(
        network: &mut Network,
        heard: &Heard,
        vocabulary: &Vocabulary,
        prompt: &[u32],
    ) -> (Vec<u32>, f64, f32) {
        let answer = sample(network, heard, vocabulary, prompt, 0.0).unwrap();
        (answer.tokens, answer.log_probability, answer.no_speech)
    }

    #[test]
    fn loops_are_told_and_cut() {
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
        for (tokens, kept) in cases {
            assert_eq!(before_repetition(tokens), kept, "{tokens:?}");
        }
    }

    #[test]
    fn chance_follows_the_shares_and_repeats_itself() {
        let shares = [0.1, 0.0, 0.6, 0.3];
        let mut chance = Chance(1);
        let mut counts = [0; 4];
        for _ in 0..4000 {
            counts[chance.draw(&shares)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((350..450).contains(&counts[0]), "{counts:?}");
        assert!((2300..2500).contains(&counts[2]), "{counts:?}");
        assert_eq!(Chance(5).draw(&shares), Chance(5).draw(&shares));
    }

    #[test]
    fn a_sum_of_nothing_is_no_number() {
        assert_eq!(softmax(&[f32::NEG_INFINITY; 3]), [0.0; 3]);
        assert_eq!(softmax(&[0.0, 0.0]), [0.5; 2]);
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
    }
}
