//! Which stored facts a question needs.

use super::absence::Absent;
use super::question::{FactQuestion, Intent, Subject};
use crate::facts::Needs;

impl Needs {
    /// The facts that a question needs.
    pub(super) fn for_question(question: &FactQuestion) -> Self {
        let mut needs = Self::default();
        for subject in std::iter::once(&question.subject).chain(&question.other) {
            needs.add(subject);
        }
        if question.intent == Intent::Describe {
            needs = Self { words: true, screen: true, things: true, counts: true, ..needs };
        }
        needs
    }

    fn add(&mut self, subject: &Subject) {
        match subject {
            Subject::Video => {}
            Subject::Speech | Subject::Mention(..) => (self.words, self.speakers) = (true, true),
            Subject::Words => self.counts = true,
            Subject::Speakers | Subject::Speaker(_) | Subject::Turns(_) | Subject::Handovers => {
                (self.words, self.speakers) = (true, true);
            }
            Subject::People => (self.counts, self.things) = (true, true),
            Subject::Anyone => (self.counts, self.speakers, self.words) = (true, true, true),
            Subject::Things(_) | Subject::AllThings => (self.things, self.counts) = (true, true),
            Subject::ScreenText => self.screen = true,
            Subject::Screen => {
                (self.screen, self.things, self.counts) = (true, true, true);
            }
            Subject::Shown(_) => (self.screen, self.things) = (true, true),
            Subject::Absent(Absent::People) => (self.people, self.things) = (true, true),
            Subject::Absent(Absent::Thing(_)) => self.things = true,
            Subject::Absent(Absent::Speech) => (self.words, self.speakers) = (true, true),
        }
    }
}
