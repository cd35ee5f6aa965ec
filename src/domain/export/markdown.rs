//! Text in Markdown documents.

/// Escapes the characters that have a meaning in Markdown within a line.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Escapes text on one line that becomes a paragraph. It could otherwise begin like an item of a
/// list or underline the line before it.
pub(super) fn escape_paragraph(text: &str) -> String {
    let escaped = escape(text);
    let number = escaped.len() - escaped.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &escaped[number..];
    match (number, rest.chars().next()) {
        (0, Some('-' | '+' | '=')) => format!("\\{escaped}"),
        (1.., Some('.' | ')')) => format!("{}\\{rest}", &escaped[..number]),
        _ => escaped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_contain_no_markup() {
        for (text, expected) in [
            ("Is 2 < 3 & 4?", "Is 2 \\< 3 \\& 4?"),
            ("*not* `code`", "\\*not\\* \\`code\\`"),
            ("1. First", "1\\. First"),
            ("1984 was a year.", "1984 was a year."),
            ("- He said so.", "\\- He said so."),
            ("2) Then", "2\\) Then"),
            ("", ""),
        ] {
            assert_eq!(escape_paragraph(text), expected);
        }
    }
}
