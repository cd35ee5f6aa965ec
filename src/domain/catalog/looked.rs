//! How far the videos have been looked at, kept beside the listing: so a start need not look at all of
//! them again. It is lost with the listing, and holds for the vectors of one embedder.

use std::time::Duration;

use ports::Document;
use serde::{Deserialize, Serialize};

use crate::domain::catalog::Catalog;
use crate::domain::kernel::error::Result;
use crate::domain::kernel::time::{instant, now};
use crate::domain::kernel::video::VideoId;

/// What the mark of the listing says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mark {
    /// The form that every entry has.
    pub(super) form: String,
    looked: Looked,
}

/// How far the videos have been looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Looked {
    /// Whose vectors were found with them.
    embedder: String,
    /// When all of them had been, ISO 8601.
    whole: Option<String>,
    /// The last one that was, where others are left.
    pub(crate) up_to: Option<VideoId>,
}

impl Mark {
    /// Entries of this form, of whose videos none has been looked at.
    pub(super) fn of_form(form: &str) -> Self {
        Self { form: form.to_owned(), looked: Looked::default() }
    }
}

impl Looked {
    /// As far as this one; `None` is not at all.
    pub(crate) fn up_to(embedder: &str, last: Option<VideoId>) -> Self {
        Self { embedder: embedder.to_owned(), whole: None, up_to: last }
    }

    /// All of them, now.
    pub(crate) fn whole(embedder: &str) -> Self {
        Self { whole: Some(now()), ..Self::up_to(embedder, None) }
    }

    /// Whether all of them have been within this time. A clock that was put back makes them due.
    pub(crate) fn holds(&self, within: Duration) -> bool {
        let then = self.whole.as_deref().and_then(instant);
        let (Some(then), Some(now)) = (then, instant(&now())) else { return false };
        u64::try_from(now - then).is_ok_and(|ago| Duration::from_millis(ago) < within)
    }
}

impl Catalog {
    pub(super) async fn mark(&self) -> Result<Mark> {
        let text = self.listing.mark().await?.unwrap_or_default();
        // What an earlier version has written is the form alone.
        Ok(serde_json::from_str(&text).unwrap_or_else(|_| Mark::of_form(&text)))
    }

    pub(super) async fn set_mark(&self, mark: &Mark) -> Result<()> {
        Ok(self.listing.set_mark(Document::serialize(mark)?.as_str()).await?)
    }

    /// How far the videos have been looked at, with the vectors of this embedder.
    pub(crate) async fn looked(&self, embedder: &str) -> Result<Looked> {
        let looked = self.mark().await?.looked;
        Ok(if looked.embedder == embedder { looked } else { Looked::up_to(embedder, None) })
    }

    /// Enters that.
    pub(crate) async fn enter_looked(&self, looked: Looked) -> Result<()> {
        let form = self.mark().await?.form;
        self.set_mark(&Mark { form, looked }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_holds_for_a_while() {
        let day = Duration::from_secs(86_400);
        let (none, now) = (Looked::up_to("e", None), Looked::whole("e"));
        let at = |when: &str| Looked { whole: Some(when.into()), ..none.clone() };
        assert!(now.holds(day) && !none.holds(day) && !now.holds(Duration::ZERO));
        assert!(!at("2020-01-01T00:00:00Z").holds(day));
        assert!(!at("9999-01-01T00:00:00Z").holds(day), "by a clock that was put back since");
    }
}
