//! Sentence splitting.

/// How sentences between “ and ” are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotations {
    /// Quoted sentences are split like any other sentences.
    Split,
    /// Quoted sentences stay with the sentence that quotes them.
    Whole,
}

/// Splits `text` into trimmed sentences, each of which contains a letter or digit. Handles
/// abbreviations, initials, decimals and closing marks after the full stop. A line break ends a
/// sentence. An ellipsis or a quotation does not end a sentence if a lower-case letter follows.
pub fn sentences(text: &str, quotations: Quotations) -> Vec<&str> {
    text.lines().flat_map(|line| sentences_of_line(line, quotations)).collect()
}

fn sentences_of_line(line: &str, quotations: Quotations) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '“' => quoted = true,
            '”' => quoted = false,
            _ => {}
        }
        let wide = is_wide(c);
        if !wide && !matches!(c, '.' | '!' | '?' | '…') {
            continue;
        }
        let mut end = at + c.len_utf8();
        let mut closed = false;
        while let Some(&(at, c)) = chars.peek() {
            let closes = matches!(c, '"' | '\'' | '”' | '’' | ')' | ']' | '»');
            if !closes && !matches!(c, '.' | '!' | '?' | '…') {
                break;
            }
            closed |= closes;
            quoted &= c != '”';
            end = at + c.len_utf8();
            chars.next();
        }
        let rest = &line[end..];
        let is_single_mark = end == at + c.len_utf8();
        let continues = rest.trim_start().starts_with(char::is_lowercase)
            && (closed || c == '…' || line[at..end].starts_with(".."));
        let ends = rest.is_empty()
            || wide
            || (rest.starts_with(char::is_whitespace)
                && !continues
                && !(c == '.' && is_single_mark && is_abbreviation(&line[start..at], rest)));
        if ends && !(quoted && quotations == Quotations::Whole) {
            push_trimmed(&mut sentences, &line[start..end]);
            start = end;
        }
    }
    push_trimmed(&mut sentences, &line[start..]);
    sentences
}

/// Whether a mark ends a sentence without a following space.
fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '।' | '؟')
}

fn push_trimmed<'a>(sentences: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence);
    }
}

/// Whether the full stop between `before` and `after` belongs to the word before it.
fn is_abbreviation(before: &str, after: &str) -> bool {
    /// Abbreviations that precede a name or a number.
    const LEADING: &[&str] = &[
        "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "mt", "gen", "col", "sgt", "capt", "lt",
        "rev", "hon", "vs", "e.g", "i.e", "fig", "approx", "dept", "est", "vol", "cf",
    ];
    /// Abbreviations that may also end a sentence.
    const MIDDLE: &[&str] =
        &["etc", "inc", "ltd", "co", "corp", "a.m", "p.m", "ave", "blvd", "u.s", "u.k"];
    let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '„' | '‘' | '«');
    let last = before.rsplit(opens).next().unwrap_or_default();
    let lower = last.to_lowercase();
    let next = after.trim_start().chars().next();
    match lower.as_str() {
        // "No." is an abbreviation only before a number.
        "no" => next.is_some_and(|c| c.is_ascii_digit()),
        _ if LEADING.contains(&lower.as_str()) => true,
        _ if MIDDLE.contains(&lower.as_str()) => next.is_some_and(char::is_lowercase),
        // An initial, as in "J. Smith"; "I" may end a sentence.
        _ if last.chars().count() == 1 => last.chars().all(char::is_uppercase) && last != "I",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_final_marks_only() {
        let cases: &[(&str, &[&str])] = &[
            ("He came. She left.", &["He came.", "She left."]),
            ("Dr. Smith met J. Doe. They left", &["Dr. Smith met J. Doe.", "They left"]),
            ("He says: “Mr. Smith left.”", &["He says: “Mr. Smith left.”"]),
            ("It grew 3.5 percent. Good!", &["It grew 3.5 percent.", "Good!"]),
            ("He said \"go.\" She went.", &["He said \"go.\"", "She went."]),
            ("“Go!” he said. (He did.) Fine", &["“Go!” he said.", "(He did.)", "Fine"]),
            ("Wait... What? yes", &["Wait...", "What?", "yes"]),
            ("what … is it, is... it", &["what … is it, is... it"]),
            ("so we begin. and then we end.", &["so we begin.", "and then we end."]),
            ("One line\nanother line", &["One line", "another line"]),
            ("He answered no. I left.", &["He answered no.", "I left."]),
            ("See no. 5 etc. and go.", &["See no. 5 etc. and go."]),
            ("It was I. Then it ended.", &["It was I.", "Then it ended."]),
            ("At 5 p.m. sharp.", &["At 5 p.m. sharp."]),
            ("今日は。明日。", &["今日は。", "明日。"]),
            (" . ? !\n\n", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            for quotations in [Quotations::Split, Quotations::Whole] {
                assert_eq!(sentences(text, quotations), *expected, "{text}");
            }
        }
    }

    #[test]
    fn quotations_are_split_or_kept_whole() {
        let text = "SPEAKER_00: “We go. Now.” On screen: “A. B”. “Well”, he said. So";
        assert_eq!(
            sentences(text, Quotations::Whole),
            ["SPEAKER_00: “We go. Now.”", "On screen: “A. B”.", "“Well”, he said.", "So"]
        );
        let text = "“We go. Now.” “Hello there. We make maps.” He goes.";
        assert_eq!(
            sentences(text, Quotations::Split),
            ["“We go.", "Now.”", "“Hello there.", "We make maps.”", "He goes."]
        );
        // A quotation that is never closed ends with its line.
        assert_eq!(sentences("“A b\nC d. E f.", Quotations::Whole), ["“A b", "C d.", "E f."]);
    }
}
