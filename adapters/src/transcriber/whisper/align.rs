//! Word timestamps. When the decoder generates a token, its cross-attention focuses on the audio
//! frames of this token. The path through the attention with the highest sum gives the times, as in
//! openai/whisper's `timing.py`.

use ports::decoder::SAMPLE_RATE;
use ports::transcriber::Word;

use super::network::Attention;
use super::tokens::PRECISION;

/// Width of the median filter over attention, in frames. It must be odd.
const MEDIAN_WIDTH: usize = 7;
/// Upper limit for the median duration of the words, in seconds. A word is assumed to last at most
/// twice the median.
const MAX_MEDIAN: f64 = 0.7;
/// Audio below this fraction of a word's peak loudness does not belong to the word. The value
/// equals −25 dB.
const AUDIBLE: f32 = 0.056;
/// Window for measuring loudness, in samples. It lasts 25 ms and begins every 10 ms.
const LOUDNESS_WINDOW: usize = SAMPLE_RATE as usize / 40;
const STEP: usize = SAMPLE_RATE as usize / 100;
/// If a word extends beyond its segment by more than this many seconds, it is shortened.
const MAX_OVERHANG: f64 = 0.5;
/// If a word ends at most this many seconds before the end of the audio, it may be cut off.
const END_TOLERANCE: f64 = 0.1;
/// Minimum time per letter, in seconds. Fast speech has 25 letters per second.
const MIN_LETTER: f64 = 0.02;
/// Words before a dropped word are dropped too if their probability is lower than this. The value
/// was tuned on one sentence that was cut at nine places.
const MIN_BROKEN_OFF_CONFIDENCE: f32 = 0.3;

/// Computes the start of each token after the prompt and the end of the last token. Times are in
/// seconds from the start of a window that has `seconds` of audio. `attention` covers `prompt`
/// tokens, one more token, the tokens that get times, and the end token.
pub(super) fn times(attention: &Attention, prompt: usize, seconds: f64) -> Vec<f64> {
    let moments = ((seconds / PRECISION).ceil() as usize).clamp(1, attention.moments);
    let rows = attention.tokens.saturating_sub(prompt + 1);
    let mut path = vec![0.0_f32; rows * moments];
    let mut shares = vec![0.0_f32; attention.tokens * moments];
    for head in 0..attention.heads {
        let given = &attention.shares[head * attention.tokens * attention.moments..];
        for (row, all) in
            shares.chunks_exact_mut(moments).zip(given.chunks_exact(attention.moments))
        {
            let sum = all[..moments].iter().sum::<f32>().max(f32::MIN_POSITIVE);
            row.iter_mut().zip(all).for_each(|(share, given)| *share = given / sum);
        }
        standardise(&mut shares, moments);
        let rows_of_answer = shares.chunks_exact(moments).skip(prompt).take(rows);
        for (sum, row) in path.chunks_exact_mut(moments).zip(rows_of_answer) {
            sum.iter_mut().zip(smoothed(row)).for_each(|(sum, share)| *sum += share);
        }
    }
    // The time of a frame is its midpoint.
    let time = |moment: usize| ((moment as f64 + 0.5) * PRECISION).min(seconds);
    first_columns(&path, moments).into_iter().map(time).collect()
}

/// Normalizes every column to mean 0 and standard deviation 1.
fn standardise(shares: &mut [f32], columns: usize) {
    let rows = (shares.len() / columns).max(1) as f32;
    let mut means = vec![0.0_f32; columns];
    let mut squares = vec![0.0_f32; columns];
    for row in shares.chunks_exact(columns) {
        means.iter_mut().zip(row).for_each(|(mean, share)| *mean += share / rows);
    }
    for row in shares.chunks_exact(columns) {
        for ((square, mean), share) in squares.iter_mut().zip(&means).zip(row) {
            *square += (share - mean).powi(2) / rows;
        }
    }
    for row in shares.chunks_exact_mut(columns) {
        for ((share, mean), square) in row.iter_mut().zip(&means).zip(&squares) {
            *share = (*share - mean) / square.sqrt().max(1e-12);
        }
    }
}

/// Applies a median filter with mirrored ends.
fn smoothed(row: &[f32]) -> Vec<f32> {
    let half = MEDIAN_WIDTH / 2;
    if row.len() <= half {
        return row.to_vec();
    }
    let mirrored = |at: isize| {
        let last = row.len() as isize - 1;
        let at = at.abs();
        row[if at > last { 2 * last - at } else { at } as usize]
    };
    let mut around = [0.0_f32; MEDIAN_WIDTH];
    (0..row.len() as isize)
        .map(|at| {
            let places = (at - half as isize)..;
            around.iter_mut().zip(places).for_each(|(value, place)| *value = mirrored(place));
            around.sort_unstable_by(f32::total_cmp);
            around[half]
        })
        .collect()
}

/// Finds the path from the first to the last cell that has the largest sum (dynamic time warping).
/// The path moves right, down or diagonally. Returns the path's first column in each row.
fn first_columns(gains: &[f32], columns: usize) -> Vec<usize> {
    const BOTH: u8 = 0;
    const DOWN: u8 = 1;
    const RIGHT: u8 = 2;
    let rows = gains.len() / columns;
    let mut steps = vec![RIGHT; rows * columns];
    let mut above = vec![f32::INFINITY; columns + 1];
    above[0] = 0.0;
    for row in 0..rows {
        let mut costs = vec![f32::INFINITY; columns + 1];
        for column in 0..columns {
            let (both, down, right) = (above[column], above[column + 1], costs[column]);
            let (step, cost) = if both < down && both < right {
                (BOTH, both)
            } else if down < both && down < right {
                (DOWN, down)
            } else {
                (RIGHT, right)
            };
            costs[column + 1] = cost - gains[row * columns + column];
            steps[row * columns + column] = step;
        }
        above = costs;
    }
    let mut firsts = vec![0; rows];
    let (mut row, mut column) = (rows, columns);
    while row > 0 && column > 0 {
        firsts[row - 1] = column - 1;
        let step = steps[(row - 1) * columns + column - 1];
        row -= usize::from(step != RIGHT);
        column -= usize::from(step != DOWN);
    }
    firsts
}

/// Shortens words that include an adjacent pause at the end of a sentence or at a segment boundary.
/// `words` holds the words of one window, each with the start and end of its segment.
pub(super) fn shorten(words: &mut [(Word, (f64, f64))]) {
    let seconds = |word: &Word| word.end - word.start;
    let mut lengths: Vec<f64> =
        words.iter().map(|(word, _)| seconds(word)).filter(|s| *s > 0.0).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0.0).min(MAX_MEDIAN);
    let longest = 2.0 * median;
    for i in 0..words.len() {
        let after_sentence = i > 0 && ends_sentence(&words[i - 1].0.text);
        let word = &mut words[i].0;
        if seconds(word) > longest && i > 0 {
            if ends_sentence(&word.text) {
                word.end = word.start + longest;
            } else if after_sentence {
                word.start = word.end - longest;
            }
        }
    }
    for i in 0..words.len() {
        let (start, end) = words[i].1;
        let first = i == 0 || words[i - 1].1 != words[i].1;
        let last = i + 1 == words.len() || words[i + 1].1 != words[i].1;
        let before = if i == 0 { 0.0 } else { words[i - 1].0.end };
        if first {
            let second = words.get(i + 1).filter(|(_, of)| *of == words[i].1);
            let second = second.map(|(word, _)| (word.start, word.end));
            let word = &mut words[i].0;
            let pair = second.map_or(0.0, |(_, end)| end - word.start);
            if word.end - before > 4.0 * median && (seconds(word) > longest || pair > 2.0 * longest)
            {
                if let Some((from, to)) = second
                    && to - from > longest
                {
                    let edge = (to / 2.0).max(to - longest);
                    word.end = edge;
                    words[i + 1].0.start = edge;
                }
                let word = &mut words[i].0;
                word.start = (word.end - longest).max(0.0);
            }
            let word = &mut words[i].0;
            if start < word.end && start - MAX_OVERHANG > word.start {
                word.start = (word.end - median).min(start).max(0.0);
            }
        }
        let word = &mut words[i].0;
        if last && end > word.start && end + MAX_OVERHANG < word.end {
            word.end = (word.start + median).max(end);
        }
    }
}

/// Moves the edges of words to where sound is audible. The path through the attention leaves no
/// gaps between words, so words include adjacent silence.
pub(super) fn trim(words: &mut [(Word, (f64, f64))], samples: &[f32]) {
    let seconds = |step: usize| (step * STEP) as f64 / f64::from(SAMPLE_RATE);
    for (word, _) in words {
        let step = |time: f64| (time * f64::from(SAMPLE_RATE)) as usize / STEP;
        let (from, to) = (step(word.start), step(word.end));
        let loudness: Vec<f32> = (from..to)
            .map_while(|step| samples.get(step * STEP..step * STEP + LOUDNESS_WINDOW))
            .map(|window| {
                (window.iter().map(|s| s * s).sum::<f32>() / LOUDNESS_WINDOW as f32).sqrt()
            })
            .collect();
        let min_level = AUDIBLE * loudness.iter().copied().fold(0.0, f32::max);
        let audible = |loudness: &f32| min_level > 0.0 && *loudness >= min_level;
        let (Some(first), Some(last)) =
            (loudness.iter().position(audible), loudness.iter().rposition(audible))
        else {
            continue;
        };
        word.start = word.start.max(seconds(from + first));
        word.end = word.end.min(seconds(from + last + 1)).max(word.start);
    }
}

/// Drops words that were not spoken at the end of the audio. If the audio ends within a word, the
/// model invents the rest of the sentence, and alignment has no time left for the invented words.
pub(super) fn drop_unspoken(words: &mut Vec<(Word, (f64, f64))>, seconds: f64) {
    let mut broken_off = false;
    while let Some((word, _)) = words.last() {
        let letters = word.text.chars().filter(|c| c.is_alphanumeric()).count();
        let too_short = word.end - word.start < letters as f64 * MIN_LETTER;
        let is_doubtful = broken_off && word.confidence < MIN_BROKEN_OFF_CONFIDENCE;
        let may_be_cut_off = broken_off || word.end >= seconds - END_TOLERANCE;
        if !may_be_cut_off || !(too_short || is_doubtful) {
            return;
        }
        broken_off = true;
        words.pop();
    }
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '。', '!', '！', '?', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_path_follows_attention() {
        let gains = [
            [5.0, 1.0, -1.0, -1.0, -1.0, -1.0],
            [-1.0, -1.0, 5.0, 5.0, -1.0, -1.0],
            [-1.0, -1.0, -1.0, -1.0, 5.0, 5.0],
        ];
        assert_eq!(first_columns(gains.as_flattened(), 6), [0, 2, 4]);
        assert_eq!(first_columns(&[1.0; 4], 1), [0, 0, 0, 0], "more tokens than moments");
        assert_eq!(first_columns(&[], 3), [0_usize; 0]);
    }

    #[test]
    fn attention_is_median_filtered() {
        let spike = [0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0];
        assert_eq!(smoothed(&spike), [0.0; 8]);
        let step = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(smoothed(&step), step);
        assert_eq!(smoothed(&[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn token_times_follow_their_rows() {
        // Two heads over the prompt, one more token, two words and the end token. There are 40
        // frames of audio.
        let (heads, tokens, moments) = (2, 5, 60);
        let mut shares = vec![0.001_f32; heads * tokens * moments];
        for head in 0..heads {
            for (token, range) in [(1, 4..14), (2, 14..30), (3, 30..38)] {
                let row = (head * tokens + token) * moments;
                shares[row + range.start..row + range.end].fill(0.1);
            }
        }
        let attention = Attention { heads, tokens, moments, shares };
        let found = times(&attention, 1, 0.8);
        assert_eq!(found.len(), 3);
        assert!((found[1] - 0.28).abs() < 0.05 && (found[2] - 0.6).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn words_after_the_audio_breaks_off_are_dropped() {
        let word = |text: &str, start: f64, end: f64, confidence: f32| {
            (Word { text: text.into(), start, end, confidence }, (0.0, 5.9))
        };
        let left = |mut words: Vec<(Word, (f64, f64))>| -> String {
            drop_unspoken(&mut words, 5.9);
            words.iter().map(|(word, _)| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        let [what, you] = [word("what", 5.38, 5.55, 0.88), word("you", 5.55, 5.73, 0.49)];
        let invented = [
            word("are", 5.73, 5.75, 0.75),
            word("coming", 5.75, 5.88, 0.13),
            word("to.", 5.89, 5.89, 0.55),
        ];
        let spoken = vec![what.clone(), you.clone()];
        assert_eq!(left(spoken.iter().cloned().chain(invented).collect()), "what you");
        assert_eq!(left(spoken.clone()), "what you");
        // A doubtful last word was spoken if it is long enough.
        let name = word("Ellery.", 5.45, 5.88, 0.2);
        assert_eq!(left(vec![what.clone(), name]), "what Ellery.");
        // Elsewhere, a word that is too short is an alignment error.
        let within = word("to", 4.0, 4.0, 0.9);
        assert_eq!(left(vec![within]), "to");
        assert_eq!(left(Vec::new()), "");
    }

    #[test]
    fn words_exclude_silence() {
        let mut samples = vec![0.0_f32; 2 * SAMPLE_RATE as usize];
        samples[8_000..16_000].fill(0.5);
        let word = Word { text: "word".into(), start: 0.2, end: 1.6, confidence: 1.0 };
        let mut words = vec![(word.clone(), (0.0, 2.0))];
        trim(&mut words, &samples);
        let (start, end) = (words[0].0.start, words[0].0.end);
        assert!((start - 0.49).abs() < 0.02 && (end - 1.0).abs() < 0.02, "{start} to {end}");
        let mut silent = vec![(word.clone(), (0.0, 2.0))];
        trim(&mut silent, &[0.0; 100]);
        assert_eq!(silent[0].0, word, "nothing is heard, nothing is known");
    }

    #[test]
    fn words_exclude_pauses() {
        let word = |text: &str, start, end| {
            (Word { text: text.into(), start, end, confidence: 1.0 }, (0.0, 10.0))
        };
        let mut words = vec![
            word("So", 0.0, 3.0),
            word("it", 3.0, 3.2),
            word("begins.", 3.2, 6.0),
            word("This", 6.0, 6.2),
            word("is.", 6.2, 6.4),
        ];
        shorten(&mut words);
        let found: Vec<(f64, f64)> = words
            .iter()
            .map(|(w, _)| ((w.start * 10.0).round() / 10.0, (w.end * 10.0).round() / 10.0))
            .collect();
        assert_eq!(found, [(2.6, 3.0), (3.0, 3.2), (3.2, 3.6), (6.0, 6.2), (6.2, 6.4)]);
        shorten(&mut []);
    }
}
