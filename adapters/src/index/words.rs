//! Tokenization for indexing and searching, for adapters that compute BM25 themselves.

use std::collections::HashSet;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    TextAnalyzer, TokenStream,
};

/// Words with this many bytes or more are not indexed, because they are base64, hashes or noise.
const MAX_WORD_BYTES: usize = 64;

/// Maximum number of distinct words and phrases in a query. Further words and phrases are ignored.
const MAX_CLAUSES: usize = 1024;

/// Creates the tokenizer. It splits at every character that is neither a letter nor a digit, folds
/// case and accents, and strips English endings. Text in other languages is treated in the same way
/// in indexing and in searching. This costs some precision but never loses a match.
pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(MAX_WORD_BYTES))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// Returns the words of `text` in order, with their positions.
pub(super) fn words(analyzer: &mut TextAnalyzer, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while stream.advance() {
        let token = stream.token();
        found.push((token.position, token.text.clone()));
    }
    found
}

/// Splits a query into clauses: single words, and phrases whose words must be adjacent. A phrase is
/// the text between two double quotes. An unpaired quote is ignored.
pub(super) fn clauses(analyzer: &mut TextAnalyzer, query: &str) -> Vec<Vec<(usize, String)>> {
    let parts: Vec<&str> = query.split('"').collect();
    let mut seen = HashSet::new();
    let mut clauses = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let found = words(analyzer, part);
        let quoted = i % 2 == 1 && i + 1 < parts.len();
        let new = if quoted && found.len() > 1 {
            // Positions are relative to the phrase's first word.
            let first = found[0].0;
            vec![found.into_iter().map(|(at, word)| (at - first, word)).collect()]
        } else {
            found.into_iter().map(|(_, word)| vec![(0, word)]).collect::<Vec<_>>()
        };
        for clause in new {
            if clauses.len() < MAX_CLAUSES && seen.insert(clause.clone()) {
                clauses.push(clause);
            }
        }
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Vec<String> {
        clauses(&mut analyzer(), query)
            .into_iter()
            .map(|c| c.into_iter().map(|(_, w)| w).collect::<Vec<_>>().join("+"))
            .collect()
    }

    #[test]
    fn quotes_make_phrases_and_duplicates_merge() {
        for (query, expected) in [
            ("", vec![]),
            ("  !? ", vec![]),
            ("Red CAR red", vec!["red", "car"]),
            ("\"red car\" blue", vec!["red+car", "blue"]),
            ("\"red\"", vec!["red"]),
            ("say \"red car", vec!["say", "red", "car"]),
            ("\"\" x", vec!["x"]),
            ("Café", vec!["cafe"]),
        ] {
            assert_eq!(parsed(query), expected, "{query}");
        }
        assert_eq!(
            clauses(&mut analyzer(), "a \"b c\"")[1],
            vec![(0, "b".to_owned()), (1, "c".to_owned())]
        );
    }
}
