//! The clips of a bin's selects as a ZIP archive with a table of the clips. The archive is written
//! while the clips are cut, so it is never in memory as a whole.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, BoxStream, Stream, StreamExt};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::BinSelection;
use crate::bins::BinId;
use crate::export::sequence::{Sequence, SequenceClip};
use crate::export::{Content, Exports};
use crate::frames::{ClipFile, Frames};
use crate::kernel::access::Access;
use crate::kernel::error::{Error, Result};
use crate::kernel::time::Span;

/// Size of the parts in which the archive is sent, in bytes.
const PART_BYTES: usize = 256 * 1024;

/// Number of parts that may wait to be sent.
const WAITING_PARTS: usize = 4;

/// A ZIP archive that is written while it is read.
pub struct ClipArchive {
    /// Suggested file name: letters, digits, `.`, `_` and `-`.
    pub filename: String,
    /// The parts of the archive. An error ends it early.
    pub content: BoxStream<'static, io::Result<Bytes>>,
}

/// A file of the archive.
enum Entry {
    /// The table of the clips.
    Table(String),
    /// The clip with this number.
    Clip(usize, ClipFile),
}

/// Sends what is written.
struct PartWriter(Sender<io::Result<Bytes>>);

impl Exports {
    /// Cuts the clips of selects of a bin and packs them, with a table of them, into an archive.
    /// Returns the errors of [`Self::export_bin`], and `Invalid` if there are more than
    /// `bins.max_clips` or if a clip is longer than allowed.
    pub async fn bin_clips(
        &self,
        frames: &Arc<Frames>,
        access: &Access,
        bin_id: &BinId,
        selection: &BinSelection,
    ) -> Result<ClipArchive> {
        let sequence = self.sequence(access, bin_id, selection, 0.0).await?;
        let (count, max) = (sequence.clips.len(), self.bins.settings().max_clips);
        if count > max {
            return Err(Error::Invalid(format!(
                "bin '{bin_id}' has {count} clips; an archive has at most {max} (bins.max_clips)"
            )));
        }
        for clip in &sequence.clips {
            let Span { start, end } = cut_span(clip);
            frames.clip_outline(clip.source.video_id, start, end, true).await?;
        }
        let filename = format!("{}.zip", sequence.stem());
        let (entries, written) = channel(1);
        let (parts, sent) = channel(WAITING_PARTS);
        tokio::spawn(cut_clips(frames.clone(), sequence, entries, parts.clone()));
        tokio::task::spawn_blocking(move || {
            if let Err(error) = write_archive(written, PartWriter(parts.clone())) {
                // The receiver is gone if the download was cancelled.
                let _ = parts.blocking_send(Err(error));
            }
        });
        Ok(ClipArchive { filename, content: received(sent).boxed() })
    }
}

fn received(parts: Receiver<io::Result<Bytes>>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(parts, |mut parts| async move { Some((parts.recv().await?, parts)) })
}

/// Cuts one clip after the other, and ends when nobody receives them.
async fn cut_clips(
    frames: Arc<Frames>,
    sequence: Sequence,
    entries: Sender<Entry>,
    parts: Sender<io::Result<Bytes>>,
) {
    let table = match sequence.export("clips.csv").map(|table| table.content) {
        Ok(Content::Text(table)) => table,
        _ => String::new(),
    };
    if entries.send(Entry::Table(table)).await.is_err() {
        return;
    }
    for (number, clip) in (1..).zip(&sequence.clips) {
        match cut(&frames, clip).await {
            Ok(file) => {
                if entries.send(Entry::Clip(number, file)).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(error = %error.labelled(), number, "a clip was not cut");
                let _ = parts.send(Err(io::Error::other(error.to_string()))).await;
                return;
            }
        }
    }
}

/// Cuts a clip, and waits while other clips are cut.
async fn cut(frames: &Frames, clip: &SequenceClip) -> Result<ClipFile> {
    let Span { start, end } = cut_span(clip);
    loop {
        match frames.clip(clip.source.video_id, start, end, true).await {
            Err(Error::Busy { retry_after, .. }) => {
                tokio::time::sleep(Duration::from_secs(retry_after.into())).await;
            }
            cut => return cut,
        }
    }
}

/// Returns the span to cut, in seconds. The last frame of a video may be counted beyond its end.
fn cut_span(clip: &SequenceClip) -> Span {
    let Span { start, end } = clip.span();
    Span { start, end: end.min(clip.source.duration) }
}

fn write_archive(mut entries: Receiver<Entry>, parts: PartWriter) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(BufWriter::with_capacity(PART_BYTES, parts));
    while let Some(entry) = entries.blocking_recv() {
        match entry {
            Entry::Table(table) => {
                archive.start_file("clips.csv", SimpleFileOptions::DEFAULT)?;
                archive.write_all(table.as_bytes())?;
            }
            Entry::Clip(number, mut clip) => {
                let name = format!("{number:03} {}", clip.filename);
                archive.start_file(name, SimpleFileOptions::DEFAULT)?;
                io::copy(&mut clip.file, &mut archive)?;
            }
        }
    }
    archive.finish()?.into_inner().flush()
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = Ok(Bytes::copy_from_slice(bytes));
        self.0.blocking_send(part).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
