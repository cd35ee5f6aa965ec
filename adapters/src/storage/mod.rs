//! Adapters for `ports::storage`.

#[cfg(feature = "cloud")]
mod cloud;
mod folder;
mod open;
mod opendal;
mod urls;

#[cfg(feature = "cloud")]
pub use cloud::{GcsOptions, S3Options, gcs, s3};
#[cfg(feature = "cloud")]
pub(crate) use open::bucket;
pub use open::{Kind, Settings, open};
#[cfg(feature = "cloud")]
pub(crate) use opendal::failed;
pub use opendal::{OpendalStorage, RemoteLimits};
