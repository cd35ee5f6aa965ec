//! A ZIP archive of uncompressed files, as the container of a Word document.

use crate::kernel::error::{Error, Result};

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END_OF_DIRECTORY: u32 = 0x0605_4b50;

/// The version of the format that is needed to read the archive, times ten.
const VERSION: u16 = 20;

/// 1 January 1980, the earliest date that the format has, so that equal documents are equal files.
const DATE: u16 = 0x0021;

/// Writes files, given as paths in ASCII and contents, as an archive.
pub(super) fn archive(files: &[(&str, String)]) -> Result<Vec<u8>> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (path, content) in files {
        let offset = size(archive.len())?;
        let header = header(path, content)?;
        archive.extend(LOCAL_HEADER.to_le_bytes());
        archive.extend(&header);
        archive.extend(path.as_bytes());
        archive.extend(content.as_bytes());
        directory.extend(CENTRAL_HEADER.to_le_bytes());
        directory.extend(VERSION.to_le_bytes());
        directory.extend(&header);
        // No comment, first disk, no attributes.
        directory.extend([0_u8; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(path.as_bytes());
    }
    let offset = size(archive.len())?;
    let count = u16::try_from(files.len()).map_err(|_| too_large())?;
    archive.extend(&directory);
    archive.extend(END_OF_DIRECTORY.to_le_bytes());
    archive.extend([0_u8; 4]);
    archive.extend(count.to_le_bytes());
    archive.extend(count.to_le_bytes());
    archive.extend(size(directory.len())?.to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend([0_u8; 2]);
    Ok(archive)
}

/// Returns the fields that a file's two headers share: version, flags, method, time, date,
/// checksum, sizes, length of the path and length of the extra field.
fn header(path: &str, content: &str) -> Result<Vec<u8>> {
    let length = size(content.len())?;
    let mut header = Vec::new();
    header.extend(VERSION.to_le_bytes());
    header.extend([0_u8; 6]);
    header.extend(DATE.to_le_bytes());
    header.extend(crc32fast::hash(content.as_bytes()).to_le_bytes());
    header.extend(length.to_le_bytes());
    header.extend(length.to_le_bytes());
    header.extend(u16::try_from(path.len()).map_err(|_| too_large())?.to_le_bytes());
    header.extend([0_u8; 2]);
    Ok(header)
}

fn size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::TooLarge("the document is too large: a ZIP archive holds at most 4 GiB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_has_every_file() {
        let files = [("a.txt", "one".to_owned()), ("folder/b.txt", String::new())];
        let archive = archive(&files).expect("an archive");
        let end = archive.len() - 22;
        let field = |at: usize, length: usize| {
            archive[at..at + length]
                .iter()
                .rev()
                .fold(0, |number, byte| (number << 8) | usize::from(*byte))
        };
        assert_eq!((field(end, 4), field(end + 10, 2)), (END_OF_DIRECTORY as usize, 2));
        let (length, start) = (field(end + 12, 4), field(end + 16, 4));
        assert_eq!(start + length, end);
        assert_eq!(field(start, 4), CENTRAL_HEADER as usize);
        // The checksum and the length of the first file, and the place of the second one.
        assert_eq!((field(start + 16, 4), field(start + 24, 4)), (0x7a6c_86f1, 3));
        let second = start + 46 + "a.txt".len();
        let offset = field(second + 42, 4);
        assert_eq!(field(offset, 4), LOCAL_HEADER as usize);
        assert_eq!(&archive[offset + 30..offset + 42], b"folder/b.txt");
    }
}
