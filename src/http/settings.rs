//! The configuration sections `[http]` and `[auth]`, and options derived from the deployment.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use ports::units::{byte_size, seconds};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use domain::kernel::access::Access;

/// Settings of the HTTP server. In the configuration file, durations and sizes have units (`"10s"`,
/// `"64KiB"`) or are plain numbers of seconds or bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpSettings {
    /// Address and port to listen on.
    pub listen: String,
    /// Public base URL of the service. If empty, it is `http://` followed by the listening address.
    pub base_url: String,
    /// Host names that the service accepts if no tokens are configured, in addition to the host of
    /// `base_url`.
    pub hosts: Vec<String>,
    /// Disables the web UI.
    pub api_only: bool,
    /// Path of the video that the page offers to ingest while the library is empty. Without such a
    /// file, it offers none.
    pub sample: String,
    /// Maximum number of concurrent connections. At the limit, the connections that have been idle
    /// longest are closed to make room.
    pub max_connections: usize,
    /// Maximum time for a request head to arrive. For the first request, the time starts when the
    /// connection is opened; for later requests, when their first byte arrives.
    #[serde(with = "seconds")]
    pub header_timeout: Duration,
    /// Maximum time that a connection may be idle between two requests.
    #[serde(with = "seconds")]
    pub idle_timeout: Duration,
    /// Maximum time that sending a response may stall because the client does not read.
    #[serde(with = "seconds")]
    pub send_timeout: Duration,
    /// Maximum size of a request head, in bytes; at least 8192.
    #[serde(with = "byte_size")]
    pub max_header_bytes: usize,
    /// Maximum size of a JSON body, in bytes. It applies before and after decompression.
    #[serde(with = "byte_size")]
    pub max_json_bytes: usize,
    /// JSON responses of at least this many bytes are compressed if the client accepts gzip.
    #[serde(with = "byte_size")]
    pub compress_min_bytes: u64,
    /// Maximum size of a form body, in bytes.
    #[serde(with = "byte_size")]
    pub max_form_bytes: usize,
    /// Maximum size of a text field in an upload form, in bytes.
    #[serde(with = "byte_size")]
    pub max_field_bytes: usize,
    /// Maximum time for a JSON or form body to arrive.
    #[serde(with = "seconds")]
    pub body_timeout: Duration,
    /// Maximum time that an upload may stall.
    #[serde(with = "seconds")]
    pub upload_idle_timeout: Duration,
    /// Maximum number of concurrent uploads.
    pub max_uploads: usize,
    /// How long `/health` and `/ready` reuse a probe result, in seconds.
    #[serde(with = "seconds")]
    pub probe_interval: f64,
    /// Interval between background probes of each store and server, in seconds.
    #[serde(with = "seconds")]
    pub idle_probe_interval: f64,
    /// Maximum time for a store or server to answer a probe, in seconds.
    #[serde(with = "seconds")]
    pub probe_timeout: f64,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".into(),
            base_url: String::new(),
            hosts: Vec::new(),
            api_only: false,
            sample: "var/sample/shotlog-sample.mp4".into(),
            max_connections: 1000,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            send_timeout: Duration::from_secs(60),
            max_header_bytes: 64 << 10,
            max_json_bytes: 1 << 20,
            compress_min_bytes: 1024,
            max_form_bytes: 64 << 10,
            max_field_bytes: 64 << 10,
            body_timeout: Duration::from_secs(30),
            upload_idle_timeout: Duration::from_secs(60),
            max_uploads: 16,
            probe_interval: 1.0,
            idle_probe_interval: 1.0,
            probe_timeout: 1.5,
        }
    }
}

impl HttpSettings {
    /// Returns the public URL of a service that listens on `address`.
    pub fn public_url(&self, address: SocketAddr) -> String {
        let configured = self.base_url.trim_end_matches('/');
        if !configured.is_empty() {
            return configured.to_owned();
        }
        if address.ip().is_unspecified() {
            return format!("http://127.0.0.1:{}", address.port());
        }
        format!("http://{address}")
    }
}

/// Who may call the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthSettings {
    /// Accepted tokens with their access rights. During a rotation, the old and the new token are
    /// both listed. If the list is empty, the API needs no token.
    pub tokens: Vec<AuthToken>,
    /// Allows other hosts to reach an API without tokens.
    pub allow_anonymous: bool,
    /// Lifetime of a browser session; called `session_lifetime` in the configuration file.
    #[serde(rename = "session_lifetime", with = "seconds")]
    pub session_ttl: Duration,
}

impl Default for AuthSettings {
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            allow_anonymous: false,
            session_ttl: Duration::from_secs(12 * 3600),
        }
    }
}

/// A token and its access rights. In the configuration file, it is a string, which grants full
/// access, or a table such as `{ token = "…", name = "…", collections = ["…"], read_only = true }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthToken {
    /// The value that callers send.
    pub token: String,
    /// The access rights that the token grants, and its name.
    pub access: Access,
}

/// A token with a name or limited access, in the form of the configuration file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenTable {
    token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collections: Option<BTreeSet<String>>,
    #[serde(default)]
    read_only: bool,
}

impl From<&str> for AuthToken {
    fn from(token: &str) -> Self {
        Self { token: token.to_owned(), access: Access::default() }
    }
}

impl Serialize for AuthToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.access == Access::default() {
            return serializer.serialize_str(&self.token);
        }
        let collections = self.access.collections().cloned();
        let read_only = self.access.check_write().is_err();
        let (token, name) = (self.token.clone(), self.access.name().map(str::to_owned));
        TokenTable { token, name, collections, read_only }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AuthToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TokenVisitor;
        impl<'de> Visitor<'de> for TokenVisitor {
            type Value = AuthToken;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token, or a table with token, name, collections and read_only")
            }

            fn visit_str<E: de::Error>(self, token: &str) -> Result<AuthToken, E> {
                Ok(token.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AuthToken, A::Error> {
                let table = TokenTable::deserialize(MapAccessDeserializer::new(map))?;
                let TokenTable { token, name, collections, read_only } = table;
                if collections.as_ref().is_some_and(BTreeSet::is_empty) {
                    return Err(de::Error::custom(
                        "collections is empty; name some, or leave it out to reach every video",
                    ));
                }
                let access = Access::new(collections, read_only).with_name(name);
                Ok(AuthToken { token, access })
            }
        }
        deserializer.deserialize_any(TokenVisitor)
    }
}

/// The API would be reachable from other hosts without a token, and `allow_anonymous` is not set.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}, which others can reach, but auth.tokens is empty; set a token, use 127.0.0.1, or set \
     auth.allow_anonymous = true"
)]
pub struct ExposureError(String);

impl AuthSettings {
    /// Returns an error if other hosts can reach the API through `address` or `base_url`, there are
    /// no tokens, and `allow_anonymous` is not set.
    pub fn check_exposure(&self, address: SocketAddr, base_url: &str) -> Result<(), ExposureError> {
        if !self.tokens.is_empty() || self.allow_anonymous {
            return Ok(());
        }
        if !address.ip().is_loopback() {
            return Err(ExposureError(format!("http.listen is {address}")));
        }
        match is_loopback(base_url) {
            true => Ok(()),
            false => Err(ExposureError(format!("http.base_url is {base_url}"))),
        }
    }
}

/// Whether the host of `base_url` is a loopback name or address.
fn is_loopback(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else { return false };
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost")
                || name.to_ascii_lowercase().ends_with(".localhost")
        }
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Options of the HTTP adapter: its settings and values that depend on the deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpOptions {
    /// The section `[http]`.
    pub server: HttpSettings,
    /// The section `[auth]`.
    pub auth: AuthSettings,
    /// Public URL of the service, such as `https://video.example.org`.
    pub base_url: String,
    /// Whether to serve stored objects below `/storage/`, for storage whose public URLs point to
    /// this service.
    pub serves_storage: bool,
    /// `scheme://host` of the storage's public URLs, if it differs from the service's.
    pub storage_origin: Option<String>,
    /// Version of the service, for the OpenAPI document.
    pub version: String,
}

/// Returns the `scheme://host[:port]` of a URL, or `None` if the URL is invalid.
pub fn origin(url: &str) -> Option<String> {
    url::Url::parse(url).ok().map(|url| url.origin().ascii_serialization())
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            server: HttpSettings::default(),
            auth: AuthSettings::default(),
            base_url: "http://127.0.0.1:8080".into(),
            serves_storage: true,
            storage_origin: None,
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_without_tokens_listens_on_loopback_only() {
        let open = AuthSettings::default();
        let here = "127.0.0.1:8080".parse().expect("an address");
        for (base_url, refused) in [
            ("http://127.0.0.1:8080", false),
            ("http://localhost:8080", false),
            ("http://video.localhost.", false),
            ("http://[::1]:8080/path", false),
            ("https://video.example.org", true),
            ("http://192.168.1.20:8080", true),
            ("http://localhost.example.org", true),
            ("no address", true),
        ] {
            assert_eq!(open.check_exposure(here, base_url).is_err(), refused, "{base_url}");
        }
        let everywhere = "0.0.0.0:8080".parse().expect("an address");
        assert!(open.check_exposure(everywhere, "http://localhost:8080").is_err());
        let allowed = AuthSettings { allow_anonymous: true, ..open };
        assert!(allowed.check_exposure(everywhere, "https://video.example.org").is_ok());
    }
}
