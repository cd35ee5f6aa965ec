//! Recognises a line of text: finds its orientation, decodes the CTC output, and restores the
//! spaces between words.

use std::iter;
use std::path::Path;

use image::RgbImage;
use ort::value::TensorRef;
use ports::{ErrorKind, PortError, Result};

use super::planes;
use crate::onnx::{Inputs, Pool, Runtime, Threading, failed, scaled, unfit};

/// Input height of the networks.
const HEIGHT: u32 = 48;
/// Minimum input width, to which narrower lines are padded. Lines wider than `MAX_WIDTH` are
/// squeezed.
const MIN_WIDTH: u32 = 320;
const MAX_WIDTH: u32 = 4096;

/// A space with at least this probability is accepted even without a wide gap; a less probable
/// space must also be visible as a wide gap. For the space between two English words, a network
/// that loses spaces, such as PP-OCRv4, gives a probability of 0.02 or more, but nearly always less
/// than that of "no character". Within a word, the probability of a space is below 0.008. These
/// values were measured on a printed page and on video captions.
const SPACE: f32 = 0.02;
const SPACE_IN_WIDE_GAP: f32 = 0.002;
/// Minimum width of a wide gap, as a multiple of the line's usual gap.
const WIDE_GAP: f32 = 1.6;

/// The recognition network and its character list.
pub(super) struct Recogniser {
    pool: Pool,
    /// The character of each class. The first class is the blank.
    characters: Vec<String>,
    /// Whether to insert spaces whose probability was nearly sufficient.
    recover_spaces: bool,
}

impl Recogniser {
    /// Opens the network. If its metadata has no character list, reads the list from `characters`.
    pub(super) fn open(
        runtime: &Runtime,
        model: &Path,
        characters: Option<&Path>,
        threading: Threading,
    ) -> Result<Self> {
        let pool = Pool::open(runtime, model, threading, Inputs::Sized)?;
        let inside = pool.with(|session| {
            let metadata = session.metadata().map_err(failed)?;
            Ok(metadata.custom("character"))
        })?;
        let listed = match (inside.filter(|listed| !listed.is_empty()), characters) {
            (Some(listed), _) => listed,
            (None, Some(file)) => std::fs::read_to_string(file).map_err(|e| {
                let message = format!("cannot read the characters in {}: {e}", file.display());
                PortError::new(ErrorKind::NotFound, message)
            })?,
            (None, None) => {
                let needed = "its metadata needs the key \"character\" with one character per \
                              line, or a file of characters beside it";
                return Err(unfit(model, needed));
            }
        };
        Ok(Self { pool, characters: classes(&listed), recover_spaces: false })
    }

    /// Sets whether to insert spaces whose probability was nearly sufficient. This is for networks
    /// that lose spaces in Latin script.
    pub(super) fn recovering_spaces(self, recover_spaces: bool) -> Self {
        Self { recover_spaces, ..self }
    }

    /// Reads a line. Returns the trimmed text and the mean confidence (0..1) of its characters.
    pub(super) fn read(&self, line: &RgbImage) -> Result<(String, f32)> {
        let ratio = line.width() as f32 / line.height() as f32;
        let width = ((HEIGHT as f32 * ratio).ceil() as u32).clamp(8, MAX_WIDTH);
        let padded = width.max(MIN_WIDTH);
        let scaled = scaled(line, (width, HEIGHT))?;
        let pixels = planes(&scaled, padded);
        let classes = self.characters.len();
        self.pool.with_sized(pixels.len(), |session, options| {
            let shape = [1, 3, HEIGHT as usize, padded as usize];
            let input = TensorRef::from_array_view((shape, pixels.as_slice())).map_err(failed)?;
            let outputs = session.run_with_options(ort::inputs![input], options).map_err(failed)?;
            let (shape, steps) = outputs[0].try_extract_tensor::<f32>().map_err(failed)?;
            if shape.last() != Some(&(classes as i64)) {
                let message =
                    format!("{classes} characters do not fit outputs of the shape {shape:?}");
                return Err(PortError::new(ErrorKind::Invalid, message));
            }
            Ok(self.text(steps))
        })
    }

    fn text(&self, steps: &[f32]) -> (String, f32) {
        let classes = self.characters.len();
        let mut glyphs: Vec<Glyph> = Vec::new();
        let mut before = 0;
        for (at, scores) in steps.chunks_exact(classes).enumerate() {
            let Some((class, score)) =
                scores.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
            else {
                continue;
            };
            match glyphs.last_mut() {
                Some(glyph) if class != 0 && class == before => glyph.last = at,
                _ if class != 0 => glyphs.push(Glyph { class, score, first: at, last: at }),
                _ => {}
            }
            before = class;
        }
        let text = self.spaced(&glyphs, steps);
        let confidence = glyphs.iter().map(|g| g.score).sum::<f32>() / glyphs.len().max(1) as f32;
        (text.trim().to_owned(), confidence)
    }

    /// Returns the text. If `recover_spaces` is set, this includes spaces that the network
    /// considered less probable than no character.
    fn spaced(&self, glyphs: &[Glyph], steps: &[f32]) -> String {
        let classes = self.characters.len();
        let mut gaps: Vec<usize> =
            glyphs.windows(2).map(|pair| pair[1].first - pair[0].last).collect();
        gaps.sort_unstable();
        let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(0) as f32;
        let mut text = String::new();
        for (i, glyph) in glyphs.iter().enumerate() {
            let character = &self.characters[glyph.class];
            text.push_str(character);
            let Some(next) = glyphs.get(i + 1).filter(|_| self.recover_spaces) else { continue };
            let following = &self.characters[next.class];
            if [character, following].iter().any(|c| *c == " " || is_unspaced(c)) {
                continue;
            }
            let between = (glyph.last..=next.first).map(|at| steps[at * classes + classes - 1]);
            let space = between.fold(0.0, f32::max);
            let wide = (next.first - glyph.last) as f32 >= WIDE_GAP * usual;
            if space >= SPACE || (wide && space >= SPACE_IN_WIDE_GAP) {
                text.push(' ');
            }
        }
        text
    }
}

/// Returns the character of each class: the blank, one character per line of the list, and a space.
/// Some lists already contain the blank and the space.
fn classes(listed: &str) -> Vec<String> {
    let mut lines: Vec<&str> = listed.lines().collect();
    if lines.first() == Some(&"blank") {
        lines.remove(0);
    }
    if lines.last() == Some(&" ") {
        lines.pop();
    }
    let characters = lines.into_iter().map(str::to_owned);
    iter::once(String::new()).chain(characters).chain(iter::once(" ".to_owned())).collect()
}

/// Returns whether the character belongs to a script that is written without spaces between words.
fn is_unspaced(character: &str) -> bool {
    character.chars().any(|c| matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}'))
}

/// A character and the time steps at which it is the most probable class.
struct Glyph {
    class: usize,
    score: f32,
    first: usize,
    last: usize,
}

/// Returns whether a line is upside down.
pub(super) fn upside_down(pool: &Pool, line: &RgbImage) -> Result<bool> {
    const WIDTH: u32 = 192;
    /// Minimum confidence for turning a line. The value comes from the authors.
    const MIN_CONFIDENCE: f32 = 0.9;
    let ratio = line.width() as f32 / line.height() as f32;
    let width = ((HEIGHT as f32 * ratio).ceil() as u32).clamp(1, WIDTH);
    let scaled = scaled(line, (width, HEIGHT))?;
    let pixels = planes(&scaled, WIDTH);
    pool.with(|session| {
        let shape = [1, 3, HEIGHT as usize, WIDTH as usize];
        let input = TensorRef::from_array_view((shape, pixels.as_slice())).map_err(failed)?;
        let outputs = session.run(ort::inputs![input]).map_err(failed)?;
        match outputs[0].try_extract_tensor::<f32>().map_err(failed)?.1 {
            [_, turned] => Ok(*turned > MIN_CONFIDENCE),
            other => {
                let message = format!("an orientation needs 2 scores, not {}", other.len());
                Err(PortError::new(ErrorKind::Invalid, message))
            }
        }
    })
}
