//! Determines a container's filename extension and MIME type, which are used to name and serve a
//! stored file.

/// Returns the image format of a file that starts with `head`, if it is a single image. Animations
/// that play as videos (GIF, AVIF sequences) do not count as images.
pub(super) fn picture(head: &[u8]) -> Option<&'static str> {
    let at =
        |place: usize, mark: &[u8]| head.get(place..).is_some_and(|rest| rest.starts_with(mark));
    let brand = |brands: &[&[u8; 4]]| at(4, b"ftyp") && brands.iter().any(|brand| at(8, *brand));
    // A bitmap's signature has only two letters, so four reserved zeros and the header length are
    // checked too.
    let bitmap =
        at(0, b"BM") && at(6, &[0; 4]) && [12, 40, 108, 124].iter().any(|n| at(14, &[*n, 0]));
    Some(match () {
        () if at(0, b"\xff\xd8\xff") => "JPEG",
        () if at(0, b"\x89PNG\r\n\x1a\n") => "PNG",
        () if at(0, b"RIFF") && at(8, b"WEBP") => "WebP",
        () if at(0, b"II*\0") || at(0, b"MM\0*") => "TIFF",
        () if brand(&[b"avif"]) => "AVIF",
        () if brand(&[b"heic", b"heix", b"heim", b"heis", b"mif1"]) => "HEIC",
        () if bitmap => "BMP",
        () => return None,
    })
}

/// Returns whether a file that starts with `head` is an HLS playlist (RFC 8216, section 4.3.1.1).
pub(super) fn is_playlist(head: &[u8]) -> bool {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).starts_with(b"#EXTM3U")
}

/// Returns whether a file that starts with `head` is compressed with gzip (RFC 1952, section
/// 2.3.1).
pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(b"\x1f\x8b\x08")
}

/// Returns the extension and MIME type of a container. `codecs` are those of the selected streams.
pub(super) fn file_type(
    container: &str,
    brand: &str,
    codecs: &[String],
    pictures: bool,
) -> (&'static str, &'static str) {
    const WEB: [&str; 5] = ["vp8", "vp9", "av1", "opus", "vorbis"];
    match container {
        "mov,mp4,m4a,3gp,3g2,mj2" => match brand.trim() {
            "qt" => ("mov", "video/quicktime"),
            b if b.starts_with("3g") => ("3gp", "video/3gpp"),
            _ if pictures => ("mp4", "video/mp4"),
            _ => ("m4a", "audio/mp4"),
        },
        "matroska,webm" => match (codecs.iter().all(|c| WEB.contains(&c.as_str())), pictures) {
            (true, true) => ("webm", "video/webm"),
            (true, false) => ("webm", "audio/webm"),
            (false, true) => ("mkv", "video/x-matroska"),
            (false, false) => ("mka", "audio/x-matroska"),
        },
        "ogg" if pictures => ("ogv", "video/ogg"),
        "ogg" => ("ogg", "audio/ogg"),
        "avi" => ("avi", "video/x-msvideo"),
        "flv" | "live_flv" => ("flv", "video/x-flv"),
        "mpegts" => ("ts", "video/mp2t"),
        "mpeg" | "mpegvideo" => ("mpg", "video/mpeg"),
        "asf" if pictures => ("wmv", "video/x-ms-wmv"),
        "asf" => ("wma", "audio/x-ms-wma"),
        "mp3" => ("mp3", "audio/mpeg"),
        "aac" => ("aac", "audio/aac"),
        "flac" => ("flac", "audio/flac"),
        "wav" | "w64" => ("wav", "audio/wav"),
        "aiff" => ("aiff", "audio/aiff"),
        "amr" => ("amr", "audio/amr"),
        "caf" => ("caf", "audio/x-caf"),
        "gif" => ("gif", "image/gif"),
        "mxf" => ("mxf", "application/mxf"),
        "h264" | "hevc" | "m4v" | "vc1" | "obu" | "ivf" => ("bin", "video/x-elementary"),
        _ if pictures => ("bin", "video/x-unknown"),
        _ => ("bin", "audio/x-unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_types_follow_container_brand_and_codecs() {
        let mov = "mov,mp4,m4a,3gp,3g2,mj2";
        let codecs = |c: &[&str]| c.iter().map(|&c| c.to_owned()).collect::<Vec<_>>();
        assert_eq!(file_type(mov, "isom", &codecs(&["h264"]), true).0, "mp4");
        assert_eq!(file_type(mov, "qt  ", &codecs(&["h264"]), true).0, "mov");
        assert_eq!(file_type(mov, "M4A ", &codecs(&["aac"]), false).1, "audio/mp4");
        assert_eq!(file_type("matroska,webm", "", &codecs(&["vp8", "vorbis"]), true).0, "webm");
        assert_eq!(file_type("matroska,webm", "", &codecs(&["vp8", "aac"]), true).0, "mkv");
        assert_eq!(file_type("wav", "", &codecs(&["pcm_s16le"]), false).1, "audio/wav");
    }

    #[test]
    fn playlists_and_gzip_are_recognised_by_their_first_bytes() {
        assert!(is_playlist(b"#EXTM3U\n#EXTINF:9,\n") && is_playlist(b"\xef\xbb\xbf#EXTM3U\r\n"));
        assert!(is_gzip(b"\x1f\x8b\x08\0\0\0\0\0"));
        for head in [b"".as_slice(), b"#EXT", b"\x1f\x8b", b"\0\0\0\x20ftypisom"] {
            assert!(!is_playlist(head) && !is_gzip(head), "{head:?}");
        }
    }

    #[test]
    fn images_are_recognised_by_their_first_bytes() {
        for (head, format) in [
            (b"\xff\xd8\xff\xe0\0\x10JFIF".as_slice(), Some("JPEG")),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some("PNG")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("WebP")),
            (b"MM\0*\0\0\0\x08", Some("TIFF")),
            (b"\0\0\0\x20ftypavif\0\0\0\0", Some("AVIF")),
            (b"\0\0\0\x18ftypheic\0\0\0\0", Some("HEIC")),
            (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some("BMP")),
            (b"BM and other words that begin so", None),
            (b"\0\0\0\x20ftypisom\0\0\x02\0", None),
            (b"\0\0\0\x20ftypavis\0\0\0\0", None),
            (b"RIFF\x10\0\0\0AVI LIST", None),
            (b"GIF89a", None),
            (b"\xff\xfb\x90\x64", None),
            (b"", None),
        ] {
            assert_eq!(picture(head), format, "{head:?}");
        }
    }
}
