//! Reads label files of vision networks.

use std::path::Path;

use ports::{ErrorKind, PortError, Result};

/// Reads a file with one label per line. Returns an error if it cannot be read or has no labels.
pub(crate) fn read_labels(file: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(file).map_err(|e| {
        PortError::caused_by(
            ErrorKind::NotFound,
            format!("cannot read the labels {}", file.display()),
            e,
        )
    })?;
    let labels: Vec<String> =
        text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect();
    if labels.is_empty() {
        let message = format!("the labels {} are empty; one per line is needed", file.display());
        return Err(PortError::new(ErrorKind::Invalid, message));
    }
    Ok(labels)
}
