//! `eval`: runs an evaluation on a running service and checks its metrics against bars.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::client::ServiceClient;
use super::{BoxError, EvalArgs};
use crate::config::Config;

/// The file that the command reads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvalFile {
    /// The evaluation's name.
    name: String,
    /// The questions, as in `PUT /evaluations/{name}`, except that a judged moment may give the
    /// `filename` of its video instead of the `video_id`. If absent, the stored questions are used.
    questions: Option<Vec<Value>>,
    /// The configurations, as in `POST /evaluations/{name}/runs`.
    configurations: Option<Vec<Value>>,
    max_model_calls: Option<u32>,
    #[serde(default)]
    bars: Vec<Bar>,
}

/// A limit that a metric must meet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bar {
    /// A field of `metrics`, `latency` or `cost`.
    metric: String,
    /// The configuration that must meet the bar; if absent, every configuration must.
    configuration: Option<String>,
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// Whether a configuration meets a bar.
#[derive(Debug, PartialEq)]
struct BarResult {
    holds: bool,
    line: String,
}

/// Stores the questions, runs the evaluation, prints the results and fails if a bar is missed.
pub(super) async fn eval(config: &Config, args: &EvalArgs) -> Result<(), BoxError> {
    let file = EvalFile::read(&args.file)?;
    let service = ServiceClient::new(config, &args.service)?;
    let run =
        service.evaluate(file.name, file.questions, file.configurations, file.max_model_calls);
    let run = run.await?;
    let outcomes = check_bars(&run, &file.bars)?;
    let mut report = table(&run);
    report.extend(outcomes.iter().map(|outcome| outcome.line.clone()));
    if args.json {
        println!("{}", serde_json::to_string_pretty(&run)?);
        report.iter().for_each(|line| eprintln!("{line}"));
    } else {
        report.iter().for_each(|line| println!("{line}"));
    }
    let missed = outcomes.iter().filter(|outcome| !outcome.holds).count();
    match missed {
        0 => Ok(()),
        missed => Err(format!("{missed} of {} bars are missed", outcomes.len()).into()),
    }
}

impl EvalFile {
    fn read(path: &Path) -> Result<Self, BoxError> {
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
        let file: Self = serde_json::from_str(&text).map_err(|e| format!("{shown}: {e}"))?;
        for bar in &file.bars {
            if bar.at_least.is_some() == bar.at_most.is_some() {
                return Err(format!(
                    "{shown}: the bar on {} needs either at_least or at_most",
                    bar.metric
                )
                .into());
            }
        }
        Ok(file)
    }
}

impl ServiceClient {
    async fn evaluate(
        &self,
        name: String,
        questions: Option<Vec<Value>>,
        configurations: Option<Vec<Value>>,
        max_model_calls: Option<u32>,
    ) -> Result<Value, BoxError> {
        let evaluation = format!("{}/evaluations/{name}", self.server);
        if let Some(mut questions) = questions {
            self.resolve_filenames(&mut questions).await?;
            let body = json!({"questions": questions});
            self.send_json(self.client.put(&evaluation).json(&body)).await?;
        }
        let mut request = Map::new();
        if let Some(configurations) = configurations {
            request.insert("configurations".into(), configurations.into());
        }
        if let Some(limit) = max_model_calls {
            request.insert("max_model_calls".into(), limit.into());
        }
        let runs = format!("{evaluation}/runs");
        let accepted = self.send_json(self.client.post(&runs).json(&request)).await?;
        let run_id = accepted["run_id"].as_str().ok_or("the service returned no run_id")?;
        let job = self.follow(run_id).await?;
        if job["status"] == "failed" {
            let error = job["error"].as_str().unwrap_or("no reason given");
            return Err(format!("the run failed: {error}").into());
        }
        self.send_json(self.client.get(format!("{runs}/{run_id}"))).await
    }

    /// Replaces the filenames in judged moments with video ids.
    async fn resolve_filenames(&self, questions: &mut [Value]) -> Result<(), BoxError> {
        let mut known: HashMap<String, Value> = HashMap::new();
        let moments = questions
            .iter_mut()
            .filter_map(|question| question.get_mut("relevant").and_then(Value::as_array_mut))
            .flatten()
            .filter_map(Value::as_object_mut);
        for moment in moments {
            let Some(filename) = moment.remove("filename") else { continue };
            let filename =
                filename.as_str().ok_or("the filename of a judged moment is not a string")?;
            let video_id = match known.get(filename) {
                Some(video_id) => video_id.clone(),
                None => self.find_video_id(filename).await?,
            };
            known.insert(filename.to_owned(), video_id.clone());
            moment.insert("video_id".into(), video_id);
        }
        Ok(())
    }

    async fn find_video_id(&self, filename: &str) -> Result<Value, BoxError> {
        let listing = format!("{}/videos", self.server);
        let listing = Url::parse_with_params(&listing, [("filename", filename)])?;
        let found = self.send_json(self.client.get(listing)).await?;
        let videos = found["videos"].as_array().into_iter().flatten();
        let named: Vec<&Value> = videos.filter(|video| video["filename"] == filename).collect();
        match &named[..] {
            [video] => Ok(video["video_id"].clone()),
            [] => Err(format!("the service has no video with the filename '{filename}'").into()),
            several => Err(format!(
                "the service has {} videos with the filename '{filename}'; give the video_id",
                several.len()
            )
            .into()),
        }
    }
}

/// The parts of a configuration's result that contain metrics.
const FIGURES: [&str; 3] = ["metrics", "latency", "cost"];

fn results(run: &Value) -> impl Iterator<Item = &Value> {
    run["configurations"].as_array().into_iter().flatten()
}

fn configuration_name(result: &Value) -> &str {
    result["configuration"]["name"].as_str().unwrap_or_default()
}

/// Checks each bar against every configuration that it applies to.
fn check_bars(run: &Value, bars: &[Bar]) -> Result<Vec<BarResult>, BoxError> {
    let mut outcomes = Vec::new();
    for bar in bars {
        let applies = |result: &&Value| {
            bar.configuration.as_deref().is_none_or(|name| name == configuration_name(result))
        };
        let results: Vec<&Value> = results(run).filter(applies).collect();
        if results.is_empty() {
            let named = bar.configuration.as_deref().unwrap_or_default();
            return Err(
                format!("a bar is for '{named}', which is not a configuration of the run").into()
            );
        }
        for result in results {
            let figure = FIGURES.iter().find_map(|part| result[part].get(&bar.metric));
            let Some(figure) = figure else {
                let known = FIGURES.iter().filter_map(|part| result[part].as_object());
                let known: Vec<&str> = known.flat_map(Map::keys).map(String::as_str).collect();
                return Err(format!(
                    "a bar is on '{}', which is not measured; available: {}",
                    bar.metric,
                    known.join(", ")
                )
                .into());
            };
            outcomes.push(bar.check(configuration_name(result), figure.as_f64()));
        }
    }
    Ok(outcomes)
}

impl Bar {
    fn check(&self, configuration: &str, figure: Option<f64>) -> BarResult {
        let (bound, limit) = match (self.at_least, self.at_most) {
            (Some(min), _) => ("at least", min),
            (None, max) => ("at most", max.unwrap_or_default()),
        };
        let holds = figure.is_some_and(|figure| match self.at_least {
            Some(min) => figure >= min,
            None => figure <= limit,
        });
        let mark = if holds { "ok  " } else { "MISS" };
        let figure = figure.map_or("no figure".into(), |figure| figure.to_string());
        let line = format!("{mark} {configuration} {}: {figure}, {bound} {limit}", self.metric);
        BarResult { holds, line }
    }
}

/// One row per metric and one column per configuration, followed by the significant differences and
/// the skipped judgements.
fn table(run: &Value) -> Vec<String> {
    let results: Vec<&Value> = results(run).collect();
    let width =
        results.iter().map(|result| configuration_name(result).chars().count()).max().unwrap_or(0);
    let width = width.max(9);
    let row = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
        format!("{name:<16}  {}", cells.join("  "))
    };
    let mut lines =
        vec![row("", results.iter().map(|result| configuration_name(result).to_owned()).collect())];
    for part in FIGURES {
        let Some(first) = results.first().and_then(|result| result[part].as_object()) else {
            continue;
        };
        for name in first.keys() {
            let figures: Vec<&Value> = results.iter().map(|result| &result[part][name]).collect();
            if figures.iter().any(|figure| !figure.is_null()) {
                lines.push(row(name, figures.into_iter().map(shown).collect()));
            }
        }
    }
    for difference in run["compare"].as_array().into_iter().flatten() {
        let figure = |name: &str| difference[name].as_f64().unwrap_or_default();
        let (low, high) = (figure("low"), figure("high"));
        if low > 0.0 || high < 0.0 {
            let text = |name: &str| difference[name].as_str().unwrap_or_default();
            lines.push(format!(
                "{}: {} differs from {} by {} ({low} to {high})",
                text("metric"),
                text("configuration"),
                text("baseline"),
                figure("difference"),
            ));
        }
    }
    for lost in run["lost"].as_array().into_iter().flatten() {
        let text = |name: &str| lost[name].as_str().unwrap_or_default();
        let (question, moment) = (text("question_id"), text("moment_id"));
        lines.push(format!("skipped in question {question}: {moment}, whose video was deleted"));
    }
    lines
}

fn shown(figure: &Value) -> String {
    if figure.is_null() { "-".into() } else { figure.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Value {
        let result = |name: &str, recall: f64| {
            json!({
                "configuration": {"name": name},
                "metrics": {"recall": recall, "answered": null},
                "latency": {"search_p95": 12.5},
                "cost": {"model_calls": 0},
            })
        };
        json!({
            "configurations": [result("usual", 0.5), result("everything", 0.75)],
            "compare": [
                {"metric": "recall", "baseline": "usual", "configuration": "everything",
                 "difference": 0.25, "low": 0.125, "high": 0.375},
                {"metric": "ndcg", "baseline": "usual", "configuration": "everything",
                 "difference": 0.1, "low": -0.125, "high": 0.375},
            ],
            "lost": [{"question_id": "q", "moment_id": "m_1"}],
        })
    }

    fn bar(metric: &str, configuration: Option<&str>, min: Option<f64>, max: Option<f64>) -> Bar {
        let configuration = configuration.map(str::to_owned);
        Bar { metric: metric.into(), configuration, at_least: min, at_most: max }
    }

    #[test]
    fn bars_are_met_or_missed() {
        let bars = [
            bar("recall", None, Some(0.75), None),
            bar("search_p95", Some("usual"), None, Some(12.5)),
            bar("answered", Some("usual"), Some(0.0), None),
        ];
        let outcomes = check_bars(&run(), &bars).expect("results");
        let lines: Vec<&str> = outcomes.iter().map(|outcome| outcome.line.as_str()).collect();
        assert_eq!(
            lines,
            [
                "MISS usual recall: 0.5, at least 0.75",
                "ok   everything recall: 0.75, at least 0.75",
                "ok   usual search_p95: 12.5, at most 12.5",
                "MISS usual answered: no figure, at least 0",
            ]
        );
        let unknown =
            |bar: Bar| super::check_bars(&run(), &[bar]).expect_err("unknown").to_string();
        let error = unknown(bar("recal", None, Some(1.0), None));
        assert!(error.contains("available: recall, answered, search_p95, model_calls"), "{error}");
        assert!(unknown(bar("recall", Some("x"), Some(1.0), None)).contains("not a configuration"));
    }

    #[test]
    fn the_table_has_a_column_per_configuration() {
        assert_eq!(
            table(&run()),
            [
                "                       usual  everything",
                "recall                   0.5        0.75",
                "search_p95              12.5        12.5",
                "model_calls                0           0",
                "recall: everything differs from usual by 0.25 (0.125 to 0.375)",
                "skipped in question q: m_1, whose video was deleted",
            ]
        );
    }
}
