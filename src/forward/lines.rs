//! The file and stdout exporters: one export request a line, in OTLP JSON, as the Collector's file exporter writes it.
//!
//! A line is written whole and is on disk (where there is a disk) before the reply.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::{BuildError, Call, json_of};
use crate::error::Backend;
use crate::forward::Reply;
use crate::redact::Redacted;

/// The exporter.
pub(super) struct Lines {
    output: Arc<Mutex<Output>>,
}

struct Output {
    sink: Box<dyn Sink>,
    /// The last line has no end: a write failed half way, in this process or in one before it.
    torn: bool,
}

/// Where lines go.
trait Sink: Send {
    /// Writes these bytes and returns when they are as safe as this sink can make them.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Sink for File {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        match self.sync_data() {
            // A pipe or a terminal has nothing to sync.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result,
        }
    }
}

impl Sink for io::Stdout {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.lock();
        out.write_all(bytes)?;
        out.flush()
    }
}

impl Lines {
    /// Opens a file to append to; one that is created is for its owner only.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with the path and the reason.
    pub(super) fn to_file(exporter: &str, path: &Path) -> Result<Self, BuildError> {
        let opened = open(path).map_err(|error| BuildError::file(exporter, path, error.to_string()))?;
        let (file, torn) = opened;
        Ok(Self::new(file, torn))
    }

    /// Writes to standard output.
    pub(super) fn to_stdout() -> Self {
        Self::new(io::stdout(), false)
    }

    fn new(sink: impl Sink + 'static, torn: bool) -> Self {
        Self { output: Arc::new(Mutex::new(Output { sink: Box::new(sink), torn })) }
    }

    /// Writes one request.
    ///
    /// # Errors
    ///
    /// [`Backend::Sink`] where it could not be written, [`Backend::TimedOut`] where that took too long.
    pub(super) async fn export(&self, request: &Redacted, call: &Call<'_>) -> Result<Reply, Backend> {
        let deadline = Instant::from_std(call.deadline);
        timeout_at(deadline, self.append(request.clone())).await.unwrap_or(Err(Backend::TimedOut))
    }

    async fn append(&self, request: Redacted) -> Result<Reply, Backend> {
        // Waiting for one's turn costs no thread.
        let mut output = Arc::clone(&self.output).lock_owned().await;
        let work = move || {
            let mut line = Vec::from(json_of(request.signal(), request.body())?);
            line.push(b'\n');
            output.append(&line).map_err(|_| Backend::Sink)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(Backend::Sink))?;
        Ok(Reply::default())
    }
}

impl Output {
    /// After a torn line the next one begins on a line of its own.
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let result = if self.torn { self.sink.put(&[b"\n", line].concat()) } else { self.sink.put(line) };
        self.torn = result.is_err();
        result
    }
}

fn open(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(mut file) => {
            let torn = is_torn(&mut file)?;
            Ok((file, torn))
        }
        // A pipe or a device may be writable only.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Ok((OpenOptions::new().append(true).open(path)?, false))
        }
        Err(error) => Err(error),
    }
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;

    use super::*;

    /// A disk that takes half of the first line.
    struct FullOnce {
        written: Arc<StdMutex<Vec<u8>>>,
        full: bool,
    }

    impl Sink for FullOnce {
        fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
            let fits = if self.full { bytes.len() / 2 } else { bytes.len() };
            self.written.lock().unwrap().extend(&bytes[..fits]);
            if std::mem::take(&mut self.full) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_torn_line_spoils_no_other() {
        let written = Arc::new(StdMutex::new(Vec::new()));
        let sink = Box::new(FullOnce { written: Arc::clone(&written), full: true });
        let mut output = Output { sink, torn: false };
        assert!(output.append(b"first!\n").is_err());
        output.append(b"second\n").unwrap();
        output.append(b"third\n").unwrap();
        assert_eq!(written.lock().unwrap().as_slice(), b"fir\nsecond\nthird\n");
    }
}
