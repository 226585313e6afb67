//! The directory of one queue: who may read it, who else may use it, and the files that are written whole.
//!
//! Directories are for their owner only (0700), and so are files (0600). Knows nothing of what is written.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::record::Key;
use super::recovery;
use super::settings::StorageSettings;

/// Why a directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// It can't be opened, made, or made private.
    #[error("{}: {}", path.display(), source.kind())]
    Io {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process has it.
    #[error("{}: is in use by another process", .0.display())]
    InUse(PathBuf),
    /// There is a store, but not the key that its checksums begin with.
    #[error("{}: is missing or damaged, and there is a queue; move the queue away to start an empty one", .0.display())]
    NoKey(PathBuf),
}

/// A directory for queues that this process alone uses, as long as this value lives.
#[derive(Debug)]
pub struct Storage {
    directory: PathBuf,
    claimed: Mutex<BTreeSet<PathBuf>>,
    /// Locked. The lock ends with the process, however that ends.
    _lock: File,
}

impl Storage {
    /// Opens the directory and locks it against other processes.
    ///
    /// # Errors
    ///
    /// [`StorageError`] names the directory.
    pub fn open(settings: &StorageSettings) -> Result<Self, StorageError> {
        let directory = &settings.directory;
        if settings.create_directory && !directory.is_dir() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
            let synced = made.and_then(|()| directory.parent().map_or(Ok(()), sync_directory));
            synced.map_err(|source| StorageError::Io { path: directory.clone(), source })?;
        }
        let lock =
            File::open(directory).map_err(|source| StorageError::Io { path: directory.clone(), source })?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { directory: directory.clone(), claimed: Mutex::default(), _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(StorageError::InUse(directory.clone())),
            Err(fs::TryLockError::Error(source)) => Err(StorageError::Io { path: directory.clone(), source }),
        }
    }

    /// The directory of this exporter's queue, made private.
    pub(super) fn of_exporter(&self, name: &str) -> Result<PathBuf, StorageError> {
        let path = self.directory.join(file_name(name));
        private_directory(&path).map_err(|source| StorageError::Io { path: path.clone(), source })?;
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Ok(path)
    }

    /// Directories with a queue that no exporter has opened: what is in them is not delivered.
    pub fn unclaimed(&self) -> Vec<PathBuf> {
        let claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let directories = entries.map(|entry| entry.path());
        directories.filter(|path| recovery::exists(path) && !claimed.contains(path)).collect()
    }
}

/// A component name as a file name: no two names give the same one.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Makes a directory that only its owner may enter; one that is there is made so.
pub(super) fn private_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        // Not through a link: it could lead anywhere.
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && fs::symlink_metadata(path)?.is_dir() => {}
        Err(error) => return Err(error),
    }
    // Only the owner can: somebody else's directory is refused here.
    fs::set_permissions(path, Permissions::from_mode(0o700))?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Opens a file to read and write, made if it is missing, for its owner only.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Puts names of files on disk that were made, renamed or removed.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Writes a file as a whole: it is there with all its bytes, on disk, or not at all.
pub(super) fn write_whole(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    private_directory(directory)?;
    let unfinished = directory.join(".unfinished");
    let written = private_file(&unfinished).and_then(|mut file| {
        file.set_len(0)?;
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    fs::rename(&unfinished, directory.join(name))?;
    sync_directory(directory)
}

/// Room on the disk that is kept for the moment when it is full: without any, not even what is delivered could be removed.
#[derive(Debug)]
pub(super) struct Ballast(PathBuf);

impl Ballast {
    const SIZE: usize = 4 << 20;

    pub(super) fn new(directory: &Path) -> Self {
        Self(directory.join("ballast"))
    }

    /// Takes the room, if it is not taken yet.
    pub(super) fn take(&self) -> io::Result<()> {
        let mut file = private_file(&self.0)?;
        if file.metadata()?.len() == Self::SIZE as u64 {
            return Ok(());
        }
        // Random, so that a file system that compresses keeps the room as well.
        let mut bytes = vec![0; Self::SIZE];
        rand::fill(&mut bytes[..]);
        let written = file.set_len(0).and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_all());
        if written.is_err() {
            self.give();
        }
        written
    }

    /// Gives the room back.
    pub(super) fn give(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The key of the store in this directory; made up where there is no store yet.
pub(super) fn key(directory: &Path, store_exists: bool) -> Result<Key, StorageError> {
    let path = directory.join("key");
    let mut key = [0; 16];
    let read = File::open(&path).and_then(|mut file| file.read_exact(&mut key));
    match read {
        Ok(()) => Ok(Key(key)),
        Err(_) if store_exists => Err(StorageError::NoKey(path)),
        Err(_) => {
            let key: [u8; 16] = rand::random();
            write_whole(directory, "key", &key).map_err(|source| StorageError::Io { path, source })?;
            Ok(Key(key))
        }
    }
}
