//! Limits on the sizes of ports, types and functions, measured on formatted code.

use std::collections::BTreeMap;

use super::{assert_none, files};

/// Maximum number of methods of a port.
const PORT_METHODS: usize = 10;
/// Maximum number of methods of a type, over all files of its crate.
const TYPE_METHODS: usize = 40;
/// Maximum number of lines of a function.
const FUNCTION_LINES: usize = 60;

/// Maximum number of lines of a file of the domain.
const DOMAIN_FILE_LINES: usize = 500;
/// Maximum number of files of a folder.
const FOLDER_FILES: usize = 15;
/// Folders with more files, each with the reason why it is one room.
const LARGE_FOLDERS: &[(&str, &str)] = &[
    ("adapters/src/decoder/ffmpeg", "one library, whose unsafe bindings stay in one place"),
    ("ports/src", "one file per port"),
    ("ports/src/conformance", "one suite per port"),
    ("src/domain/kernel", "foundations that every module uses, one file per concept"),
    ("src/http/routes", "one file per section of the API"),
    ("src/http/wire", "types that several routes share"),
    ("tests/browser", "one file per page or task"),
    ("tests/it", "one file per quality of the service"),
    ("tests/it/routes", "one file per section of the API"),
];

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
    let large = large.map(|(name, count)| format!("{name}: {count}"));
    assert_none(large.collect(), "split them");
}

#[test]
fn invariant_13_functions_have_at_most_60_lines() {
    let mut long = Vec::new();
    for folder in ["src", "ports/src", "adapters/src"] {
        for (path, text) in files(folder, "rs") {
            let over = functions(&text).into_iter().filter(|f| f.lines > FUNCTION_LINES);
            long.extend(over.map(|f| format!("{} {}", path.display(), f.name)));
        }
    }
    assert_none(long, "split them");
}

#[test]
fn invariant_13_files_of_the_domain_have_at_most_500_lines() {
    let long = files("src/domain", "rs").into_iter().filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > DOMAIN_FILE_LINES).then(|| format!("{}: {lines}", path.display()))
    });
    assert_none(long.collect(), "split them");
}

#[test]
fn invariant_13_folders_have_at_most_15_files_or_a_reason() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["src", "ports", "adapters", "ui/src", "tests", "scripts", "examples"] {
        for extension in ["rs", "svelte", "ts", "js", "mjs", "py", "sh", "css", "html"] {
            for (path, _) in files(folder, extension) {
                let parent = path.parent().expect("a folder").display().to_string();
                if !parent.contains("node_modules") {
                    *counts.entry(parent).or_default() += 1;
                }
            }
        }
    }
    assert!(counts.len() > 100, "{}", counts.len());
    let listed = |folder: &str| LARGE_FOLDERS.iter().any(|(listed, _)| *listed == folder);
    let large = counts.iter().filter(|(_, files)| **files > FOLDER_FILES);
    let unlisted = large.clone().filter(|(folder, _)| !listed(folder));
    let unlisted = unlisted.map(|(folder, files)| format!("{folder}: {files}"));
    assert_none(unlisted.collect(), "split them, or give a reason");
    let stale = LARGE_FOLDERS.iter().filter(|(listed, _)| !large.clone().any(|(f, _)| f == listed));
    assert_none(stale.map(|(f, _)| (*f).to_owned()).collect(), "these are no longer large");
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
