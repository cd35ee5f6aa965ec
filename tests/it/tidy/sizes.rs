//! Limits on the sizes of ports, types and functions, measured on formatted code.

use std::collections::BTreeMap;

use super::{assert_none, files};

/// Maximum number of methods of a port.
const PORT_METHODS: usize = 10;
/// Maximum number of methods of a type, over all files of its crate.
const TYPE_METHODS: usize = 40;
/// Maximum number of lines of a function.
const FUNCTION_LINES: usize = 60;

/// Types over the limit. Each is due to be split.
const LARGE_TYPES: &[&str] =
    &["src/domain Ingest", "src/domain Jobs", "src/domain Scoped", "src/domain Search"];
/// Functions over the limit.
const LONG_FUNCTIONS: &[&str] = &["src/domain/lib.rs with_extensions"];

/// A function or method in formatted code.
struct Function<'a> {
    name: &'a str,
    indentation: usize,
    /// The header of the `impl` block or trait around a method.
    owner: Option<&'a str>,
    /// The number of lines, including the signature.
    lines: usize,
    has_body: bool,
}

/// The functions of a file, without those of its unit tests.
fn functions(text: &str) -> Vec<Function<'_>> {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut owner = None;
    for (first, line) in lines.iter().enumerate() {
        let item = without_visibility(line);
        if item.starts_with("impl") || item.starts_with("trait ") {
            owner = Some(item);
        } else if *line == "}" {
            owner = None;
        }
        let indentation = line.len() - line.trim_start().len();
        let Some(name) = function_name(without_visibility(line.trim_start())) else { continue };
        let ends = |line: &str| line.ends_with(['{', '}', ';']);
        let signature = lines[first..].iter().take_while(|line| !ends(line)).count() + 1;
        let has_body = !lines[first + signature - 1].ends_with(';');
        let end = format!("{}}}", " ".repeat(indentation));
        let length = match lines[first + signature - 1].ends_with('{') {
            true => lines[first..].iter().take_while(|line| **line != end).count() + 1,
            false => signature,
        };
        found.push(Function { name, indentation, owner, lines: length, has_body });
    }
    found
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(rest, |r| r.1);
    rest.trim_start()
}

fn function_name(item: &str) -> Option<&str> {
    let (qualifiers, rest) = item.split_once("fn ")?;
    let is_qualifier = |word: &str| matches!(word, "const" | "async" | "unsafe" | "extern");
    let all = qualifiers.split_whitespace().all(|word| is_qualifier(word) || word == "\"C\"");
    all.then(|| rest.split(['(', '<']).next().unwrap_or_default())
}

/// The type of an inherent `impl`, without its generics.
fn inherent_type(header: &str) -> Option<&str> {
    let rest = header.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => generics.split_once("> ")?.1,
        None => rest.trim_start(),
    };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!rest.contains(" for ")).then_some(name)
}

#[test]
fn invariant_13_ports_have_at_most_ten_methods_and_no_default_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    let mut violations = Vec::new();
    for (path, text) in files("ports/src", "rs") {
        for function in functions(&text) {
            let Some(header) = function.owner.and_then(|owner| owner.strip_prefix("trait ")) else {
                continue;
            };
            let name = header.split([':', '<', ' ']).next().unwrap_or_default();
            let count = methods.entry(name.to_owned()).or_default();
            *count += 1;
            if *count > PORT_METHODS {
                violations.push(format!("{}: {name} has {count} methods", path.display()));
            }
            if function.has_body && !name.ends_with("Ext") {
                let method = function.name;
                violations.push(format!("{}: {name}::{method} is a default", path.display()));
            }
        }
    }
    assert!(methods.len() > 15, "{methods:?}");
    assert_none(violations, "split the port, or use an extension trait");
}

#[test]
fn invariant_13_types_have_at_most_40_methods() {
    let mut methods: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["src", "ports/src", "adapters/src"] {
        for (path, text) in files(folder, "rs") {
            // Two types of one name count as one, but no type has methods in two crates.
            let depth = if folder == "src" { 2 } else { 1 };
            let part = path.iter().take(depth).collect::<std::path::PathBuf>();
            for function in functions(&text).iter().filter(|function| function.indentation == 4) {
                let Some(name) = function.owner.and_then(inherent_type) else { continue };
                *methods.entry(format!("{} {name}", part.display())).or_default() += 1;
            }
        }
    }
    assert!(methods.len() > 200, "{}", methods.len());
    let large = methods.iter().filter(|(_, count)| **count > TYPE_METHODS);
    let unlisted = large.clone().filter(|(name, _)| !LARGE_TYPES.contains(&name.as_str()));
    assert_none(unlisted.map(|(name, count)| format!("{name}: {count}")).collect(), "split them");
    let is_large = |name: &&&str| large.clone().any(|(large, _)| large == **name);
    let stale = LARGE_TYPES.iter().filter(|name| !is_large(name));
    assert_none(stale.map(ToString::to_string).collect(), "remove them from LARGE_TYPES");
}

#[test]
fn invariant_13_functions_have_at_most_60_lines() {
    let mut long = Vec::new();
    for folder in ["src", "ports/src", "adapters/src"] {
        for (path, text) in files(folder, "rs") {
            if path.starts_with("ports/src/conformance") || path.ends_with("tests.rs") {
                continue;
            }
            let over = functions(&text).into_iter().filter(|f| f.lines > FUNCTION_LINES);
            long.extend(over.map(|f| format!("{} {}", path.display(), f.name)));
        }
    }
    let unlisted = long.iter().filter(|name| !LONG_FUNCTIONS.contains(&name.as_str()));
    assert_none(unlisted.cloned().collect(), "split them");
    let stale = LONG_FUNCTIONS.iter().filter(|name| !long.iter().any(|long| long == *name));
    assert_none(stale.map(ToString::to_string).collect(), "remove them from LONG_FUNCTIONS");
}

#[test]
fn functions_of_formatted_code_are_found() {
    let code = "pub trait Port: Send {\n    async fn one(&self);\n\n    fn two(\n        &self,\n    ) -> u8 \
                {\n        1\n    }\n}\n\nimpl<T> Holder<T> {\n    pub(super) const fn three() {}\n}\n";
    let found: Vec<_> = functions(code)
        .iter()
        .map(|f| (f.name, f.lines, f.has_body, f.owner.and_then(inherent_type)))
        .collect();
    let expected =
        [("one", 1, false, None), ("two", 5, true, None), ("three", 1, true, Some("Holder"))];
    assert_eq!(found, expected);
}
