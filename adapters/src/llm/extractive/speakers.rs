//! Names speakers in sentences. The labels of the diarization, `S1` and `S2`, are no names: they
//! become `the speaker`, or `Speaker 1` if several people speak.

use std::collections::BTreeSet;

use ports::llm::PassageKind;

use super::corpus::{Corpus, Sentence};

/// The speakers of a corpus.
pub(super) struct Speakers<'a> {
    labels: BTreeSet<&'a str>,
}

impl<'a> Speakers<'a> {
    pub(super) fn new(corpus: &'a Corpus) -> Self {
        let spoken = corpus.sentences.iter().filter(|s| s.kind == PassageKind::Speech);
        Self { labels: spoken.filter_map(|sentence| sentence.speaker.as_deref()).collect() }
    }

    /// Returns the number of distinct speakers whose label is known.
    pub(super) fn count(&self) -> usize {
        self.labels.len()
    }

    /// Returns who says a sentence, as the subject of a sentence.
    pub(super) fn name(&self, sentence: &Sentence) -> String {
        match sentence.speaker.as_deref() {
            None if self.labels.len() > 1 => "Someone".to_owned(),
            None => "The speaker".to_owned(),
            Some(label) => match number(label) {
                None => label.to_owned(),
                Some(_) if self.labels.len() == 1 => "The speaker".to_owned(),
                Some(number) => format!("Speaker {number}"),
            },
        }
    }
}

/// Returns the number in a label of the diarization, such as `2` in `S2`.
fn number(label: &str) -> Option<&str> {
    let number = label.strip_prefix('S')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

#[cfg(test)]
mod tests {
    use ports::llm::Passage;

    use super::*;

    #[test]
    fn a_label_is_numbered_only_among_several_speakers() {
        let said = |speaker: Option<&str>| Passage {
            speaker: speaker.map(str::to_owned),
            ..Passage::new("a", PassageKind::Speech, "We make maps.")
        };
        for (speakers, expected) in [
            (vec![Some("S1")], vec!["The speaker"]),
            (vec![None], vec!["The speaker"]),
            (vec![Some("S1"), None], vec!["The speaker", "The speaker"]),
            (vec![Some("S1"), Some("S2"), None], vec!["Speaker 1", "Speaker 2", "Someone"]),
            (vec![Some("Ada"), Some("S2")], vec!["Ada", "Speaker 2"]),
            (vec![Some("Ada")], vec!["Ada"]),
            (vec![Some("Sam")], vec!["Sam"]),
        ] {
            let passages: Vec<Passage> = speakers.into_iter().map(said).collect();
            let corpus = Corpus::read(&passages);
            let speakers = Speakers::new(&corpus);
            let names: Vec<String> = corpus.sentences.iter().map(|s| speakers.name(s)).collect();
            assert_eq!(names, expected);
        }
    }
}
