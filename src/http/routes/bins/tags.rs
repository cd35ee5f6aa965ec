//! `/bins/{bin_id}/tags`: changes of a tag in all selects of a bin.

use poem_openapi::param::{Header, Path};
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Object, OpenApi};

use super::body::{BinBody, versioned};
use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::{Json, Versioned};
use crate::http::wire::errors::{ApiError, Edit};
use crate::http::wire::params::IfMatch;
use domain::bins::BinId;
use domain::bins::change::BinChange;
use domain::kernel::error::Error;

/// The routes of this section.
pub(crate) struct BinTagsApi(pub(crate) Service);

#[OpenApi]
impl BinTagsApi {
    /// Rename a tag of a bin.
    ///
    /// Renames the tag in all selects, as one change that can be undone. A select that already has
    /// the new tag gets it once, so this also merges two tags. `"to": null` removes the tag. Returns
    /// 404 if no select has it.
    #[oai(path = "/bins/:bin_id/tags/rename", method = "post", operation_id = "rename_tag")]
    async fn rename_tag(
        &self,
        token: CallerToken,
        /// Id of the bin.
        bin_id: Path<String>,
        /// `ETag` of the bin that the change is based on. If a select with the tag has changed
        /// since, the response is 412. Default: no condition.
        #[oai(name = "If-Match")]
        if_match: Header<Option<IfMatch>>,
        Json(request): Json<RenameTagRequest>,
    ) -> Result<Versioned<BinBody>, ApiError<Edit>> {
        let (service, bin_id) = (self.0.scoped(&token), BinId::parse(&bin_id)?);
        let expected = if_match.0.and_then(|condition| condition.0);
        let change = request.try_into()?;
        Ok(versioned(service.for_write()?.change_bin(&bin_id, expected, change).await?.bin))
    }
}

#[derive(Object)]
struct RenameTagRequest {
    /// The tag.
    from: String,
    /// Its new name, at most `bins.max_tag_chars` characters; null to remove the tag.
    #[oai(nullable)]
    to: MaybeUndefined<String>,
}

impl TryFrom<RenameTagRequest> for BinChange {
    type Error = Error;

    fn try_from(request: RenameTagRequest) -> Result<Self, Error> {
        let to = match request.to {
            MaybeUndefined::Value(to) => Some(to),
            MaybeUndefined::Null => None,
            MaybeUndefined::Undefined => {
                return Err(Error::Unprocessable(
                    "to is missing; it must be the new name of the tag, or null to remove it"
                        .into(),
                ));
            }
        };
        Ok(Self::RenameTag { from: request.from, to })
    }
}
