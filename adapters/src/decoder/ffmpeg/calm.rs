//! Which frames a scan may pass over. Where the picture hardly changes, a frame that no other one is
//! predicted from tells nothing that its neighbours do not, and costs as much to decode as they do.
//!
//! Two signs say that the picture changes, each seen before what it tells of is decoded: the frames
//! shown last differ, and a packet is larger than those before it, since what the decoder cannot
//! predict has to be sent. Packets come in order of decoding, so that a frame in which a shot begins
//! comes before those shown just before it.

use std::collections::VecDeque;

use ffmpeg_next::Packet;

/// Longest time between two frames that are shown, seconds. Dissolves are followed in such steps.
const STEP: f64 = 0.07;

/// Mean change of a channel from one small frame to the next up to which the picture is calm, 0..255.
const CALM: f64 = 6.0;

/// For how long no more frames are passed over once two in a row differed by more, seconds. One alone
/// begins a shot, whose pictures may be calm.
const SETTLING: f64 = 0.2;

/// A packet so many times larger than all of the last [`PACKETS`] may begin a shot, as a key frame
/// may: every frame that is shown before it is kept.
const LEAP: usize = 2;
const PACKETS: usize = 12;

/// Most times remembered: more frames than any codec reorders.
const REMEMBERED: usize = 32;

/// Follows one stream.
#[derive(Default)]
pub(super) struct Calm {
    /// Bytes of the last packets.
    sizes: VecDeque<usize>,
    /// When frames are shown that are decoded in any case, seconds.
    kept: VecDeque<f64>,
    /// When frames are shown that may be passed over and were not shown yet, seconds.
    open: VecDeque<f64>,
    /// Every frame before this time is kept, seconds.
    changing_until: f64,
    /// The latest time that was asked about, seconds: frames are shown long after they were.
    reached: f64,
    last: Vec<u8>,
    /// Whether the last frame differed much from the one before.
    moved: bool,
}

impl Calm {
    /// Whether the frame that a packet holds, shown at `time` seconds, may be passed over. Every
    /// packet of the stream is asked about, in order of decoding.
    pub(super) fn may_pass_over(&mut self, packet: &Packet, time: Option<f64>) -> bool {
        let size = packet.size();
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        remember(&mut self.sizes, size, PACKETS);
        let Some(time) = time else { return false };
        self.reached = self.reached.max(time);
        if packet.is_key() || size > largest.saturating_mul(LEAP) {
            self.changing_until = self.changing_until.max(time);
        }
        let before = self.kept.iter().copied().filter(|&kept| kept < time);
        let step = time - before.fold(f64::NEG_INFINITY, f64::max);
        let calm = time >= self.changing_until && step < STEP;
        remember(if calm { &mut self.open } else { &mut self.kept }, time, REMEMBERED);
        calm
    }

    /// Takes note of a frame that is shown at `time` seconds. Returns how many were passed over
    /// between it and the one before.
    pub(super) fn show(&mut self, time: f64, rgb: &[u8]) -> u32 {
        let before = self.open.iter().filter(|&&open| open < time - 1e-6).count();
        self.open.retain(|&open| open > time + 1e-6);
        let skipped = before as u32;
        if self.last.len() == rgb.len() {
            let apart = rgb.iter().zip(&self.last).map(|(a, b)| u32::from(a.abs_diff(*b)));
            let change = f64::from(apart.sum::<u32>()) / rgb.len().max(1) as f64;
            let moves = change > CALM * f64::from(1 + skipped);
            if moves && self.moved {
                self.changing_until = self.changing_until.max(self.reached + SETTLING);
            }
            self.moved = moves;
        }
        self.last.clear();
        self.last.extend_from_slice(rgb);
        skipped
    }

    /// When the last frame that was passed over would have been shown, seconds, where nothing was
    /// shown after it.
    pub(super) fn last_open(&self) -> Option<f64> {
        self.open.iter().copied().reduce(f64::max)
    }
}

fn remember<T>(all: &mut VecDeque<T>, one: T, most: usize) {
    all.push_back(one);
    if all.len() > most {
        all.pop_front();
    }
}
