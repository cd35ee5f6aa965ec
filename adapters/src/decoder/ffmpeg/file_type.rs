//! Which extension and MIME type fit a container, for naming and serving a stored file.

/// Extension and MIME type that fit the container. `codecs` are those of the chosen streams.
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
}
