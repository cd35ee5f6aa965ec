//! A service that is killed in the middle of an analyzer: started again, it pays for no finished
//! chunk twice. Real processes, a real clip and a model server that counts.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::support::model::CountingModel;
use crate::support::process::{Process, bars};

#[tokio::test]
async fn a_killed_service_pays_for_no_finished_chunk_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 20, 0) else { return };
    let model = CountingModel::start().await;

    let service = Process::start(folder.path(), &model.settings()).await;
    let three = |job: &Value| job["detail"]["done"].as_u64() >= Some(3);
    let job = service.job(&service.upload(&clip, &[]).await.unwrap(), three).await;
    assert_eq!(job["detail"]["analyzer"], "default_video");
    assert_eq!(job["detail"]["total"], 10);
    drop(service);
    let paid = model.described.swap(0, Ordering::SeqCst);
    let finished = job["detail"]["done"].as_u64().unwrap() as usize;
    assert!((3..10).contains(&finished), "killed on the way: {job}");

    let service = Process::start(folder.path(), &model.settings()).await;
    let listing = service.get("/videos").await;
    assert_eq!(listing["videos"], json!([]), "nothing half-published");
    let job_id = service.upload(&clip, &[]).await.unwrap();
    let job = service.job(&job_id, |job| job["status"] == "done").await;
    assert_eq!(job["result"]["indexed"]["default_video"], 10, "{job}");
    let again = model.described.load(Ordering::SeqCst);
    assert!(again <= 10 - finished, "{finished} were finished, {paid} paid, then {again}");
    println!("{paid} calls before the kill, {finished} chunks finished, {again} calls after it");
}
