//! Names in messages: lists of what there is, and the nearest to what was typed.

/// `a, b` or `none`.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

/// The candidate most like a mistyped name, if any is alike at all.
pub fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    const ALIKE: f64 = 0.6;
    candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&name.to_lowercase(), candidate), *candidate))
        .filter(|(similarity, _)| *similarity >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
