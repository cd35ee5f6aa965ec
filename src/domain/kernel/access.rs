//! Who asks: the videos that a caller sees, and whether they may change anything.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::{Error, Result};

/// What a caller sees and may do. The default is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The collections whose videos they see; every video without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collections: Option<BTreeSet<String>>,
    /// Whether they change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    read_only: bool,
}

impl Access {
    /// To the videos of these collections, or to every video.
    pub fn new(collections: Option<BTreeSet<String>>, read_only: bool) -> Self {
        Self { collections, read_only }
    }

    /// The collections that it is bound to; `None` where it is to every video.
    pub fn collections(&self) -> Option<&BTreeSet<String>> {
        self.collections.as_ref()
    }

    /// Whether a video of this collection, or of none, is seen.
    pub fn sees(&self, collection: Option<&str>) -> bool {
        let Some(bound) = &self.collections else { return true };
        collection.is_some_and(|name| bound.contains(name))
    }

    /// `Forbidden` where nothing may be changed.
    pub fn check_change(&self) -> Result<()> {
        if self.read_only {
            return Err(Error::Forbidden(
                "the token reads only, and this changes what is stored; use a token without \
                 read_only (auth.tokens)"
                    .into(),
            ));
        }
        Ok(())
    }

    /// `Forbidden` where a video that is put there would not be seen.
    pub fn check_place(&self, collection: Option<&str>) -> Result<()> {
        if self.sees(collection) {
            return Ok(());
        }
        let wanted = match collection {
            Some(name) => format!("'{name}' is none of them"),
            None => "a video cannot be taken out of them".into(),
        };
        Err(Error::Forbidden(format!("the token is bound to collections ({self}); {wanted}")))
    }

    /// The collection that what is added without naming one goes into, if any. `Unprocessable` where
    /// there are several.
    pub fn only_collection(&self) -> Result<Option<&str>> {
        let Some(bound) = &self.collections else { return Ok(None) };
        match bound.iter().collect::<Vec<_>>()[..] {
            [only] => Ok(Some(only)),
            _ => Err(Error::Unprocessable(format!(
                "collection is missing; the token is bound to several ({self}): name one"
            ))),
        }
    }

    /// `Forbidden` where only some videos are seen: for what tells of the install as a whole.
    pub fn check_everything(&self) -> Result<()> {
        if self.collections.is_none() {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "the token is bound to collections ({self}), and this is about the whole install; use a \
             token without collections (auth.tokens)"
        )))
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.collections.iter().flatten().map(|name| format!("'{name}'"));
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(names: &[&str], read_only: bool) -> Access {
        Access::new(Some(names.iter().map(|name| (*name).to_owned()).collect()), read_only)
    }

    #[test]
    fn a_bound_caller_sees_and_fills_its_collections_alone() {
        let news = bound(&["news"], false);
        assert!(news.sees(Some("news")) && !news.sees(Some("sport")) && !news.sees(None));
        assert_eq!(news.only_collection().unwrap(), Some("news"));
        assert!(news.check_place(Some("news")).is_ok() && news.check_change().is_ok());
        for refused in [news.check_place(Some("sport")), news.check_place(None)] {
            assert!(matches!(refused, Err(Error::Forbidden(_))));
        }
        assert!(news.check_everything().is_err());
        assert!(bound(&["a", "b"], false).only_collection().is_err());
        assert!(bound(&["a"], true).check_change().is_err());
        let everything = Access::default();
        assert!(everything.sees(None) && everything.sees(Some("x")));
        assert!(everything.check_place(None).is_ok() && everything.check_everything().is_ok());
        assert_eq!(everything.only_collection().unwrap(), None);
    }
}
