//! Names in a row, as a sentence has them.

/// `a car, a bus and people`, with `word` before the last; empty for none.
pub fn in_a_row(names: &[impl AsRef<str>], word: &str) -> String {
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
    fn names_stand_in_a_row() {
        assert_eq!(in_a_row(&["a car", "a bus", "people"], "and"), "a car, a bus and people");
        assert_eq!(in_a_row(&["one", "two"], "or"), "one or two");
        assert_eq!(in_a_row(&["one"], "or"), "one");
        assert_eq!(in_a_row(&[""; 0], "or"), "");
    }
}
