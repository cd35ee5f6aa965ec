//! The parameters of exports of a bin: which selects, and the frame rate.

use poem_openapi::Enum;

use crate::http::wire::failure::HttpFailure;
use crate::http::wire::params::{Bounded, excerpt};
use domain::bins::select::SelectId;
use domain::export::bin::{BinSelection, MissingVideos};
use ports::FrameRate;

/// What to do with selects whose video is missing.
#[derive(Enum)]
#[oai(rename = "MissingVideos", rename_all = "lowercase")]
pub(crate) enum MissingVideosBody {
    Refuse,
    Omit,
}

/// The default of `missing`.
pub(crate) fn refuse() -> MissingVideosBody {
    MissingVideosBody::Refuse
}

/// Parses the parameters of an export of a bin. `select_ids` are separated by commas.
pub(crate) fn bin_selection(
    select_ids: Option<&str>,
    min_rating: Option<Bounded<1, 5>>,
    tag: Option<&str>,
    missing: MissingVideosBody,
) -> Result<BinSelection, HttpFailure> {
    let missing = match missing {
        MissingVideosBody::Refuse => MissingVideos::Refuse,
        MissingVideosBody::Omit => MissingVideos::Omit,
    };
    Ok(BinSelection {
        select_ids: select_ids.map(parse_select_ids).transpose()?,
        min_rating: min_rating.map(|rating| rating.0 as u8),
        tag: tag.map(|tag| tag.trim().to_owned()),
        missing,
    })
}

fn parse_select_ids(text: &str) -> Result<Vec<SelectId>, HttpFailure> {
    if text.trim().is_empty() {
        return Err(HttpFailure::unprocessable(
            "select_ids is empty; it must be ids of selects, separated by commas",
        ));
    }
    let ids = text.split(',').map(|id| SelectId::parse(id.trim()));
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Parses a frame rate: a fraction or a whole number.
pub(crate) fn parse_rate(text: &str) -> Result<FrameRate, HttpFailure> {
    let whole = text.parse().ok().and_then(|frames| FrameRate::new(frames, 1));
    whole.or_else(|| text.parse().ok()).ok_or_else(|| {
        HttpFailure::unprocessable(format!(
            "frame_rate is {}; it must be a fraction such as 30000/1001, or a whole number",
            excerpt(text)
        ))
    })
}
