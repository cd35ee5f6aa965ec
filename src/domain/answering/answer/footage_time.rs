//! States at which time of the footage something is said or shown, in answers to questions that ask
//! for a time.

use super::repetitions::quotation;
use crate::answering::Answering;
use crate::answering::audit::AuditedSentence;
use crate::answering::facts::{asks_for_footage_time, clock};
use crate::kernel::error::Result;
use crate::kernel::verdict::Verdict;

impl Answering {
    /// Adds the time to the first sentence of an answer, if the question asks for a time in the
    /// footage and the words that the sentence quotes are found at one.
    pub(super) async fn add_footage_time(
        &self,
        question: &str,
        audit: &mut [AuditedSentence],
    ) -> Result<()> {
        let first = audit.iter_mut().find(|one| one.verdict != Verdict::Unsupported);
        let Some(first) = first.filter(|_| asks_for_footage_time(question)) else { return Ok(()) };
        let Some(moment) = first.moments.first() else { return Ok(()) };
        let video_id = moment.video_id();
        let tables = self.intervals.tables.read(&[video_id]).await?;
        let quoted = quotation(&first.sentence);
        let time = tables.get(&video_id).and_then(|table| table.time_of(quoted, moment.span()));
        if let Some(time) = time {
            first.sentence = with_time(&first.sentence, &clock(time));
        }
        Ok(())
    }
}

/// Puts a time in front of a quotation: `At 0:43, S1 says: “We make maps.”`
fn with_time(sentence: &str, clock: &str) -> String {
    let Some((lead, quoted)) = sentence.split_once(": “").filter(|(lead, _)| !lead.contains('“'))
    else {
        return format!("At {clock}: {sentence}");
    };
    let lead = match lead {
        // Stored descriptions have "A voice says".
        "On screen" | "Someone says" | "The speaker says" | "A voice says" => lead.to_lowercase(),
        speaker if speaker.ends_with(" says") => speaker.to_owned(),
        speaker => format!("{speaker} says"),
    };
    format!("At {clock}, {lead}: “{quoted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_comes_before_the_quotation() {
        for (sentence, expected) in [
            ("S1: “We make maps.”", "At 0:43, S1 says: “We make maps.”"),
            ("Someone says: “We make: maps.”", "At 0:43, someone says: “We make: maps.”"),
            ("A voice says: “We make maps.”", "At 0:43, a voice says: “We make maps.”"),
            ("“Exit: “left””", "At 0:43: “Exit: “left””"),
            ("On screen: “EXIT”.", "At 0:43, on screen: “EXIT”."),
        ] {
            assert_eq!(with_time(sentence, "0:43"), expected);
        }
    }
}
