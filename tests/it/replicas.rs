//! Two processes over one bucket and, where there is a Qdrant server, one index; one of them is
//! killed while it ingests. Needs the S3 server at `S3_ENDPOINT`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::support::process::{Process, bars, command};
use crate::support::s3;

const FILES: u32 = 10;
/// Files uploaded only to the process that is killed.
const ONLY_THERE: usize = 2;
const INGESTS: usize = 50;

/// One bucket and one collection, with leases and repair intervals short enough for a test.
fn settings() -> Option<Vec<(&'static str, String)>> {
    let own = uuid::Uuid::new_v4().simple().to_string();
    let mut settings = s3::settings(&own)?;
    settings.extend([
        ("HTTP__MAX_UPLOADS", INGESTS.to_string()),
        ("RECORDS__KIND", "bucket".into()),
        ("RECORDS__BUCKET", s3::bucket()),
        ("RECORDS__PREFIX", format!("tests/{own}/records")),
        ("RECORDS__LEASE", "6".into()),
        ("RECORDS__REPAIR_INTERVAL", "1".into()),
    ]);
    match std::env::var("QDRANT_URL") {
        Ok(url) => settings.extend([
            ("INDEX__KIND", "qdrant".into()),
            ("INDEX__URL", url),
            ("INDEX__COLLECTION", format!("shotlog-test-{own}")),
        ]),
        Err(_) => {
            println!("skipped: QDRANT_URL is not set, so each process has its own vectors");
            settings.push(("INDEX__KIND", "memory".into()));
        }
    }
    Some(settings)
}

fn is_final(job: &Value) -> bool {
    ["done", "failed"].contains(&job["status"].as_str().unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_replica_leaves_every_video_complete_or_absent() {
    let Some(settings) = settings() else { return };
    let folder = tempfile::tempdir().unwrap();
    let clips: Option<Vec<PathBuf>> = (0..FILES).map(|i| bars(folder.path(), 5, i)).collect();
    let Some(clips) = clips else { return };
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    for folder in [&here, &there] {
        std::fs::create_dir(folder).unwrap();
    }
    let survivor = Process::start(&here, &settings).await;
    let victim = Process::start(&there, &settings).await;

    let shared = &clips[..clips.len() - ONLY_THERE];
    let to_victim = (0..INGESTS / 2).map(|i| victim.upload(&clips[i % clips.len()], &[]));
    let to_survivor = (0..INGESTS / 2).map(|i| survivor.upload(&shared[i % shared.len()], &[]));
    let (doomed, jobs) = futures::join!(join_all(to_victim), join_all(to_survivor));
    assert!(doomed.iter().all(Result::is_ok), "every upload is accepted: {doomed:?}");
    // Kill it while some of its jobs are done and one is running.
    loop {
        let listing = victim.get("/jobs").await;
        let count = |status: &str| {
            listing["jobs"].as_array().unwrap().iter().filter(|job| job["status"] == status).count()
        };
        if count("done") >= 2 && count("running") > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(victim);

    for job in jobs {
        let job = survivor.job(&job.unwrap(), is_final).await;
        assert_eq!(job["status"], "done", "{job}");
    }
    let listing = survivor.get("/videos").await;
    let videos = listing["videos"].as_array().unwrap();
    assert!((shared.len()..=clips.len()).contains(&videos.len()), "{listing}");
    let mut chunks = BTreeMap::new();
    for video in videos {
        let id = video["video_id"].as_str().unwrap();
        let log = survivor.get(&format!("/videos/{id}/chunks")).await;
        chunks.insert(id, log["chunks"].as_array().unwrap().len());
        let object = reqwest::get(video["video_url"].as_str().unwrap()).await.unwrap();
        let size = object.bytes().await.unwrap().len() as u64;
        assert_eq!(survivor.get(&format!("/videos/{id}")).await["size_bytes"], size, "{video}");
    }
    assert!(chunks.values().all(|chunks| *chunks == 3), "{chunks:?}");

    if std::env::var("QDRANT_URL").is_err() {
        return;
    }
    // The leases of the killed process expire, and the survivor removes its leftovers.
    loop {
        let verified = command(&here, &settings).arg("verify").output().unwrap();
        let report = String::from_utf8_lossy(&verified.stdout).into_owned();
        let last = report.lines().last().unwrap_or_default();
        if last == format!("{} videos, 0 being worked on, 0 problems", videos.len()) {
            assert!(verified.status.success(), "{report}");
            println!("after the kill: {last}");
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
