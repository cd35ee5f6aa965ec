//! The limit on concurrent uploads (`http.max_uploads`), which the routes that receive files share.

use tokio::sync::Semaphore;

/// Limits concurrent uploads.
pub(crate) struct UploadSlots(pub(crate) Semaphore);
