//! The parts of a composed description, read back from its text: records of the first version and
//! the points of their videos hold the text alone.

use ports::llm::PassageKind::{self, Objects, Scene, Screen};

use crate::domain::analysis::analyzers::default_video::heard::VOICES;
use crate::domain::analysis::analyzers::default_video::picture::LIGHTS;
use crate::domain::analysis::finding::Part;

/// What was said of a picture that is blurred.
const BLURRED: &str = "The picture is soft or out of focus.";

/// Stood in front of the text that was read.
const ON_SCREEN: &str = "Text on screen: ";

/// What was said of sound without speech.
const SOUNDS: &[&str] =
    &["There is no sound.", "There is quiet sound.", "There is sound.", "There is loud sound."];

/// The parts that such a text was put together from; none of a text that is written in any other way.
pub(super) fn parts_of(description: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut tell = |kind: PassageKind, text: &str| parts.push(Part { kind, text: text.to_owned() });
    let mut rest = description;
    if let Some(picture) = picture(rest) {
        tell(Scene, picture);
        rest = rest[picture.len()..].trim_start();
        if let Some(after) = rest.strip_prefix(BLURRED) {
            tell(Scene, BLURRED);
            rest = after.trim_start();
        }
    }
    let mut heard = VOICES.iter().map(|(sentence, _)| sentence).chain(SOUNDS).copied();
    let heard = heard.find(|sentence| ends_with(rest, sentence));
    rest = rest[..rest.len() - heard.map_or(0, str::len)].trim_end();
    // What was read may hold anything, so it is whatever stands behind its label.
    let (seen, read) = match rest.find(ON_SCREEN) {
        Some(at) => (rest[..at].trim_end(), Some(&rest[at + ON_SCREEN.len()..])),
        None => (rest, None),
    };
    if !seen.is_empty() {
        if !seen.ends_with(" in view.") || seen.matches('.').count() > 1 {
            return Vec::new();
        }
        tell(Objects, seen);
    }
    if let Some(read) = read {
        let Some(read) = read.strip_suffix('.') else { return Vec::new() };
        tell(Screen, read);
    }
    if let Some(heard) = heard {
        tell(Scene, heard);
    }
    parts
}

/// The sentence about the picture that a text begins with.
fn picture(text: &str) -> Option<&str> {
    let (light, _) = text.strip_prefix("A ")?.split_once(" picture")?;
    let end = text.find('.')? + 1;
    LIGHTS.contains(&light).then(|| &text[..end])
}

/// Whether a text is a sentence or ends with it.
fn ends_with(text: &str, sentence: &str) -> bool {
    text.strip_suffix(sentence).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composed_description_comes_apart_into_what_it_was_composed_from() {
        const PICTURE: &str =
            "A very bright picture in white and red, still, with 2 cuts between shots.";
        const SEEN: &str = "2 people and a dog are in view.";
        for expected in [
            vec![],
            vec![(Scene, "Someone speaks.")],
            vec![(Scene, PICTURE), (Scene, "There is loud sound.")],
            vec![(Scene, PICTURE), (Scene, BLURRED), (Objects, SEEN)],
            vec![(Objects, "A cup is in view."), (Screen, "EXIT")],
            vec![
                (Scene, PICTURE),
                (Screen, "www.example.org; Dr. No. 5; in view"),
                (Scene, "Someone speaks."),
            ],
            vec![
                (Scene, PICTURE),
                (Objects, SEEN),
                (Screen, "A.. B"),
                (Scene, "There is no sound."),
            ],
        ] {
            let told = expected.iter().map(|(kind, text)| match kind {
                Screen => format!("{ON_SCREEN}{text}."),
                _ => (*text).to_owned(),
            });
            let description = told.collect::<Vec<_>>().join(" ");
            let found = parts_of(&description);
            let found: Vec<_> = found.iter().map(|part| (part.kind, part.text.as_str())).collect();
            assert_eq!(found, expected, "{description}");
        }
    }

    #[test]
    fn what_was_written_otherwise_has_no_parts() {
        for text in [
            "A man in a red jacket walks past. Someone speaks.",
            "A bright picture hangs on a wall. A man looks at it.",
            "A man waits. A dog is in view.",
            "A man points at a board. Text on screen: EXIT.",
        ] {
            assert_eq!(parts_of(text), [], "{text}");
        }
    }
}
