//! Tests of reading questions and of answering them from facts.

mod answers;
mod questions;
