//! Colour names and histograms, for descriptions and for distinguishing clothes.

use ports::decoder::Image;
use ports::detector::BoundingBox;

/// A pixel counts as grey if the difference between its highest and lowest channel is below this
/// value.
const GREY: f32 = 0.14;

/// A histogram bin counts as grey if the difference between its highest and lowest channel is below
/// this value. The limit is higher than for pixels, since a grey surface can spread over adjacent
/// bins.
const GREY_BIN: f32 = 0.3;

/// Names a colour; red, green and blue are 0..1. A colour is grey if its channels differ by less
/// than `grey`.
fn name(r: f32, g: f32, b: f32, grey: f32) -> &'static str {
    let (max, min) = (r.max(g).max(b), r.min(g).min(b));
    if max - min < grey {
        return match (max + min) / 2.0 {
            m if m < 0.25 => "black",
            m if m > 0.7 => "white",
            _ => "grey",
        };
    }
    let hue = if max == r {
        60.0 * ((g - b) / (max - min)).rem_euclid(6.0)
    } else if max == g {
        60.0 * ((b - r) / (max - min) + 2.0)
    } else {
        60.0 * ((r - g) / (max - min) + 4.0)
    };
    match hue {
        h if h < 15.0 => "red",
        h if h < 45.0 && max < 0.7 => "brown",
        h if h < 45.0 => "orange",
        h if h < 70.0 => "yellow",
        h if h < 165.0 => "green",
        h if h < 195.0 => "turquoise",
        h if h < 265.0 => "blue",
        h if h < 290.0 => "violet",
        h if h < 335.0 => "pink",
        _ => "red",
    }
}

/// Returns the colour name of a histogram bin. The index of a bin has two bits each for red, green
/// and blue.
pub(crate) fn bin_name(bin: usize) -> &'static str {
    let level = |shift: usize| (((bin >> shift) & 3) as f32 + 0.5) / 4.0;
    name(level(4), level(2), level(0), GREY_BIN)
}

/// Computes the histogram of a part of a picture: the share of pixels in each of 4 × 4 × 4 bins of
/// red, green and blue. The index of a bin is `16 r + 4 g + b`. All bins are zero if the part has
/// no pixels.
pub(crate) fn histogram(image: &Image, part: BoundingBox) -> Vec<f32> {
    let mut counts = vec![0_u32; 64];
    let pixels = sample_pixels(image, part, |rgb| {
        let level = |value: u8| usize::from(value >> 6);
        counts[16 * level(rgb[0]) + 4 * level(rgb[1]) + level(rgb[2])] += 1;
    });
    counts.into_iter().map(|n| n as f32 / pixels.max(1) as f32).collect()
}

/// Finds the one or two most frequent colours in a part of a picture, with their shares.
pub(crate) fn prominent(image: &Image, part: BoundingBox) -> Vec<(&'static str, f32)> {
    let mut counts: Vec<(&'static str, u32)> = Vec::new();
    let pixels = sample_pixels(image, part, |rgb| {
        let [r, g, b] = rgb.map(|value| f32::from(value) / 255.0);
        let name = name(r, g, b, GREY);
        match counts.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 += 1,
            None => counts.push((name, 1)),
        }
    });
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let share = |n: u32| n as f32 / pixels.max(1) as f32;
    counts.into_iter().take(2).map(|(name, n)| (name, share(n))).collect()
}

/// Calls `visit` with up to a few thousand pixels spread over `part`, and returns the number of
/// pixels visited.
fn sample_pixels(image: &Image, part: BoundingBox, mut visit: impl FnMut([u8; 3])) -> u32 {
    const PER_SIDE: u32 = 48;
    let edge = |share: f32, length: u32| (share.clamp(0.0, 1.0) * length as f32).round() as u32;
    let (left, right) = (edge(part[0], image.width), edge(part[0] + part[2], image.width));
    let (top, bottom) = (edge(part[1], image.height), edge(part[1] + part[3], image.height));
    let step = |from: u32, to: u32| ((to.saturating_sub(from)) / PER_SIDE).max(1) as usize;
    let mut count = 0;
    for y in (top..bottom).step_by(step(top, bottom)) {
        for x in (left..right).step_by(step(left, right)) {
            let at = (y as usize * image.width as usize + x as usize) * 3;
            if let Some(&[r, g, b]) = image.rgb.get(at..at + 3) {
                visit([r, g, b]);
                count += 1;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_common_colour_names() {
        let bin = |r: usize, g: usize, b: usize| (r << 4) | (g << 2) | b;
        for (bin, expected) in [
            (bin(0, 0, 0), "black"),
            (bin(3, 3, 3), "white"),
            (bin(2, 2, 2), "grey"),
            (bin(3, 0, 0), "red"),
            (bin(0, 3, 0), "green"),
            (bin(0, 0, 3), "blue"),
            (bin(3, 3, 0), "yellow"),
            (bin(3, 1, 0), "orange"),
            (bin(2, 1, 0), "brown"),
        ] {
            assert_eq!(bin_name(bin), expected);
        }
    }

    #[test]
    fn every_name_is_a_known_colour() {
        for bin in 0..64 {
            let name = bin_name(bin);
            assert!(text::colours::family_named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn parts_are_measured_separately() {
        let rgb = (0..100 * 10).flat_map(|i| if i % 100 < 30 { [255, 0, 0] } else { [0, 0, 255] });
        let image = Image { width: 100, height: 10, rgb: rgb.collect() };
        assert_eq!(prominent(&image, [0.0, 0.0, 0.3, 1.0]), [("red", 1.0)]);
        let both = prominent(&image, [0.0, 0.0, 0.6, 1.0]);
        assert_eq!(both.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["blue", "red"]);
        let histogram = histogram(&image, [0.5, 0.0, 0.5, 1.0]);
        assert_eq!((histogram[3], histogram[48]), (1.0, 0.0));
        assert!(prominent(&image, [2.0, 0.0, 1.0, 1.0]).is_empty());
    }
}
