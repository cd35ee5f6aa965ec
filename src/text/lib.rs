//! What Shotlog knows of English, in one place: how a text comes apart into words and sentences, which
//! words are forms of one, which are numbers, colours, names of one thing, parts of a question or of no
//! weight. Pure
//! functions of the text and word lists; texts in other languages come apart into words and sentences
//! and are otherwise left alone. Used by the domain and by adapters, depends on neither.

pub mod calendar;
pub mod colours;
mod lists;
pub mod numbers;
pub mod plural;
pub mod questions;
mod sentences;
mod stem;
pub mod things;
mod tokens;
mod vocabulary;

pub use lists::in_a_row;
pub use sentences::{Quotations, sentences};
pub use stem::{occurs, shared, stem, stored_stem};
pub use tokens::{Token, letters_and_digits, tokens, words};
pub use vocabulary::{is_article, is_framing, is_function_word, is_negation, is_stop_word};
