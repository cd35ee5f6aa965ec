//! Sessions of the web UI: a form posts a token once, and a signed cookie replaces it from then on.
//!
//! The cookie states when it expires and is signed with the token that opened it. Every instance with that
//! token accepts it without shared state, and it becomes invalid when the token is removed.

use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use poem::http::{StatusCode, header};
use poem::web::Data;
use poem::{IntoResponse, Request, Response, Result, handler};
use sha2::Sha256;

use super::auth::Guard;
use super::body;
use super::errors::Failure;
use super::settings::AuthToken;
use domain::kernel::access::Access;

/// The cookie's name.
const COOKIE: &str = "shotlog_session";

/// Issues and verifies cookies: `<expiry, Unix seconds>.<lifetime, seconds>.<random>.<HMAC-SHA256 of the
/// rest>`.
pub(super) struct Sessions {
    pub(super) tokens: Vec<AuthToken>,
    /// Lifetime of a session.
    pub(super) ttl: Duration,
    /// Whether cookies are sent over https only.
    pub(super) secure: bool,
}

impl Sessions {
    /// The cookie of a new session for `token`.
    fn open(&self, token: &str) -> String {
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

    /// The access rights of the token behind the request's cookie, if the cookie is valid.
    pub(super) fn access(&self, request: &Request) -> Option<&Access> {
        self.verify(cookie(request)?, now())
    }

    fn verify(&self, value: &str, now: u64) -> Option<&Access> {
        let (claim, signature) = value.rsplit_once('.')?;
        let signature = decode_hex(signature)?;
        let mut parts = claim.split('.').map(str::parse::<u64>);
        let (Some(Ok(ends)), Some(Ok(lifetime))) = (parts.next(), parts.next()) else {
            return None;
        };
        // A shorter lifetime also applies to existing sessions. The remaining time says nothing about it:
        // clocks differ and are set back.
        let alive = ends > now && lifetime <= self.ttl.as_secs();
        let signs =
            |token: &&AuthToken| claim_mac(&token.token, claim).verify_slice(&signature).is_ok();
        let token = self.tokens.iter().filter(|_| alive).find(signs)?;
        Some(&token.access)
    }

    fn cookie(&self, value: &str, seconds: u64) -> String {
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

/// Decodes hexadecimal digits.
fn decode_hex(hexadecimal: &str) -> Option<Vec<u8>> {
    let digits = hexadecimal.as_bytes();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

/// Unix time in seconds.
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

/// Whether a token is required and whether the caller's session is valid.
#[handler]
pub(super) fn session_state(request: &Request, Data(guard): Data<&Arc<Guard>>) -> Response {
    let required = guard.needs_tokens();
    let state = serde_json::json!({
        "required": required,
        "authenticated": !required || guard.session(request, false).is_some(),
    });
    Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-store")
        .body(state.to_string())
}

/// Exchanges the form field `token` for a session cookie. A browser that submits the form is redirected to
/// the UI; a script gets 204 or 401.
#[handler]
pub(super) async fn open_session(
    request: &Request,
    payload: poem::Body,
    Data(guard): Data<&Arc<Guard>>,
) -> Result<Response> {
    let page = request.header("accept").is_some_and(|accept| accept.contains("text/html"));
    let bytes = body::read(request, payload, |options| options.server.max_form_bytes).await?;
    let fields = body::form(request, bytes.into()).await?;
    let token = fields.iter().find(|(name, _)| name == "token").map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(Failure::unprocessable("token is missing; it must be a string").into());
    };
    let accepted = guard.access(token.as_bytes()).is_some();
    if !accepted && !page {
        return Err(Failure::new(StatusCode::UNAUTHORIZED, "the token is wrong").into());
    }
    let response = match (page, accepted) {
        // Relative, since a proxy may serve the page below a prefix.
        (true, true) => see_other("."),
        (true, false) => see_other("./?session=refused"),
        (false, _) => StatusCode::NO_CONTENT.into_response(),
    };
    if !accepted {
        return Ok(response);
    }
    let cookie = guard.sessions.open(token);
    Ok(response.with_header(header::SET_COOKIE, cookie).into_response())
}

/// Deletes the session cookie.
#[handler]
pub(super) fn close_session(Data(guard): Data<&Arc<Guard>>) -> Response {
    let cookie = guard.sessions.cookie("", 0);
    StatusCode::NO_CONTENT.with_header(header::SET_COOKIE, cookie).into_response()
}

fn see_other(location: &'static str) -> Response {
    StatusCode::SEE_OTHER.with_header(header::LOCATION, location).into_response()
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
