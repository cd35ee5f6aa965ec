//! Names of days and months, in lower case.

/// The days of the week, starting with Monday.
pub const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The months of the year.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a month's name is also a verb.
pub fn is_ambiguous_month(lower: &str) -> bool {
    matches!(lower, "march" | "may")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn march_and_may_are_ambiguous() {
        let verbs: Vec<&str> = MONTHS.into_iter().filter(|m| is_ambiguous_month(m)).collect();
        assert_eq!(verbs, ["march", "may"]);
    }
}
