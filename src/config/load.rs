//! The configuration layers above the defaults. The keys of a layer are checked before the layer is
//! merged.

use std::path::PathBuf;

use toml::{Table, Value};

/// The sources of the configuration.
#[derive(Debug, Clone, Default)]
pub struct ConfigSources {
    /// The configuration file, if any.
    pub file: Option<PathBuf>,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Command line flags, as dotted keys and TOML values.
    pub flags: Vec<(&'static str, Value)>,
}

/// The error for an invalid configuration.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Prefix for the service's environment variables.
const PREFIX: &str = "SERVICE_";

/// Renamed sections and keys, each with its old and its new name.
const RENAMED: [(&str, &str); 22] = [
    ("alerts.failures", "alerts.max_failures"),
    ("ask.max_videos", "ask.max_segments"),
    ("auth.session_seconds", "auth.session_lifetime"),
    ("callbacks.pause", "callbacks.retry_delay"),
    ("decoder.processor_time", "decoder.cpu_time"),
    ("decoder.processor_time_per_second", "decoder.cpu_time_per_second"),
    ("entities", "ner"),
    ("frames.clip_bytes", "frames.max_clip_bytes"),
    ("frames.clip_seconds", "frames.max_clip_duration"),
    ("http.upload_idle", "http.upload_idle_timeout"),
    ("http.watch_interval", "http.idle_probe_interval"),
    ("index.large", "index.warn_above_points"),
    ("ingest.audio_track_seconds", "ingest.audio_track_probe_duration"),
    ("ingest.max_text_frames", "ingest.max_ocr_frames"),
    ("ingest.max_text_looks", "ingest.max_ocr_samples"),
    ("ingest.text_looks_per_second", "ingest.ocr_samples_per_second"),
    ("reader", "ocr"),
    ("records.check", "records.scrub_interval"),
    ("records.listed_for", "records.video_cache_ttl"),
    ("records.repair", "records.repair_interval"),
    ("speaker.same_voice", "speaker.same_voice_threshold"),
    ("voice", "vad"),
];

/// Returns the layers for the file, the variables and the flags, lowest precedence first. `known`
/// contains all keys with their defaults.
pub(super) fn layers(sources: &ConfigSources, known: &Table) -> Result<Vec<Table>, ConfigError> {
    let mut layers = Vec::new();
    if let Some(path) = &sources.file {
        let read_error = |e: &dyn std::fmt::Display| {
            ConfigError::new(format!("cannot read {}: {e}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| read_error(&e))?;
        let table: Table = toml::from_str(&text).map_err(|e| read_error(&e))?;
        check_keys(&table, known, "", known).map_err(|e| read_error(&e))?;
        layers.push(table);
    }
    let mut variables = Table::new();
    for (name, value) in &sources.variables {
        if let Some(path) = variable_path(name, known)? {
            let default = at(known, &path);
            insert(&mut variables, &path, parse_variable(name, value, default)?);
        }
    }
    layers.push(variables);
    let mut flags = Table::new();
    for (key, value) in &sources.flags {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        insert(&mut flags, &path, value.clone());
    }
    layers.push(flags);
    Ok(layers)
}

/// Converts a figment error to plain text.
pub(super) fn explain(error: &figment::Error) -> ConfigError {
    let reasons: Vec<String> = error
        .clone()
        .into_iter()
        .map(|e| {
            let key = e.path.join(".");
            if key.is_empty() { e.kind.to_string() } else { format!("{key}: {}", e.kind) }
        })
        .collect();
    ConfigError::new(reasons.join("; "))
}

/// Returns the key that a variable sets, or `None` for a variable without the prefix. A variable
/// with the prefix that sets no known key is an error; otherwise it would be ignored silently.
fn variable_path(name: &str, known: &Table) -> Result<Option<Vec<String>>, ConfigError> {
    let Some(rest) = name.strip_prefix(PREFIX) else { return Ok(None) };
    if rest == "MAX_BYTES" {
        return Ok(Some(vec!["fetch".into(), "max_bytes".into()]));
    }
    let path: Vec<String> = rest.to_lowercase().split("__").map(str::to_owned).collect();
    if at(known, &path).is_some_and(|value| !value.is_table()) {
        return Ok(Some(path));
    }
    Err(ConfigError::new(unknown_key_message(
        &format!("the variable {name}"),
        &path.join("."),
        known,
    )))
}

/// Parses the text of a variable as a value of the same type as the key's default.
fn parse_variable(name: &str, text: &str, default: Option<&Value>) -> Result<Value, ConfigError> {
    let type_error = |expected: &str| {
        ConfigError::new(format!("the variable {name} is '{text}'; it must be {expected}"))
    };
    Ok(match default {
        Some(Value::Integer(_)) => {
            Value::Integer(text.trim().parse().map_err(|_| type_error("an integer"))?)
        }
        Some(Value::Float(_)) => {
            Value::Float(text.trim().parse().map_err(|_| type_error("a number"))?)
        }
        Some(Value::Boolean(_)) => {
            Value::Boolean(text.trim().parse().map_err(|_| type_error("true or false"))?)
        }
        Some(Value::Array(_)) => {
            let list = toml::from_str::<Table>(&format!("list = {text}")).ok();
            list.and_then(|mut table| table.remove("list"))
                .filter(Value::is_array)
                .ok_or_else(|| type_error("a TOML list such as [\"a\"]"))?
        }
        _ => Value::String(text.to_owned()),
    })
}

/// Removed keys, each with an explanation.
const REMOVED: [(&str, &str); 6] = [
    ("auth.max_sessions", "is not needed: no instance remembers sessions"),
    ("transcriber.concurrency", POCKETSPHINX),
    ("transcriber.library", POCKETSPHINX),
    ("transcriber.pocketsphinx", POCKETSPHINX),
    ("search.null_probes", REFERENCES),
    ("search.null_seconds", REFERENCES),
];

const POCKETSPHINX: &str =
    "was PocketSphinx's, which is not supported any more; use transcriber.kind = \"auto\"";

const REFERENCES: &str = "is not needed: scores are measured once per embedder, at the start";

fn check_keys(table: &Table, known: &Table, prefix: &str, root: &Table) -> Result<(), ConfigError> {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match (known.get(key), value) {
            (Some(Value::Table(known)), Value::Table(table)) => {
                check_keys(table, known, &path, root)?
            }
            (Some(Value::Table(_)), _) => {
                return Err(ConfigError::new(format!("'{path}' must be a section, as [{path}]")));
            }
            (Some(_), _) => {}
            (None, _) => {
                return Err(ConfigError::new(unknown_key_message("the key", &path, root)));
            }
        }
    }
    Ok(())
}

fn unknown_key_message(what: &str, path: &str, known: &Table) -> String {
    if let Some((_, why)) = REMOVED.iter().find(|(key, _)| *key == path) {
        return format!("{what} '{path}' {why}; remove it");
    }
    let renamed = RENAMED.iter().find_map(|(old, new)| {
        let rest = path.strip_prefix(old)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{new}{rest}"))
    });
    if let Some(new) = renamed {
        return format!("{what} '{path}' has another name: it is '{new}'");
    }
    let mut keys = Vec::new();
    flatten(known, "", &mut keys);
    let last = path.rsplit('.').next().unwrap_or(path);
    let similarity = |key: &String| {
        let key_last = key.rsplit('.').next().unwrap_or(key);
        strsim::jaro_winkler(path, key).max(strsim::jaro_winkler(last, key_last))
    };
    let nearest = keys.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    match nearest {
        Some(nearest) => format!(
            "{what} '{path}' is unknown; did you mean '{nearest}' ({PREFIX}{})?",
            nearest.replace('.', "__").to_uppercase()
        ),
        None => format!("{what} '{path}' is unknown"),
    }
}

fn flatten(table: &Table, prefix: &str, keys: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => flatten(inner, &path, keys),
            _ => keys.push(path),
        }
    }
}

fn at<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

fn insert(table: &mut Table, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    fn load(file: Option<&str>, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        if let Some(text) = file {
            std::fs::write(&path, text).expect("a file");
        }
        Config::load(&ConfigSources {
            file: file.map(|_| path),
            variables: variables.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            flags: vec![],
        })
    }

    #[test]
    fn shipped_file_contains_the_defaults() {
        let shipped = include_str!("../../config.toml");
        assert_eq!(load(Some(shipped), &[]).expect("the file"), Config::default());
        let table: Table = toml::from_str(shipped).expect("TOML");
        let defaults = Config::defaults().extract().expect("defaults");
        let (mut named, mut known) = (Vec::new(), Vec::new());
        flatten(&table, "", &mut named);
        flatten(&defaults, "", &mut known);
        assert_eq!(named.len(), known.len(), "every key is in the file");
    }

    #[test]
    fn every_key_has_one_default() {
        let config = Config::default();
        let [mut merged, mut read] = [(); 2].map(|()| Vec::new());
        flatten(&Config::defaults().extract().expect("defaults"), "", &mut merged);
        flatten(&Table::try_from(&config).expect("a table"), "", &mut read);
        flatten(&Table::try_from(&config.domain).expect("a table"), "", &mut read);
        merged.sort();
        read.sort();
        assert_eq!(read, merged, "a key that two structs read could have two defaults");
    }

    #[test]
    fn variables_win_over_the_file_and_keep_their_type() {
        let config = load(
            Some("[llm]\nmodel = 'a'\n[http]\nlisten = '127.0.0.1:1'"),
            &[
                ("SERVICE_LLM__MODEL", "12345"),
                ("SERVICE_AUTH__TOKENS", "[\"a\", \"b\"]"),
                ("SERVICE_MAX_BYTES", "77"),
                ("SERVICE_DATA_DIR", "elsewhere"),
                ("SERVICE_FETCH__ALLOW_PRIVATE", "true"),
                ("SERVICE_STORAGE__KIND", "memory"),
                ("PATH", "/bin"),
            ],
        )
        .expect("a configuration");
        assert_eq!(config.llm.model, "12345");
        assert_eq!(config.http.listen, "127.0.0.1:1");
        assert_eq!(config.auth.tokens, ["a", "b"].map(Into::into));
        assert_eq!(config.domain.fetch.max_bytes, 77);
        assert_eq!(config.domain.data_dir, PathBuf::from("elsewhere"));
        assert!(config.fetch.allow_private);
        assert_eq!(config.storage.kind, adapters::storage::Kind::Memory);
    }

    #[test]
    fn tokens_are_strings_or_tables() {
        let tokens = r#"["a", { token = "b", collections = ["news"] }, { token = "c", read_only = true },
            { token = "d", name = "Ada" }]"#;
        let config = load(Some(&format!("[auth]\ntokens = {tokens}")), &[]).expect("tokens");
        assert_eq!(load(None, &[("SERVICE_AUTH__TOKENS", tokens)]).expect("the same"), config);
        let access = |at: usize| &config.auth.tokens[at].access;
        assert_eq!(config.auth.tokens[0], "a".into());
        assert!(access(1).sees(Some("news")) && !access(1).sees(None));
        assert!(access(2).sees(None) && access(2).check_write().is_err());
        assert_eq!((access(2).name(), access(3).name()), (None, Some("Ada")));
        assert!(access(3).sees(None) && access(3).check_write().is_ok());
        let again = toml::to_string(&config.auth).expect("TOML");
        assert_eq!(toml::from_str::<crate::http::AuthSettings>(&again).expect("auth"), config.auth);
    }

    #[test]
    fn mistakes_are_reported_with_the_valid_form() {
        for (file, variables, expected) in [
            (
                Some("[http]\nlisen = 'x'"),
                vec![],
                "did you mean 'http.listen' (SERVICE_HTTP__LISTEN)?",
            ),
            (Some("[storge]\nkind = 'fs'"), vec![], "is unknown"),
            (Some("http = 1"), vec![], "must be a section"),
            (Some("[index]\nkind = 'qdrnt'"), vec![], "index.kind"),
            (Some("[ingest]\nworkers = 'two'"), vec![], "ingest.workers"),
            (Some("[jobs]\nhistory = 'all'"), vec![], "jobs.history"),
            (Some("[jobs]\nreplicas = 'all'"), vec![], "jobs.replicas"),
            (Some("[comments]\nactivity = 0"), vec![], "comments.activity is 0; it must be from 1"),
            (
                Some("[shares]\ndefault_expiry = '2d'\nmax_expiry = '1d'"),
                vec![],
                "shares.default_expiry is 172800 seconds; it must be from 1 to 86400",
            ),
            (Some("[people]\nmax_videos = 0"), vec![], "people.max_videos is 0; it must be from 1"),
            (
                Some("[auth]\ntokens = [{ token = 'a', name = 'Ada ' }]"),
                vec![],
                "auth.tokens holds the name 'Ada '; a name has 1 to 100 characters",
            ),
            (Some("[frames]\nfolder = 'x'"), vec![], "'frames.folder' is unknown"),
            (Some("[reader]\nkind = 'none'"), vec![], "'reader' has another name: it is 'ocr'"),
            (None, vec![("SERVICE_VOICE__KIND", "none")], "it is 'vad.kind'"),
            (Some("[auth]\nmax_sessions = 9"), vec![], "'auth.max_sessions' is not needed"),
            (None, vec![("SERVICE_AUTH__MAX_SESSIONS", "9")], "no instance remembers sessions"),
            (None, vec![("SERVICE_HTTP__PROBE_INTERVAL", "0")], "from 0.1 to 3600"),
            (None, vec![("SERVICE_HTTP__MAX_HEADER_BYTES", "1")], "at least 8192"),
            (None, vec![("SERVICE_MCP__MAX_TOKENS", "1")], "at least 5000"),
            (None, vec![("SERVICE_ALERTS__MAX_MATCHES", "0")], "from 1 to 10000"),
            (None, vec![("SERVICE_SEARCH__PAGE_WINDOW", "0")], "search.page_window at least 1"),
            (
                None,
                vec![("SERVICE_LLM__MODLE", "x")],
                "did you mean 'llm.model' (SERVICE_LLM__MODEL)?",
            ),
            (None, vec![("SERVICE_AUTH_TOKENS", "[\"a\"]")], "(SERVICE_AUTH__TOKENS)?"),
            (None, vec![("SERVICE_PORT", "8080")], "the variable SERVICE_PORT 'port' is unknown"),
            (None, vec![("SERVICE_AUTH__TOKENS", "[\"a\\nb\"]")], "a line break"),
            (None, vec![("SERVICE_AUTH__TOKENS", "[\"a\", \"a\"]")], "a token twice"),
            (
                None,
                vec![("SERVICE_TRACES__SHARE", "2")],
                "traces.share is 2; it must be from 0 to 1",
            ),
            (None, vec![("SERVICE_INGEST__WORKERS", "two")], "must be an integer"),
            (None, vec![("SERVICE_AUTH__TOKENS", "a,b")], "a TOML list"),
            (Some("[auth]\ntokens = [{ token = 'a', colections = [] }]"), vec![], "colections"),
            (Some("[auth]\ntokens = [{ token = 'a', collections = [] }]"), vec![], "is empty"),
            (Some("[auth]\ntokens = [7]"), vec![], "a table with token"),
            (None, vec![("SERVICE_INGEST__WORKERS", "0")], "at least 1"),
            (None, vec![("SERVICE_LLM__KIND", "openai")], "llm.url is empty"),
        ] {
            let error = load(file, &variables).expect_err("a mistake").to_string();
            assert!(error.contains(expected), "{error:?} should say {expected:?}");
        }
    }
}
