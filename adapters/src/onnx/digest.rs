//! A digest of a model's files, which makes its name change with them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ports::Result;
use sha2::{Digest, Sha256};

/// Returns eight hexadecimal digits that depend on the files' contents and on `revision`, which
/// stands for the code that uses them. *Blocks*.
pub(crate) fn digest<P: AsRef<Path>>(
    revision: u8,
    files: impl IntoIterator<Item = P>,
) -> Result<String> {
    let mut digest = Sha256::new_with_prefix([revision]);
    let mut block = vec![0; 1 << 20];
    for path in files {
        let mut file = File::open(path)?;
        digest.update(file.metadata()?.len().to_le_bytes());
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                break;
            }
            digest.update(&block[..count]);
        }
    }
    Ok(digest.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect())
}
