//! stub
use serde::{Deserialize, Serialize};
/// v
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VisualSecond {
    pub luma: f32,
    pub colourfulness: f32,
    pub motion: f32,
    pub sharpness: f32,
    pub histogram: Vec<f32>,
    pub hash: u64,
}
/// d
pub struct CutDetector;
/// c
pub struct Cuts {
    pub candidates: Vec<super::Candidate>,
    pub seconds: Vec<VisualSecond>,
}
impl CutDetector {
    pub fn new(_w: u32, _h: u32) -> Self {
        Self
    }
    pub fn push(&mut self, _t: f64, _r: &[u8]) {}
    pub fn finish(self) -> Cuts {
        Cuts { candidates: vec![], seconds: vec![] }
    }
}
