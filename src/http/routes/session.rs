//! `/session`: the web UI posts the token once, in a form. A signed cookie then replaces the token.

use std::sync::Arc;

use poem::http::{StatusCode, header};
use poem::web::Data;
use poem::{IntoResponse, Request, Response, Result, RouteMethod, handler};

use crate::http::edge::auth::Guard;
use crate::http::edge::route_table::PlainRoute;
use crate::http::wire::body;
use crate::http::wire::failure::HttpFailure;
use domain::kernel::access::Access;

/// Returns the `/session` route.
pub(super) fn route() -> PlainRoute {
    let endpoint = RouteMethod::new().get(session_state).post(open_session).delete(close_session);
    PlainRoute::new("/session", "GET, HEAD, POST, DELETE", endpoint).without_token()
}

/// Reports whether a token is required, whether the caller's session is valid and whether it only
/// reads, and the name of its token.
#[handler]
fn session_state(request: &Request, Data(guard): Data<&Arc<Guard>>) -> Response {
    let required = guard.needs_tokens();
    let session = guard.session(request, false);
    let state = serde_json::json!({
        "required": required,
        "authenticated": !required || session.is_some(),
        "read_only": required && session.is_some_and(|access| access.check_write().is_err()),
        "name": session.and_then(Access::name),
    });
    Response::builder()
        .content_type("application/json")
        .header(header::CACHE_CONTROL, "no-store")
        .body(state.to_string())
}

/// Exchanges the form field `token` for a session cookie. A browser that submits the form is
/// redirected to the UI; a script gets 204 or 401.
#[handler]
async fn open_session(
    request: &Request,
    payload: poem::Body,
    Data(guard): Data<&Arc<Guard>>,
) -> Result<Response> {
    let page = request.header("accept").is_some_and(|accept| accept.contains("text/html"));
    let bytes = body::read(request, payload, |options| options.server.max_form_bytes).await?;
    let fields = body::form(request, bytes.into()).await?;
    let token = fields.iter().find(|(name, _)| name == "token").map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(HttpFailure::unprocessable("token is missing; it must be a string").into());
    };
    let accepted = guard.access(token.as_bytes()).is_some();
    if !accepted && !page {
        return Err(HttpFailure::new(StatusCode::UNAUTHORIZED, "the token is wrong").into());
    }
    let response = match (page, accepted) {
        // The target is relative, because a proxy may serve the page below a path prefix.
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
fn close_session(Data(guard): Data<&Arc<Guard>>) -> Response {
    let cookie = guard.sessions.cookie("", 0);
    StatusCode::NO_CONTENT.with_header(header::SET_COOKIE, cookie).into_response()
}

fn see_other(location: &'static str) -> Response {
    StatusCode::SEE_OTHER.with_header(header::LOCATION, location).into_response()
}
