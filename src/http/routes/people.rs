//! `/people`: the people to whom users gave a name, and where they appear, across videos.

use poem_openapi::param::{Path, Query};
use poem_openapi::{Enum, Object, OpenApi};

use crate::http::edge::auth::{CallerToken, Service};
use crate::http::wire::body::Json;
use crate::http::wire::errors::{ApiError, ByIdChecked, Plain};
use crate::http::wire::params::Bounded;
use domain::kernel::time::Span;
use domain::people::{self, AppearanceKind, PeopleQuery, PersonPicture, PersonQuery};
use domain::scoped::VisiblePeople;

/// The routes of this section.
pub(super) struct PeopleApi(pub(super) Service);

#[OpenApi]
impl PeopleApi {
    /// List people by name.
    ///
    /// Lists the names that corrections gave to speakers and people, over all videos that the token
    /// gives access to, sorted by name. The same name in several videos, or of several speakers and
    /// people in one video, is one person. Names are compared without case and surrounding spaces.
    #[oai(path = "/people", method = "get", operation_id = "people")]
    async fn people(
        &self,
        token: CallerToken,
        /// Only appearances in videos of this collection.
        collection: Query<Option<String>>,
        /// Only people whose name contains this text, ignoring case.
        text: Query<Option<String>>,
        /// Maximum number of people per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<PeopleListBody>, ApiError<Plain>> {
        let (limit, cursor) = (limit.0.0 as usize, cursor.0);
        let query = PeopleQuery { collection: collection.0, text: text.0, limit, cursor };
        let service = self.0.scoped(&token);
        Ok(Json(VisiblePeople::from(&service).list(&query).await?.into()))
    }

    /// Get a person by name.
    ///
    /// Returns every appearance of a person in the videos that the token gives access to: the newest
    /// video first, and in chronological order within a video. An appearance is a span in which the
    /// person is visible or speaks; a gap of up to two seconds does not end it.
    #[oai(path = "/people/:name", method = "get", operation_id = "person")]
    async fn person(
        &self,
        token: CallerToken,
        /// The name. Case and surrounding spaces do not matter.
        name: Path<String>,
        /// Maximum number of appearances per page, from 1 to 500. Default: 100.
        #[oai(default = "hundred")]
        limit: Query<Bounded<1, 500>>,
        /// `next` from the previous page.
        cursor: Query<Option<String>>,
    ) -> Result<Json<PersonPageBody>, ApiError<ByIdChecked>> {
        let query = PersonQuery { name: name.0, limit: limit.0.0 as usize, cursor: cursor.0 };
        let service = self.0.scoped(&token);
        Ok(Json(VisiblePeople::from(&service).get(&query).await?.into()))
    }
}

fn hundred() -> Bounded<1, 500> {
    Bounded(100)
}

#[derive(Object)]
#[oai(rename = "PeopleList")]
pub(crate) struct PeopleListBody {
    /// The people of this page, sorted by name.
    pub(crate) people: Vec<PersonBody>,
    /// Number of people on all pages.
    total: u32,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) next: Option<String>,
    /// Number of older videos with corrections that were not read because there are more than
    /// `people.max_videos`; absent if there are none.
    #[oai(skip_serializing_if_is_none)]
    omitted_videos: Option<u64>,
}

/// A person to whom corrections gave a name.
#[derive(Object)]
#[oai(rename = "Person")]
pub(crate) struct PersonBody {
    /// The name, in the spelling that is used most.
    pub(crate) name: String,
    /// Number of videos in which the person appears.
    pub(crate) videos: u32,
    /// Number of spans in which the person is visible or speaks.
    pub(crate) appearances: u32,
    /// Total time for which the person is visible, in seconds.
    pub(crate) seconds_visible: f64,
    /// Total time for which the person speaks, in seconds.
    pub(crate) seconds_speaking: f64,
    /// Path of a picture, relative to the service's root: the image of the person, or else a frame of
    /// an appearance. Absent if no video has a picture.
    #[oai(skip_serializing_if_is_none)]
    image_url: Option<String>,
}

/// A person with the places where they appear.
#[derive(Object)]
#[oai(rename = "PersonPage")]
pub(crate) struct PersonPageBody {
    pub(crate) person: PersonBody,
    /// The appearances of this page.
    pub(crate) appearances: Vec<AppearanceBody>,
    /// Cursor of the next page; absent on the last page.
    #[oai(skip_serializing_if_is_none)]
    pub(crate) next: Option<String>,
    /// Number of older videos with corrections that were not read because there are more than
    /// `people.max_videos`; absent if there are none.
    #[oai(skip_serializing_if_is_none)]
    omitted_videos: Option<u64>,
}

/// A span in which a person is visible or speaks.
#[derive(Object)]
#[oai(rename = "Appearance")]
pub(crate) struct AppearanceBody {
    /// Stable id of the span, for `GET /moments/{moment_id}`.
    pub(crate) moment_id: String,
    /// Id of the video.
    pub(crate) video_id: String,
    /// File name of the video.
    pub(crate) filename: String,
    /// The metadata key `title` of the video; absent if it has none.
    #[oai(skip_serializing_if_is_none)]
    title: Option<String>,
    pub(crate) kind: AppearanceKindBody,
    /// Start time, in seconds from the start of the video.
    pub(crate) start: f64,
    /// End time, in seconds from the start of the video.
    pub(crate) end: f64,
    /// Start and end as a timecode.
    pub(crate) timecode: String,
    /// Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
    #[oai(skip_serializing_if_is_none)]
    recorded_at: Option<String>,
}

/// How an appearance is known: the person is visible, or speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[oai(rename = "AppearanceKind", rename_all = "lowercase")]
pub(crate) enum AppearanceKindBody {
    Visible,
    Speaking,
}

impl From<people::PeopleList> for PeopleListBody {
    fn from(list: people::PeopleList) -> Self {
        Self {
            people: list.people.into_iter().map(Into::into).collect(),
            total: list.total as u32,
            next: list.next,
            omitted_videos: some(list.omitted_videos),
        }
    }
}

impl From<people::PersonSummary> for PersonBody {
    fn from(person: people::PersonSummary) -> Self {
        Self {
            name: person.name,
            videos: person.videos as u32,
            appearances: person.appearances as u32,
            seconds_visible: person.seconds_visible,
            seconds_speaking: person.seconds_speaking,
            image_url: person.picture.map(|picture| picture_path(&picture)),
        }
    }
}

impl From<people::PersonPage> for PersonPageBody {
    fn from(page: people::PersonPage) -> Self {
        Self {
            person: page.person.into(),
            appearances: page.appearances.into_iter().map(Into::into).collect(),
            next: page.next,
            omitted_videos: some(page.omitted_videos),
        }
    }
}

impl From<people::PersonAppearance> for AppearanceBody {
    fn from(appearance: people::PersonAppearance) -> Self {
        let span = appearance.moment_id.span();
        let Span { start, end } = span;
        Self {
            video_id: appearance.moment_id.video_id().to_string(),
            moment_id: appearance.moment_id.to_string(),
            filename: appearance.filename,
            title: appearance.title,
            kind: match appearance.kind {
                AppearanceKind::Visible => AppearanceKindBody::Visible,
                AppearanceKind::Speaking => AppearanceKindBody::Speaking,
            },
            start,
            end,
            timecode: span.timecode(),
            recorded_at: appearance.recorded_at,
        }
    }
}

fn some(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

fn picture_path(picture: &PersonPicture) -> String {
    match picture {
        PersonPicture::Entity(video_id, entity_id) => {
            format!("/videos/{video_id}/entities/{entity_id}/image")
        }
        PersonPicture::Frame(video_id, time) => format!("/videos/{video_id}/frames?t={time:.3}"),
    }
}
