//! Logs to standard error, and traces to an OpenTelemetry collector if one is configured.

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

use super::BoxError;
use crate::config::{Config, LogFormat};

/// Flushes pending spans when it is dropped.
pub(super) struct Telemetry(Option<SdkTracerProvider>);

impl Drop for Telemetry {
    fn drop(&mut self) {
        let Some(provider) = &self.0 else { return };
        if let Err(error) = provider.shutdown() {
            eprintln!("shotlog: the last traces could not be sent: {error}");
        }
    }
}

/// Starts logging and tracing. The result must be kept until the process ends.
pub(super) fn start(config: &Config) -> Result<Telemetry, BoxError> {
    // rmcp must not log: the service logs agents' requests itself, and a disconnect is no error.
    let filter = EnvFilter::try_new(format!("rmcp=off,{}", config.log.filter))
        .map_err(|e| format!("log.filter is '{}': {e}", config.log.filter))?;
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match std::io::stderr().is_terminal() {
        true => log,
        // Files and collectors must not get ANSI colors.
        false => log.with_ansi(false),
    };
    let log = match config.log.format {
        LogFormat::Text => log.boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    let provider = provider(config)?;
    let traces = provider.as_ref().map(|provider| {
        // Spans from libraries are noise.
        let own = Targets::new().with_target("shotlog", LevelFilter::INFO);
        tracing_opentelemetry::layer().with_tracer(provider.tracer("shotlog")).with_filter(own)
    });
    tracing_subscriber::registry().with(log.with_filter(filter)).with(traces).init();
    Ok(Telemetry(provider))
}

fn provider(config: &Config) -> Result<Option<SdkTracerProvider>, BoxError> {
    let settings = &config.traces;
    if settings.endpoint.is_empty() {
        return Ok(None);
    }
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{}/v1/traces", settings.endpoint.trim_end_matches('/')))
        .with_timeout(settings.timeout)
        .build()
        .map_err(|e| format!("traces.endpoint is '{}': {e}", settings.endpoint))?;
    let resource = Resource::builder()
        .with_service_name(settings.service_name.clone())
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.share))))
        .with_resource(resource)
        .build();
    Ok(Some(provider))
}
