//! Authorization: which videos a caller may see, and whether they may change anything; and the name
//! of the caller.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::{Error, Result};

/// Maximum length of the name of an author, in characters.
pub const MAX_AUTHOR_CHARS: usize = 100;

/// The author of what callers write that give no name.
const ANONYMOUS: &str = "anonymous";

/// The permissions of a caller. The default is unrestricted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The collections that the caller is restricted to; `None` grants access to every video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    collections: Option<BTreeSet<String>>,
    /// Whether the caller may only read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    read_only: bool,
    /// The name of the caller's token, if it has one. It grants nothing, and jobs do not keep it.
    #[serde(skip)]
    name: Option<String>,
}

impl Access {
    /// Grants access to the videos in `collections`, or to every video if `collections` is `None`.
    pub fn new(collections: Option<BTreeSet<String>>, read_only: bool) -> Self {
        Self { collections, read_only, name: None }
    }

    /// Returns the same access for a token with a name.
    #[must_use]
    pub fn with_name(self, name: Option<String>) -> Self {
        Self { name, ..self }
    }

    /// Returns the name of the caller's token.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the author of what the caller writes: the name of the caller's token, the requested
    /// name if the token has none, or else `anonymous`. Returns `Unprocessable` if the requested name
    /// is empty, too long, or not that of the token.
    pub fn author(&self, requested: Option<&str>) -> Result<String> {
        let requested = requested.map(str::trim);
        if let Some(name) = requested
            && (name.is_empty() || name.chars().count() > MAX_AUTHOR_CHARS)
        {
            return Err(Error::Unprocessable(format!(
                "author must have 1 to {MAX_AUTHOR_CHARS} characters"
            )));
        }
        match (self.name(), requested) {
            (Some(own), Some(other)) if own != other => Err(Error::Unprocessable(format!(
                "author is '{other}', but the token has the name '{own}'; leave author out"
            ))),
            (own, requested) => Ok(own.or(requested).unwrap_or(ANONYMOUS).to_owned()),
        }
    }

    /// Returns the collections that access is restricted to, or `None` if the caller may see every
    /// video.
    pub fn collections(&self) -> Option<&BTreeSet<String>> {
        self.collections.as_ref()
    }

    /// Whether the caller may see a video in `collection`. `None` stands for a video in no
    /// collection.
    pub fn sees(&self, collection: Option<&str>) -> bool {
        let Some(bound) = &self.collections else { return true };
        collection.is_some_and(|name| bound.contains(name))
    }

    /// Returns `Forbidden` if access is read-only.
    pub fn check_write(&self) -> Result<()> {
        if self.read_only {
            return Err(Error::Forbidden(
                "the token reads only, and this changes what is stored; use a token without \
                 read_only (auth.tokens)"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Returns `Forbidden` if the caller could not see a video in `collection`.
    pub fn check_collection(&self, collection: Option<&str>) -> Result<()> {
        if self.sees(collection) {
            return Ok(());
        }
        let problem = match collection {
            Some(name) => format!("'{name}' is none of them"),
            None => "a video cannot be taken out of them".into(),
        };
        Err(Error::Forbidden(format!("the token is bound to collections ({self}); {problem}")))
    }

    /// Returns the collection for a new video if the request names no collection. This is the only
    /// collection that access is restricted to, or `None` if access is unrestricted. Returns
    /// `Unprocessable` if access is restricted to several collections.
    pub fn default_collection(&self) -> Result<Option<&str>> {
        let Some(bound) = &self.collections else { return Ok(None) };
        match bound.iter().collect::<Vec<_>>()[..] {
            [only] => Ok(Some(only)),
            _ => Err(Error::Unprocessable(format!(
                "collection is missing; the token is bound to several ({self}): name one"
            ))),
        }
    }

    /// Returns `Forbidden` if access is restricted to collections. Operations on the whole install
    /// must call this.
    pub fn check_unrestricted(&self) -> Result<()> {
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
    fn restricted_access_covers_only_its_collections() {
        let news = bound(&["news"], false);
        assert!(news.sees(Some("news")) && !news.sees(Some("sport")) && !news.sees(None));
        assert_eq!(news.default_collection().unwrap(), Some("news"));
        assert!(news.check_collection(Some("news")).is_ok() && news.check_write().is_ok());
        for refused in [news.check_collection(Some("sport")), news.check_collection(None)] {
            assert!(matches!(refused, Err(Error::Forbidden(_))));
        }
        assert!(news.check_unrestricted().is_err());
        assert!(bound(&["a", "b"], false).default_collection().is_err());
        assert!(bound(&["a"], true).check_write().is_err());
        let everything = Access::default();
        assert!(everything.sees(None) && everything.sees(Some("x")));
        assert!(
            everything.check_collection(None).is_ok() && everything.check_unrestricted().is_ok()
        );
        assert_eq!(everything.default_collection().unwrap(), None);
    }
}
