//! Decides which frames a scan may skip. If the picture hardly changes, a non-reference frame shows
//! nothing that its neighbours do not, yet costs as much to decode as any other frame.
//!
//! There are two signs of a change, and both are available before the affected frames are decoded.
//! Either the most recently displayed frames differ, or a packet is larger than the packets before
//! it, because content that cannot be predicted from earlier frames must be coded in full. Packets
//! come in decoding order, so the first frame of a shot precedes the frames shown just before it.

use std::collections::VecDeque;

use ffmpeg_next::Packet;

/// Maximum time between two shown frames, in seconds. Dissolves are sampled at this interval.
const STEP: f64 = 0.07;

/// Maximum mean channel difference between consecutive small frames of a calm picture, 0..255.
const MAX_CALM_CHANGE: f64 = 6.0;

/// How many seconds no frames are skipped after two consecutive changes above [`MAX_CALM_CHANGE`].
/// A single change above it is a shot boundary, and the new shot may be calm.
const SETTLING: f64 = 0.2;

/// A packet may begin a shot if it is this many times larger than each of the last [`PACKETS`]
/// packets, or if it holds a key frame. Every frame shown before it is kept.
const LEAP: usize = 2;
const PACKETS: usize = 12;

/// Maximum number of remembered times. It exceeds the number of frames that any codec reorders.
const REMEMBERED: usize = 32;

/// Decides which frames of one stream to skip.
#[derive(Default)]
pub(super) struct SkipDecider {
    /// Sizes of the last packets, in bytes.
    sizes: VecDeque<usize>,
    /// Presentation times of frames that must be decoded, in seconds.
    required: VecDeque<f64>,
    /// Presentation times of skippable frames that have not been shown yet, in seconds.
    open: VecDeque<f64>,
    /// Time in seconds before which every frame is kept.
    changing_until: f64,
    /// The latest presentation time of all packets so far, in seconds. Decoded frames lag far
    /// behind it.
    reached: f64,
    last: Vec<u8>,
    /// Whether the last frame differed much from its predecessor.
    moved: bool,
}

impl SkipDecider {
    /// Returns whether to skip the frame in a packet whose presentation time is `time` seconds.
    /// Must be called for every packet of the stream, in decoding order.
    pub(super) fn may_skip(&mut self, packet: &Packet, time: Option<f64>) -> bool {
        let size = packet.size();
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        remember(&mut self.sizes, size, PACKETS);
        let Some(time) = time else { return false };
        self.reached = self.reached.max(time);
        if packet.is_key() || size > largest.saturating_mul(LEAP) {
            self.changing_until = self.changing_until.max(time);
        }
        let before = self.required.iter().copied().filter(|&required| required < time);
        let step = time - before.fold(f64::NEG_INFINITY, f64::max);
        let calm = time >= self.changing_until && step < STEP;
        remember(if calm { &mut self.open } else { &mut self.required }, time, REMEMBERED);
        calm
    }

    /// Records a frame shown at `time` seconds. Returns the number of frames skipped before it.
    pub(super) fn show(&mut self, time: f64, rgb: &[u8]) -> u32 {
        let before = self.open.iter().filter(|&&open| open < time - 1e-6).count();
        self.open.retain(|&open| open > time + 1e-6);
        let skipped = before as u32;
        if self.last.len() == rgb.len() {
            let apart = rgb.iter().zip(&self.last).map(|(a, b)| u32::from(a.abs_diff(*b)));
            let change = f64::from(apart.sum::<u32>()) / rgb.len().max(1) as f64;
            let moves = change > MAX_CALM_CHANGE * f64::from(1 + skipped);
            if moves && self.moved {
                self.changing_until = self.changing_until.max(self.reached + SETTLING);
            }
            self.moved = moves;
        }
        self.last.clear();
        self.last.extend_from_slice(rgb);
        skipped
    }

    /// Returns the presentation time in seconds of the last skipped frame, if no frame was shown
    /// after it.
    pub(super) fn last_open(&self) -> Option<f64> {
        self.open.iter().copied().reduce(f64::max)
    }
}

fn remember<T>(all: &mut VecDeque<T>, one: T, max_len: usize) {
    all.push_back(one);
    if all.len() > max_len {
        all.pop_front();
    }
}
