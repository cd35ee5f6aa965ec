//! Connections to the running service.

use crate::support::process::Process;

#[tokio::test]
async fn one_http2_connection_carries_many_requests() {
    let folder = tempfile::tempdir().unwrap();
    let service = Process::start(folder.path(), &[("HTTP__MAX_CONNECTIONS", "1".into())]).await;
    let client = reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap();
    let requests = (0..300).map(|_| {
        let request = client.get(format!("{}/live", service.url));
        async move {
            let reply = request.send().await.unwrap();
            assert_eq!((reply.version(), reply.status().as_u16()), (reqwest::Version::HTTP_2, 200));
            assert_eq!(reply.text().await.unwrap(), "{\"live\":true}");
        }
    });
    futures::future::join_all(requests).await;
}
