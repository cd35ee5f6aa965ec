//! Lists of names in prose.

/// Joins names as in `a car, a bus and people`, with `word` before the last name. Returns an empty
/// string if there are no names.
pub fn join_list(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {word} {last}", others.join(", "))
        }
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_with_a_conjunction() {
        assert_eq!(join_list(&["a car", "a bus", "people"], "and"), "a car, a bus and people");
        assert_eq!(join_list(&["one", "two"], "or"), "one or two");
        assert_eq!(join_list(&["one"], "or"), "one");
        assert_eq!(join_list(&[""; 0], "or"), "");
    }
}
