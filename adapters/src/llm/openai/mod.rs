//! A language model behind an OpenAI-compatible `/chat/completions` endpoint. If the server rejects
//! a parameter, such as a schema or an option, the parameter is not sent again.

mod answer;
mod prompt;
mod sentence_stream;

use async_trait::async_trait;
use parking_lot::Mutex;
use ports::llm::{Completion, LanguageModel, Request, Task, Usage};
use ports::{ErrorKind, PortError, Result};
use serde_json::{Value, json};

use self::sentence_stream::SentenceStream;
use crate::openai::{Client, Connection, Refusal};

/// The connection and the model's capabilities.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// The server's address, timeouts and retries.
    pub connection: Connection,
    /// The server's name for the model.
    pub model: String,
    /// Whether the model accepts images.
    pub sees: bool,
    /// Maximum number of passage tokens per request.
    pub context_tokens: usize,
    /// Maximum number of tokens in an answer, even if a truncated answer is requested again with a
    /// higher limit.
    pub max_output_tokens: u32,
    /// Sampling temperature. 0 means greedy decoding; `None` means the server's default.
    pub temperature: Option<f32>,
}

impl Default for OpenAiOptions {
    /// Returns the defaults of `[llm]`.
    fn default() -> Self {
        (&super::Settings::default()).into()
    }
}

/// A language model on an OpenAI-compatible server.
pub struct OpenAiLanguageModel {
    client: Client,
    options: OpenAiOptions,
    dialect: Mutex<Dialect>,
}

/// The parameters that the server is known to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    /// Whether the server can stream answers.
    streams: bool,
    format: Format,
    max_completion_tokens: bool,
    temperature: bool,
}

/// How to request the format of an answer. The strictest way comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    Schema,
    JsonObject,
    Plain,
}

impl Dialect {
    /// Returns the dialect to try after a refusal. Returns `None` if the refusal has another cause.
    fn after(self, refusal: &Refusal) -> Option<Self> {
        if !matches!(refusal.status.as_u16(), 400 | 404 | 415 | 422 | 500 | 501) {
            return None;
        }
        if refusal.mentions(&[
            "max_completion_tokens",
            "'max_tokens'",
            "unsupported_parameter max_tokens",
        ]) && !self.max_completion_tokens
        {
            return Some(Self { max_completion_tokens: true, ..self });
        }
        if refusal.mentions(&["temperature"]) && self.temperature {
            return Some(Self { temperature: false, ..self });
        }
        if refusal.mentions(&["stream"]) && self.streams {
            return Some(Self { streams: false, ..self });
        }
        let about_format = refusal.mentions(&[
            "response_format",
            "json_schema",
            "json_object",
            "structured output",
            "guided_json",
            "json mode",
            "grammar",
        ]);
        match self.format {
            Format::Schema if about_format => Some(Self { format: Format::JsonObject, ..self }),
            Format::JsonObject if about_format => Some(Self { format: Format::Plain, ..self }),
            _ => None,
        }
    }
}

/// A reply from the model.
struct Reply {
    text: String,
    cut_off: bool,
    /// Number of tokens in the reply; 0 if the server does not report the number.
    tokens: u64,
}

impl OpenAiLanguageModel {
    /// Creates the model. Checks the options without sending a request.
    pub fn new(options: OpenAiOptions) -> Result<Self> {
        if options.model.trim().is_empty() {
            return Err(PortError::new(ErrorKind::Invalid, "the language model's name is empty"));
        }
        let client = Client::new(&options.connection)?;
        let dialect = Dialect {
            streams: true,
            format: Format::Schema,
            max_completion_tokens: false,
            temperature: options.temperature.is_some(),
        };
        Ok(Self { client, options, dialect: Mutex::new(dialect) })
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock()
    }

    /// Requests one reply and adapts the dialect to what the server accepts.
    async fn ask(
        &self,
        request: &Request,
        messages: &[Value],
        max_tokens: u32,
        usage: &mut Usage,
    ) -> Result<Reply> {
        loop {
            let dialect = self.dialect();
            let mut body = self.body(request.task, messages, max_tokens, dialect);
            let streaming = request.task == Task::Answer && request.sink.is_active();
            let exchange = if streaming && dialect.streams {
                body["stream"] = json!(true);
                body["stream_options"] = json!({ "include_usage": true });
                let stream = SentenceStream::new(&request.sink);
                self.client
                    .post_stream("chat/completions", &body, &|piece| stream.push(piece))
                    .await?
            } else {
                self.client.post("chat/completions", &body).await?
            };
            usage.calls += exchange.calls;
            match exchange.outcome {
                Ok(body) => return self.reply(&body, usage),
                Err(refusal) => {
                    let Some(next) = dialect.after(&refusal) else {
                        return Err(refusal.into_error());
                    };
                    tracing::info!(
                        ?next,
                        "the model server refuses a parameter: {}",
                        refusal.message
                    );
                    let mut known = self.dialect.lock();
                    // A concurrent request may have found other rejected parameters in the
                    // meantime.
                    known.streams &= next.streams;
                    known.format = known.format.max(next.format);
                    known.max_completion_tokens |= next.max_completion_tokens;
                    known.temperature &= next.temperature;
                }
            }
        }
    }

    fn body(&self, task: Task, messages: &[Value], max_tokens: u32, dialect: Dialect) -> Value {
        let mut body = json!({ "model": self.options.model, "messages": messages });
        let limit =
            if dialect.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(max_tokens);
        if let Some(temperature) = self.options.temperature.filter(|_| dialect.temperature) {
            body["temperature"] = json!(temperature);
        }
        match dialect.format {
            Format::Schema => {
                let schema = prompt::wire_schema(task);
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {
                        "name": task.name(),
                        "strict": prompt::is_strict(&schema),
                        "schema": schema,
                    },
                });
            }
            Format::JsonObject => body["response_format"] = json!({ "type": "json_object" }),
            Format::Plain => {}
        }
        body
    }

    fn reply(&self, body: &Value, usage: &mut Usage) -> Result<Reply> {
        let count = |name: &str| body["usage"][name].as_u64().unwrap_or(0);
        usage.input_tokens += count("prompt_tokens");
        usage.output_tokens += count("completion_tokens");

        let choice = &body["choices"][0];
        let message = &choice["message"];
        let finish = choice["finish_reason"].as_str().unwrap_or_default();
        if let Some(refusal) = message["refusal"].as_str().filter(|text| !text.is_empty()) {
            let why = self.client.presentable(refusal);
            return Err(PortError::new(ErrorKind::Denied, format!("the model refused: {why}")));
        }
        if finish == "content_filter" {
            return Err(PortError::new(
                ErrorKind::Denied,
                "the model server's content filter stopped the answer",
            ));
        }
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            // Some servers return the content in parts.
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        };
        if !message.is_object() {
            let shown = self.client.presentable(&body.to_string());
            let message = format!("the model server's response holds no message: {shown}");
            return Err(PortError::new(ErrorKind::Corrupt, message));
        }
        Ok(Reply { text, cut_off: finish == "length", tokens: count("completion_tokens") })
    }
}

/// Returns the error message for a truncated answer. If the answer has fewer tokens than the
/// request allowed, the server has truncated it, and a higher limit would not help.
fn cut_off(reply: &Reply, max_tokens: u32) -> String {
    if (1..u64::from(max_tokens)).contains(&reply.tokens) {
        format!(
            "the model's answer was cut off after {} of {max_tokens} tokens: the server's context \
             is full, or it has a lower limit",
            reply.tokens
        )
    } else {
        format!("the model's answer was cut off after {max_tokens} tokens")
    }
}

#[async_trait]
impl LanguageModel for OpenAiLanguageModel {
    fn model(&self) -> &str {
        &self.options.model
    }

    fn supports_images(&self) -> bool {
        self.options.sees
    }

    fn is_billed(&self) -> bool {
        true
    }

    fn is_extractive(&self) -> bool {
        false
    }

    fn context_tokens(&self) -> usize {
        self.options.context_tokens
    }

    async fn complete(&self, request: &Request) -> Result<Completion> {
        if !request.images.is_empty() && !self.options.sees {
            return Err(PortError::new(
                ErrorKind::Invalid,
                format!("{} is configured as a model that sees no pictures", self.options.model),
            ));
        }
        if matches!(request.task, Task::Describe | Task::Persons) && request.images.is_empty() {
            return Err(PortError::new(ErrorKind::Invalid, "there is no picture to describe"));
        }
        // A request that cannot fit is not sent, so that it costs nothing.
        let min_tokens = prompt::min_tokens(request);
        if min_tokens > self.options.context_tokens {
            return Err(PortError::new(
                ErrorKind::TooLarge,
                format!(
                    "the passages take at least {min_tokens} tokens; {} fit into one request",
                    self.options.context_tokens
                ),
            ));
        }

        let mut usage = Usage::default();
        let mut messages = prompt::messages(request);
        let mut max_tokens = request.max_tokens.clamp(1, self.options.max_output_tokens.max(1));
        let mut enlarged = false;
        let mut repaired = false;
        loop {
            let reply = self.ask(request, &messages, max_tokens, &mut usage).await?;
            let problem = match answer::read(request, &reply.text) {
                Ok(answer) => return Ok(Completion { answer, usage }),
                Err(problem) => problem,
            };
            if reply.cut_off {
                let larger = max_tokens.saturating_mul(4).min(self.options.max_output_tokens);
                if enlarged || larger <= max_tokens {
                    return Err(PortError::new(ErrorKind::Corrupt, cut_off(&reply, max_tokens)));
                }
                (max_tokens, enlarged) = (larger, true);
            } else if repaired {
                let shown = self.client.presentable(&reply.text);
                return Err(PortError::new(
                    ErrorKind::Corrupt,
                    format!(
                        "the model's answer does not fit the task {}: {problem}: {shown}",
                        request.task.name()
                    ),
                ));
            } else {
                messages.extend(prompt::repair(&reply.text, &problem));
                repaired = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::*;

    fn refusal(message: &str) -> Refusal {
        Refusal {
            status: StatusCode::BAD_REQUEST,
            code: String::new(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn dialect_drops_what_the_server_rejects() {
        let full = Dialect {
            streams: true,
            format: Format::Schema,
            max_completion_tokens: false,
            temperature: true,
        };
        let no_schema =
            full.after(&refusal("response_format type json_schema is not supported")).unwrap();
        assert_eq!(no_schema.format, Format::JsonObject);
        let plain = no_schema.after(&refusal("Unknown field: response_format")).unwrap();
        assert_eq!(plain.format, Format::Plain);
        assert_eq!(plain.after(&refusal("Unknown field: response_format")), None);
        let renamed = full
            .after(&refusal(
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            ))
            .unwrap();
        assert!(renamed.max_completion_tokens && renamed.temperature);
        assert!(!full.after(&refusal("'temperature' does not support 0.0")).unwrap().temperature);
        assert!(!full.after(&refusal("Unknown parameter: 'stream_options'")).unwrap().streams);
        assert_eq!(full.after(&refusal("no such model")), None);
        let late = Refusal { status: StatusCode::UNAUTHORIZED, ..refusal("response_format") };
        assert_eq!(full.after(&late), None);
    }
}
