//! Sessions of the web UI, in which a signed cookie replaces the token. The `/session` routes open
//! and close sessions.
//!
//! The cookie states when it expires and is signed with the token that was used to open the
//! session. Every instance with that token accepts the cookie without shared state, and the cookie
//! becomes invalid when the token is removed.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use poem::Request;
use poem::http::header;
use sha2::Sha256;

use crate::http::settings::AuthToken;
use domain::kernel::access::Access;

/// Name of the session cookie.
const COOKIE: &str = "shotlog_session";

/// Issues and verifies cookies of the form `<expiry, Unix seconds>.<lifetime,
/// seconds>.<random>.<HMAC-SHA256 of the rest>`.
pub(crate) struct Sessions {
    pub(crate) tokens: Vec<AuthToken>,
    /// Lifetime of a session.
    pub(crate) ttl: Duration,
    /// Whether browsers send the cookies over HTTPS only.
    pub(crate) secure: bool,
}

impl Sessions {
    /// Opens a session for `token` and returns the `Set-Cookie` value.
    pub(crate) fn open(&self, token: &str) -> String {
        let ends = now().saturating_add(self.ttl.as_secs());
        let claim = format!("{ends}.{}.{}", self.ttl.as_secs(), uuid::Uuid::new_v4().simple());
        let signature: String = claim_mac(token, &claim)
            .finalize()
            .into_bytes()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        self.cookie(&format!("{claim}.{signature}"), self.ttl.as_secs())
    }

    /// Returns the access rights of the token that signed the request's cookie, if the cookie is
    /// valid.
    pub(crate) fn access(&self, request: &Request) -> Option<&Access> {
        self.verify(cookie(request)?, now())
    }

    fn verify(&self, value: &str, now: u64) -> Option<&Access> {
        let (claim, signature) = value.rsplit_once('.')?;
        let signature = decode_hex(signature)?;
        let mut parts = claim.split('.').map(str::parse::<u64>);
        let (Some(Ok(ends)), Some(Ok(lifetime))) = (parts.next(), parts.next()) else {
            return None;
        };
        // Lowering the configured lifetime also ends sessions that were opened with a longer one.
        // The check does not use the remaining time, because clocks differ and may be set back.
        let alive = ends > now && lifetime <= self.ttl.as_secs();
        let signs =
            |token: &&AuthToken| claim_mac(&token.token, claim).verify_slice(&signature).is_ok();
        let token = self.tokens.iter().filter(|_| alive).find(signs)?;
        Some(&token.access)
    }

    /// Returns a `Set-Cookie` value. An empty `value` with 0 `seconds` deletes the cookie.
    pub(crate) fn cookie(&self, value: &str, seconds: u64) -> String {
        let secure = if self.secure { "; Secure" } else { "" };
        format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

fn claim_mac(token: &str, claim: &str) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(token.as_bytes())
        .unwrap_or_else(|_| unreachable!("a key of any length will do"));
    mac.update(format!("shotlog session {claim}").as_bytes());
    mac
}

fn decode_hex(hexadecimal: &str) -> Option<Vec<u8>> {
    let digits = hexadecimal.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

/// Returns the Unix time in seconds.
fn now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}

fn cookie(request: &Request) -> Option<&str> {
    let values = request.headers().get_all(header::COOKIE).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(tokens: &[&str], seconds: u64) -> Sessions {
        let tokens = tokens.iter().map(|token| (*token).into()).collect();
        Sessions { tokens, ttl: Duration::from_secs(seconds), secure: false }
    }

    fn value(cookie: &str) -> &str {
        cookie.split(['=', ';']).nth(1).expect("a value")
    }

    #[test]
    fn any_instance_with_the_token_accepts_a_session_until_it_expires() {
        let here = sessions(&["old", "new"], 60);
        let cookie = here.open("old");
        let value = value(&cookie);
        for (tokens, accepted_session) in
            [(&["old", "new"][..], true), (&["new", "old"], true), (&["new"], false), (&[], false)]
        {
            assert_eq!(
                sessions(tokens, 60).verify(value, now()).is_some(),
                accepted_session,
                "{tokens:?}"
            );
        }
        assert!(here.verify(value, now() + 61).is_none(), "expired");
        assert!(here.verify(value, now() - 3600).is_some(), "the clock differs or was set back");
        let longer = sessions(&["old"], 600);
        let cookie = longer.open("old");
        let value = self::value(&cookie);
        assert!(here.verify(value, now()).is_none(), "its lifetime exceeds the limit");
    }

    #[test]
    fn forged_sessions_are_rejected() {
        let sessions = sessions(&["token"], 60);
        let cookie = sessions.open("token");
        let value = value(&cookie);
        let (claim, signature) = value.rsplit_once('.').expect("a signature");
        let (ends, random) = claim.split_once('.').expect("an end");
        let later = ends.parse::<u64>().expect("a number") - 1;
        let shorter = &signature[2..];
        for forged in [
            format!("{later}.{random}.{signature}"),
            format!("{ends}.x.{signature}"),
            format!("{claim}.{shorter}"),
            format!("{claim}."),
            format!("{claim}.zz"),
            format!("{claim}.é"),
            claim.to_owned(),
            String::new(),
        ] {
            assert!(sessions.verify(&forged, now()).is_none(), "{forged}");
        }
        assert!(sessions.verify(value, now()).is_some());
    }
}
