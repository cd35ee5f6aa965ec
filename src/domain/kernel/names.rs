//! Names in messages: lists of available names, and suggestions for mistyped ones.

use std::fmt;

use crate::kernel::error::Error;

/// Formats names as `a, b`, or as `none` if there are none.
pub fn comma_separated<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// Returns the error for a name that is not in `known`, whose entries are names with descriptions.
pub fn unknown(kind: impl fmt::Display, name: &str, known: &[(&str, &str)]) -> Error {
    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
    Error::Invalid(format!("unknown {kind} '{name}'; available: {}", comma_separated(&names)))
}

/// Finds the candidate most similar to a mistyped name (Jaro-Winkler), if it is similar enough.
pub fn suggest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    const MIN_SIMILARITY: f64 = 0.6;
    let suggest = most_similar(name, candidates)?;
    (similarity(name, suggest) >= MIN_SIMILARITY).then_some(suggest)
}

/// Finds the candidate most similar to a name, even if the similarity is low. Returns `None` if
/// there are no candidates.
pub fn most_similar<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let compare = |a: &&&str, b: &&&str| similarity(name, a).total_cmp(&similarity(name, b));
    candidates.iter().max_by(compare).copied()
}

fn similarity(name: &str, candidate: &str) -> f64 {
    strsim::jaro_winkler(&name.to_lowercase(), candidate)
}
