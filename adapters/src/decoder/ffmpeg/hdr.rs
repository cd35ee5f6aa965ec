//! Tone-maps high dynamic range (PQ and HLG, ITU-R BT.2100) to standard dynamic range (BT.709).
//! Reference white is 203 cd/m², as in ITU-R BT.2408. Light up to a knee below reference white
//! keeps its ratio to reference white. Brighter light is compressed into the remaining range.

use ffmpeg::color::{Primaries, TransferCharacteristic};
use ffmpeg::frame::Video;
use ffmpeg_next as ffmpeg;

/// Luminance of reference white, in cd/m².
const WHITE: f32 = 203.0;

/// Peak luminance of PQ, in cd/m².
const PQ_PEAK: f32 = 10_000.0;

/// Nominal peak luminance of an HLG display in cd/m², and the system gamma for this peak.
const HLG_PEAK: f32 = 1000.0;
const HLG_GAMMA: f32 = 1.2;

/// Light up to this level, relative to reference white, is not compressed.
const KNEE: f32 = 0.75;

/// Luma coefficients of BT.2020.
const LUMA: [f32; 3] = [0.2627, 0.6780, 0.0593];

/// Matrix that converts linear light from BT.2020 to BT.709 primaries (ITU-R BT.2087).
const TO_BT709: [[f32; 3]; 3] =
    [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]];

/// Number of steps in the lookup table for linear light.
const STEPS: usize = 1 << 14;

/// The transfer function of a high dynamic range video.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    Pq,
    Hlg,
}

impl Transfer {
    /// Returns the transfer function of a frame, or `None` for standard dynamic range.
    pub(super) fn for_frame(frame: &Video) -> Option<Self> {
        Self::named(frame.color_transfer_characteristic())
    }

    pub(super) fn named(transfer: TransferCharacteristic) -> Option<Self> {
        match transfer {
            TransferCharacteristic::SMPTE2084 => Some(Self::Pq),
            TransferCharacteristic::ARIB_STD_B67 => Some(Self::Hlg),
            _ => None,
        }
    }

    /// Converts a code value in 0..1 to linear light. For PQ, the light is relative to reference
    /// white; for HLG, it is scene light.
    fn linear(self, coded: f32) -> f32 {
        match self {
            Self::Pq => {
                let p = coded.powf(1.0 / 78.84375);
                let light = (p - 0.8359375).max(0.0) / (18.851_563 - 18.6875 * p);
                light.powf(1.0 / 0.159_301_76) * PQ_PEAK / WHITE
            }
            Self::Hlg if coded <= 0.5 => coded * coded / 3.0,
            Self::Hlg => (((coded - 0.559_910_7) / 0.178_832_77).exp() + 0.284_668_92) / 12.0,
        }
    }
}

/// Tone-maps pictures with one transfer function and one set of primaries.
pub(super) struct ToneMap {
    transfer: Transfer,
    wide: bool,
    /// Linear light, indexed by code value.
    linear: Vec<f32>,
    /// Code value, indexed by linear light.
    coded: Vec<u8>,
}

impl ToneMap {
    fn new(transfer: Transfer, wide: bool) -> Self {
        let linear = (0..=u16::MAX).map(|code| f32::from(code) / f32::from(u16::MAX));
        let coded = (0..=STEPS).map(|step| (bt709(step as f32 / STEPS as f32) * 255.0).round());
        Self {
            transfer,
            wide,
            linear: linear.map(|code| transfer.linear(code)).collect(),
            coded: coded.map(|value| value as u8).collect(),
        }
    }

    /// Returns the tone map for a picture. Replaces `cached` if it was made for another kind of
    /// picture.
    pub(super) fn for_picture<'a>(
        cached: &'a mut Option<Self>,
        transfer: Transfer,
        frame: &Video,
    ) -> &'a Self {
        let wide = frame.color_primaries() != Primaries::BT709;
        if cached.as_ref().is_none_or(|map| (map.transfer, map.wide) != (transfer, wide)) {
            *cached = None;
        }
        cached.get_or_insert_with(|| Self::new(transfer, wide))
    }

    /// Converts rows of 16-bit RGB to 8-bit RGB in place. The result is at the start of each row.
    pub(super) fn apply(&self, picture: &mut Video) {
        let (width, stride) = (picture.width() as usize, picture.stride(0));
        for row in picture.data_mut(0).chunks_mut(stride) {
            for x in 0..width.min(row.len() / 6) {
                let code =
                    |c: usize| u16::from_le_bytes([row[x * 6 + c * 2], row[x * 6 + c * 2 + 1]]);
                let mapped = self.pixel([code(0), code(1), code(2)]);
                row[x * 3..x * 3 + 3].copy_from_slice(&mapped);
            }
        }
    }

    fn pixel(&self, codes: [u16; 3]) -> [u8; 3] {
        let mut light = codes.map(|code| self.linear[usize::from(code)]);
        if self.transfer == Transfer::Hlg {
            let luma = light.iter().zip(LUMA).map(|(light, weight)| light * weight).sum::<f32>();
            let gain = luma.powf(HLG_GAMMA - 1.0) * HLG_PEAK / WHITE;
            light = light.map(|light| light * gain);
        }
        let brightest = light.iter().copied().fold(0.0, f32::max);
        if brightest > KNEE {
            let scale = compressed(brightest) / brightest;
            light = light.map(|light| light * scale);
        }
        if self.wide {
            let mix = |row: [f32; 3]| row.iter().zip(light).map(|(by, light)| by * light).sum();
            light = TO_BT709.map(mix);
        }
        light.map(|light| self.coded[(light.clamp(0.0, 1.0) * STEPS as f32).round() as usize])
    }
}

/// Compresses light above the knee so that it approaches 1. The curve is smooth at the knee.
fn compressed(light: f32) -> f32 {
    KNEE + (1.0 - KNEE) * (1.0 - (-(light - KNEE) / (1.0 - KNEE)).exp())
}

/// The transfer function of BT.709.
fn bt709(light: f32) -> f32 {
    if light < 0.018 { 4.5 * light } else { 1.099 * light.powf(0.45) - 0.099 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the PQ code for a luminance in cd/m².
    fn pq(luminance: f32) -> u16 {
        let y = (luminance / PQ_PEAK).powf(0.159_301_76);
        let coded = ((0.8359375 + 18.851_563 * y) / (1.0 + 18.6875 * y)).powf(78.84375);
        (coded * f32::from(u16::MAX)).round() as u16
    }

    #[test]
    fn pq_greys_below_white_are_unchanged() {
        let map = ToneMap::new(Transfer::Pq, true);
        let grey = |luminance| map.pixel([pq(luminance); 3]);
        assert_eq!(grey(0.0), [0; 3]);
        // A grey card reflects 18 % of white.
        let expected = (bt709(0.18) * 255.0).round() as u8;
        assert!(grey(WHITE * 0.18).iter().all(|v| v.abs_diff(expected) <= 1), "{:?}", grey(36.5));
        let [white, brighter, brightest] = [WHITE, 600.0, 4000.0].map(|y| grey(y)[0]);
        assert!((235..=250).contains(&white), "{white}");
        assert!(white < brighter && brighter <= brightest && brightest >= 254);
    }

    #[test]
    fn hlg_white_is_nearly_white() {
        let map = ToneMap::new(Transfer::Hlg, true);
        let code = |share: f32| (share * f32::from(u16::MAX)) as u16;
        // The code for reference white is 75 %.
        let [white, brightest] = [0.75, 1.0].map(|share| map.pixel([code(share); 3])[0]);
        assert!((235..=250).contains(&white) && brightest >= 254, "{white} {brightest}");
        assert_eq!(map.pixel([0; 3]), [0; 3]);
    }

    #[test]
    fn colours_outside_bt709_are_clipped() {
        let map = ToneMap::new(Transfer::Pq, true);
        let red = map.pixel([pq(150.0), 0, 0]);
        assert!(red[0] > 230 && red[1] == 0 && red[2] == 0, "{red:?}");
        let narrow = ToneMap::new(Transfer::Pq, false).pixel([pq(100.0), pq(20.0), 0]);
        assert!(narrow[0] > narrow[1] && narrow[1] > 0, "{narrow:?}");
    }
}
