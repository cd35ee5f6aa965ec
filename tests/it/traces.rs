//! Traces as an OpenTelemetry collector receives them.

use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::web::Data;
use poem::{Body, EndpointExt, Route, Server, handler, post};
use prost::Message;

use crate::support::process::{Process, bars};

#[handler]
async fn collect(body: Body, spans: Data<&Arc<Mutex<Vec<Span>>>>) {
    let request = ExportTraceServiceRequest::decode(body.into_bytes().await.unwrap()).unwrap();
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    spans.lock().unwrap().extend(scopes.flat_map(|scope| scope.spans));
}

#[tokio::test(flavor = "multi_thread")]
async fn ingest_is_one_trace_with_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clip) = bars(folder.path(), 4, 0) else { return };
    let spans: Arc<Mutex<Vec<Span>>> = Arc::default();
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let address = acceptor.local_addr()[0].as_socket_addr().copied().unwrap();
    let app = Route::new().at("/v1/traces", post(collect)).data(spans.clone());
    tokio::spawn(Server::new_with_acceptor(acceptor).run(app));

    let settings = [("TRACES__ENDPOINT", format!("http://{address}"))];
    let service = Process::start(folder.path(), &settings).await;
    let job_id = service.upload(&clip, &[]).await.unwrap();
    service.job(&job_id, |job| job["status"] == "done").await;
    let ingest = loop {
        let root = spans.lock().unwrap().iter().find(|span| span.name == "ingest").cloned();
        if let Some(root) = root {
            break root;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert!(ingest.parent_span_id.is_empty(), "the job is the root");
    let spans = spans.lock().unwrap();
    let trace_spans = || spans.iter().filter(|span| span.trace_id == ingest.trace_id);
    let stages: Vec<&str> = trace_spans()
        .filter(|span| span.parent_span_id == ingest.span_id)
        .map(|span| span.name.as_str())
        .collect();
    for stage in ["fetching", "chunking", "analyzing default_video", "aggregating summary"] {
        assert!(stages.contains(&stage), "{stage} is not among {stages:?}");
    }
    for span in trace_spans() {
        assert!(ingest.start_time_unix_nano <= span.start_time_unix_nano, "{}", span.name);
        assert!(span.end_time_unix_nano <= ingest.end_time_unix_nano, "{}", span.name);
    }
    assert!(spans.iter().any(|span| span.name == "request"), "requests are traced too");
}
