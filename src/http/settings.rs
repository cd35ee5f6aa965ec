//! How the service is served: the sections `[http]` and `[auth]`, and what follows from where it
//! stands.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use ports::units::{byte_size, seconds};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Host, Url};

use crate::domain::kernel::access::Access;

/// The HTTP server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpSettings {
    /// Address and port.
    pub listen: String,
    /// How clients reach the service; empty: `http://` and the listening address.
    pub base_url: String,
    /// Names, beside that of `base_url`, that requests may be sent to where there are no tokens.
    pub hosts: Vec<String>,
    /// No web UI.
    pub api_only: bool,
    /// Connections at once; the one that has been silent for longest makes room for the next.
    pub max_connections: usize,
    /// Longest time from a connection, or from the first byte of a further request, to the end of
    /// the request's head, in the file seconds.
    #[serde(with = "seconds")]
    pub header_timeout: Duration,
    /// Longest time between two requests of one connection, in the file seconds.
    #[serde(with = "seconds")]
    pub idle_timeout: Duration,
    /// Longest time that a client may take no bytes of an answer, in the file seconds.
    #[serde(with = "seconds")]
    pub send_timeout: Duration,
    /// Largest head of a request, bytes; at least 8192.
    #[serde(with = "byte_size")]
    pub max_header_bytes: usize,
    /// Largest JSON body, bytes; of one that is sent compressed, also after it is decompressed.
    #[serde(with = "byte_size")]
    pub max_json_bytes: usize,
    /// Smallest JSON answer that is compressed for clients that accept gzip, bytes.
    #[serde(with = "byte_size")]
    pub compress_min_bytes: u64,
    /// Largest form body, bytes.
    #[serde(with = "byte_size")]
    pub max_form_bytes: usize,
    /// Largest text field of an upload, bytes.
    #[serde(with = "byte_size")]
    pub max_field_bytes: usize,
    /// Longest time a JSON or form body may take to arrive, in the file seconds.
    #[serde(with = "seconds")]
    pub body_timeout: Duration,
    /// Longest time an upload may stand still, in the file seconds.
    #[serde(with = "seconds")]
    pub upload_idle_timeout: Duration,
    /// Uploads on their way at once.
    pub max_uploads: usize,
    /// Time for which the answer of a store or a server holds for `/health` and `/ready`, in the file
    /// seconds.
    #[serde(with = "seconds")]
    pub probe_interval: f64,
    /// Time between two looks at each store and server while nobody asks, in the file seconds.
    #[serde(with = "seconds")]
    pub idle_probe_interval: f64,
    /// Longest time that a store or a server may take to answer a probe, in the file seconds.
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
    /// How clients reach a service that listens on `address`.
    pub fn public_url(&self, address: SocketAddr) -> String {
        let given = self.base_url.trim_end_matches('/');
        if !given.is_empty() {
            return given.to_owned();
        }
        if address.ip().is_unspecified() {
            return format!("http://127.0.0.1:{}", address.port());
        }
        format!("http://{address}")
    }
}

/// Who may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthSettings {
    /// Accepted values of `X-Core-Token`, and what each reaches; several while one is being rotated.
    /// Empty leaves the API open.
    pub tokens: Vec<AuthToken>,
    /// Listen beyond loopback without tokens.
    pub allow_anonymous: bool,
    /// Life of a browser session, in the file `session_lifetime`.
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

/// A token and what it reaches. In the file it is the token alone, which reaches everything, or
/// `{ token = "…", collections = ["…"], read_only = true }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthToken {
    /// What callers send.
    pub token: String,
    /// What they see and may do.
    pub access: Access,
}

/// A token that does not reach everything, as it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundToken {
    token: String,
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
        let read_only = self.access.check_change().is_err();
        BoundToken { token: self.token.clone(), collections, read_only }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AuthToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = AuthToken;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token, or a table with token, collections and read_only")
            }

            fn visit_str<E: de::Error>(self, token: &str) -> Result<AuthToken, E> {
                Ok(token.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<AuthToken, A::Error> {
                let bound = BoundToken::deserialize(MapAccessDeserializer::new(table))?;
                let BoundToken { token, collections, read_only } = bound;
                if collections.as_ref().is_some_and(BTreeSet::is_empty) {
                    return Err(de::Error::custom(
                        "collections is empty; name some, or leave it out to reach every video",
                    ));
                }
                Ok(AuthToken { token, access: Access::new(collections, read_only) })
            }
        }
        deserializer.deserialize_any(Form)
    }
}

/// An open API that others could reach, though nothing says that this is wanted.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}, which others can reach, but auth.tokens is empty; set a token, use 127.0.0.1, or set \
     auth.allow_anonymous = true"
)]
pub struct Exposed(String);

impl AuthSettings {
    /// Refuses to serve an open API to others, on `address` or below `base_url`, unless that is wanted.
    pub fn check_exposure(&self, address: SocketAddr, base_url: &str) -> Result<(), Exposed> {
        if !self.tokens.is_empty() || self.allow_anonymous {
            return Ok(());
        }
        if !address.ip().is_loopback() {
            return Err(Exposed(format!("http.listen is {address}")));
        }
        match is_loopback(base_url) {
            true => Ok(()),
            false => Err(Exposed(format!("http.base_url is {base_url}"))),
        }
    }
}

/// Whether an address leads to this machine alone.
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

/// What the HTTP side needs to know beside the service.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpOptions {
    /// The section `[http]`.
    pub server: HttpSettings,
    /// The section `[auth]`.
    pub auth: AuthSettings,
    /// Public address of the service, as `https://video.example.org`.
    pub base_url: String,
    /// Serve stored objects below `/storage/`: for storage whose public URLs point here.
    pub serves_storage: bool,
    /// `scheme://host` of the storage's public URLs where it is another one than the service's.
    pub storage_origin: Option<String>,
    /// Version of the service, for the document.
    pub version: String,
}

/// `scheme://host[:port]` of a URL; `None` for what is none.
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
    fn an_open_api_is_served_to_this_machine_alone() {
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
