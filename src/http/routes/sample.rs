//! `/sample`: the sample clip, which the page offers to ingest while the library is empty.

use std::path::PathBuf;

use poem::http::{Method, StatusCode};
use poem::web::StaticFileRequest;
use poem::{FromRequest, IntoResponse, Request, RequestBody, Response, Result, RouteMethod};

use crate::http::edge::route_table::PlainRoute;
use crate::http::settings::HttpOptions;

/// Returns the route of the clip `http.sample`.
pub(super) fn route(options: &HttpOptions) -> PlainRoute {
    let clip = PathBuf::from(&options.server.sample);
    let endpoint = poem::endpoint::make(move |request| answer(request, clip.clone()));
    PlainRoute::new("/sample", "GET, HEAD", RouteMethod::new().get(endpoint))
}

/// Answers with the file, or with 204 if the service has none.
async fn answer(request: Request, clip: PathBuf) -> Result<Response> {
    if !tokio::fs::metadata(&clip).await.is_ok_and(|file| file.is_file()) {
        return Ok(StatusCode::NO_CONTENT.into());
    }
    let file = StaticFileRequest::from_request(&request, &mut RequestBody::default()).await?;
    let mut response = file.create_response(&clip, false, true)?.into_response();
    if request.method() == Method::HEAD {
        response.take_body();
    }
    Ok(response)
}
