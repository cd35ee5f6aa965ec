//! Enforces the numbered invariants of `src/lib.rs`.

mod sizes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder with the extension, as path and text.
fn files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let mut matching = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let text = fs::read_to_string(&path).expect("text");
                matching
                    .push((path.strip_prefix(root()).expect("below the root").to_owned(), text));
            }
        }
    }
    matching.sort();
    matching
}

pub(crate) fn code() -> Vec<(PathBuf, String)> {
    let folders = ["src", "ports", "adapters", "tests", "examples"];
    let all = folders.into_iter().flat_map(|folder| files(folder, "rs"));
    all.filter(|(path, _)| !path.components().any(|c| c.as_os_str() == "target")).collect()
}

/// Lines of code that contain one of the words, as `path:line: text`. Comments are exempt.
fn lines_naming(files: &[(PathBuf, String)], words: &[&str]) -> Vec<String> {
    let mut matches = Vec::new();
    for (path, text) in files {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if words.iter().any(|word| names(code, word)) {
                matches.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    matches
}

/// Whether code contains a path or identifier as a whole word.
fn names(code: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        !before.ends_with(part) && !after.starts_with(part)
    })
}

#[track_caller]
pub(crate) fn assert_none(violations: Vec<String>, rule: &str) {
    assert!(violations.is_empty(), "{rule}:\n{}", violations.join("\n"));
}

#[test]
fn invariant_1_the_domain_depends_on_no_adapter_and_no_protocol() {
    let manifest = fs::read_to_string(root().join("src/domain/Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
    let names: Vec<&String> =
        manifest["dependencies"].as_table().expect("a table").keys().collect();
    assert!(names.len() > 10, "{names:?}");
    let own = names.iter().filter(|name| is_workspace_package(name)).map(|name| name.as_str());
    assert_eq!(own.collect::<Vec<_>>(), ["cuts", "ports", "text"]);
    for technology in [
        "ffmpeg-next",
        "hyper",
        "opendal",
        "ort",
        "poem",
        "poem-openapi",
        "qdrant-client",
        "reqwest",
        "rmcp",
        "tantivy",
    ] {
        assert!(names.iter().all(|name| *name != technology), "{technology}");
    }
}

/// Whether a dependency is a package of this workspace.
fn is_workspace_package(name: &str) -> bool {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
    let dependency = manifest["workspace"]["dependencies"].get(name);
    dependency.is_some_and(|dependency| dependency.get("path").is_some())
}

/// The modules of the domain in order of dependency.
const MODULES: &[&str] = &[
    "kernel",
    "media",
    "chunking",
    "llm",
    "analysis",
    "aggregation",
    "indexing",
    "records",
    "facts",
    "listing",
    "intervals",
    "publishing",
    "library",
    "bins",
    "comments",
    "shares",
    "people",
    "catalog",
    "search",
    "interval_search",
    "answering",
    "evaluation",
    "alerts",
    "corrections",
    "ingest",
    "frames",
    "jobs",
    "maintenance",
    "export",
    "status",
    "scoped",
];

/// The domain modules that code imports: the word after `crate::`, also in a group.
fn named_modules(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut modules = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        let rest = &code[at + path.len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split('}').next().unwrap_or_default();
                modules.extend(group.split(',').map(word));
            }
            None => modules.push(word(rest)),
        }
    }
    modules
}

#[test]
fn invariant_8_domain_modules_follow_the_dependency_order() {
    let mut violations = Vec::new();
    for (path, text) in files("src/domain", "rs") {
        let module = path.components().nth(2).expect("a module").as_os_str().to_string_lossy();
        let module = module.trim_end_matches(".rs");
        if module == "lib" {
            continue;
        }
        let position = MODULES.iter().position(|r| *r == module);
        let position =
            position.unwrap_or_else(|| panic!("{module} is not in MODULES: {}", path.display()));
        let code: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        // Items of the package root, such as `crate::Error`, are no modules.
        let modules = named_modules(&code);
        for dependency in modules.iter().filter(|name| !name.starts_with(char::is_uppercase)) {
            if MODULES.iter().position(|r| r == dependency).is_none_or(|other| other > position) {
                violations.push(format!("{} names {dependency}", path.display()));
            }
        }
    }
    assert_none(violations, "a module depends only on those above it in MODULES");
}

/// The rooms of HTTP in order of dependency: files in `src/http`, and folders.
const ROOMS: &[&str] = &["settings", "wire", "edge", "routes", "views"];

/// A module below `src/http`: the names that lead to it, none for the root.
type ModulePath = Vec<String>;

/// The paths after `prefix` in code, with groups expanded: `a::{b, c}` is `a::b` and `a::c`.
fn paths_after(code: &str, prefix: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = &code[..at];
        if !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            expand_group(&code[at + prefix.len()..], "", &mut paths);
        }
    }
    paths
}

/// Adds the paths at the beginning of `code`, each after `base`; returns what follows them.
fn expand_group<'c>(code: &'c str, base: &str, paths: &mut Vec<String>) -> &'c str {
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let (path, mut rest) = code.split_at(end.unwrap_or(code.len()));
    let path = format!("{base}{path}");
    let Some(group) = rest.strip_prefix('{') else {
        paths.push(path);
        return rest;
    };
    rest = group;
    while !rest.is_empty() && !rest.starts_with('}') {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let after = expand_group(rest, &path, paths);
        // Skips what is no path: a glob, or a name after `as`.
        rest = if after.len() == rest.len() { &rest[1..] } else { after };
        rest = rest.trim_start();
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

/// The modules below `src/http` and those that each one names or declares. Tests are exempt.
fn http_modules() -> Vec<(ModulePath, Vec<ModulePath>)> {
    let module_of = |path: &Path| -> ModulePath {
        let path = path.strip_prefix("src/http").expect("below src/http").with_extension("");
        let names = path.iter().map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name != "mod").collect()
    };
    let is_test = |path: &Path| path.file_name().is_some_and(|name| name == "tests.rs");
    let mut sources = files("src/http", "rs");
    sources.retain(|(path, _)| !is_test(path));
    let modules: Vec<ModulePath> = sources.iter().map(|(path, _)| module_of(path)).collect();
    let resolve = |base: &[String], path: &str| {
        let names = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned);
        let mut module: ModulePath = base.iter().cloned().chain(names).collect();
        while !modules.contains(&module) {
            module.pop();
        }
        module
    };
    let imports = |(module, (_, text)): (&ModulePath, &(PathBuf, String))| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        let parent = module.split_last().map_or(&module[..], |(_, parent)| parent);
        let named = paths_after(&code, "crate::http::").into_iter().map(|p| resolve(&[], &p));
        let named =
            named.chain(paths_after(&code, "super::").into_iter().map(|p| resolve(parent, &p)));
        let declared = paths_after(&code, "mod ").into_iter().map(|p| resolve(module, &p));
        (module.clone(), named.chain(declared.filter(|m| m != module)).collect())
    };
    modules.iter().zip(&sources).map(imports).collect()
}

#[test]
fn invariant_8_rooms_of_http_follow_the_dependency_order() {
    let mut modules = http_modules();
    assert!(modules.len() > 40);
    let position = |module: &ModulePath| {
        let room = module.first()?;
        let position = ROOMS.iter().position(|name| name == room);
        Some(position.unwrap_or_else(|| panic!("{room} is not in ROOMS")))
    };
    let mut upwards = Vec::new();
    for (module, imports) in &modules {
        for import in imports {
            if position(module).is_some() && position(import) > position(module) {
                upwards.push(format!("{} names {}", module.join("::"), import.join("::")));
            }
        }
    }
    assert_none(upwards, "a room depends only on those before it in ROOMS");
    // What remains without the modules that name none of the others, or that none of them names, is circles.
    loop {
        let count = modules.len();
        let all: Vec<ModulePath> = modules.iter().map(|(module, _)| module.clone()).collect();
        modules.retain(|(_, imports)| imports.iter().any(|import| all.contains(import)));
        let named: Vec<ModulePath> =
            modules.iter().flat_map(|(_, imports)| imports.clone()).collect();
        modules.retain(|(module, _)| named.contains(module));
        if modules.len() == count {
            break;
        }
    }
    let circles = modules.iter().map(|(module, imports)| {
        let imports: Vec<String> = imports.iter().map(|import| import.join("::")).collect();
        format!("{} names {}", module.join("::"), imports.join(", "))
    });
    assert_none(circles.collect(), "no two files of http name each other in a circle");
}

#[test]
fn paths_are_found_in_groups() {
    let code = "use super::{a::{self, B}, c};\nuse super::d::*; xsuper::e; super::f::g(1)";
    let paths = paths_after(code, "super::");
    assert_eq!(paths, ["a::self", "a::B", "c", "d::", "f::g"]);
}

#[test]
fn invariant_2_adapters_are_named_only_where_they_are_selected() {
    let elsewhere: Vec<_> = files("src", "rs")
        .into_iter()
        .filter(|(path, _)| {
            let allowed = ["src/app", "src/config"];
            !allowed
                .iter()
                .any(|place| path == Path::new(&format!("{place}.rs")) || path.starts_with(place))
        })
        .collect();
    assert_none(
        lines_naming(&elsewhere, &["adapters"]),
        "adapters are named only in app and config",
    );
}

#[test]
fn invariant_3_http_and_mcp_name_no_technology_behind_a_port() {
    for entry_point in ["src/http", "src/mcp"] {
        let files = files(entry_point, "rs");
        assert!(files.len() > 10, "{entry_point}");
        assert_none(
            lines_naming(
                &files,
                &[
                    "adapters",
                    "opendal",
                    "qdrant_client",
                    "tantivy",
                    "ort",
                    "ffmpeg_next",
                    "reqwest",
                ],
            ),
            "http and mcp depend on the domain only",
        );
    }
}

#[test]
fn invariant_10_mcp_mirrors_http_and_http_does_not_depend_on_mcp() {
    assert_none(
        lines_naming(&files("src/http", "rs"), &["rmcp", "crate::mcp"]),
        "http does not depend on mcp",
    );
    let mcp = files("src/mcp", "rs");
    let references = lines_naming(&mcp, &["crate::http"]);
    let shared = ["crate::http::views::", "crate::http::Mount"];
    let others =
        references.into_iter().filter(|line| !shared.iter().any(|part| line.contains(part)));
    assert_none(others.collect(), "mcp uses only the views and the mount of http");
    let list = fs::read_to_string(root().join("src/mcp/tools/mod.rs")).expect("the tools");
    let entries = list.split("TOOLS: ").nth(1).and_then(|rest| rest.split("];").next());
    let entries = entries.expect("the list");
    let mut unlisted = Vec::new();
    for (path, text) in &mcp {
        for name in text.split("impl Tool for ").skip(1).filter_map(|rest| rest.split(' ').next()) {
            if !names(entries, name) {
                unlisted.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert_none(unlisted, "every tool is in TOOLS");
}

#[test]
fn invariant_11_callers_access_the_service_through_their_token() {
    // The files that mount the service behind its tokens.
    let mounts = ["src/http/mod.rs", "src/http/edge/auth.rs", "src/mcp/mod.rs"];
    let entry_points = files("src/http", "rs").into_iter().chain(files("src/mcp", "rs"));
    let handlers: Vec<_> = entry_points
        .filter(|(path, _)| mounts.iter().all(|mount| path != Path::new(mount)))
        .collect();
    assert!(handlers.len() > 40);
    let references = lines_naming(&handlers, &["Shotlog"]).into_iter();
    // In a string it is the name of the program.
    let references =
        references.filter(|line| line.contains("Shotlog>") || line.contains("&Shotlog"));
    let imported = lines_naming(&handlers, &["domain::Shotlog", "{Shotlog", "Shotlog}"]);
    assert_none(references.chain(imported).collect(), "handlers and tools use Scoped");
}

#[test]
fn invariant_4_every_analyzer_and_aggregator_is_in_its_list() {
    for (parent, folder, list) in
        [("analysis", "analyzers", "ANALYZERS"), ("aggregation", "aggregators", "AGGREGATORS")]
    {
        let all = files(&format!("src/domain/{parent}/{folder}"), "rs");
        let module = fs::read_to_string(root().join(format!("src/domain/{parent}/mod.rs")));
        let module = module.expect("mod.rs");
        let entries = module.split(&format!("{list}: ")).nth(1).expect("the list");
        let entries = entries.split("];").next().expect("its end");
        let kind = &folder[..folder.len() - 1];
        let implements = format!("impl {}{} for ", kind[..1].to_uppercase(), &kind[1..]);
        let mut count = 0;
        for (path, text) in &all {
            for name in
                text.split(&implements).skip(1).filter_map(|rest| rest.split_whitespace().next())
            {
                count += 1;
                assert!(names(entries, name), "{} is not in {list}: {name}", path.display());
            }
        }
        assert!(count > 0, "{folder} implement {implements}");
    }
}

/// README.md and the pages of docs/, as path and text.
fn pages() -> Vec<(PathBuf, String)> {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let mut pages = files("docs", "md");
    pages.push((PathBuf::from("README.md"), readme));
    pages
}

/// The anchors of a page: its headings as GitHub writes them in links.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let in_slug = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    let slug = |heading: &str| heading.trim_start_matches('#').trim().to_lowercase();
    headings
        .map(|h| slug(h).chars().filter(in_slug).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn invariant_5_paths_and_links_of_the_documentation_exist() {
    let tops = [
        "src/",
        "ports/",
        "adapters/",
        "ui/",
        "clients/",
        "tests/",
        "examples/",
        "scripts/",
        "docs/",
        "deploy/",
    ];
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for word in text.split(|c: char| c.is_whitespace() || "`()[],;\"'<>|".contains(c)) {
            let word = word.trim_end_matches(['.', ':']).trim_start_matches("./");
            let path = word.split('#').next().unwrap_or_default();
            let concrete = !path.contains(['*', '{', '$', '…']);
            if concrete
                && tops.iter().any(|top| path.starts_with(top))
                && !root().join(path).exists()
            {
                missing.push(format!("{}: {path}", page.display()));
            }
        }
        let folder = root().join(&page).parent().expect("a folder").to_owned();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if target.is_empty() { root().join(&page) } else { folder.join(target) };
            let headings = || anchors(&fs::read_to_string(&file).unwrap_or_default());
            let exists = file.exists()
                && (anchor.is_empty() || headings().iter().any(|heading| heading == anchor));
            if !target.contains("://") && !exists {
                missing.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert_none(missing, "the documentation names paths or links that do not exist");
}

#[test]
fn invariant_5_settings_of_the_documentation_exist() {
    let config = fs::read_to_string(root().join("config.toml")).expect("config.toml");
    let config: toml::Table = toml::from_str(&config).expect("TOML");
    let mut unknown = Vec::new();
    for (page, text) in pages() {
        for code in text.split('`').skip(1).step_by(2) {
            let word = code.split([' ', '=']).next().unwrap_or_default();
            let Some((section, key)) = word.split_once('.') else { continue };
            let Some(section) = config.get(section).and_then(|s| s.as_table()) else { continue };
            if !section.contains_key(key) {
                unknown.push(format!("{}: {word}", page.display()));
            }
        }
    }
    assert_none(unknown, "the documentation names settings that do not exist");
}

#[test]
fn invariant_6_no_file_has_more_than_700_lines() {
    let long = code().into_iter().map(|(path, text)| (path, text.lines().count()));
    let long = long.filter(|(_, lines)| *lines > 700);
    assert_none(
        long.map(|(path, lines)| format!("{}: {lines}", path.display())).collect(),
        "split them",
    );
}

#[test]
fn invariant_7_no_unfinished_code() {
    let marks = [["to", "do!"].concat(), ["unimple", "mented!"].concat()];
    let marks: Vec<&str> = marks.iter().map(String::as_str).collect();
    assert_none(lines_naming(&code(), &marks), "finish them");
    let notes = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    let mut violations = Vec::new();
    for (path, text) in code() {
        for (number, line) in text.lines().enumerate() {
            if notes.iter().any(|note| names(line, note)) {
                violations.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert_none(violations, "finish them");
}

/// Words that are an analyzer's id and also mean something else, with the files where they do.
const OTHER_MEANINGS: &[(&str, &str)] = &[
    // The vector field, the filter and the payload field of that name.
    ("people", "src/domain/analysis/mod.rs"),
    ("people", "src/domain/analysis/analyzers/default_video/mod.rs"),
    ("people", "src/domain/search/filters.rs"),
    // The term of that name.
    ("people", "src/domain/intervals/expression.rs"),
    ("people", "src/domain/intervals/parse.rs"),
    ("people", "src/domain/intervals/tests/algebra.rs"),
    ("people", "src/domain/intervals/tests/expressions.rs"),
    ("people", "src/domain/intervals/tests/terms.rs"),
    // The English word in questions, and the counts of people in the statistics.
    ("people", "src/domain/answering/facts/classes.rs"),
    ("people", "src/domain/answering/facts/grammar.rs"),
    ("people", "src/domain/answering/facts/question.rs"),
    ("people", "src/domain/answering/facts/tests/answers.rs"),
    ("people", "src/domain/analysis/facets.rs"),
    ("people", "src/domain/indexing/point_migration.rs"),
    // What an install recognises.
    ("people", "src/domain/status.rs"),
    // The field of that name.
    ("summary", "src/domain/aggregation/aggregators/chapters.rs"),
    // A label of some detectors.
    ("people", "src/domain/aggregation/aggregators/cooccurrence.rs"),
    ("people", "src/domain/aggregation/linking/object_tracks.rs"),
];

#[test]
fn invariant_9_ids_are_literals_only_in_their_own_files() {
    let domain = files("src/domain", "rs");
    let mut ids = Vec::new();
    for (path, text) in &domain {
        for id in
            text.split("const ID: &str = \"").skip(1).filter_map(|rest| rest.split('"').next())
        {
            ids.push((id, path));
        }
    }
    let listed = domain::analysis::ANALYZERS.len() + domain::aggregation::AGGREGATORS.len();
    assert_eq!(ids.len(), listed, "one per analyzer and aggregator");
    let entry_points = [files("src/http", "rs"), files("src/mcp", "rs")].concat();
    let mut violations = Vec::new();
    for (path, text) in domain.iter().chain(&entry_points) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let testing = path.ends_with("testing.rs");
        // An operation of the API may be called like an analyzer or aggregator.
        let lines = code.lines().enumerate().filter(|(_, line)| !line.contains("operation_id = "));
        for (number, line) in lines.filter(|_| !testing) {
            let code = line.split("//").next().unwrap_or_default();
            for (id, own) in &ids {
                let elsewhere = OTHER_MEANINGS.iter().any(|(i, p)| i == id && path == Path::new(p));
                if path != *own && !elsewhere && code.contains(&format!("\"{id}\"")) {
                    violations.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert_none(violations, "use the constant ID of the file");
}

/// Words in the page's code that are an id and also mean something else, with the files where they do.
const OTHER_MEANINGS_IN_UI: &[(&str, &str)] = &[
    // Filters, vector fields, fields of outputs, and what an install recognises.
    ("people", "ui/src/i18n/de/library.ts"),
    ("people", "ui/src/i18n/de/search.ts"),
    ("people", "ui/src/i18n/de/video.ts"),
    ("people", "ui/src/i18n/en/library.ts"),
    ("people", "ui/src/i18n/en/search.ts"),
    ("sentiment", "ui/src/i18n/de/search.ts"),
    // Nouns with their numbers, such as "2 events".
    ("summary", "ui/src/i18n/en/search.ts"),
    ("events", "ui/src/i18n/en/search.ts"),
    ("chapters", "ui/src/i18n/en/search.ts"),
    // An HTML element, and the id of one.
    ("summary", "ui/src/controls/Menu.svelte"),
    ("transcript", "ui/src/video/transcript/TranscriptPane.svelte"),
    // The route of linked people.
    ("entities", "ui/src/video/log/log.svelte.ts"),
    ("entities", "ui/src/search/results/name-person.ts"),
    // A term of an interval expression.
    ("people", "ui/src/video/panels/NothingFound.svelte"),
];

/// The code of a file of the page, without comments.
fn without_comments(text: &str) -> String {
    let mut code = text.to_owned();
    for (begin, end) in [("/*", "*/"), ("<!--", "-->")] {
        while let Some(start) = code.find(begin) {
            let stop = code[start..].find(end).map_or(code.len(), |at| start + at + end.len());
            let lines = code[start..stop].matches('\n').count();
            code.replace_range(start..stop, &"\n".repeat(lines));
        }
    }
    // `://` is part of a URL.
    let line = |line: &str| {
        let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
        comment.map_or(line, |(at, _)| &line[..at]).to_owned()
    };
    code.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a line of TypeScript has a word as a string, a property or a key.
fn uses_as_name(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        if before.ends_with(part) || after.starts_with(part) {
            return false;
        }
        let is_string =
            ['"', '\'', '`'].iter().any(|q| before.ends_with(*q) && after.starts_with(*q));
        let is_key =
            !before.ends_with('.') && (after.starts_with(": ") || after.starts_with("?: "));
        is_string || before.ends_with('.') || is_key
    })
}

#[test]
fn invariant_9_the_ui_names_no_analyzer_and_no_aggregator() {
    let analyzers = domain::analysis::ANALYZERS.iter().map(|a| a.spec().id);
    let aggregators = domain::aggregation::AGGREGATORS.iter().map(|a| a.spec().id);
    let ids: Vec<&str> = analyzers.chain(aggregators).collect();
    let sources = [files("ui/src", "ts"), files("ui/src", "svelte")].concat();
    let is_page = |path: &Path| {
        let name = path.to_string_lossy();
        !name.ends_with(".test.ts") && !name.ends_with("api/schema.d.ts")
    };
    let mut used = BTreeSet::new();
    let mut violations = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| is_page(path)) {
        for (number, line) in without_comments(text).lines().enumerate() {
            for id in ids.iter().filter(|id| uses_as_name(line, id)) {
                let elsewhere = OTHER_MEANINGS_IN_UI.iter();
                match elsewhere.clone().find(|(i, p)| i == id && path == Path::new(p)) {
                    Some(meaning) => drop(used.insert(meaning)),
                    None => violations.push(format!("{}:{}: {id}", path.display(), number + 1)),
                }
            }
        }
    }
    assert_none(violations, "the page reads what it needs from `presentation` in /schema");
    let unused = OTHER_MEANINGS_IN_UI.iter().filter(|meaning| !used.contains(meaning));
    assert_none(unused.map(|m| format!("{m:?}")).collect(), "remove them from the list");
}

#[test]
fn labels_of_analyzers_and_aggregators_are_translated() {
    let analyzers =
        domain::analysis::ANALYZERS.iter().map(|a| (a.spec().label, a.spec().presentation));
    let aggregators = domain::aggregation::AGGREGATORS.iter();
    let aggregators = aggregators.map(|a| (a.spec().label, a.spec().presentation));
    let mut labels = BTreeSet::new();
    for (label, shown) in analyzers.chain(aggregators) {
        labels.insert(label);
        labels.extend(shown.tab.map(|tab| tab.label));
        labels.extend(shown.tracks.iter().filter_map(|track| Some(track.lane?.label)));
        labels.extend(shown.charts.iter().map(|chart| chart.title));
    }
    let german = fs::read_to_string(root().join("ui/src/i18n/de/frame.ts")).expect("a catalogue");
    let (_, german) = german.split_once("labels: {").expect("labels");
    let is_missing = |label: &&str| {
        !german.contains(&format!("    {label}: "))
            && !german.contains(&format!("    \"{label}\": "))
    };
    let missing: Vec<String> = labels.into_iter().filter(is_missing).map(str::to_owned).collect();
    assert_none(missing, "ui/src/i18n/de/frame.ts has no translation");
}
