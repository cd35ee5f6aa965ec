//! Parses a chat model's answer.

use std::collections::HashSet;

use ports::llm::{Request, Task};
use serde_json::Value;

/// Parses the answer in a model's text. Errors are written for the model to read. Removes citations
/// of unknown passages, and statements that have no other citation.
pub(super) fn read(request: &Request, text: &str) -> Result<Value, String> {
    let mut answer = parse(text)?;
    super::super::check_answer(request.task, &answer).map_err(|e| e.to_string())?;
    ground(request, &mut answer);
    Ok(answer)
}

fn parse(text: &str) -> Result<Value, String> {
    // Reasoning models may write their reasoning before the answer.
    let text = text.rsplit_once("</think>").map_or(text, |(_, after)| after).trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let error = match serde_json::from_str(text) {
        Ok(answer) => return Ok(answer),
        Err(e) => e,
    };
    // The object may be in a code fence or surrounded by text. The first object that parses is
    // used.
    text.match_indices('{')
        .take(16)
        .find_map(|(at, _)| {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            values.next()?.ok()
        })
        .ok_or_else(|| format!("it is not valid JSON: {error}"))
}

fn ground(request: &Request, answer: &mut Value) {
    let known: HashSet<&str> = request.passages.iter().map(|passage| passage.id.as_str()).collect();
    let resolve = |cited: &str| -> Option<String> {
        let bare = cited.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']).trim();
        let bare = bare.strip_prefix("id:").unwrap_or(bare).trim();
        if let Some(id) = [cited, bare].into_iter().find(|id| known.contains(id)) {
            return Some(id.to_owned());
        }
        // The model may cite a passage by its number instead of its id.
        let number: usize = bare.parse().ok()?;
        request.passages.get(number.checked_sub(1)?).map(|passage| passage.id.clone())
    };
    match request.task {
        Task::Answer => retain(&mut answer["sentences"], |sentence| {
            let cited: Vec<Value> = sentence["passages"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|id| resolve(id.as_str()?).map(Value::from))
                .collect();
            let mut seen = HashSet::new();
            let cited: Vec<Value> =
                cited.into_iter().filter(|id| seen.insert(id.clone())).collect();
            let is_supported = !cited.is_empty();
            sentence["passages"] = Value::from(cited);
            is_supported
        }),
        Task::Events => retain(&mut answer["events"], |event| {
            let Some(id) = event["passage"].as_str().and_then(resolve) else { return false };
            event["passage"] = Value::from(id);
            true
        }),
        Task::Extract => retain(&mut answer["values"], |value| {
            // A value without a passage comes from the images.
            if let Some(id) = value["passage"].as_str().and_then(resolve) {
                value["passage"] = Value::from(id);
            }
            true
        }),
        Task::Describe | Task::Persons | Task::Summarize | Task::Title | Task::Narrate => {}
    }
}

fn retain(list: &mut Value, keep: impl FnMut(&mut Value) -> bool) {
    if let Value::Array(items) = list {
        items.retain_mut(keep);
    }
}

#[cfg(test)]
mod tests {
    use ports::llm::{Passage, PassageKind};
    use serde_json::json;

    use super::*;

    fn request(task: Task) -> Request {
        let passage = |id: &str| Passage::new(id, PassageKind::Prose, "");
        Request {
            task,
            instructions: String::new(),
            passages: vec![passage("v:10"), passage("v:11")],
            question: None,
            fields: Vec::new(),
            images: Vec::new(),
            max_tokens: 100,
            sink: Default::default(),
        }
    }

    #[test]
    fn json_is_found_in_fences_reasoning_and_text() {
        for text in [
            r#"{"title": "A"}"#,
            "```json\n{\"title\": \"A\"}\n```",
            "```\n{\"title\": \"A\"}```",
            "<think>maybe {\"title\": \"B\"}</think>\n{\"title\": \"A\"}",
            "Here you are: {\"title\": \"A\"} I hope {it} helps.",
            "{curly} {\"title\": \"A\"}",
        ] {
            assert_eq!(read(&request(Task::Title), text), Ok(json!({ "title": "A" })), "{text}");
        }
    }

    #[test]
    fn parse_errors_are_explained() {
        for (text, part) in [
            ("", "empty"),
            ("no", "not valid JSON"),
            (r#"{"title": "#, "not valid JSON"),
            (r#"{"heading": "A"}"#, "heading"),
            (r#"{"title": 3}"#, "string"),
        ] {
            let problem = read(&request(Task::Title), text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    #[test]
    fn citations_are_matched_to_the_request() {
        let text = json!({ "sentences": [
            { "text": "a", "passages": ["[v:10]", "1", "v:10"] },
            { "text": "b", "passages": ["2", "elsewhere"] },
            { "text": "c", "passages": ["elsewhere", "0", "3"] },
            { "text": "d", "passages": [] },
        ] });
        let answer = read(&request(Task::Answer), &text.to_string()).unwrap();
        assert_eq!(
            answer,
            json!({ "sentences": [
                { "text": "a", "passages": ["v:10"] },
                { "text": "b", "passages": ["v:11"] },
            ] })
        );
        let event = |passage: &str| json!({ "event": "e", "actor": "", "category": "scene", "passage": passage });
        let text = json!({ "events": [event("v:11"), event("nowhere")] });
        let answer = read(&request(Task::Events), &text.to_string()).unwrap();
        assert_eq!(answer, json!({ "events": [event("v:11")] }));
    }
}
