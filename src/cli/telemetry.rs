//! Logs to standard error, and traces to an OpenTelemetry collector where one is configured.

use std::io::IsTerminal;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use super::Failure;
use crate::config::{Config, LogFormat};

/// Spans that have not been sent yet are sent when it is dropped.
pub(super) struct Telemetry(Option<SdkTracerProvider>);

impl Drop for Telemetry {
    fn drop(&mut self) {
        let Some(provider) = &self.0 else { return };
        if let Err(error) = provider.shutdown() {
            eprintln!("shotlog: the last traces could not be sent: {error}");
        }
    }
}

/// Starts both. To be kept until the process ends.
pub(super) fn start(config: &Config) -> Result<Telemetry, Failure> {
    // What rmcp says of its requests the service says itself, and callers who go away are no errors.
    let filter = EnvFilter::try_new(format!("rmcp=off,{}", config.log.filter))
        .map_err(|e| format!("log.filter is '{}': {e}", config.log.filter))?;
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match std::io::stderr().is_terminal() {
        true => log,
        // Colours would be noise in a file or at a collector.
        false => log.with_ansi(false),
    };
    let log = match config.log.format {
        LogFormat::Text => log.boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    let provider = provider(config)?;
    let traces = provider.as_ref().map(|provider| {
        // Libraries have spans of their own, which tell nobody anything.
        let own = Targets::new().with_target("shotlog", LevelFilter::INFO);
        tracing_opentelemetry::layer().with_tracer(provider.tracer("shotlog")).with_filter(own)
    });
    tracing_subscriber::registry().with(log.with_filter(filter)).with(traces).init();
    Ok(Telemetry(provider))
}

fn provider(config: &Config) -> Result<Option<SdkTracerProvider>, Failure> {
    let given = &config.traces;
    if given.endpoint.is_empty() {
        return Ok(None);
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{}/v1/traces", given.endpoint.trim_end_matches('/')))
        .with_timeout(given.timeout)
        .build()
        .map_err(|e| format!("traces.endpoint is '{}': {e}", given.endpoint))?;
    let resource = Resource::builder()
        .with_service_name(given.service_name.clone())
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(given.share))))
        .with_resource(resource)
        .build();
    Ok(Some(provider))
}
