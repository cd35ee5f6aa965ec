//! Tests of the adapters of the `jobs` port.

use std::sync::Arc;
use std::time::Duration;

use ports::conformance::jobs::{check, check_shared};
use shotlog_adapters::jobs::MemoryJobs;

#[tokio::test]
async fn memory() {
    check(Arc::new(MemoryJobs::new()), Duration::ZERO).await;
    let jobs = Arc::new(MemoryJobs::shared());
    check_shared(jobs.clone(), jobs).await;
}

#[cfg(feature = "cloud")]
mod nats {
    use std::net::TcpListener;
    use std::process::{Child, Command, Stdio};

    use ports::jobs::{JobQueue, QueueLane};
    use shotlog_adapters::jobs::{NatsJobs, NatsOptions};

    use super::*;

    const REDELIVERY: Duration = Duration::from_secs(1);

    /// A NATS server that the test starts, and the server's data.
    struct Server {
        process: Child,
        port: u16,
        folder: tempfile::TempDir,
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    fn run(port: u16, folder: &tempfile::TempDir) -> Option<Child> {
        let mut server = Command::new("nats-server");
        server.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream"]);
        server.arg("--store_dir").arg(folder.path());
        match server.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(process) => Some(process),
            Err(error) => {
                println!("skipped: the program nats-server does not start: {error}");
                None
            }
        }
    }

    impl Server {
        fn start() -> Option<Self> {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            let folder = tempfile::tempdir().unwrap();
            Some(Self { process: run(port, &folder)?, port, folder })
        }

        fn options(&self) -> NatsOptions {
            NatsOptions {
                url: format!("nats://127.0.0.1:{}", self.port),
                credentials: None,
                name: "shotlog-test".into(),
                replicas: 1,
                redelivery: REDELIVERY,
                timeout: Duration::from_secs(5),
            }
        }

        async fn connect(&self) -> Arc<NatsJobs> {
            for _ in 0..100 {
                match NatsJobs::connect(self.options()).await {
                    Ok(jobs) => return Arc::new(jobs),
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
            Arc::new(NatsJobs::connect(self.options()).await.expect("the server answers"))
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server() {
        let Some(server) = Server::start() else { return };
        check(server.connect().await, REDELIVERY).await;
        check_shared(server.connect().await, server.connect().await).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn jobs_survive_a_server_restart() {
        let Some(mut server) = Server::start() else { return };
        let jobs = server.connect().await;
        jobs.add(QueueLane::Main, "kept", &serde_json::json!(1)).await.unwrap();
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        let error = jobs.get("kept").await.expect_err("nobody answers");
        assert_eq!(error.kind(), ports::ErrorKind::Unavailable, "{error}");
        assert!(jobs.probe().await.is_err());
        server.process = run(server.port, &server.folder).unwrap();
        let lease = async {
            loop {
                match jobs.take(QueueLane::Main).await {
                    Ok(lease) => return lease,
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        };
        let lease = tokio::time::timeout(Duration::from_secs(60), lease).await;
        let lease = lease.expect("the job outlives its server");
        assert_eq!(lease.job_id(), "kept");
        lease.ack().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn oversized_documents_are_rejected() {
        let Some(server) = Server::start() else { return };
        let jobs = server.connect().await;
        let large = |bytes: usize| serde_json::json!("x".repeat(bytes));
        let error = jobs
            .add(QueueLane::Main, "large", &large(600 << 10))
            .await
            .expect_err("it could not grow");
        assert_eq!(error.kind(), ports::ErrorKind::TooLarge, "{error}");
        jobs.add(QueueLane::Main, "fits", &large(400 << 10)).await.unwrap();
        let version = jobs.get("fits").await.unwrap().unwrap().version;
        let error =
            jobs.compare_and_swap("fits", version, &large(2 << 20)).await.expect_err("too large");
        assert_eq!(error.kind(), ports::ErrorKind::TooLarge, "{error}");
        let grown = jobs.compare_and_swap("fits", version, &large(900 << 10)).await.unwrap();
        assert!(grown.is_some());
        assert_eq!(jobs.waiting_count().await.unwrap(), 1, "what was refused is not queued");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn non_json_document_is_null() {
        let Some(server) = Server::start() else { return };
        let jobs = server.connect().await;
        jobs.add(QueueLane::Main, "torn", &serde_json::json!({"whole": true})).await.unwrap();
        let client = async_nats::connect(&server.options().url).await.unwrap();
        let bucket = async_nats::jetstream::new(client).get_key_value("shotlog-test-jobs").await;
        bucket.unwrap().put("torn", "{\"who".into()).await.unwrap();
        assert_eq!(jobs.list().await.unwrap().len(), 1);
        let lease = jobs.take(QueueLane::Main).await.unwrap();
        assert_eq!((lease.job_id(), lease.delivery_count()), ("torn", 1));
        let job = jobs.get("torn").await.unwrap().expect("it is kept");
        assert_eq!(job.document, serde_json::Value::Null);
        let failed = serde_json::json!({"failed": true});
        assert!(jobs.compare_and_swap("torn", job.version, &failed).await.unwrap().is_some());
        lease.ack().await.unwrap();
        assert_eq!(jobs.waiting_count().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn connection_errors_are_explained() {
        let options = |url: &str, name: &str| NatsOptions {
            url: url.into(),
            credentials: None,
            name: name.into(),
            replicas: 1,
            redelivery: REDELIVERY,
            timeout: Duration::from_secs(2),
        };
        for (url, name, expected) in [
            ("nats://me:secret@127.0.0.1:1", "jobs", "cannot connect to NATS at 127.0.0.1:1: "),
            ("nats://[::1", "jobs", "is not a NATS server URL"),
            ("nats://127.0.0.1:1", "two words", "must be of letters"),
        ] {
            let error = NatsJobs::connect(options(url, name)).await.err().expect("an error");
            assert!(error.to_string().contains(expected), "{url} {name}: {error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
