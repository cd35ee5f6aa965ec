//! Settings for the S3 server at `S3_ENDPOINT`, where the bucket `S3_BUCKET` must exist.

fn variable(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.into())
}

pub fn bucket() -> String {
    variable("S3_BUCKET", "shotlog")
}

/// Storage settings with a separate prefix for the test and signed URLs.
pub fn settings(own: &str) -> Option<Vec<(&'static str, String)>> {
    let Ok(endpoint) = std::env::var("S3_ENDPOINT") else {
        println!("skipped: S3_ENDPOINT names no server");
        return None;
    };
    Some(vec![
        ("STORAGE__KIND", "s3".into()),
        ("STORAGE__ENDPOINT", endpoint),
        ("STORAGE__BUCKET", bucket()),
        ("STORAGE__PREFIX", format!("tests/{own}/objects")),
        ("STORAGE__REGION", variable("S3_REGION", "us-east-1")),
        ("STORAGE__ACCESS_KEY_ID", variable("S3_ACCESS_KEY_ID", "test")),
        ("STORAGE__SECRET_ACCESS_KEY", variable("S3_SECRET_ACCESS_KEY", "test")),
        ("STORAGE__SIGNED_URLS", "600".into()),
    ])
}
