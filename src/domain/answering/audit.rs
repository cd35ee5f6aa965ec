//! The citation audit, which checks whether a sentence is supported by the moments that it cites.
//! It compares numbers, names, opposites, negation and content words. If the words are
//! inconclusive, it also compares the meaning. The audit does not depend on where sentences and
//! segments come from.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use text::calendar::{MONTHS, WEEKDAYS, is_ambiguous_month};
use text::colours::FAMILIES;
use text::numbers::{Number, numbers};
use text::plural::plural;
use text::{
    Quotations, Token, is_framing, is_function_word, is_negation, occurs, sentences, stem, tokens,
    word_overlap,
};

use crate::answering::Answering;
use crate::kernel::error::Result;
use crate::kernel::moment::MomentId;
use crate::kernel::vector::dot;
use crate::kernel::verdict::Verdict;

/// A sentence of an answer with its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedSentence {
    /// The sentence without its citations.
    pub sentence: String,
    /// The citations as they appear in the answer.
    pub citations: Vec<String>,
    /// The cited moments, in the same order.
    pub moments: Vec<MomentId>,
    /// The result of the audit.
    pub verdict: Verdict,
}

/// The text of a cited segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CitedText<'a> {
    /// The speaker; `None` if unknown.
    pub(crate) speaker: Option<&'a str>,
    pub(crate) text: &'a str,
}

/// A sentence with the texts of the segments that it cites.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentenceClaim<'a> {
    pub(crate) sentence: &'a str,
    pub(crate) cited: Vec<CitedText<'a>>,
    /// Start and end times of the cited segments, in seconds, since a sentence may mention times.
    pub(crate) times: Vec<f64>,
}

/// Minimum share of a sentence's content words that must occur in the cited segments if words alone
/// are to support the sentence.
const MIN_COVERAGE: f32 = 0.8;

/// Minimum share of a sentence's content words that must occur in the cited segments if the
/// sentence means the same as a sentence in a segment.
const MIN_COVERAGE_SAME_MEANING: f32 = 0.4;

/// Minimum cosine similarity of two sentences with the same meaning. With MiniLM, paraphrases score
/// above this value. Sentences that only share a subject score below it.
const SAME_MEANING: f32 = 0.72;

/// Minimum cosine similarity of two sentences about the same subject.
const RELATED_MEANING: f32 = 0.5;

/// Maximum number of segment sentences that are compared by meaning. The sentences with the most
/// words in common are chosen.
const MAX_COMPARED: usize = 4;

/// The verdict based on words alone.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WordVerdict {
    Decided(Verdict),
    /// Nothing contradicts the sentence. The value is the share of its content words that occur in
    /// the segments.
    Open(f32),
}

impl Answering {
    /// Returns a verdict on each claim, in order. Embeds only the claims for which words are
    /// inconclusive.
    pub(crate) async fn audit(&self, claims: &[SentenceClaim<'_>]) -> Result<Vec<Verdict>> {
        let mut verdicts = Vec::with_capacity(claims.len());
        for claim in claims {
            verdicts.push(match verdict_by_words(claim) {
                WordVerdict::Decided(verdict) => verdict,
                WordVerdict::Open(covered) => {
                    verdict_by_meaning(covered, self.nearest_meaning(claim).await?)
                }
            });
        }
        Ok(verdicts)
    }

    /// Computes the maximum cosine similarity between a claim's sentence and any sentence in its
    /// segments.
    async fn nearest_meaning(&self, claim: &SentenceClaim<'_>) -> Result<f32> {
        let words: Vec<String> =
            content(&tokens(claim.sentence)).into_iter().map(str::to_owned).collect();
        let mut said: Vec<(f32, &str)> = claim
            .evidence()
            .into_iter()
            .flat_map(|text| sentences(text, Quotations::Whole))
            .map(|sentence| (word_overlap(&words, sentence), sentence))
            .collect();
        said.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut texts = vec![claim.sentence.to_owned()];
        texts.extend(said.into_iter().take(MAX_COMPARED).map(|(_, sentence)| sentence.to_owned()));
        let vectors = self.embedder.embed(&texts).await?;
        let Some((own, others)) = vectors.split_first() else { return Ok(0.0) };
        Ok(others.iter().map(|other| dot(own, other)).fold(0.0, f32::max))
    }
}

impl<'a> SentenceClaim<'a> {
    /// Returns the texts that can support the sentence. If the sentence names speakers, these are
    /// the texts that those speakers say or that name them. If any named speaker has no such text,
    /// the result is empty.
    fn evidence(&self) -> Vec<&'a str> {
        let own = tokens(self.sentence);
        let named: Vec<&Token<'_>> = own.iter().filter(|t| is_speaker(t)).collect();
        let speaks_of = |cited: &CitedText<'_>, name: &Token<'_>| {
            cited.speaker.is_some_and(|speaker| speaker.to_lowercase() == name.lower)
                || tokens(cited.text).iter().any(|t| is_speaker(t) && t.lower == name.lower)
        };
        if !named.iter().all(|name| self.cited.iter().any(|cited| speaks_of(cited, name))) {
            return Vec::new();
        }
        let bears = |cited: &&CitedText<'_>| {
            named.is_empty() || named.iter().any(|name| speaks_of(cited, name))
        };
        self.cited.iter().filter(bears).map(|cited| cited.text).collect()
    }
}

/// Whether `cited` supports a sentence by words alone.
pub(crate) fn supports_by_words(sentence: &str, cited: CitedText<'_>) -> bool {
    let claim = SentenceClaim { sentence, cited: vec![cited], times: Vec::new() };
    verdict_by_words(&claim) == WordVerdict::Decided(Verdict::Supported)
}

fn verdict_by_meaning(covered: f32, cosine: f32) -> Verdict {
    if cosine >= SAME_MEANING && covered >= MIN_COVERAGE_SAME_MEANING {
        Verdict::Supported
    } else if cosine >= RELATED_MEANING || covered >= 0.5 {
        Verdict::Weak
    } else {
        Verdict::Unsupported
    }
}

fn verdict_by_words(claim: &SentenceClaim<'_>) -> WordVerdict {
    use Verdict::{Supported, Unsupported, Weak};
    let sentence = claim.sentence;
    let own = tokens(sentence);
    let evidence = claim.evidence();
    if own.is_empty() || evidence.is_empty() {
        return WordVerdict::Decided(Unsupported);
    }
    let said: Vec<Vec<Token<'_>>> = evidence
        .into_iter()
        .flat_map(|text| sentences(text, Quotations::Whole))
        .map(tokens)
        .collect();
    let there: Vec<Token<'_>> = said.iter().flatten().cloned().collect();
    if said.iter().any(|there| is_quoted(&own, there)) {
        return WordVerdict::Decided(Supported);
    }
    let words = content(&own);
    if is_foreign(&own, &there) {
        // In another language, only the numbers can be compared.
        let known = numbers_supported(&own, &[], &said, &claim.times);
        return WordVerdict::Decided(if known { Weak } else { Unsupported });
    }
    if !numbers_supported(&own, &words, &said, &claim.times)
        || names(sentence, &own).any(|name| !is_named(name, &there))
        || contradicts(&own, &there)
    {
        return WordVerdict::Decided(Unsupported);
    }
    if words.is_empty() {
        return WordVerdict::Decided(Weak);
    }
    let found = words.iter().filter(|word| occurs(word, &there)).count();
    let covered = found as f32 / words.len() as f32;
    if covered >= 0.5 && is_denied(&own, &words, &said) {
        return WordVerdict::Decided(Unsupported);
    }
    if covered >= MIN_COVERAGE {
        WordVerdict::Decided(Supported)
    } else {
        WordVerdict::Open(covered)
    }
}

/// Whether the words of the sentence `own` occur verbatim in the sentence `said`, which must not
/// negate them.
fn is_quoted(own: &[Token<'_>], said: &[Token<'_>]) -> bool {
    // A quotation may begin with the name of its speaker or source.
    let is_content = |t: &Token<'_>| !is_framing(&t.lower) && !is_speaker(t);
    let body = own.iter().position(is_content).map_or(own, |first| &own[first..]);
    let same = |window: &[Token<'_>]| window.iter().zip(body).all(|(a, b)| a.lower == b.lower);
    !body.is_empty()
        && said.windows(body.len()).enumerate().any(|(at, window)| {
            let rest = || said[..at].iter().chain(&said[at + body.len()..]);
            same(window) && !rest().any(|token| is_negation(&token.lower))
        })
}

/// Returns the distinct content words in lower case. Excludes function words, negations, numbers,
/// speaker labels and framing words.
fn content<'a>(own: &'a [Token<'_>]) -> Vec<&'a str> {
    let counted: BTreeSet<usize> = numbers(own).iter().flat_map(|n| n.first..=n.last).collect();
    let mut words: Vec<&str> = Vec::new();
    let mut stems: BTreeSet<&str> = BTreeSet::new();
    for (at, token) in own.iter().enumerate() {
        let word = token.lower.as_str();
        let plain = counted.contains(&at)
            || word.len() < 2
            || word.contains(':')
            || is_function_word(word)
            || is_negation(word)
            || is_speaker(token)
            || is_framing(word);
        if !plain && stems.insert(token.stem()) {
            words.push(word);
        }
    }
    words
}

/// Whether a token is a speaker label such as `S1`.
fn is_speaker(token: &Token<'_>) -> bool {
    let number = token.lower.strip_prefix('s').filter(|_| token.text.starts_with('S'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the segments support every number in the sentence. If the segments give a number for the
/// counted thing, it must be equal. Otherwise, a segment sentence must contain both the number and
/// one of the sentence's content words.
fn numbers_supported(
    own: &[Token<'_>],
    words: &[&str],
    said: &[Vec<Token<'_>>],
    times: &[f64],
) -> bool {
    let holds = |number: &Number| {
        let after = &own[number.last + 1..];
        let seconds = |t: &Token<'_>| matches!(&*t.lower, "s" | "sec" | "second" | "seconds");
        if after.first().is_some_and(seconds)
            && times.iter().any(|time| (time - number.value).abs() <= 0.5)
        {
            return true;
        }
        let thing = after.iter().take(3).find(|t| words.contains(&t.lower.as_str()));
        let counts: Vec<f64> = thing
            .into_iter()
            .flat_map(|thing| said.iter().flat_map(|there| counts_of(&thing.lower, there)))
            .collect();
        if !counts.is_empty() {
            return counts.iter().any(|count| is_same(*count, number.value));
        }
        said.iter().any(|there| {
            readings(there).iter().any(|value| is_same(*value, number.value))
                && (words.is_empty() || words.iter().any(|word| occurs(word, there)))
        })
    };
    let clock_holds = |clock: &str| {
        said.iter().flatten().any(|token| token.lower == clock) || is_within(clock, times)
    };
    let mut clocks = own.iter().map(|t| t.lower.as_str()).filter(|lower| lower.contains(':'));
    numbers(own).iter().all(holds) && clocks.all(clock_holds)
}

/// Returns the numbers that stand shortly before a thing, such as `4` in `4 red cars`.
fn counts_of(thing: &str, there: &[Token<'_>]) -> Vec<f64> {
    let counted = numbers(there);
    let thing = stem(thing);
    let places = (0..there.len()).filter(|&at| there[at].stem() == thing);
    places
        .filter_map(|at| {
            let before = counted.iter().rev().find(|n| n.last < at)?;
            (at - before.last <= 3).then_some(before.value)
        })
        .collect()
}

/// Returns every number that the tokens may stand for. OCR confuses 0 with O and 1 with l, and
/// speech recognition splits spelled-out years into two numbers.
fn readings(there: &[Token<'_>]) -> Vec<f64> {
    let counted = numbers(there);
    let mut values: Vec<f64> = counted.iter().map(|n| n.value).collect();
    for pair in counted.windows(2) {
        let [a, b] = [pair[0].value, pair[1].value];
        if pair[0].last + 1 == pair[1].first
            && (10.0..100.0).contains(&a)
            && (0.0..100.0).contains(&b)
        {
            values.push(a * 100.0 + b);
        }
    }
    let confused = there.iter().filter(|t| t.text.contains(|c: char| c.is_ascii_digit()));
    for token in confused {
        let digits: String = token
            .lower
            .chars()
            .map(|c| match c {
                'o' => '0',
                'l' | 'i' => '1',
                other => other,
            })
            .collect();
        values.extend(digits.parse::<f64>().ok());
    }
    values
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Whether a clock time lies within the times of the segments.
fn is_within(clock: &str, times: &[f64]) -> bool {
    let parts: Option<Vec<f64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let Some(parts) = parts else { return false };
    let seconds = parts.iter().fold(0.0, |sum, part| sum * 60.0 + part);
    let start = times.iter().copied().fold(f64::INFINITY, f64::min);
    let end = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (start - 1.0..=end + 1.0).contains(&seconds)
}

/// Returns the capitalized words, except speaker labels and words that are capitalized only because
/// they begin a sentence or quotation.
fn names<'a>(sentence: &'a str, own: &'a [Token<'a>]) -> impl Iterator<Item = &'a Token<'a>> {
    let begins = |token: &Token<'_>| {
        let before = sentence[..token.start].trim_end();
        before.is_empty() || before.ends_with(['“', '"', '‘', '(', ':', '.', '!', '?', ';'])
    };
    own.iter().enumerate().filter_map(move |(at, token)| {
        let capital = token.text.starts_with(char::is_uppercase);
        // At the beginning, `Carlo Rossi` is a name and `People walk` is not.
        let name = !begins(token)
            || own.get(at + 1).is_some_and(|next| {
                next.text.starts_with(char::is_uppercase)
                    && sentence[token.start + token.text.len()..next.start].trim().is_empty()
            });
        let plain =
            is_function_word(&token.lower) || is_negation(&token.lower) || is_speaker(token);
        (capital && name && !plain).then_some(token)
    })
}

/// Whether a name occurs in the segments. In a long name, one letter may differ, since speech
/// recognition and OCR make errors.
fn is_named(name: &Token<'_>, there: &[Token<'_>]) -> bool {
    const FORGIVEN: usize = 8;
    // OCR often confuses `rn` with `m`.
    let read = |lower: &str| lower.replace("rn", "m");
    occurs(&name.lower, there)
        || (name.lower.chars().count() >= FORGIVEN
            && there.iter().any(|t| strsim::levenshtein(&read(&t.lower), &read(&name.lower)) <= 1))
}

/// Groups of mutually exclusive members. Each member is a list of words with the same meaning.
static CONTRASTS: LazyLock<Vec<Vec<Vec<String>>>> = LazyLock::new(|| {
    // Turquoise may also be called blue or green.
    let colours = FAMILIES.iter().filter(|family| family.name() != "turquoise");
    let months = MONTHS.into_iter().filter(|month| !is_ambiguous_month(month));
    let each = |words: &[&'static str]| words.iter().map(|word| vec![*word]).collect::<Vec<_>>();
    let groups = [
        colours.map(|family| family.names.to_vec()).collect(),
        each(&["left", "right"]),
        each(&["man", "woman", "boy", "girl"]),
        each(&WEEKDAYS),
        each(&months.collect::<Vec<_>>()),
        each(&["morning", "afternoon", "evening", "night"]),
    ];
    let forms = |words: Vec<&'static str>| -> Vec<String> {
        words.into_iter().flat_map(|word| [word.to_owned(), plural(word)]).collect()
    };
    groups.into_iter().map(|group| group.into_iter().map(forms).collect()).collect()
});

/// Whether the sentence contains a word that the segments lack, while the segments contain an
/// opposite that the sentence lacks.
fn contradicts(own: &[Token<'_>], there: &[Token<'_>]) -> bool {
    let has = |tokens: &[Token<'_>], member: &Vec<String>| {
        tokens.iter().any(|t| member.contains(&t.lower))
    };
    CONTRASTS.iter().any(|group| {
        let lacking = group.iter().any(|member| has(own, member) && !has(there, member));
        lacking && group.iter().any(|member| has(there, member) && !has(own, member))
    })
}

/// Whether the claim is negated and the segment sentences that share the most words with it are
/// not, or the other way round.
fn is_denied(own: &[Token<'_>], words: &[&str], said: &[Vec<Token<'_>>]) -> bool {
    let common = |there: &Vec<Token<'_>>| words.iter().filter(|word| occurs(word, there)).count();
    let negative = |tokens: &[Token<'_>]| tokens.iter().any(|t| is_negation(&t.lower));
    let most = said.iter().map(common).max().unwrap_or(0);
    if most * 4 < words.len() * 3 {
        return false;
    }
    let mut likest = said.iter().filter(|there| common(there) == most);
    likest.all(|there| negative(there) != negative(own))
}

/// Whether the segments are in English but the sentence is not. A sentence is assumed not to be in
/// English if it has several words but no English function word.
fn is_foreign(own: &[Token<'_>], there: &[Token<'_>]) -> bool {
    const LENGTH: usize = 5;
    let english = |tokens: &[Token<'_>]| tokens.iter().any(|t| is_function_word(&t.lower));
    own.len() >= LENGTH && !english(own) && english(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COAT: &str = "A woman in a red coat opens the door of a small bakery.";
    const TALK: &str = "The office is in the ninth district. We have about seven hundred employees. \
                        It opened in 2011.";
    const GATE: &str = "CAMERA O7 NORTH GATE; CARLO; Vice President - Southem Europe";
    const COUNT: &str = "9 × person, 4 × car, 2 × bus, cell phone";
    const WET: &str = "The man is not wearing a hat. He does not speak.";
    const BRIDGE: &str = "John Roebling designed the bridge, but he died in eighteen sixty nine.";

    fn verdict(sentence: &str, cited: &[&str]) -> WordVerdict {
        let cited: Vec<(Option<&str>, &str)> = cited.iter().map(|text| (None, *text)).collect();
        verdict_of(sentence, &cited)
    }

    fn verdict_of(sentence: &str, cited: &[(Option<&str>, &str)]) -> WordVerdict {
        let cited = cited.iter().map(|&(speaker, text)| CitedText { speaker, text }).collect();
        verdict_by_words(&SentenceClaim { sentence, cited, times: vec![10.0, 20.5] })
    }

    #[test]
    fn sentences_in_the_segments_are_supported() {
        for (sentence, cited) in [
            ("A woman in a red coat opens the door of a small bakery.", COAT),
            ("A woman opens a door.", COAT),
            ("The woman in the red coat opened the bakery's door.", COAT),
            ("The office has 700 employees.", TALK),
            ("They have 700 employees, and the office is in the 9th district.", TALK),
            ("The office opened in 2011.", TALK),
            ("On screen: “CAMERA O7 NORTH GATE”.", GATE),
            ("The screen reads Camera 07, North Gate.", GATE),
            ("Carlo is vice president for Southern Europe.", GATE),
            ("Four cars and two buses are visible.", COUNT),
            ("A phone is seen beside nine people.", COUNT),
            ("The man is not wearing a hat.", WET),
            ("The man wears no hat.", WET),
            ("Roebling died in 1869.", BRIDGE),
            ("From 10 s on a woman opens the door.", COAT),
            ("At 0:12 the woman opens a door.", COAT),
        ] {
            assert_eq!(
                verdict(sentence, &[cited]),
                WordVerdict::Decided(Verdict::Supported),
                "{sentence}"
            );
        }
    }

    #[test]
    fn sentences_not_in_the_segments_are_unsupported() {
        for (why, sentence, cited) in [
            ("wrong number", "We have about eight hundred employees.", TALK),
            ("the number of something else", "The office has 2011 employees.", TALK),
            ("swapped numbers", "Two cars and four buses are visible.", COUNT),
            ("a number from nowhere", "The woman opens door 12.", COAT),
            ("wrong name", "The speech is by Anna Meyer, who has seven hundred employees.", TALK),
            ("wrong name", "Roebling's bridge was designed by Washington.", BRIDGE),
            ("wrong name that begins it", "Emily Roebling designed the bridge.", BRIDGE),
            ("nobody known to speak", "S1: “We have about seven hundred employees.”", TALK),
            ("wrong colour", "A woman in a blue coat opens the door of a small bakery.", COAT),
            ("wrong person", "A man in a red coat opens the door of a small bakery.", COAT),
            ("denied", "A woman in a red coat does not open the door.", COAT),
            ("denied there", "The man is wearing a hat.", WET),
            ("denied there, word for word", "Wearing a hat", WET),
            ("a time outside", "At 3:40 the woman opens a door.", COAT),
            ("seconds outside", "At 90 seconds the woman opens the door.", COAT),
        ] {
            assert_eq!(
                verdict(sentence, &[cited]),
                WordVerdict::Decided(Verdict::Unsupported),
                "{why}: {sentence}"
            );
        }
        assert_eq!(
            verdict("A woman opens a door.", &[]),
            WordVerdict::Decided(Verdict::Unsupported)
        );
        assert_eq!(verdict("…", &[COAT]), WordVerdict::Decided(Verdict::Unsupported));
    }

    #[test]
    fn sentences_attributed_to_another_speaker_are_unsupported() {
        let cited = [
            (Some("S1"), TALK),
            (Some("S2"), "And who runs it?"),
            // The same words without a speaker.
            (None, TALK),
            (None, "Three people speak. S3 is heard last."),
        ];
        for (sentence, expected) in [
            ("S1: “We have about seven hundred employees.”", Verdict::Supported),
            ("S1 says that the office has 700 employees.", Verdict::Supported),
            ("In the ninth district, S1 says, is the office.", Verdict::Supported),
            ("S3 is heard last.", Verdict::Supported),
            ("We have about seven hundred employees.", Verdict::Supported),
            ("S2: “We have about seven hundred employees.”", Verdict::Unsupported),
            ("S2 says that the office has 700 employees.", Verdict::Unsupported),
            ("S2's office opened in 2011.", Verdict::Unsupported),
            ("S1: “And who runs it?” asks S4.", Verdict::Unsupported),
            ("S4: “And who runs it?”", Verdict::Unsupported),
        ] {
            let found = verdict_of(sentence, &cited);
            assert_eq!(found, WordVerdict::Decided(expected), "{sentence}");
        }
    }

    #[test]
    fn sentences_with_an_unrelated_citation_are_unsupported() {
        for (sentence, cited) in [
            ("A woman opens the door of a bakery.", COUNT),
            ("They have a large office near the opera.", COAT),
        ] {
            let WordVerdict::Open(covered) = verdict(sentence, &[cited]) else {
                panic!("{sentence} is settled by words")
            };
            // Unrelated sentences seldom reach a cosine of 0.3 with MiniLM.
            assert_eq!(
                verdict_by_meaning(covered, 0.3),
                Verdict::Unsupported,
                "{sentence}: {covered}"
            );
        }
    }

    #[test]
    fn meaning_decides_when_words_are_inconclusive() {
        for (covered, cosine, expected) in [
            (0.5, 0.8, Verdict::Supported),
            (0.2, 0.9, Verdict::Weak),
            (0.6, 0.3, Verdict::Weak),
            (0.0, 0.55, Verdict::Weak),
            (0.3, 0.4, Verdict::Unsupported),
        ] {
            assert_eq!(verdict_by_meaning(covered, cosine), expected, "{covered} {cosine}");
        }
        assert!(matches!(
            verdict("A lady enters a shop that sells bread.", &[COAT]),
            WordVerdict::Open(covered) if covered < 0.5
        ));
    }

    #[test]
    fn sentences_that_cannot_be_checked_are_weak() {
        for (sentence, cited) in [("Yes.", COAT), ("Das Büro hat ungefähr 700 Angestellte.", TALK)]
        {
            assert_eq!(
                verdict(sentence, &[cited]),
                WordVerdict::Decided(Verdict::Weak),
                "{sentence}"
            );
        }
        assert_eq!(
            verdict("Das Büro hat ungefähr 800 Angestellte.", &[TALK]),
            WordVerdict::Decided(Verdict::Unsupported)
        );
    }

    #[test]
    fn several_segments_support_a_sentence_together() {
        let sentence = "A woman opens the door, and 700 employees work there.";
        assert_eq!(verdict(sentence, &[COAT, TALK]), WordVerdict::Decided(Verdict::Supported));
    }
}
