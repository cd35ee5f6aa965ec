//! Validation and redaction of URLs. URLs from clients may contain passwords and signatures. These
//! secrets are used only to fetch the URL and must never appear in video records, API responses,
//! webhook calls or logs.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use url::Url;

use super::error::{Error, Result};

/// Replacement for a redacted value.
const REDACTED: &str = "REDACTED";

/// Words in a query parameter's name that mark its value as secret: parameters of signed URLs (S3,
/// GCS, Azure, CloudFront, Akamai), keys and session ids.
const SECRET_WORDS: &[&str] = &[
    "accesskey",
    "apikey",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "hdnea",
    "hdntl",
    "hdnts",
    "hmac",
    "jwt",
    "keyid",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sessionid",
    "sid",
    "sig",
    "sign",
    "signature",
    "token",
];

/// Prefixes of query parameter names in signed URLs.
const SIGNED_PREFIXES: &[&str] = &["x-amz-", "x-goog-", "x-oss-", "x-cos-"];

/// Checks a URL. Returns `Invalid` unless it is an http or https URL with a host.
pub(crate) fn check_url(url: &str) -> Result<()> {
    let wrong = |why: &str| {
        let host = Url::parse(url).is_ok_and(|url| url.has_host());
        let url = if host { redact_secrets(url) } else { url.to_owned() };
        Err(Error::Invalid(format!("'{url}' {why}; it must be an http or https URL")))
    };
    match Url::parse(url) {
        Err(_) => wrong("is not a URL"),
        Ok(parsed) if !matches!(parsed.scheme(), "http" | "https") => {
            wrong("is not fetched over http or https")
        }
        Ok(parsed) if parsed.host_str().is_none_or(str::is_empty) => wrong("has no host"),
        Ok(_) => Ok(()),
    }
}

/// Returns the URL without user, password and fragment, and with the values of secret-looking
/// parameters redacted. Everything else stays unchanged. Text without a host is redacted
/// completely.
pub fn redact_secrets(url: &str) -> String {
    let Some(parsed) = Url::parse(url.trim()).ok().filter(Url::has_host) else {
        return REDACTED.into();
    };
    let plain = parsed.username().is_empty()
        && parsed.password().is_none()
        && parsed.fragment().is_none()
        && parsed.query().is_none_or(|query| !query.split('&').any(is_secret));
    if plain {
        return url.to_owned();
    }
    let mut redacted = parsed.clone();
    // Both calls fail only for a URL without a host, which has neither user nor password.
    let _ = redacted.set_username("");
    let _ = redacted.set_password(None);
    redacted.set_fragment(None);
    let redact = |pair| match is_secret(pair) {
        true => Cow::Owned(format!(
            "{}={REDACTED}",
            pair.split_once('=').map_or(pair, |(name, _)| name)
        )),
        false => Cow::Borrowed(pair),
    };
    let query =
        parsed.query().map(|query| query.split('&').map(redact).collect::<Vec<_>>().join("&"));
    redacted.set_query(query.as_deref());
    redacted.into()
}

/// Returns a webhook's URL without user, password and fragment, and with the values of all
/// parameters redacted, since each value may be a credential.
pub fn redact_query(url: &str) -> String {
    let redacted = redact_secrets(url);
    let Ok(mut parsed) = Url::parse(&redacted) else { return redacted };
    let Some(query) = parsed.query() else { return redacted };
    let redact = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => pair.to_owned(),
    };
    let hidden = query.split('&').map(redact).collect::<Vec<_>>().join("&");
    parsed.set_query(Some(&hidden));
    parsed.into()
}

/// Whether the value of a query parameter `name=value` looks secret.
fn is_secret(pair: &str) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let name = percent_decode_str(name).decode_utf8_lossy();
    let value = percent_decode_str(value).decode_utf8_lossy();
    // A JSON web token begins with `eyJ`. A nested URL with `@` may contain a password.
    value.starts_with("eyJ")
        || value.contains("://") && value.contains('@')
        || SIGNED_PREFIXES.iter().any(|prefix| name.to_ascii_lowercase().starts_with(prefix))
        || words(&name).any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// Splits names such as `accessToken`, `access_token`, `access-token` or `AccessToken` into
/// lower-case words. Also returns each pair of adjacent words joined: `AWSAccessKeyId` yields
/// `keyid`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
        } else {
            if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(c.to_ascii_lowercase());
            }
        }
        before = c;
    }
    let pairs: Vec<String> = words.windows(2).map(|pair| pair.concat()).collect();
    words.into_iter().chain(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_urls_are_valid() {
        for url in ["http://a/b.mp4", "https://example.org:8443/x?y=1"] {
            assert!(check_url(url).is_ok(), "{url}");
        }
        for url in ["", "clip.mp4", "ftp://a/b", "file:///etc/passwd", "data:video/mp4,", "http://"]
        {
            assert!(matches!(check_url(url), Err(Error::Invalid(_))), "{url}");
        }
        let refused = check_url("ftp://user:pw@a/b?token=x").expect_err("is ftp").to_string();
        assert!(refused.contains("ftp://a/b?token=REDACTED"), "{refused}");
    }

    #[test]
    fn harmless_urls_are_unchanged() {
        for url in [
            "http://127.0.0.1:8080/clip.mp4",
            "https://example.org/a%20b/clip.mp4?v=2&t=10s",
            "https://example.org/clip.mp4?",
            "https://example.org/watch?v=dQw4w9WgXcQ&list=PL1&keyboard=1&monkey=2&design=3",
            "https://example.org/clip.mp4?key=clip1&code=BER&session=2&policy=open&pass=3",
            "HTTP://EXAMPLE.org/clip.mp4?empty=&flag",
        ] {
            assert_eq!(redact_secrets(url), url);
        }
    }

    #[test]
    fn webhook_parameters_are_redacted() {
        for (url, redacted) in [
            ("https://a.test/hook?key=door&on", "https://a.test/hook?key=REDACTED&on"),
            ("https://u:p@a.test/hook?token=x#y", "https://a.test/hook?token=REDACTED"),
            ("https://a.test/hook", "https://a.test/hook"),
        ] {
            assert_eq!(redact_query(url), redacted);
        }
    }

    #[test]
    fn secrets_are_redacted() {
        for (url, redacted) in [
            ("https://user:pw@a.test/x.mp4", "https://a.test/x.mp4"),
            ("https://token@a.test/x.mp4?v=1", "https://a.test/x.mp4?v=1"),
            ("https://a.test/x.mp4#access_token=s3cret", "https://a.test/x.mp4"),
            (
                "https://b.s3.amazonaws.com/x.mp4?v=1&X-Amz-Credential=AK%2F1&X-Amz-Signature=ab",
                "https://b.s3.amazonaws.com/x.mp4?v=1&X-Amz-Credential=REDACTED&X-Amz-Signature=REDACTED",
            ),
            (
                "https://a.test/x?AWSAccessKeyId=AK&Expires=1&Signature=s3cret%3D",
                "https://a.test/x?AWSAccessKeyId=REDACTED&Expires=1&Signature=REDACTED",
            ),
            ("https://a.test/x?sv=1&sig=s3cret", "https://a.test/x?sv=1&sig=REDACTED"),
            ("https://a.test/x?accessToken=s", "https://a.test/x?accessToken=REDACTED"),
            ("https://a.test/x?api_key=s&b=1", "https://a.test/x?api_key=REDACTED&b=1"),
            ("https://a.test/x?s%69g=s3cret", "https://a.test/x?s%69g=REDACTED"),
            ("https://a.test/x?q=eyJhbGciOi.J9.x", "https://a.test/x?q=REDACTED"),
            (
                "https://a.test/proxy?url=http%3A%2F%2Fu%3Apw%40b.test%2F",
                "https://a.test/proxy?url=REDACTED",
            ),
            ("user:pw@a.test is no address", "REDACTED"),
        ] {
            assert_eq!(redact_secrets(url), redacted, "{url}");
        }
    }
}
