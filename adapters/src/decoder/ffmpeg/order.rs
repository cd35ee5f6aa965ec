//! When a picture is shown whose packet says only when it is decoded, as in AVI, or says nothing, as in a
//! raw stream. Pictures leave the decoder in the order in which they are shown, so each takes the
//! earliest of the times that are left.

use std::collections::BTreeSet;

use ffmpeg::Packet;
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;

/// Times that may be left: pictures that a decoder holds back at most. More of them belong to pictures
/// that never came out.
const HELD: usize = 64;

/// The times of one stream's pictures, in ticks of the stream.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Whether packets say when they are decoded and nothing else; `None` before that is known.
    decoding_only: Option<bool>,
    left: BTreeSet<i64>,
    /// Key frames whose pictures have not come out yet: what was decoded before one is shown before it.
    keys: BTreeSet<i64>,
    /// Key frames that must come out before no picture can be missing any more.
    unsettled: u32,
}

impl Order {
    /// For a stream of which this is known.
    pub(super) fn of(decoding_only: bool) -> Self {
        Self { decoding_only: Some(decoding_only), ..Self::default() }
    }

    /// Whether the packets so far say when they are decoded and nothing else.
    pub(super) fn is_decoding_only(&self) -> bool {
        self.decoding_only == Some(true)
    }

    /// Notes a packet before the decoder gets it, which hands its time on to its picture.
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
        if self.left.len() > HELD {
            self.left.pop_first();
        }
        if packet.is_key() {
            self.keys.insert(stamp);
        }
    }

    /// When a decoded picture is shown; `None` where that cannot be said.
    pub(super) fn time_of(&mut self, frame: &Video) -> Option<i64> {
        let own = frame.pts().filter(|_| self.decoding_only != Some(false));
        let Some(own) = own else { return frame.timestamp() };
        if let Some(key) = self.keys.range(..=own).next_back().copied() {
            // Those of pictures that could not be decoded are left over.
            self.left = self.left.split_off(&key);
            let later = self.keys.split_off(&(key + 1));
            let passed = std::mem::replace(&mut self.keys, later).len();
            self.unsettled = self.unsettled.saturating_sub(passed as u32);
        }
        self.left.pop_first().or(Some(own))
    }

    /// Forgets everything where reading has moved to the beginning.
    pub(super) fn rewind(&mut self) {
        self.left.clear();
        self.keys.clear();
        self.unsettled = 0;
    }

    /// The same for another key frame. Pictures that are shown before that one may need what lies before,
    /// and then never come out.
    pub(super) fn restart(&mut self) {
        self.rewind();
        self.unsettled = if self.is_decoding_only() { 2 } else { 0 };
    }

    /// Whether the picture that came out last may have got a time that is too early.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes packets of these stamps, key frames marked, whose pictures come out in this order.
    fn shown(order: &mut Order, packets: &[(i64, bool)], out: &[i64]) -> Vec<Option<i64>> {
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

    /// I0 P3 B1 B2, I6 B4 B5, in the order of decoding.
    const PACKETS: [(i64, bool); 7] =
        [(0, true), (1, false), (2, false), (3, false), (4, true), (5, false), (6, false)];

    #[test]
    fn pictures_take_the_times_in_the_order_in_which_they_come_out() {
        let times = shown(&mut Order::default(), &PACKETS, &[0, 2, 3, 1, 5, 6, 4]);
        assert_eq!(times, [0, 1, 2, 3, 4, 5, 6].map(Some));
    }

    #[test]
    fn a_key_frame_takes_back_what_damage_moved() {
        // B1 could not be decoded.
        let times = shown(&mut Order::default(), &PACKETS, &[0, 3, 1, 5, 6, 4]);
        assert_eq!(times, [0, 1, 2, 4, 5, 6].map(Some));
    }

    #[test]
    fn behind_a_seek_times_are_sure_from_the_second_key_frame_on() {
        let mut order = Order::of(true);
        order.restart();
        let packets = [PACKETS[4], PACKETS[5], PACKETS[6], (7, true), (8, false)];
        // B4 and B5 need the pictures before the seek.
        assert_eq!(shown(&mut order, &packets, &[4, 8, 7]), [None, Some(7), Some(8)]);
    }
}
