//! Handling of URLs and response heads (checks, filenames, errors), shared by all fetchers. It does
//! no I/O.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use ports::{ErrorKind, PortError, Result};
use url::{Host, Url};

use super::address::is_public;

/// Parses an HTTP or HTTPS URL.
pub(super) fn parse_url(url: &str) -> Result<Url> {
    let parsed = Url::parse(url.trim()).map_err(|e| {
        // The message omits the URL, because the URL may include a password and cannot be redacted
        // if it cannot be parsed.
        PortError::caused_by(ErrorKind::Invalid, format!("the url cannot be read: {e}"), e)
    })?;
    check_scheme(parsed)
}

/// Returns the URL that a redirect points to.
pub(super) fn redirect_target(from: &Url, location: &[u8]) -> Result<Url> {
    let next = from.join(&String::from_utf8_lossy(location)).map_err(|e| {
        PortError::caused_by(
            ErrorKind::Invalid,
            format!("{} redirects to something that is not a url", redacted(from)),
            e,
        )
    })?;
    check_scheme(next)
}

fn check_scheme(url: Url) -> Result<Url> {
    if matches!(url.scheme(), "http" | "https") {
        return Ok(url);
    }
    Err(PortError::new(
        ErrorKind::Invalid,
        format!("cannot fetch {:?} urls; use http or https", url.scheme()),
    ))
}

/// Returns the URL without user, password, query and fragment, because these may be secret.
pub(super) fn redacted(url: &Url) -> String {
    let mut url = url.clone();
    // These calls fail only if the URL has no host, and http(s) URLs always have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// A private address, or a host name that resolves to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PrivateAddress(pub(super) String);

impl std::fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "refusing to fetch from {}: not a public address (set fetch.allow_private = true on a \
             trusted network)",
            self.0
        )
    }
}

impl std::error::Error for PrivateAddress {}

impl From<PrivateAddress> for PortError {
    fn from(e: PrivateAddress) -> Self {
        PortError::new(ErrorKind::Denied, e.to_string())
    }
}

/// Returns the IP address in the URL, in any notation (`0x7f.1`, `2130706433`).
pub(super) fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// Fails if the URL itself contains a private address or names this machine.
pub(super) fn check_literal(url: &Url) -> Result<(), PrivateAddress> {
    if let Some(address) = literal_address(url)
        && !is_public(address)
    {
        return Err(PrivateAddress(address.to_string()));
    }
    let name = url.host_str().unwrap_or_default().trim_end_matches('.');
    if name == "localhost" || name.ends_with(".localhost") {
        return Err(PrivateAddress(name.to_owned()));
    }
    Ok(())
}

/// Returns the error for a status that is neither 2xx nor a redirect.
pub(super) fn status_error(status: u16, reason: &str, url: &Url) -> PortError {
    let kind = match status {
        404 | 410 => ErrorKind::NotFound,
        401 | 403 => ErrorKind::Denied,
        429 | 500..=599 => ErrorKind::Unavailable,
        _ => ErrorKind::Invalid,
    };
    let reason = format!("{status} {reason}");
    PortError::new(kind, format!("{} answered {}", redacted(url), reason.trim_end()))
}

/// Extracts the MIME type, such as `video/mp4` from `Video/MP4; codecs=avc1`.
pub(super) fn media_type(header: &str) -> Option<String> {
    let essence = header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!essence.is_empty()).then_some(essence)
}

/// Returns the filename from a `Content-Disposition` header (RFC 6266). `filename*` takes
/// precedence over `filename`.
pub(super) fn disposition_filename(header: &[u8]) -> Option<String> {
    // Browsers accept raw UTF-8 here in addition to Latin-1, which the standard specifies.
    let header = match std::str::from_utf8(header) {
        Ok(text) => text.to_owned(),
        Err(_) => header.iter().copied().map(char::from).collect(),
    };
    let mut plain = None;
    for (name, value) in parameters(&header) {
        match name.as_str() {
            "filename*" => {
                if let Some(decoded) = extended_value(&value) {
                    return Some(decoded);
                }
            }
            "filename" if plain.is_none() && !value.is_empty() => plain = Some(value),
            _ => {}
        }
    }
    plain
}

/// Returns the `name=value` parameters after the first semicolon, with lower-case names and
/// unquoted values.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        // If a parameter has no value, the text also contains the name of the next parameter.
        let name = name.rsplit(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => {
                let (value, next) = unquote(quoted);
                (value, next.split_once(';').map_or("", |(_, next)| next))
            }
            None => {
                let (value, next) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), next)
            }
        };
        found.push((name, value));
        rest = next;
    }
    found
}

/// Returns the text up to the closing quote, and the text after it.
fn unquote(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value, "")
}

/// Decodes a value such as `UTF-8'en'%E2%82%AC.mp4` (RFC 8187).
fn extended_value(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, '\'');
    let (charset, _language, encoded) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes = percent_decode_str(encoded);
    let decoded = match charset.to_ascii_lowercase().as_str() {
        "utf-8" => bytes.decode_utf8().ok()?.into_owned(),
        "iso-8859-1" => bytes.map(char::from).collect(),
        _ => return None,
    };
    (!decoded.is_empty()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filenames_are_parsed() {
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"attachment", None),
            (b"", None),
            (b"inline; filename=clip.mp4", Some("clip.mp4")),
            (b"attachment; FileName = \"a b;c=d.mp4\" ; size=3", Some("a b;c=d.mp4")),
            (b"attachment; filename=\"a \\\"b\\\" \\\\c.mp4\"", Some("a \"b\" \\c.mp4")),
            (
                b"attachment; filename=\"x.mp4\"; filename*=UTF-8''%e2%82%ac%20r.mp4",
                Some("€ r.mp4"),
            ),
            (b"attachment; filename*=utf-8'en'na%C3%AFve.mp4; filename=x.mp4", Some("naïve.mp4")),
            (b"attachment; filename*=iso-8859-1''%A3.mp4", Some("£.mp4")),
            (b"attachment; filename*=UTF-8''%ff; filename=ok.mp4", Some("ok.mp4")),
            (b"attachment; filename*=koi8-r''x; filename=ok.mp4", Some("ok.mp4")),
            (b"attachment; filename*=broken", None),
            (b"attachment; broken; filename=a.mp4", Some("a.mp4")),
            ("attachment; filename=\"žluťoučký.mp4\"".as_bytes(), Some("žluťoučký.mp4")),
            (b"attachment; filename=\"na\xefve.mp4\"", Some("naïve.mp4")),
            (b"attachment; filename=\"never closed.mp4", Some("never closed.mp4")),
            (b"attachment; filename=\"../../etc/passwd\"", Some("../../etc/passwd")),
            (b"attachment; filename=\"\"", None),
        ];
        for (header, expected) in cases {
            let shown = String::from_utf8_lossy(header);
            assert_eq!(disposition_filename(header).as_deref(), *expected, "{shown}");
        }
    }

    #[test]
    fn secrets_are_redacted() {
        let url = parse_url("https://user:secret@host:8443/a/b.mp4?signature=s#t").expect("a url");
        assert_eq!(redacted(&url), "https://host:8443/a/b.mp4");
        let error = parse_url("http://user:secret@[bad/").expect_err("is no url").to_string();
        assert!(!error.contains("secret"), "{error}");
        let error = parse_url("ftp://user:secret@host/").expect_err("is ftp").to_string();
        assert!(error.contains("\"ftp\"") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn every_notation_of_a_private_address_is_rejected() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://%31%32%37.0.0.1/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
            "http://0/",
            "http://10.1.2.3:8080/",
            "http://192.168.257/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:a00:1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[fd12::1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://user@169.254.169.254/latest/meta-data/",
        ] {
            let parsed = parse_url(url).expect(url);
            assert!(check_literal(&parsed).is_err(), "{url}");
        }
        for url in ["http://1.1.1.1/", "http://example.com/", "http://localhost.example.com/"] {
            assert_eq!(check_literal(&parse_url(url).expect(url)), Ok(()), "{url}");
        }
    }

    #[test]
    fn redirects_resolve_against_the_source_url() {
        let from = parse_url("https://host/a/b").expect("a url");
        let to =
            |location: &str| redirect_target(&from, location.as_bytes()).map(|url| url.to_string());
        assert_eq!(to("../c d").expect("relative"), "https://host/c%20d");
        assert_eq!(to("//other/x").expect("other host"), "https://other/x");
        assert!(to("file:///etc/passwd").is_err());
        assert!(to("http://[").is_err());
    }
}
