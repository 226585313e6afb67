//! The embedded store (redb) under a queue: numbered records in one table, a mark beside them, each commit on disk when it
//! returns.
//!
//! redb is trusted with crashes, and not with damage: it can panic over a damaged file, also when it is closed, so every
//! call is guarded, and its pages are checked when a file is opened. What can't be opened is searched by `salvage`. After
//! any failed write redb wants to be opened anew, which `keeper` does.

use std::collections::BTreeSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use redb::backends::FileBackend;
use redb::{Builder, Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use super::files::private_file;
use super::record::{self, Header, Key, Mark};

const RECORDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
/// [`MARKS`]: the newest [`Mark`]; `probe`: there while it is tried whether there is room.
const NOTES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("notes");

/// Twice, so that damage to one leaves the other to be found.
const MARKS: [&str; 2] = ["mark", "mark again"];

/// Bodies go through once, so a large cache would only double them in memory.
const CACHE: usize = 8 << 20;

/// Why the store did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// The disk: full, read-only, broken. May pass.
    #[error("{0}")]
    Disk(io::ErrorKind),
    /// The file is not as redb left it.
    #[error("damaged")]
    Damaged,
}

/// An open store.
pub(super) struct Store {
    /// `None` only while it is dropped.
    database: Option<Database>,
    key: Key,
}

/// What is in a store that was opened.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The headers of its records, in order.
    pub(super) headers: Vec<Header>,
    /// The next number to give.
    pub(super) next: u64,
    /// How many commits there were.
    pub(super) commits: u64,
}

impl Store {
    /// Opens a store, or makes an empty one. Checks every page and every header, not yet the bodies.
    ///
    /// # Errors
    ///
    /// [`Failure::Damaged`] where anything is not as it should be: the file must then be salvaged.
    pub(super) fn open(path: &Path, key: Key) -> Result<(Self, Contents), Failure> {
        let file = private_file(path).map_err(|error| Failure::Disk(error.kind()))?;
        guarded(|| {
            let database = Builder::new()
                .set_cache_size(CACHE)
                .set_check_integrity_on_open(true)
                .create_with_backend(FileBackend::new(file)?)?;
            let store = Self { database: Some(database), key };
            let contents = store.contents()?;
            Ok((store, contents))
        })
    }

    fn database(&self) -> Result<&Database, Failure> {
        self.database.as_ref().ok_or(Failure::Damaged)
    }

    fn contents(&self) -> Result<Contents, Failure> {
        let transaction = self.database()?.begin_read()?;
        let records = match transaction.open_table(RECORDS) {
            Ok(records) => records,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Contents::default()),
            Err(error) => return Err(error.into()),
        };
        let notes = transaction.open_table(NOTES)?;
        let mark = notes.get(MARKS[0])?.and_then(|bytes| Mark::decode(&self.key, bytes.value()));
        let mark = mark.ok_or(Failure::Damaged)?;
        let mut headers = Vec::new();
        for entry in records.iter()? {
            let (number, bytes) = entry?;
            let header = record::header(&self.key, bytes.value()).ok_or(Failure::Damaged)?;
            if header.number != number.value() {
                return Err(Failure::Damaged);
            }
            headers.push(header);
        }
        if mark.alive().is_some_and(|alive| !alive.eq(headers.iter().map(|header| header.number))) {
            return Err(Failure::Damaged);
        }
        Ok(Contents { headers, next: mark.next, commits: mark.commit })
    }

    /// Adds and removes records, all or nothing; on disk when it returns.
    pub(super) fn commit(
        &self,
        added: &[(u64, Vec<u8>)],
        removed: &BTreeSet<u64>,
        mark: &Mark,
    ) -> Result<(), Failure> {
        guarded(|| {
            let mut transaction = self.database()?.begin_write()?;
            // Two steps, so that a crash needs no guess, by checksum, which of two states is the newest whole one: with a
            // damaged page that guess would silently give up the newest commit.
            transaction.set_two_phase_commit(true);
            {
                let mut records = transaction.open_table(RECORDS)?;
                for number in removed {
                    records.remove(number)?;
                }
                for (number, bytes) in added {
                    records.insert(number, bytes.as_slice())?;
                }
                let (mut notes, mark) = (transaction.open_table(NOTES)?, mark.encode(&self.key));
                for name in MARKS {
                    notes.insert(name, mark.as_slice())?;
                }
            }
            Ok(transaction.commit()?)
        })
    }

    /// Finds out whether there is room for so many bytes.
    pub(super) fn probe(&self, bytes: usize) -> Result<(), Failure> {
        guarded(|| {
            for size in [Some(bytes), None] {
                let transaction = self.database()?.begin_write()?;
                {
                    let mut notes = transaction.open_table(NOTES)?;
                    match size {
                        Some(size) => notes.insert("probe", vec![0; size].as_slice())?,
                        None => notes.remove("probe")?,
                    };
                }
                transaction.commit()?;
            }
            Ok(())
        })
    }

    /// The bytes of one record, unchecked; `None`: there is no such number.
    pub(super) fn read(&self, number: u64) -> Result<Option<Bytes>, Failure> {
        guarded(|| {
            let records = self.database()?.begin_read()?.open_table(RECORDS)?;
            let bytes = records.get(number)?.map(|bytes| Bytes::copy_from_slice(bytes.value()));
            Ok(bytes)
        })
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let database = self.database.take();
        // It writes when it is closed.
        let _ = guarded(move || {
            drop(database);
            Ok(())
        });
    }
}

/// A panic of redb is a damaged file.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Damaged))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A file that was cut, and one that is no store.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => Self::Damaged,
            kind => Self::Disk(kind),
        }
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Self {
        match error {
            redb::StorageError::Io(error) => error.into(),
            // A write failed before; the first failure said why.
            redb::StorageError::PreviousIo => Self::Disk(io::ErrorKind::Other),
            _ => Self::Damaged,
        }
    }
}

impl From<redb::DatabaseError> for Failure {
    fn from(error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::Storage(error) => error.into(),
            // Somebody holds the file although the directory is locked: not damage, so hands off.
            redb::DatabaseError::DatabaseAlreadyOpen => Self::Disk(io::ErrorKind::ResourceBusy),
            _ => Self::Damaged,
        }
    }
}

impl From<redb::TransactionError> for Failure {
    fn from(error: redb::TransactionError) -> Self {
        match error {
            redb::TransactionError::Storage(error) => error.into(),
            _ => Self::Damaged,
        }
    }
}

impl From<redb::TableError> for Failure {
    fn from(error: redb::TableError) -> Self {
        match error {
            redb::TableError::Storage(error) => error.into(),
            _ => Self::Damaged,
        }
    }
}

impl From<redb::CommitError> for Failure {
    fn from(error: redb::CommitError) -> Self {
        match error {
            redb::CommitError::Storage(error) => error.into(),
            _ => Self::Damaged,
        }
    }
}
