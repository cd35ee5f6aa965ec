//! One file for each section of the HTTP contract.

mod aggregates;
mod alerts;
mod ask;
mod chunking;
mod chunks;
mod collections;
mod corrections;
mod entities;
mod evaluations;
mod export;
mod extractors;
mod files;
mod frames;
mod jobs;
mod media;
mod meta;
mod metadata;
mod moments;
mod plan;
mod query;
mod query_pages;
mod storage;
mod ui;
mod uploads;
mod values;
mod videos;
