//! A service killed in the middle of an analyzer and restarted sends no finished chunk to the model
//! again. Uses real processes, a real clip and a model server that counts its calls.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::support::model::CountingModel;
use crate::support::process::{Process, bars};

#[tokio::test]
async fn restarted_service_does_not_analyze_finished_chunks_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 20, 0) else { return };
    let model = CountingModel::start().await;

    let service = Process::start(folder.path(), &model.settings()).await;
    let three_done = |job: &Value| job["detail"]["done"].as_u64() >= Some(3);
    let job = service.job(&service.upload(&clip, &[]).await.unwrap(), three_done).await;
    assert_eq!(job["detail"]["analyzer"], "default_video");
    assert_eq!(job["detail"]["total"], 10);
    drop(service);
    let paid = model.described.swap(0, Ordering::SeqCst);
    let finished = job["detail"]["done"].as_u64().unwrap() as usize;
    assert!((3..10).contains(&finished), "killed while analyzing: {job}");

    let service = Process::start(folder.path(), &model.settings()).await;
    let listing = service.get("/videos").await;
    assert_eq!(listing["videos"], json!([]), "nothing is partially published");
    let job_id = service.upload(&clip, &[]).await.unwrap();
    let job = service.job(&job_id, |job| job["status"] == "done").await;
    assert_eq!(job["result"]["indexed"]["default_video"], 10, "{job}");
    let repeated = model.described.load(Ordering::SeqCst);
    assert!(repeated <= 10 - finished, "{finished} were finished, {paid} paid, then {repeated}");
    println!("{paid} calls before the kill, {finished} chunks finished, {repeated} calls after it");
}
