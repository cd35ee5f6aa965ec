//! The people to whom users gave a name, in the videos that the caller may see.

use super::Scoped;
use crate::kernel::error::Result;
use crate::people::{PeopleList, PeopleQuery, PersonPage, PersonQuery};

/// The people who have a name in the videos that the caller may see.
pub struct VisiblePeople<'s>(&'s Scoped);

impl<'s> From<&'s Scoped> for VisiblePeople<'s> {
    fn from(scoped: &'s Scoped) -> Self {
        Self(scoped)
    }
}

#[expect(missing_docs, reason = "each method is the use-case of its name")]
impl VisiblePeople<'_> {
    pub async fn list(&self, query: &PeopleQuery) -> Result<PeopleList> {
        self.0.service.catalog.people.list(&self.0.access, query).await
    }

    pub async fn get(&self, query: &PersonQuery) -> Result<PersonPage> {
        self.0.service.catalog.people.get(&self.0.access, query).await
    }
}
