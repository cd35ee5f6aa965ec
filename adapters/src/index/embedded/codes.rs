//! Vectors quantized to eight bits. A search scans them before it reads the float32 vectors.
//!
//! A row `r` is stored as integers `q` in −127..127, a scale `s` and the norm of an error `e`, such
//! that `r = s·q + e`. A query `v` is quantized to integers `p` with a step `t` and an error `f`,
//! such that `v = t·p + f`. Then
//!
//! ```text
//! ⟨r, v⟩ = s·t·⟨q, p⟩ + ⟨s·q, f⟩ + ⟨e, v⟩
//!        ≤ s·t·⟨q, p⟩ + ‖s·q‖·‖f‖ + ‖e‖·‖v‖           (Cauchy–Schwarz)
//!        ≤ s·(t·⟨q, p⟩ + 127·√d·‖f‖) + ‖e‖·‖v‖         (no component of q exceeds 127)
//! ```
//!
//! `⟨q, p⟩` is exact, because `p` is small enough for the sum to fit into 32 bits. The score of a
//! row is a sum of `d` products in float32. In any order of summation, its error is at most
//! `2·d·2⁻²⁴·‖r‖·‖v‖`. Computing the bound itself rounds fewer than sixteen times. To cover both
//! errors, [`QuantizedQuery`] adds `(d + 16)·2⁻²²` times `(s·127·√d + ‖e‖)·‖v‖`, which is at least
//! `‖r‖·‖v‖`. So no row scores above its bound. A search that scores every row whose bound reaches
//! the current minimum score therefore finds exactly what a scan of all rows finds.

use pulp::{Arch, Simd, WithSimd};

/// Largest integer in a quantized row.
const MAX_CODE: f32 = 127.0;

/// Number of products summed in parallel, which is as many as fit in four AVX2 registers.
const LANES: usize = 32;

/// Number of bytes per component.
pub(super) const FLOAT: usize = size_of::<f32>();

/// Number of bytes for the scale and the error norm, which follow the integers of a row.
const TAIL: usize = 2 * FLOAT;

/// Returns the size in bytes of a quantized row with `dimension` components.
pub(super) fn stride(dimension: usize) -> usize {
    dimension + TAIL
}

/// Quantizes a row of little-endian `f32` to eight bits and appends it to `codes`.
pub(super) fn encode(row: &[u8], codes: &mut Vec<u8>) {
    let (row, _) = row.as_chunks::<FLOAT>();
    let first = codes.len();
    codes.resize(first + row.len(), 0);
    let [scale, error] = Arch::new().dispatch(Encode { row, codes: &mut codes[first..] });
    codes.extend(scale.to_le_bytes());
    codes.extend(error.to_le_bytes());
}

/// The kernel of [`encode`], compiled like [`Bounds`]. It writes the integers of a row and returns
/// the scale and the error norm.
struct Encode<'a> {
    row: &'a [[u8; FLOAT]],
    codes: &'a mut [u8],
}

impl WithSimd for Encode<'_> {
    type Output = [f32; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f32; 2] {
        let mut max = [0.0_f32; LANES];
        for components in self.row.chunks(LANES) {
            for (max, x) in max.iter_mut().zip(components) {
                *max = max.max(f32::from_le_bytes(*x).abs());
            }
        }
        let scale = max.into_iter().fold(0.0, f32::max) / MAX_CODE;
        let mut errors = [0.0_f64; LANES];
        for (components, codes) in self.row.chunks(LANES).zip(self.codes.chunks_mut(LANES)) {
            for ((x, code), error) in components.iter().zip(codes).zip(&mut errors) {
                let x = f32::from_le_bytes(*x);
                let number = (x / scale).round_ties_even().clamp(-MAX_CODE, MAX_CODE);
                let number = if scale > 0.0 { number } else { 0.0 };
                let rest = f64::from(x) - f64::from(scale) * f64::from(number);
                *error += rest * rest;
                *code = (number as i8).cast_unsigned();
            }
        }
        let error: f64 = errors.iter().sum();
        // The norm is rounded up, so that it is never below the true norm.
        [scale, (error.sqrt() as f32).next_up()]
    }
}

/// A quantized query to compare with quantized rows.
pub(super) struct QuantizedQuery {
    arch: Arch,
    numbers: Vec<i16>,
    step: f32,
    /// The factor of `s` in the bound, except for `t·⟨q, p⟩`.
    margin: f32,
    /// The factor of `‖e‖` in the bound.
    length: f32,
}

impl QuantizedQuery {
    pub(super) fn new(query: &[f32]) -> Self {
        let dimension = query.len() as f64;
        // Keeps the sum of all products below 2^31.
        let max = (f64::from(i32::MAX) / (f64::from(MAX_CODE) * dimension)).floor();
        let max = max.min(f64::from(i16::MAX)) as f32;
        let step = query.iter().fold(0.0, |max: f32, x| max.max(x.abs())) / max;
        let number = |x: &f32| if step > 0.0 { (x / step).round().clamp(-max, max) } else { 0.0 };
        let error = |x: &f32| f64::from(*x) - f64::from(step) * f64::from(number(x));
        let length = |squares: f64| squares.sqrt() * (1.0 + f64::from(f32::EPSILON));
        let error = length(query.iter().map(|x| error(x).powi(2)).sum());
        let length = length(query.iter().map(|x| f64::from(*x).powi(2)).sum());
        let rounding = (dimension + 16.0) * 2_f64.powi(-22);
        let margin = f64::from(MAX_CODE) * dimension.sqrt() * (error + rounding * length);
        Self {
            arch: Arch::new(),
            numbers: query.iter().map(|x| number(x) as i16).collect(),
            step,
            margin: (margin as f32).next_up(),
            length: ((length * (1.0 + rounding)) as f32).next_up(),
        }
    }

    /// Writes to `bounds` an upper bound for the score of each row, whose code `code` returns.
    pub(super) fn bounds<'a>(&self, code: impl Fn(usize) -> &'a [u8], bounds: &mut [f32]) {
        self.arch.dispatch(Bounds { probe: self, code, bounds });
    }

    #[inline(always)]
    fn bound(&self, code: &[u8]) -> f32 {
        let (numbers, tail) = code.split_at(self.numbers.len());
        let product = product(&self.numbers, numbers);
        let [scale, error] = match tail.as_chunks::<FLOAT>().0 {
            [scale, error] => [f32::from_le_bytes(*scale), f32::from_le_bytes(*error)],
            _ => return f32::INFINITY,
        };
        scale * (self.step * product as f32 + self.margin) + error * self.length
    }
}

/// Returns the integer dot product of a query and a row.
#[inline(always)]
fn product(query: &[i16], row: &[u8]) -> i32 {
    let term = |p: i16, q: u8| i32::from(p) * i32::from(q.cast_signed());
    let (queries, query_rest) = query.as_chunks::<LANES>();
    let (rows, row_rest) = row.as_chunks::<LANES>();
    let mut sums = [0; LANES];
    for (p, q) in queries.iter().zip(rows) {
        for lane in 0..LANES {
            sums[lane] += term(p[lane], q[lane]);
        }
    }
    let rest: i32 = query_rest.iter().zip(row_rest).map(|(p, q)| term(*p, *q)).sum();
    sums.iter().sum::<i32>() + rest
}

/// The kernel of [`QuantizedQuery::bounds`], compiled for several register widths and dispatched at
/// run time. It must be a type, because the compiler would not inline the body of a closure there.
struct Bounds<'p, F> {
    probe: &'p QuantizedQuery,
    code: F,
    bounds: &'p mut [f32],
}

impl<'a, F: Fn(usize) -> &'a [u8]> WithSimd for Bounds<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (i, bound) in self.bounds.iter_mut().enumerate() {
            *bound = self.probe.bound((self.code)(i));
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::super::search::dot;
    use super::*;

    fn signed(random: &mut Rng) -> f32 {
        random.f32() * 2.0 - 1.0
    }

    fn unit(raw: Vec<f32>) -> Vec<f32> {
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.into_iter().map(|x| if length > 0.0 { x / length } else { x }).collect()
    }

    /// Returns vectors of several kinds. Some are evenly distributed, some are concentrated on a
    /// few axes, some have one large component, some have the largest rounding error, and one is
    /// zero.
    fn vectors(random: &mut Rng, dimension: usize) -> Vec<Vec<f32>> {
        let mut all = vec![vec![0.0; dimension]];
        for kind in 0..60 {
            let raw = (0..dimension).map(|i| match kind % 4 {
                0 => signed(random),
                1 => signed(random).powi(21),
                2 => {
                    if i == kind % dimension {
                        30.0
                    } else {
                        signed(random)
                    }
                }
                _ => {
                    if i == 0 {
                        127.0
                    } else {
                        (signed(random) * 9.0).round() + 0.5
                    }
                }
            });
            all.push(unit(raw.collect()));
        }
        let opposite: Vec<f32> = all[1].iter().map(|x| -x).collect();
        let long = all[2].iter().map(|x| x * 1e3).collect();
        let short = all[3].iter().map(|x| x * 1e-30).collect();
        all.extend([opposite, long, short, vec![1e-40; dimension]]);
        all
    }

    #[test]
    fn bound_is_never_below_the_score() {
        let mut random = Rng::with_seed(5);
        for dimension in [1, 7, 16, 384, 1000, 4096] {
            let all = vectors(&mut random, dimension);
            let rows: Vec<Vec<u8>> =
                all.iter().map(|v| v.iter().flat_map(|x| x.to_le_bytes()).collect()).collect();
            let mut codes = Vec::new();
            rows.iter().for_each(|row| encode(row, &mut codes));
            let stride = stride(dimension);
            assert_eq!(codes.len(), rows.len() * stride);
            let mut bounds = vec![0.0; rows.len()];
            let mut gap = 0.0_f32;
            for query in &all {
                let probe = QuantizedQuery::new(query);
                probe.bounds(|i| &codes[i * stride..][..stride], &mut bounds);
                let long = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
                for ((row, bound), vector) in rows.iter().zip(&bounds).zip(&all) {
                    let score = dot(query, row);
                    assert!(score <= *bound, "{dimension}: {score} is above {bound}");
                    let scale = long(query) * long(vector);
                    if scale > 1e-20 {
                        gap = gap.max((bound - score) / scale);
                    }
                }
            }
            assert!(gap < 0.35, "{dimension}: a bound is {gap} above the score");
        }
    }

    #[test]
    fn bounds_of_even_vectors_are_tight() {
        let mut random = Rng::with_seed(9);
        let mut even = || unit((0..384).map(|_| signed(&mut random)).collect());
        let query = even();
        let probe = QuantizedQuery::new(&query);
        for _ in 0..500 {
            let row: Vec<u8> = even().iter().flat_map(|x| x.to_le_bytes()).collect();
            let mut code = Vec::new();
            encode(&row, &mut code);
            let mut bound = [0.0];
            probe.bounds(|_| &code, &mut bound);
            let gap = bound[0] - dot(&query, &row);
            assert!((0.0..0.01).contains(&gap), "{gap}");
        }
    }
}
