//! Frames as examples in searches for similar pictures.

use std::borrow::Cow;

use super::Frames;
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::search::{ExamplePicture, MAX_SIDE, Search, SearchRequest, SearchTarget};

impl Frames {
    /// Replaces the moment that pictures are compared with by its frame, if the index has no vector
    /// of the moment's frames. Leaves all other requests as they are. Returns `Invalid` if the
    /// moment has no picture, or does not exist.
    pub(crate) async fn with_example<'r>(
        &self,
        search: &Search,
        access: &Access,
        request: &'r SearchRequest,
    ) -> Result<Cow<'r, SearchRequest>> {
        let Some(example) = search.example_frame(access, request).await? else {
            return Ok(Cow::Borrowed(request));
        };
        let width = MAX_SIDE.min(self.settings.max_width);
        let frame = self.frame(example.chunk.0, example.time, width).await;
        let frame = frame.map_err(|error| match error {
            Error::NotFound(why) => Error::Invalid(format!(
                "{why}, so that nothing can look like the moment; omit field to compare texts"
            )),
            other => other,
        })?;
        let picture = ExamplePicture::from_frame(frame, example.chunk);
        let target = SearchTarget::Picture(picture);
        Ok(Cow::Owned(SearchRequest { target, ..request.clone() }))
    }
}
