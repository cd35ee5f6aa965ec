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
    let nearest = most_alike(name, candidates)?;
    (likeness(name, nearest) >= ALIKE).then_some(nearest)
}

/// The candidate most like a name, however little alike; `None` where there is no candidate.
pub fn most_alike<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let compare = |a: &&&str, b: &&&str| likeness(name, a).total_cmp(&likeness(name, b));
    candidates.iter().max_by(compare).copied()
}

fn likeness(name: &str, candidate: &str) -> f64 {
    strsim::jaro_winkler(&name.to_lowercase(), candidate)
}
