//! The limit on concurrent uploads (`http.max_uploads`). All routes that receive files share it.

use tokio::sync::Semaphore;

/// Limits concurrent uploads.
pub(crate) struct UploadSlots(pub(crate) Semaphore);
