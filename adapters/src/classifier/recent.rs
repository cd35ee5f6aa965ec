//! Remembers the results for recent images, because the analyzers classify a frame and the label
//! bridge then embeds the same frame.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;
use ports::{Result, decoder::Image};

/// Number of remembered results. With 1,000 classes, they take 256 KB. Several chunks are analyzed
/// concurrently, so other images are classified between the two uses of a frame.
const REMEMBERED: usize = 64;

/// The results for recent images.
#[derive(Default)]
pub(super) struct RecentResults {
    hasher: RandomState,
    /// The hashes of images with their probabilities, oldest first.
    results: Mutex<VecDeque<(u64, Vec<f32>)>>,
}

impl RecentResults {
    /// Returns the probabilities of an image. Calls `classify` unless they are remembered. *Blocks*
    /// while it reads the image.
    pub(super) fn get_or_classify(
        &self,
        image: &Image,
        classify: impl FnOnce() -> Result<Vec<f32>>,
    ) -> Result<Vec<f32>> {
        let hash = self.hasher.hash_one((image.width, image.height, &image.rgb));
        if let Some((_, known)) = self.results.lock().iter().find(|(known, _)| *known == hash) {
            return Ok(known.clone());
        }
        let probabilities = classify()?;
        let mut results = self.results.lock();
        if results.len() >= REMEMBERED {
            results.pop_front();
        }
        results.push_back((hash, probabilities.clone()));
        Ok(probabilities)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ports::{ErrorKind, PortError};

    use super::*;

    #[test]
    fn image_is_classified_once() {
        let (recent, runs) = (RecentResults::default(), Cell::new(0));
        let classify = |width: u32, value: u8| {
            let image = Image { width, height: 1, rgb: vec![value; 6] };
            let run = || {
                runs.set(runs.get() + 1);
                Ok(vec![f32::from(value)])
            };
            recent.get_or_classify(&image, run).expect("probabilities")
        };
        for value in [1, 2, 1, 2] {
            assert_eq!(classify(2, value), [f32::from(value)]);
        }
        assert_eq!(runs.get(), 2);
        classify(1, 2);
        assert_eq!(runs.get(), 3, "another size");
        for value in 0..=255 {
            classify(2, value);
        }
        assert_eq!(recent.results.lock().len(), REMEMBERED);
    }

    #[test]
    fn errors_are_not_remembered() {
        let recent = RecentResults::default();
        let image = Image { width: 1, height: 1, rgb: vec![7; 3] };
        let failed = || Err(PortError::new(ErrorKind::Unavailable, "no memory"));
        recent.get_or_classify(&image, failed).expect_err("an error");
        assert_eq!(recent.get_or_classify(&image, || Ok(vec![1.0])).expect("a result"), [1.0]);
    }
}
