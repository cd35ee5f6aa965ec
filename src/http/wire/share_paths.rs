//! The paths of shares, which contain the secrets of their links.

use std::borrow::Cow;

/// Path prefix of shared clips, which are read without a token.
pub(crate) const SHARED_ROOT: &str = "/shared/";

/// Path prefix of the shares for callers with a token.
const SHARES_ROOT: &str = "/shares/";

/// Number of characters of a share's id that are no secret: the creation time.
const PUBLIC_CHARS: usize = 12;

/// Returns a path for log lines, without the secret of a share.
pub(crate) fn without_secret(path: &str) -> Cow<'_, str> {
    let Some((root, rest)) = [SHARED_ROOT, SHARES_ROOT]
        .into_iter()
        .find_map(|root| Some((root, path.strip_prefix(root)?)))
    else {
        return path.into();
    };
    let id_end = rest.find('/').unwrap_or(rest.len());
    match rest[..id_end].char_indices().nth(PUBLIC_CHARS) {
        Some((at, _)) => format!("{root}{}…{}", &rest[..at], &rest[id_end..]).into(),
        None => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_contain_no_secret() {
        for (path, logged) in [
            ("/shared/0123456789abSECRET", "/shared/0123456789ab…"),
            ("/shared/0123456789abSECRET/clip.mp4", "/shared/0123456789ab…/clip.mp4"),
            ("/shares/0123456789abSECRET", "/shares/0123456789ab…"),
            ("/shared/x", "/shared/x"),
            ("/shares", "/shares"),
            ("/videos/0123456789abcdef/shares", "/videos/0123456789abcdef/shares"),
        ] {
            assert_eq!(without_secret(path), logged);
        }
    }
}
