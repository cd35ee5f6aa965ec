//! Adapters for `ports::llm`.

mod extractive;
mod open;
mod openai;
mod scripted;

pub use extractive::{Extractive, ExtractiveOptions};
pub use open::{Kind, Settings, open};
pub use openai::{OpenAiLanguageModel, OpenAiOptions};
pub use scripted::ScriptedLanguageModel;

use ports::llm::{
    Answer, Description, Events, Extraction, Narrative, Persons, Summary, Task, Title,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks that an answer has the task's type. The error says where the answer deviates.
fn check_answer(task: Task, answer: &Value) -> Result<(), serde_json::Error> {
    fn check<T: DeserializeOwned>(answer: &Value) -> Result<(), serde_json::Error> {
        serde_json::from_value::<T>(answer.clone()).map(|_| ())
    }
    match task {
        Task::Describe => check::<Description>(answer),
        Task::Summarize => check::<Summary>(answer),
        Task::Title => check::<Title>(answer),
        Task::Events => check::<Events>(answer),
        Task::Answer => check::<Answer>(answer),
        Task::Narrate => check::<Narrative>(answer),
        Task::Persons => check::<Persons>(answer),
        Task::Extract => check::<Extraction>(answer),
    }
}
