//! The source of an ingest and its file name.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use ports::decoder::MediaInfo;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use url::Url;

use crate::kernel::urls::redact_secrets;
use crate::kernel::video::VideoId;

/// File name of the poster in storage.
pub(crate) const POSTER: &str = "poster.jpg";

/// Maximum length of a stored file name, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// The source of an ingest job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum IngestSource {
    /// An upload on the local disk, with the client's file name.
    File { path: PathBuf, video_id: VideoId, size: u64, name: Option<String> },
    /// An upload in the bucket, for any instance to process.
    Stored { key: String, name: Option<String> },
    /// A resumable upload.
    Upload { id: String, name: Option<String> },
    /// A URL to download.
    Url { url: String },
}

impl IngestSource {
    /// Returns the name that clients see.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File { name, .. } | Self::Stored { name, .. } | Self::Upload { name, .. } => {
                name.clone().unwrap_or_default()
            }
            Self::Url { url } => redact_secrets(url),
        }
    }

    /// Redacts secrets, which only the download needs.
    pub(crate) fn redact(&mut self) {
        if let Self::Url { url } = self {
            *url = redact_secrets(url);
        }
    }
}

/// Creates a unique object key for an upload that waits for a worker.
pub(crate) fn incoming_key() -> String {
    format!("incoming/{}/source", uuid::Uuid::new_v4().simple())
}

/// Finds the file name for a download that was redirected from `requested` to `final_url`. Takes
/// the name from the first of the two URLs that has a file extension. If neither has one, takes the
/// name from `requested`.
pub(crate) fn name_in_urls(requested: &str, final_url: &str) -> Option<String> {
    let (requested, final_url) = (name_in_url(requested), name_in_url(final_url));
    let useful = |name: &Option<String>| name.as_deref().is_some_and(has_file_extension);
    if !useful(&requested) && useful(&final_url) { final_url } else { requested }
}

/// Whether a name has a file extension, other than that of a server-side program or a web page.
fn has_file_extension(name: &str) -> bool {
    const PROGRAMS: [&str; 8] = ["php", "asp", "aspx", "ashx", "jsp", "cgi", "html", "htm"];
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let extension = extension.to_ascii_lowercase();
        !stem.is_empty()
            && (2..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !PROGRAMS.contains(&&*extension)
    })
}

/// Returns a URL's last path segment, decoded.
fn name_in_url(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let segment = url.path_segments()?.next_back()?.to_owned();
    Some(percent_decode_str(&segment).decode_utf8_lossy().into_owned())
}

/// Makes a file name that is safe in a path and a URL. It consists of the last path segment,
/// reduced to letters and digits of any script (in Unicode NFC), `.`, `_` and `-`. It is at most
/// 128 bytes long. An empty name becomes `video` plus the container's extension. `poster.jpg`, the
/// name of the poster stored in the same folder, becomes `poster-video.jpg`.
pub(crate) fn clean_name(given: Option<&str>, info: &MediaInfo) -> String {
    other_than_poster(sanitize(given, info))
}

/// Changes `poster.jpg` to `poster-video.jpg` and returns other names unchanged.
pub(crate) fn other_than_poster(name: String) -> String {
    match name.rsplit_once('.') {
        // File systems may be case-insensitive.
        Some((stem, extension)) if name.eq_ignore_ascii_case(POSTER) => {
            format!("{stem}-video.{extension}")
        }
        _ => name,
    }
}

fn sanitize(given: Option<&str>, info: &MediaInfo) -> String {
    let last = given.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name = String::new();
    for c in last.trim().nfc() {
        let allowed = c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '.' | '_' | '-');
        let c = if allowed { c } else { '_' };
        if c != '_' || !name.ends_with('_') {
            name.push(c);
        }
    }
    let name = name.trim_matches(['.', '_']);
    if name.is_empty() {
        return format!("video.{}", info.extension);
    }
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    // Keep the extension and shorten the stem.
    match name.rsplit_once('.').filter(|(_, extension)| extension.len() <= 8) {
        Some((stem, extension)) => {
            format!("{}.{extension}", truncate(stem, MAX_NAME_BYTES - extension.len() - 1))
        }
        None => truncate(name, MAX_NAME_BYTES).to_owned(),
    }
}

/// Returns the longest prefix of whole characters with at most `bytes` bytes.
fn truncate(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> MediaInfo {
        MediaInfo {
            container: "mov".into(),
            extension: "mp4".into(),
            content_type: "video/mp4".into(),
            duration: None,
            video: None,
            audio: None,
            undecodable_video: None,
            timecode: None,
            reel_name: None,
            recorded_at: None,
        }
    }

    #[test]
    fn downloads_are_named_after_the_url_with_an_extension() {
        for (requested, final_url, expected) in [
            ("https://a/clip.mp4?x=1", "https://b/0f3a.bin", "clip.mp4"),
            ("https://a/download?id=7", "https://b/My%20clip.mov", "My clip.mov"),
            ("https://a/get.php", "https://b/clip.webm", "clip.webm"),
            ("https://a/", "https://b/clip.mp4", "clip.mp4"),
            ("https://a/v1.0", "https://b/x/clip.mp4", "clip.mp4"),
            ("https://a/watch", "https://b/stream", "watch"),
            ("https://a/watch", "https://a/watch", "watch"),
        ] {
            assert_eq!(
                name_in_urls(requested, final_url).as_deref(),
                Some(expected),
                "{requested}"
            );
        }
    }

    #[test]
    fn names_are_cleaned() {
        let long = format!("{}.mp4", "a".repeat(300));
        for (given, expected) in [
            (Some("clip.mp4"), "clip.mp4"),
            (Some("../../etc/passwd"), "passwd"),
            (Some("..\\..\\boot.ini"), "boot.ini"),
            (Some("my holiday (1).mov"), "my_holiday_1_.mov"),
            (Some("été.mp4"), "été.mp4"),
            (Some("e\u{301}te\u{301}.mp4"), "été.mp4"),
            (Some("Größe des Hauses.mp4"), "Größe_des_Hauses.mp4"),
            (Some("夏休み.mp4"), "夏休み.mp4"),
            (Some("हिन्दी.mp4"), "हिन्दी.mp4"),
            (Some("a\u{202e}4pm.exe"), "a_4pm.exe"),
            (Some("🎬🎬"), "video.mp4"),
            (Some(".."), "video.mp4"),
            (Some("..."), "video.mp4"),
            (Some(""), "video.mp4"),
            (Some("a/"), "video.mp4"),
            (Some("日本語"), "日本語"),
            (Some(".hidden"), "hidden"),
            (Some("a\0b\n.mp4"), "a_b_.mp4"),
            (None, "video.mp4"),
            (Some("poster.jpg"), "poster-video.jpg"),
            (Some("a/Poster.JPG"), "Poster-video.JPG"),
            (Some("poster.jpeg"), "poster.jpeg"),
        ] {
            assert_eq!(clean_name(given, &info()), expected, "{given:?}");
        }
        let cleaned = clean_name(Some(&long), &info());
        assert!(cleaned.len() == MAX_NAME_BYTES && cleaned.ends_with(".mp4"), "{cleaned}");
        let cleaned = clean_name(Some(&format!("{}.mp4", "夏".repeat(300))), &info());
        assert_eq!(cleaned, format!("{}.mp4", "夏".repeat(41)), "whole characters");
    }

    #[test]
    fn urls_are_named() {
        assert_eq!(name_in_url("http://a/x/my%20clip.mp4?t=1").as_deref(), Some("my clip.mp4"));
    }
}
