//! Parses a composed description back into its parts. Records written by the first version, and
//! their index points, store only the text of the description.

use ports::llm::PassageKind::{self, Objects, Scene, Screen};

use crate::analysis::analyzers::default_video::picture::LIGHTS;
use crate::analysis::output::DescriptionPart;

/// The sentence for a blurred picture.
const BLURRED: &str = "The picture is soft or out of focus.";

/// The prefix of screen text.
const ON_SCREEN: &str = "Text on screen: ";

/// The sentences for one voice, two voices, and three or more.
const VOICES: &[&str] =
    &["Someone speaks.", "Two voices speak in turn.", "Several voices speak in turn."];

/// The sentences for sound without speech.
const SOUNDS: &[&str] =
    &["There is no sound.", "There is quiet sound.", "There is sound.", "There is loud sound."];

/// Parses a composed description into its parts; the result is empty for any other text.
pub(crate) fn parse(description: &str) -> Vec<DescriptionPart> {
    let mut parts = Vec::new();
    let mut add =
        |kind: PassageKind, text: &str| parts.push(DescriptionPart { kind, text: text.to_owned() });
    let mut rest = description;
    if let Some(picture) = picture(rest) {
        add(Scene, picture);
        rest = rest[picture.len()..].trim_start();
        if let Some(after) = rest.strip_prefix(BLURRED) {
            add(Scene, BLURRED);
            rest = after.trim_start();
        }
    }
    let mut sounds = VOICES.iter().chain(SOUNDS).copied();
    let sound = sounds.find(|sentence| ends_with(rest, sentence));
    rest = rest[..rest.len() - sound.map_or(0, str::len)].trim_end();
    // Screen text can contain anything, so everything after its prefix belongs to it.
    let (objects, on_screen) = match rest.find(ON_SCREEN) {
        Some(at) => (rest[..at].trim_end(), Some(&rest[at + ON_SCREEN.len()..])),
        None => (rest, None),
    };
    if !objects.is_empty() {
        if !objects.ends_with(" in view.") || objects.matches('.').count() > 1 {
            return Vec::new();
        }
        add(Objects, objects);
    }
    if let Some(text) = on_screen {
        let Some(text) = text.strip_suffix('.') else { return Vec::new() };
        add(Screen, text);
    }
    if let Some(sound) = sound {
        add(Scene, sound);
    }
    parts
}

/// The sentence about the picture at the start of `text`, if there is one.
fn picture(text: &str) -> Option<&str> {
    let (light, _) = text.strip_prefix("A ")?.split_once(" picture")?;
    let end = text.find('.')? + 1;
    LIGHTS.contains(&light).then(|| &text[..end])
}

/// Whether `text` is `sentence` or ends with it.
fn ends_with(text: &str, sentence: &str) -> bool {
    text.strip_suffix(sentence).is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_inverts_composition() {
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
            let sentences = expected.iter().map(|(kind, text)| match kind {
                Screen => format!("{ON_SCREEN}{text}."),
                _ => (*text).to_owned(),
            });
            let description = sentences.collect::<Vec<_>>().join(" ");
            let parts = parse(&description);
            let parts: Vec<_> = parts.iter().map(|part| (part.kind, part.text.as_str())).collect();
            assert_eq!(parts, expected, "{description}");
        }
    }

    #[test]
    fn other_descriptions_have_no_parts() {
        for text in [
            "A man in a red jacket walks past. Someone speaks.",
            "A bright picture hangs on a wall. A man looks at it.",
            "A man waits. A dog is in view.",
            "A man points at a board. Text on screen: EXIT.",
        ] {
            assert_eq!(parse(text), [], "{text}");
        }
    }
}
