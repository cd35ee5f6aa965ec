//! Decodes the outputs of detection networks. Each variant of [`Layout`] states which outputs it
//! supports.

use ports::{ErrorKind, PortError, Result};

use super::boxes::ScoredBox;
use crate::detector::Layout;

/// An output tensor of a model run.
pub(super) struct OutputTensor<'a> {
    pub(super) shape: Vec<usize>,
    pub(super) data: &'a [f32],
}

impl OutputTensor<'_> {
    /// Returns the rows and columns of a tensor of shape `[1, rows, columns]`.
    fn matrix(&self) -> Option<(usize, usize)> {
        match self.shape[..] {
            [1, rows, columns] if rows * columns == self.data.len() => Some((rows, columns)),
            _ => None,
        }
    }
}

/// Returns the boxes that score at least `threshold`. Their corners are in pixels of the input,
/// which has this `size`.
pub(super) fn read(
    layout: Layout,
    outputs: &[OutputTensor<'_>],
    classes: usize,
    size: (u32, u32),
    threshold: f32,
) -> Result<Vec<ScoredBox>> {
    let found = match layout {
        Layout::Yolox => yolox(outputs, classes, size, threshold),
        Layout::PicoDet | Layout::NanoDet => distributions(outputs, classes, size, threshold),
        Layout::Yolov8 => yolov8(outputs, classes, threshold),
        Layout::Detr => detr(outputs, classes, size, threshold),
    };
    let mut found = found.ok_or_else(|| mismatch(layout, outputs, classes))?;
    // A damaged model may output any number.
    found.retain(|f| f.score.is_finite() && f.corners.iter().all(|c| c.is_finite()));
    Ok(found)
}

/// Whether the logits have one more class than there are labels.
pub(super) fn has_no_object_class(outputs: &[OutputTensor<'_>], classes: usize) -> bool {
    outputs.iter().any(|o| o.matrix().is_some_and(|(_, columns)| columns == classes + 1))
}

fn yolox(
    outputs: &[OutputTensor<'_>],
    classes: usize,
    size: (u32, u32),
    threshold: f32,
) -> Option<Vec<ScoredBox>> {
    let output = outputs.iter().find(|o| o.matrix().is_some_and(|m| m.1 == 5 + classes))?;
    let cells: Vec<Cell> = [8, 16, 32].into_iter().flat_map(|s| grid(size, s)).collect();
    if output.matrix()?.0 != cells.len() {
        return None;
    }
    let rows = output.data.chunks_exact(5 + classes).zip(cells);
    let boxes = rows.filter_map(|(row, cell)| {
        let (class, score) = best(&row[5..])?;
        let score = score * row[4];
        let (x, y) = ((row[0] + cell.x) * cell.stride, (row[1] + cell.y) * cell.stride);
        let (w, h) = (row[2].exp() * cell.stride, row[3].exp() * cell.stride);
        (score >= threshold).then(|| ScoredBox { class, score, corners: around(x, y, w, h) })
    });
    Some(boxes.collect())
}

fn distributions(
    outputs: &[OutputTensor<'_>],
    classes: usize,
    size: (u32, u32),
    threshold: f32,
) -> Option<Vec<ScoredBox>> {
    const STRIDES: [u32; 4] = [8, 16, 32, 64];
    let mut found = Vec::new();
    if let [output] = outputs {
        let (rows, columns) = output.matrix()?;
        let bins = columns.checked_sub(classes)? / 4;
        if bins == 0 || columns != classes + 4 * bins {
            return None;
        }
        let three: Vec<Cell> = STRIDES[..3].iter().flat_map(|s| grid(size, *s)).collect();
        let four: Vec<Cell> = STRIDES.iter().flat_map(|s| grid(size, *s)).collect();
        let cells = [three, four].into_iter().find(|cells| cells.len() == rows)?;
        for (row, cell) in output.data.chunks_exact(columns).zip(cells) {
            let (scores, distances) = row.split_at(classes);
            // NanoDet-Plus measures from the corner of a cell.
            found.extend(from_distances(scores, distances, &cell, 0.0, threshold));
        }
        return Some(found);
    }
    let mut levels = 0;
    for scores in outputs {
        let (rows, columns) = scores.matrix()?;
        if columns != classes || (classes.is_multiple_of(4) && levels * 2 >= outputs.len()) {
            continue;
        }
        let distances = outputs.iter().find(|o| {
            let matrix = o.matrix();
            !std::ptr::eq(*o, scores) && matrix.is_some_and(|m| m.0 == rows && m.1 % 4 == 0)
        })?;
        let width = distances.matrix()?.1;
        let cells = STRIDES.iter().map(|s| grid(size, *s)).find(|cells| cells.len() == rows)?;
        let rows = scores.data.chunks_exact(classes).zip(distances.data.chunks_exact(width));
        for ((scores, distances), cell) in rows.zip(cells) {
            found.extend(from_distances(scores, distances, &cell, 0.5, threshold));
        }
        levels += 1;
    }
    (levels > 0).then_some(found)
}

/// Returns the box whose sides have the expected distances from a cell's reference point
/// (generalized focal loss, Li et al. 2020).
fn from_distances(
    scores: &[f32],
    distances: &[f32],
    cell: &Cell,
    offset: f32,
    threshold: f32,
) -> Option<ScoredBox> {
    let (class, score) = best(scores)?;
    if score < threshold {
        return None;
    }
    let mut sides = [0.0; 4];
    for (side, bins) in sides.iter_mut().zip(distances.chunks_exact(distances.len() / 4)) {
        let expected: f32 = softmax(bins).iter().enumerate().map(|(i, p)| i as f32 * p).sum();
        *side = expected * cell.stride;
    }
    let (x, y) = ((cell.x + offset) * cell.stride, (cell.y + offset) * cell.stride);
    let corners = [x - sides[0], y - sides[1], x + sides[2], y + sides[3]];
    Some(ScoredBox { class, score, corners })
}

fn yolov8(outputs: &[OutputTensor<'_>], classes: usize, threshold: f32) -> Option<Vec<ScoredBox>> {
    let values = 4 + classes;
    let fits = |o: &&OutputTensor<'_>| o.matrix().is_some_and(|m| m.0 == values || m.1 == values);
    let output = outputs.iter().find(fits)?;
    let (rows, columns) = output.matrix()?;
    let (count, step, across) =
        if rows == values { (columns, columns, 1) } else { (rows, 1, values) };
    let at = |candidate: usize, value: usize| output.data[value * step + candidate * across];
    let boxes = (0..count).filter_map(|i| {
        let scores = (0..classes).map(|class| at(i, 4 + class));
        let (class, score) = scores.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let corners = || around(at(i, 0), at(i, 1), at(i, 2), at(i, 3));
        (score >= threshold).then(|| ScoredBox { class, score, corners: corners() })
    });
    Some(boxes.collect())
}

fn detr(
    outputs: &[OutputTensor<'_>],
    classes: usize,
    size: (u32, u32),
    threshold: f32,
) -> Option<Vec<ScoredBox>> {
    let boxes = outputs.iter().rfind(|o| o.matrix().is_some_and(|m| m.1 == 4))?;
    let queries = boxes.matrix()?.0;
    let logits = outputs.iter().find(|o| {
        let wide = |m: (usize, usize)| m.0 == queries && (m.1 == classes || m.1 == classes + 1);
        !std::ptr::eq(*o, boxes) && o.matrix().is_some_and(wide)
    })?;
    let columns = logits.matrix()?.1;
    let rows = logits.data.chunks_exact(columns).zip(boxes.data.chunks_exact(4));
    let (width, height) = (size.0 as f32, size.1 as f32);
    let found = rows.filter_map(|(row, place)| {
        let (class, score) = if columns > classes {
            best(&softmax(row)[..classes])?
        } else {
            let (class, logit) = best(row)?;
            (class, 1.0 / (1.0 + (-logit).exp()))
        };
        let [x, y, w, h] =
            [place[0] * width, place[1] * height, place[2] * width, place[3] * height];
        (score >= threshold).then(|| ScoredBox { class, score, corners: around(x, y, w, h) })
    });
    Some(found.collect())
}

/// A cell of a grid. `stride` is its side in pixels.
struct Cell {
    x: f32,
    y: f32,
    stride: f32,
}

fn grid(size: (u32, u32), stride: u32) -> Vec<Cell> {
    let (columns, rows) = (size.0.div_ceil(stride), size.1.div_ceil(stride));
    let cell = |y: u32, x: u32| Cell { x: x as f32, y: y as f32, stride: stride as f32 };
    (0..rows).flat_map(|y| (0..columns).map(move |x| cell(y, x))).collect()
}

fn around(x: f32, y: f32, width: f32, height: f32) -> [f32; 4] {
    [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0]
}

fn best(scores: &[f32]) -> Option<(usize, f32)> {
    scores.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

fn softmax(logits: &[f32]) -> Vec<f32> {
    let max_logit = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|l| (l - max_logit).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|p| p / sum).collect()
}

fn mismatch(layout: Layout, outputs: &[OutputTensor<'_>], classes: usize) -> PortError {
    let shapes: Vec<&[usize]> = outputs.iter().map(|o| o.shape.as_slice()).collect();
    let message = format!(
        "outputs of the shapes {shapes:?} are not those of the layout {layout:?} with {classes} labels"
    );
    PortError::new(ErrorKind::Invalid, message)
}
