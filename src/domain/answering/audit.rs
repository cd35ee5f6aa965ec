//! The citation audit, which checks whether a sentence is supported by the moments that it cites.
//! It compares numbers, names, opposites, negation and content words. If the words are
//! inconclusive, it also compares the meaning. The audit does not depend on where sentences and
//! segments come from.

mod words;

use text::{Quotations, Token, occurs, sentences, tokens, word_overlap};

use crate::answering::Answering;
use crate::kernel::error::Result;
use crate::kernel::moment::MomentId;
use crate::kernel::vector::dot;
use crate::kernel::verdict::Verdict;
use words::{
    content, contradicts, is_denied, is_foreign, is_named, is_quoted, is_speaker, names,
    numbers_supported,
};

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
