//! Determines the display times of pictures if packets have only decoding times, as in AVI, or no
//! times, as in a raw stream. Pictures leave the decoder in display order, so each picture takes
//! the earliest remaining time.

use std::collections::BTreeSet;

use ffmpeg::Packet;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;

/// Maximum number of remaining times. It exceeds the delay of any decoder, so excess times belong
/// to pictures that never came out.
const MAX_DELAYED: usize = 64;

/// Tracks the times of one stream's pictures, in ticks of the stream.
#[derive(Debug, Default)]
pub(super) struct PresentationOrder {
    /// Whether packets have only decoding times; `None` while unknown.
    decoding_only: Option<bool>,
    left: BTreeSet<i64>,
    /// Key frames whose pictures have not come out yet. Earlier packets are shown before them.
    keys: BTreeSet<i64>,
    /// Number of key frames that must come out of the decoder before it is certain that no picture
    /// is missing.
    unsettled: u32,
}

impl PresentationOrder {
    /// Creates the state for a stream. `decoding_only` states whether its packets have only
    /// decoding times.
    pub(super) fn new(decoding_only: bool) -> Self {
        Self { decoding_only: Some(decoding_only), ..Self::default() }
    }

    /// Returns whether the packets so far have only decoding times.
    pub(super) fn is_decoding_only(&self) -> bool {
        self.decoding_only == Some(true)
    }

    /// Records a packet before it is sent to the decoder, which copies the packet's time to the
    /// picture.
    pub(super) fn send(&mut self, packet: &mut Packet) {
        let Some(stamp) = packet.dts() else { return };
        match packet.pts() {
            Some(shown) if shown != stamp => self.decoding_only = Some(false),
            None => _ = self.decoding_only.get_or_insert(true),
            Some(_) => {}
        }
        if self.decoding_only == Some(false) {
            return;
        }
        packet.set_pts(Some(stamp));
        self.left.insert(stamp);
        if self.left.len() > MAX_DELAYED {
            self.left.pop_first();
        }
        if packet.is_key() {
            self.keys.insert(stamp);
        }
    }

    /// Returns the display time of a decoded picture, or `None` if it is unknown.
    pub(super) fn time_of(&mut self, frame: &Video) -> Option<i64> {
        let own = frame.pts().filter(|_| self.decoding_only != Some(false));
        let Some(own) = own else { return frame.timestamp() };
        if let Some(key) = self.keys.range(..=own).next_back().copied() {
            // Discards the remaining times of undecodable pictures.
            self.left = self.left.split_off(&key);
            let later = self.keys.split_off(&(key + 1));
            let passed = std::mem::replace(&mut self.keys, later).len();
            self.unsettled = self.unsettled.saturating_sub(passed as u32);
        }
        self.left.pop_first().or(Some(own))
    }

    /// Resets the state after a seek to the beginning.
    pub(super) fn rewind(&mut self) {
        self.left.clear();
        self.keys.clear();
        self.unsettled = 0;
    }

    /// Resets the state after a seek to another key frame. Pictures shown before that key frame may
    /// depend on earlier pictures, in which case they never come out.
    pub(super) fn restart(&mut self) {
        self.rewind();
        self.unsettled = if self.is_decoding_only() { 2 } else { 0 };
    }

    /// Returns whether the last picture may have received a time that is too early.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends packets with these timestamps and key frame flags, and returns the times of the
    /// pictures, which leave the decoder in the order `out`.
    fn shown(
        order: &mut PresentationOrder,
        packets: &[(i64, bool)],
        out: &[i64],
    ) -> Vec<Option<i64>> {
        for (stamp, key) in packets {
            let mut packet = Packet::empty();
            packet.set_dts(Some(*stamp));
            if *key {
                packet.set_flags(ffmpeg::packet::Flags::KEY);
            }
            order.send(&mut packet);
        }
        let frame = |own: &i64| {
            let mut frame = Video::empty();
            frame.set_pts(Some(*own));
            frame
        };
        let times = out.iter().map(|own| {
            let time = order.time_of(&frame(own));
            time.filter(|_| !order.is_unsettled())
        });
        times.collect()
    }

    /// I0 P3 B1 B2, I6 B4 B5, in decoding order.
    const PACKETS: [(i64, bool); 7] =
        [(0, true), (1, false), (2, false), (3, false), (4, true), (5, false), (6, false)];

    #[test]
    fn pictures_take_times_in_display_order() {
        let times = shown(&mut PresentationOrder::default(), &PACKETS, &[0, 2, 3, 1, 5, 6, 4]);
        assert_eq!(times, [0, 1, 2, 3, 4, 5, 6].map(Some));
    }

    #[test]
    fn key_frame_corrects_times_after_damage() {
        // B1 is undecodable.
        let times = shown(&mut PresentationOrder::default(), &PACKETS, &[0, 3, 1, 5, 6, 4]);
        assert_eq!(times, [0, 1, 2, 4, 5, 6].map(Some));
    }

    #[test]
    fn times_after_a_seek_settle_at_the_second_key_frame() {
        let mut order = PresentationOrder::new(true);
        order.restart();
        let packets = [PACKETS[4], PACKETS[5], PACKETS[6], (7, true), (8, false)];
        // B4 and B5 depend on pictures before the seek.
        assert_eq!(shown(&mut order, &packets, &[4, 8, 7]), [None, Some(7), Some(8)]);
    }
}
