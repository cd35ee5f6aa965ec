//! English text processing: tokenization, sentence splitting, stemming, and word lists for numbers,
//! colours, synonyms, question words and stop words. All functions are pure. Text in other
//! languages is only split into words and sentences. The domain and the adapters use this crate,
//! which depends on neither.

pub mod calendar;
pub mod colours;
pub mod kinds;
mod lists;
mod matching;
pub mod names;
pub mod numbers;
pub mod plural;
pub mod questions;
mod sentences;
mod stem;
pub mod things;
mod tokens;
mod vocabulary;

pub use lists::join_list;
pub use matching::{occurs, word_overlap};
pub use sentences::{Quotations, sentences};
pub use stem::{stem, stored_stem};
pub use tokens::{Token, letters_and_digits, tokens, words};
pub use vocabulary::{is_article, is_framing, is_function_word, is_negation, is_stop_word};
