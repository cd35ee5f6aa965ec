//! Removes icons that were read as characters, such as the `用` in `用Heatmap`.

use ports::ocr::TextLine;

/// Maximum share of ideographs, syllables and enclosed characters among the characters of all
/// frames. If there are more, they are a script of the video.
const MAX_SHARE: f64 = 0.1;

/// Maximum number of icons in a line. A line with more of these characters is text.
const MAX_ICONS: usize = 2;

/// Removes single ideographs, syllables and enclosed characters from text in another script.
pub(crate) fn remove_icons(frames: &mut [(f64, Vec<TextLine>)]) {
    let texts = || frames.iter().flat_map(|(_, lines)| lines).map(|line| line.text.as_str());
    let all: usize = texts().map(|text| text.chars().filter(|c| c.is_alphanumeric()).count()).sum();
    let icons: usize = texts().map(icons_in).sum();
    if icons == 0 || icons as f64 > MAX_SHARE * all as f64 {
        return;
    }
    for line in frames.iter_mut().flat_map(|(_, lines)| lines) {
        if (1..=MAX_ICONS).contains(&icons_in(&line.text)) {
            let words = line.text.split_whitespace().filter_map(without_icons);
            line.text = words.collect::<Vec<_>>().join(" ");
        }
    }
}

/// Removes the icons from a word. Returns `None` if no word is left; an icon that was read as two
/// characters, such as `L山`, is none.
fn without_icons(word: &str) -> Option<String> {
    let rest: String = word.chars().filter(|&c| !is_icon(c)).collect();
    (rest.len() == word.len() || rest.chars().count() > 1).then_some(rest)
}

fn icons_in(text: &str) -> usize {
    text.chars().filter(|&c| is_icon(c)).count()
}

/// Whether a character is one as which icons are read.
fn is_icon(c: char) -> bool {
    matches!(c,
        // Enclosed letters and digits.
        '\u{2460}'..='\u{24FF}'
        // Punctuation, syllables and ideographs of Chinese, Japanese and Korean.
        | '\u{3000}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(texts: &[&str]) -> Vec<String> {
        let line = |text: &&str| TextLine {
            text: (*text).to_owned(),
            confidence: 0.9,
            bounds: [0.0, 0.0, 1.0, 0.1],
        };
        let mut frames = [(0.0, texts.iter().map(line).collect::<Vec<_>>())];
        remove_icons(&mut frames);
        frames[0].1.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn icons_are_removed_from_text_in_another_script() {
        let read =
            ["用Heatmap Data", "L山 Chart Python code", "Faceting ①", "山", "Number of boxes"];
        let expected = ["Heatmap Data", "Chart Python code", "Faceting", "", "Number of boxes"];
        assert_eq!(cleaned(&read), expected);
    }

    #[test]
    fn text_in_two_scripts_stays() {
        for read in [
            &["東京 Tokyo", "駅 Station"][..],
            &["Made in Japan by the company 東京電力 for the world fair"],
            &["世界", "こんにちは"],
            &["Plain text"],
        ] {
            assert_eq!(cleaned(read), read);
        }
    }
}
