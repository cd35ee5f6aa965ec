//! The procedures of `docs/production.md`, each run against a separate service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::mentions;
use crate::support::process::{Process, bars, command};

/// A running service with two ingested videos and its data folder.
struct Install {
    folder: tempfile::TempDir,
    service: Process,
    clips: Vec<PathBuf>,
    videos: Vec<String>,
}

impl Install {
    /// `None` where no test clips can be generated.
    async fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let clips: Vec<PathBuf> =
            (0..2).map(|i| bars(folder.path(), 4, i)).collect::<Option<_>>()?;
        let service = Process::start(folder.path(), &[]).await;
        let mut install = Self { folder, service, clips, videos: Vec::new() };
        for clip in install.clips.clone() {
            let video = install.ingest(&clip).await;
            install.videos.push(video);
        }
        Some(install)
    }

    async fn ingest(&self, clip: &Path) -> String {
        let job = self.service.upload(clip, &[]).await.unwrap();
        let job = self.service.job(&job, |job| job["status"] == "done").await;
        job["result"]["video_id"].as_str().unwrap().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder of the embedded index.
    fn index(&self) -> PathBuf {
        let mut folders = std::fs::read_dir(self.data().join("index")).unwrap();
        folders.next().unwrap().unwrap().path()
    }

    /// Kills the service, changes its folder and starts it again.
    async fn restart_after(self, change: impl FnOnce(&Self)) -> Self {
        self.restart_with(&[], change).await
    }

    async fn restart_with(
        mut self,
        settings: &[(&str, String)],
        change: impl FnOnce(&Self),
    ) -> Self {
        self.service.kill();
        change(&self);
        self.service = Process::start(self.folder.path(), settings).await;
        self.service.ready().await;
        self
    }

    /// Asserts that both videos are listed and searchable.
    async fn assert_complete(&self) {
        assert_eq!(self.service.get("/videos").await["total"], 2);
        for video in &self.videos {
            assert_eq!(self.count_hits(video).await, 2, "{video}");
        }
    }

    /// The number of chunks of a video that a search returns.
    async fn count_hits(&self, video: &str) -> usize {
        let query = json!({"text": "coloured bars", "video_ids": [video], "synthesize": false});
        let url = format!("{}/query", self.service.url);
        let reply = reqwest::Client::new().post(url).json(&query).send().await.unwrap();
        let page: Value = reply.json().await.unwrap();
        page["results"].as_array().unwrap_or_else(|| panic!("{page}")).len()
    }

    /// Stops the service and runs `shotlog verify`: its output, and whether it reports no problem.
    fn verify(&mut self) -> (String, bool) {
        self.service.kill();
        let output = command(self.folder.path(), &[]).arg("verify").output().unwrap();
        let report = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&report).into_owned(), output.status.success())
    }

    /// Whether `shotlog verify` reports no problem in a copy of the running service's folder.
    fn copy_verifies(&self) -> bool {
        let copy_folder = self.folder.path().join("copy");
        self.service.pause();
        copy(&self.data(), &copy_folder);
        self.service.go_on();
        let settings = [("DATA_DIR", copy_folder.display().to_string())];
        let output = command(self.folder.path(), &settings).arg("verify").output().unwrap();
        remove(&copy_folder);
        output.status.success()
    }

    fn assert_verifies(mut self) {
        let (report, clean) = self.verify();
        assert!(clean, "{report}");
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_of_a_paused_service_can_be_restored() {
    let Some(install) = Install::new().await else { return };
    let (data, backup) = (install.data(), install.folder.path().join("backup"));
    install.service.pause();
    // The index is rebuilt from the records.
    for part in ["records", "storage"] {
        copy(&data.join(part), &backup.join(part));
    }
    install.service.go_on();
    let url = format!("{}/videos/{}", install.service.url, install.videos[0]);
    reqwest::Client::new().delete(url).send().await.unwrap().error_for_status().unwrap();
    let restored = install.restart_after(|install| {
        remove(&install.data());
        copy(&backup, &install.data());
    });
    let restored = restored.await;
    restored.assert_complete().await;
    restored.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_index_is_rebuilt_at_startup() {
    let Some(install) = Install::new().await else { return };
    let install = install.restart_after(|install| remove(&install.data().join("index"))).await;
    install.assert_complete().await;
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_detects_a_damaged_index_and_startup_rebuilds_it() {
    let Some(mut install) = Install::new().await else { return };
    let flip = |file: &Path| {
        let mut bytes = std::fs::read(file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        std::fs::write(file, bytes).unwrap();
    };
    for kind in ["term", "vectors", "store"] {
        install.service.kill();
        let segments = std::fs::read_dir(install.index()).unwrap();
        let segments = segments.map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
        let files = std::fs::read_dir(segments.unwrap()).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|e| e == kind)).for_each(|f| flip(&f));
        let (report, clean) = install.verify();
        assert!(!clean, "{kind}: {report}");
        mentions(&report, &["damaged", "shotlog reindex"]);
        install = install.restart_after(|_| {}).await;
        // Damage that only a search would detect is repaired in the background.
        let repaired = async {
            while !install.copy_verifies() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(120), repaired).await.expect(kind);
        install.assert_complete().await;
    }
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn reindex_rebuilds_an_index_of_another_format() {
    let Some(mut install) = Install::new().await else { return };
    install.service.kill();
    let file = install.index().join("index.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"format\": 2", "\"format\": 1")).unwrap();
    let (report, clean) = install.verify();
    assert!(!clean, "{report}");
    mentions(&report, &["format 1", "shotlog reindex"]);
    let rebuilt = command(install.folder.path(), &[]).arg("reindex").output().unwrap();
    assert!(rebuilt.status.success(), "{}", String::from_utf8_lossy(&rebuilt.stderr));
    let install = install.restart_after(|_| {}).await;
    install.assert_complete().await;
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn index_of_other_records_is_refused_until_rebuilt() {
    let Some(mut install) = Install::new().await else { return };
    install.service.kill();
    let file = install.data().join("records/install.json");
    std::fs::write(&file, r#"{"id": "another"}"#).unwrap();
    let refused = command(install.folder.path(), &[("HTTP__LISTEN", "127.0.0.1:0".into())])
        .arg("serve")
        .output()
        .unwrap();
    assert!(!refused.status.success());
    mentions(&String::from_utf8_lossy(&refused.stderr), &["other records than these", "data_dir"]);
    let rebuilt = command(install.folder.path(), &[]).arg("reindex").output().unwrap();
    assert!(rebuilt.status.success(), "{}", String::from_utf8_lossy(&rebuilt.stderr));
    let install = install.restart_after(|_| {}).await;
    install.assert_complete().await;
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_install_id_is_reported_with_a_working_remedy() {
    let Some(mut install) = Install::new().await else { return };
    install.service.kill();
    for damaged in ["{", "{}"] {
        std::fs::write(install.data().join("records/install.json"), damaged).unwrap();
        let (report, clean) = install.verify();
        assert!(!clean, "{report}");
        mentions(&report, &["install.json", "damaged", "shotlog reindex"]);
        let refused = command(install.folder.path(), &[("HTTP__LISTEN", "127.0.0.1:0".into())])
            .arg("serve")
            .output()
            .unwrap();
        assert!(!refused.status.success());
        mentions(&String::from_utf8_lossy(&refused.stderr), &["install.json", "shotlog reindex"]);
        let rebuilt = command(install.folder.path(), &[]).arg("reindex").output().unwrap();
        assert!(rebuilt.status.success(), "{}", String::from_utf8_lossy(&rebuilt.stderr));
    }
    let install = install.restart_after(|_| {}).await;
    install.assert_complete().await;
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_record_is_reported_and_can_be_deleted() {
    let Some(install) = Install::new().await else { return };
    let [bad, good] = [install.videos[0].clone(), install.videos[1].clone()];
    // The scrub of every video is due now.
    let now = [("RECORDS__SCRUB_INTERVAL", "0".to_owned())];
    let install = install.restart_with(&now, |install| {
        let record = install.data().join(format!("records/videos/{bad}/video.json"));
        assert!(record.is_file(), "{}", record.display());
        std::fs::write(record, "{").unwrap();
    });
    let install = install.await;
    while install.service.get("/videos").await["total"] != 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(install.count_hits(&good).await, 2);
    let health = install.service.get("/health").await;
    assert_eq!(health["unreadable"][0]["video_id"], bad.as_str(), "{health}");
    let url = format!("{}/videos/{bad}", install.service.url);
    reqwest::Client::new().delete(url).send().await.unwrap().error_for_status().unwrap();
    install.assert_verifies();
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_objects_are_reported_and_restored_by_an_ingest() {
    let Some(install) = Install::new().await else { return };
    let lost = |install: &Install| {
        remove(&install.data().join("storage"));
    };
    let mut install = install.restart_after(lost).await;
    // Records and index do not depend on the stored objects.
    install.assert_complete().await;
    let (report, clean) = install.verify();
    assert!(!clean, "{report}");
    for video in &install.videos {
        mentions(&report, &[&format!("{video}: the object {video}/c.mp4 is missing")]);
    }
    let install = install.restart_after(|_| {}).await;
    for clip in &install.clips {
        install.ingest(clip).await;
    }
    install.assert_verifies();
}
