//! Who works on which video: one job at a time, the next one waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Which videos are being changed right now.
#[derive(Default)]
pub struct Claims {
    held: Mutex<HashMap<String, Weak<AsyncMutex<()>>>>,
}

/// The right to change one video, given back when dropped.
pub struct Claim {
    _guard: OwnedMutexGuard<()>,
}

impl Claims {
    /// Waits until nobody else changes the video.
    pub async fn claim(&self, video_id: &str) -> Claim {
        let lock = {
            let mut held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            held.retain(|_, lock| lock.strong_count() > 0);
            match held.get(video_id).and_then(Weak::upgrade) {
                Some(lock) => lock,
                None => {
                    let lock = Arc::new(AsyncMutex::new(()));
                    held.insert(video_id.to_owned(), Arc::downgrade(&lock));
                    lock
                }
            }
        };
        Claim { _guard: lock.lock_owned().await }
    }
}
