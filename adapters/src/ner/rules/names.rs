//! Finds people, places and organisations with word lists and with patterns such as
//! `University of …`.

use std::collections::{HashMap, HashSet};

use text::calendar::{MONTHS, WEEKDAYS};

use super::{Candidate, Kind, words::WordTokens};

/// The word lists, indexed.
pub(super) struct Names {
    given: HashSet<String>,
    given_unsure: HashSet<String>,
    /// List entries keyed by their first word. The longest entries come first.
    listed: HashMap<String, Vec<ListEntry>>,
}

struct ListEntry {
    phrase: Vec<String>,
    kind: Kind,
    unsure: bool,
    capitals: bool,
}

impl Names {
    pub(super) fn new() -> Self {
        let given_names = include_str!("given_names.txt");
        let mut listed: HashMap<String, Vec<ListEntry>> = HashMap::new();
        let lists = [
            (include_str!("places.txt"), Kind::Place),
            (include_str!("organisations.txt"), Kind::Organisation),
        ];
        for (list, kind) in lists {
            for (name, unsure) in entries(list) {
                let words = WordTokens::new(name);
                let phrase: Vec<String> = words.words.iter().map(|w| w.lower.clone()).collect();
                let Some(first) = phrase.first() else { continue };
                let capitals = phrase.len() == 1 && words.words[0].shouted;
                let entry = ListEntry { phrase: phrase.clone(), kind, unsure, capitals };
                listed.entry(first.clone()).or_default().push(entry);
            }
        }
        for entries in listed.values_mut() {
            entries.sort_by_key(|e| std::cmp::Reverse(e.phrase.len()));
        }
        let names = |is_unsure: bool| {
            entries(given_names)
                .filter(|(_, u)| *u == is_unsure)
                .map(|(n, _)| n.to_lowercase())
                .collect()
        };
        Self { given: names(false), given_unsure: names(true), listed }
    }

    pub(super) fn candidates(&self, text: &str, words: &WordTokens) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.words.len() {
            // Skips the words that a rule matched, so that no name begins inside another.
            at = match self.at(text, words, at) {
                Some((end, kind, confidence)) => {
                    let start = at + honorifics(words, at, end, kind);
                    found.push(Candidate { range: words.bytes(start..end), kind, confidence });
                    end
                }
                None => at + 1,
            };
        }
        found
    }

    /// Finds the most likely name that begins at word `at`. Returns its end, kind and confidence.
    fn at(&self, text: &str, words: &WordTokens, at: usize) -> Option<(usize, Kind, f32)> {
        let shapes = [
            organisation(text, words, at).map(|end| (end, Kind::Organisation, 0.8)),
            place(words, at).map(|end| (end, Kind::Place, 0.75)),
            self.listed(words, at),
            self.person(words, at).map(|(end, confidence)| (end, Kind::Person, confidence)),
        ];
        shapes.into_iter().flatten().reduce(|a, b| if b.0 > a.0 { b } else { a })
    }

    fn listed(&self, words: &WordTokens, at: usize) -> Option<(usize, Kind, f32)> {
        let word = &words.words[at];
        let entries = self.listed.get(&word.lower)?;
        let fits = |entry: &&ListEntry| {
            let end = at + entry.phrase.len();
            if !words.spell(at, &entry.phrase) {
                return false;
            }
            let spelled = &words.words[at..end];
            if entry.capitals {
                // In text that has only capitals, `WHO` may be the pronoun.
                return spelled[0].shouted && (words.cased || entry.phrase[0].len() > 3);
            }
            if !words.cased {
                return !entry.unsure && (spelled.len() > 1 || word.lower.chars().count() > 3);
            }
            let capital = spelled.iter().all(|w| w.capital || is_small(&w.lower));
            let distinctive = !entry.unsure
                || after_preposition(words, at)
                || (entry.kind == Kind::Place && after_place(words, at, &self.listed));
            capital && spelled[0].capital && distinctive && !(entry.unsure && word.first)
        };
        let entry = entries.iter().find(fits)?;
        let confidence = match (words.cased, entry.unsure) {
            (true, false) => 0.9,
            (true, true) => 0.7,
            (false, _) => 0.6,
        };
        Some((at + entry.phrase.len(), entry.kind, confidence))
    }

    /// Matches a title with a name, or a given name with or without a family name.
    fn person(&self, words: &WordTokens, at: usize) -> Option<(usize, f32)> {
        let word = &words.words[at];
        let title = TITLES.contains(&word.lower.trim_end_matches('.'));
        if title {
            let next = words.words.get(at + 1)?;
            let close = next.joined;
            if !words.cased {
                let plain = matches!(word.lower.trim_end_matches('.'), "mr" | "mrs" | "ms");
                let name = close && plain && !is_common(&next.lower) && alphabetic(&next.lower);
                return name.then_some((at + 2, 0.5));
            }
            let named = close && self.is_name_part(words, at + 1) && word.capital;
            return named.then(|| (self.name_end(words, at + 2), 0.85));
        }
        let sure = self.given.contains(&word.lower);
        if !words.cased || !word.capital || !(sure || self.given_unsure.contains(&word.lower)) {
            return None;
        }
        let end = self.name_end(words, at + 1);
        match (sure, end > at + 1) {
            (true, true) => Some((end, 0.9)),
            (true, false) => Some((end, 0.7)),
            // `Will Turner` is a name; `May I` and `Grace Is` are not.
            (false, true) => Some((end, 0.75)),
            (false, false) => None,
        }
    }

    /// Returns the end of a name that may continue at word `at` with initials, particles and family
    /// names.
    fn name_end(&self, words: &WordTokens, mut at: usize) -> usize {
        let mut taken = 0;
        while taken < 3 && at < words.words.len() && words.words[at].joined {
            let particle = PARTICLES.contains(&words.words[at].lower.as_str());
            let initial = is_initial(words, at);
            if (particle || initial)
                && words.words.get(at + 1).is_some_and(|w| w.joined)
                && (self.is_name_part(words, at + 1)
                    || is_initial(words, at + 1)
                    || PARTICLES.contains(&words.words[at + 1].lower.as_str()))
            {
                at += 1;
                continue;
            }
            if !self.is_name_part(words, at) {
                break;
            }
            taken += 1;
            at += 1;
        }
        at
    }

    fn is_name_part(&self, words: &WordTokens, at: usize) -> bool {
        let Some(word) = words.words.get(at) else { return false };
        let shouted = word.shouted && word.lower.len() <= 4;
        word.capital
            && !shouted
            && alphabetic(&word.lower)
            && word.lower.chars().count() > 1
            && !is_common(&word.lower)
            && !is_calendar(&word.lower)
            && !ORGANISATION_ENDS.contains(&word.lower.trim_end_matches('.'))
            && !PLACE_ENDS.contains(&word.lower.trim_end_matches('.'))
    }
}

/// Returns the names in a list, each with whether it is marked as ambiguous.
fn entries(list: &'static str) -> impl Iterator<Item = (&'static str, bool)> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| (name.trim_end_matches('?'), name.ends_with('?')))
}

/// Returns the number of titles at the beginning of a person's name.
fn honorifics(words: &WordTokens, at: usize, end: usize, kind: Kind) -> usize {
    if kind != Kind::Person {
        return 0;
    }
    let titles = words.words[at..end - 1]
        .iter()
        .take_while(|w| TITLES.contains(&w.lower.trim_end_matches('.')));
    titles.count()
}

/// Matches a run of capitalised words that ends like an organisation's name, or `University of …`.
fn organisation(text: &str, words: &WordTokens, at: usize) -> Option<usize> {
    if !words.cased || !words.words[at].capital {
        return None;
    }
    let head = words.words[at].lower.as_str();
    let next = words.words.get(at + 1);
    if ORGANISATION_HEADS.contains(&head) && next.is_some_and(|w| w.joined && w.lower == "of") {
        // The name includes `and` in `Department of Health and Human Services`, but not in
        // `University of Oxford and …`.
        let compound = matches!(head, "department" | "ministry" | "office" | "bureau");
        let end = run(words, at + 2, compound);
        return (end > at + 2).then_some(end);
    }
    if is_common(head) {
        return None;
    }
    let end = run(words, at, false);
    let last = (at + 1..end).rev().find(|&i| {
        let word = words.words[i].lower.trim_end_matches('.');
        ORGANISATION_ENDS.contains(&word)
    })?;
    let after = text[words.words[last].range.end..].chars().next();
    // If a hyphen follows, the match is part of a longer word.
    (after != Some('-')).then_some(last + 1)
}

/// Matches a run of capitalised words that ends like a place's name, or `Lake …`.
fn place(words: &WordTokens, at: usize) -> Option<usize> {
    if !words.cased || !words.words[at].capital || is_common(&words.words[at].lower) {
        return None;
    }
    let head = words.words[at].lower.trim_end_matches('.');
    let end = run(words, at, false);
    if PLACE_HEADS.contains(&head) && end > at + 1 {
        return Some((at + 2).min(end));
    }
    let last = (at + 1..end.min(at + 4))
        .find(|&i| PLACE_ENDS.contains(&words.words[i].lower.trim_end_matches('.')))?;
    Some(last + 1)
}

/// Returns the end of the run of capitalised words that begins at `at`. The run may include `of`,
/// `for`, `&` and `the`, and also `and` if `and` is `true`.
fn run(words: &WordTokens, at: usize, and: bool) -> usize {
    let mut end = at;
    let mut i = at;
    while let Some(word) = words.words.get(i).filter(|w| i == at || w.joined) {
        if word.capital && !(i > at && is_calendar(&word.lower)) {
            end = i + 1;
        } else if i == at || !(joins(&word.lower) || and && word.lower == "and") {
            break;
        }
        // Longer runs are headlines, not names.
        if i - at > 8 {
            break;
        }
        i += 1;
    }
    end
}

fn after_preposition(words: &WordTokens, at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| &words.words[i]) else { return false };
    words.words[at].joined && PREPOSITIONS.contains(&before.lower.as_str())
}

/// Returns whether the previous word is a listed place, as in `Reading, England` or
/// `Georgia and Turkey`.
fn after_place(words: &WordTokens, at: usize, listed: &HashMap<String, Vec<ListEntry>>) -> bool {
    let before = words.words[..at].iter().rev().find(|w| w.lower != "and" && w.lower != "or");
    before.is_some_and(|word| {
        let entries = listed.get(&word.lower);
        word.capital && entries.is_some_and(|e| e.iter().any(|e| e.kind == Kind::Place))
    })
}

fn is_initial(words: &WordTokens, at: usize) -> bool {
    let word = &words.words[at];
    word.capital && word.lower.trim_end_matches('.').chars().count() == 1 && word.lower != "i"
}

fn alphabetic(word: &str) -> bool {
    word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-' | '.'))
}

fn joins(word: &str) -> bool {
    matches!(word, "of" | "for" | "&" | "the")
}

fn is_small(word: &str) -> bool {
    matches!(word, "of" | "the" | "and" | "de" | "&" | "au" | "du" | "la")
}

fn is_common(word: &str) -> bool {
    COMMON.split_whitespace().any(|c| c == word)
}

fn is_calendar(word: &str) -> bool {
    WEEKDAYS.contains(&word) || MONTHS.contains(&word)
}

const TITLES: [&str; 34] = [
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "doctor",
    "prof",
    "professor",
    "president",
    "senator",
    "sen",
    "sir",
    "lady",
    "lord",
    "captain",
    "capt",
    "general",
    "gen",
    "colonel",
    "sergeant",
    "lieutenant",
    "king",
    "queen",
    "prince",
    "princess",
    "judge",
    "pope",
    "saint",
    "minister",
    "chancellor",
    "governor",
    "gov",
    "mayor",
    "detective",
];

const PARTICLES: [&str; 14] =
    ["van", "von", "de", "der", "den", "del", "della", "di", "da", "dos", "bin", "al", "la", "le"];

const PREPOSITIONS: [&str; 14] = [
    "in", "from", "to", "at", "near", "of", "through", "across", "for", "via", "around", "into",
    "toward", "towards",
];

const ORGANISATION_HEADS: [&str; 13] = [
    "university",
    "bank",
    "ministry",
    "department",
    "institute",
    "academy",
    "bureau",
    "office",
    "museum",
    "college",
    "church",
    "council",
    "school",
];

const ORGANISATION_ENDS: [&str; 55] = [
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "ltd",
    "limited",
    "llc",
    "llp",
    "plc",
    "gmbh",
    "ag",
    "co",
    "company",
    "group",
    "holdings",
    "bank",
    "airlines",
    "airways",
    "university",
    "college",
    "institute",
    "foundation",
    "association",
    "agency",
    "ministry",
    "department",
    "council",
    "committee",
    "commission",
    "museum",
    "hospital",
    "school",
    "center",
    "centre",
    "society",
    "union",
    "party",
    "orchestra",
    "laboratory",
    "laboratories",
    "labs",
    "academy",
    "federation",
    "organization",
    "organisation",
    "authority",
    "bureau",
    "fund",
    "club",
    "times",
    "partners",
    "industries",
    "technologies",
    "studios",
    "administration",
];

const PLACE_HEADS: [&str; 8] = ["lake", "mount", "mt", "cape", "rue", "fort", "port", "san"];

const PLACE_ENDS: [&str; 38] = [
    "street",
    "st",
    "avenue",
    "ave",
    "road",
    "boulevard",
    "lane",
    "square",
    "park",
    "bridge",
    "river",
    "lake",
    "mountain",
    "mountains",
    "bay",
    "island",
    "islands",
    "airport",
    "beach",
    "valley",
    "county",
    "sea",
    "ocean",
    "desert",
    "harbour",
    "harbor",
    "station",
    "palace",
    "castle",
    "cathedral",
    "tower",
    "forest",
    "hills",
    "coast",
    "canyon",
    "peninsula",
    "plaza",
    "falls",
];

/// Words that are not names even if they are capitalised.
const COMMON: &str = "a about after again all also am an and any are as at be because been before \
    being but by can come could day did do does down for from get go good had has have he hello her \
    here hi him his how i i'm if in is it its just know let like look make many may me more most \
    much must my new no not now of off oh okay on one only or other our out over own please said \
    say see shall she should so some still such take than thank thanks that the their them then \
    there these they this those thou though through time to today tonight too two under up us very \
    was we well went were what when where which while who why will with would yes yet you your \
    president minister university copyright chapter part scene take page mr mrs ms miss dr prof \
    professor every everyone everything nothing ladies gentlemen dear old great little first last \
    next another both each few good-bye goodbye welcome vice software engineer director manager";
