//! Converts keys to public URLs and back, without I/O.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use ports::{ErrorKind, PortError, Result};
use url::Url;

use crate::keys::check_key;

/// Characters to encode. These are all characters except the slash and the unreserved characters of
/// RFC 3986.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The public URLs of objects. A URL consists of `base` and the encoded key.
#[derive(Debug, Clone)]
pub(super) struct PublicUrls {
    /// The base URL, which ends with a slash.
    base: Url,
}

impl PublicUrls {
    /// Creates URLs of the form `{address}/{folder}/<key>`; `folder` may be empty.
    pub(super) fn new(address: &str, folder: &str) -> Result<Self> {
        let refused = |why: &str| {
            PortError::new(
                ErrorKind::Invalid,
                format!("the base url {address:?} {why}; a good one is \"https://host/path\""),
            )
        };
        let mut base = Url::parse(address).map_err(|e| refused(&format!("is not a url ({e})")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(refused("is neither http nor https"));
        }
        if base.query().is_some() || base.fragment().is_some() || !base.username().is_empty() {
            return Err(refused("has a user name, a query or a fragment"));
        }
        let folder = utf8_percent_encode(folder.trim_matches('/'), ENCODED).to_string();
        let path = [base.path().trim_matches('/'), &folder]
            .into_iter()
            .filter(|part| !part.is_empty())
            .fold(String::from("/"), |path, part| path + part + "/");
        base.set_path(&path);
        Ok(Self { base })
    }

    pub(super) fn url(&self, key: &str) -> String {
        format!("{}{}", self.base, utf8_percent_encode(key, ENCODED))
    }

    pub(super) fn key(&self, url: &str) -> Option<String> {
        let url = Url::parse(url).ok()?;
        let same_origin = url.scheme() == self.base.scheme()
            && url.host() == self.base.host()
            && url.port_or_known_default() == self.base.port_or_known_default()
            && url.username().is_empty()
            && url.password().is_none();
        if !same_origin {
            return None;
        }
        let rest = url.path().strip_prefix(self.base.path())?;
        let key = percent_decode_str(rest).decode_utf8().ok()?;
        check_key(&key).ok()?;
        Some(key.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(base: &str, folder: &str) -> PublicUrls {
        PublicUrls::new(base, folder).expect("a good base")
    }

    #[test]
    fn keys_round_trip() {
        for base in ["http://localhost:8000", "https://cdn.example/media/", "http://[::1]:80/a%20b"]
        {
            let urls = urls(base, "storage");
            for key in ["a/b.mp4", "a/b c+d&e=f?g#h%41.mp4", "a/..b", "a/b:c;d,e'(f)!~*@$.mp4"] {
                assert_eq!(urls.key(&urls.url(key)).as_deref(), Some(key), "{base}");
            }
        }
        assert_eq!(
            urls("http://h:8000/", "storage").url("a/b c.mp4"),
            "http://h:8000/storage/a/b%20c.mp4"
        );
    }

    #[test]
    fn foreign_urls_have_no_key() {
        let urls = urls("https://h/base", "storage");
        assert_eq!(urls.key("https://h:443/base/storage/a/b?x=1#t=3").as_deref(), Some("a/b"));
        for url in [
            "http://h/base/storage/a/b",
            "https://h.evil/base/storage/a/b",
            "https://h:8443/base/storage/a/b",
            "https://h@evil/base/storage/a/b",
            "https://user@h/base/storage/a/b",
            "https://h/base/storages/a/b",
            "https://h/base/storage/",
            "https://h/base/storage/a/../../../etc/passwd",
            "https://h/base/storage/a/%2e%2e/%2e%2e/b",
            "https://h/base/storage/a%2f%2e%2e%2fb",
            "https://h/base/storage/a%5cb",
            "https://h/base/storage/a%00b",
            "https://h/base/storage//a",
            "https://h/base/storage/%ff",
            "/base/storage/a/b",
            "",
        ] {
            assert_eq!(urls.key(url), None, "{url}");
        }
    }

    #[test]
    fn bad_base_url_is_rejected() {
        for base in ["localhost:8000", "ftp://h", "", "http://h/?q", "http://u@h/"] {
            assert!(PublicUrls::new(base, "storage").is_err(), "{base}");
        }
    }
}
