//! Opens a store, whatever state it is in: a damaged one is replaced by a new one with every record that is still whole.
//! Damaged records go to `quarantine/`, the damaged file too where something is missing without a trace.
//!
//! Safe to be interrupted at any step, and then begun again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::files::{private_directory, sync_directory, write_whole};
use super::record::{self, Key, Mark};
use super::salvage::{self, Found};
use super::store::{Contents, Failure, Store};

const STORE: &str = "queue.redb";
/// A store that is being filled from a damaged one.
const UNFINISHED: &str = "queue.redb.new";
/// Where damaged records and files are kept.
pub(super) const QUARANTINE: &str = "quarantine";
/// Where bodies are kept that the backend refused for good.
pub(super) const DEAD_LETTER: &str = "dead-letter";
/// How much is copied in one commit, in bytes.
const BATCH: usize = 16 << 20;

/// A store that is open and sound.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) contents: Contents,
    /// Records that were found damaged or missing.
    pub(super) quarantined: u64,
}

/// Whether there is a store in this directory.
pub(super) fn exists(directory: &Path) -> bool {
    directory.join(STORE).exists() || directory.join(UNFINISHED).exists()
}

/// Opens the store of this directory, salvaged if need be.
///
/// # Errors
///
/// [`Failure::Disk`]; nothing is lost by it.
pub(super) fn open(directory: &Path, key: Key) -> Result<Opened, Failure> {
    let (path, unfinished) = (directory.join(STORE), directory.join(UNFINISHED));
    if !path.exists() && unfinished.exists() {
        // Interrupted between the two renames of `salvage`: the new store is complete.
        fs::rename(&unfinished, &path)?;
    }
    let is_new = !path.exists();
    match Store::open(&path, key) {
        Ok((store, mut contents)) => {
            if is_new {
                sync_directory(directory)?;
            }
            if contents.commits == 0 {
                contents.next = next_number(directory);
            }
            Ok(Opened { store, contents, quarantined: 0 })
        }
        Err(Failure::Damaged) => {
            let quarantined = salvage(directory, key)?;
            let (store, contents) = Store::open(&path, key)?;
            Ok(Opened { store, contents, quarantined })
        }
        Err(failure) => Err(failure),
    }
}

/// Replaces a store of which everything is delivered, and whose file never shrinks, by a new one.
pub(super) fn start_over(directory: &Path, key: Key, mark: &Mark) -> Result<(), Failure> {
    if fill(directory, key, mark, |_| Ok(())).is_err() {
        // No room for both. A crash before the next line costs the mark only, and `next_number` makes up for it.
        fs::remove_file(directory.join(STORE))?;
        fill(directory, key, mark, |_| Ok(()))?;
    }
    fs::rename(directory.join(UNFINISHED), directory.join(STORE))?;
    Ok(sync_directory(directory)?)
}

/// The first number of a store that is new: no file that was kept has it, and so none is overwritten.
fn next_number(directory: &Path) -> u64 {
    let kept =
        [QUARANTINE, DEAD_LETTER].into_iter().filter_map(|kept| fs::read_dir(directory.join(kept)).ok());
    let names = kept.flatten().flatten().map(|entry| entry.file_name());
    let number = |name: std::ffi::OsString| name.to_str()?.get(..20)?.parse::<u64>().ok();
    names.filter_map(number).max().map_or(0, |last| last.saturating_add(1))
}

/// Gives how many records are damaged or missing.
fn salvage(directory: &Path, key: Key) -> Result<u64, Failure> {
    let (path, quarantine) = (directory.join(STORE), directory.join(QUARANTINE));
    let found = salvage::search(&path, key).map_err(disk)?;
    let wanted = |number: &u64| found.mark.as_ref().is_none_or(|mark| mark.may_be_alive(*number));
    let mut quarantined = 0;
    for (number, place) in found.damaged.iter().filter(|(number, _)| wanted(number)) {
        write_whole(&quarantine, &record_name(*number), &found.read(*place).map_err(disk)?)?;
        quarantined += 1;
    }
    let missing = missing(&found);
    quarantined += missing.unwrap_or(1);

    let whole: BTreeSet<u64> = found.whole.keys().copied().filter(|number| wanted(number)).collect();
    let last = found.mark.as_ref().map(|mark| (mark.commit, mark.next)).unwrap_or_default();
    let next = whole.last().map_or(0, |number| number + 1).max(last.1);
    fill(directory, key, &Mark::of(last.0 + 1, next, &whole), |store| {
        copy(&found, key, &whole, next, store)
    })?;
    if missing != Some(0) {
        private_directory(&quarantine)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        fs::rename(&path, quarantine.join(format!("{now}.redb")))?;
        sync_directory(&quarantine)?;
        sync_directory(directory)?;
    }
    fs::rename(directory.join(UNFINISHED), &path)?;
    sync_directory(directory)?;
    Ok(quarantined)
}

/// How many records left no trace; `None`: not known.
fn missing(found: &Found) -> Option<u64> {
    let alive = found.mark.as_ref()?.alive()?;
    let traceless = |number: &u64| !found.whole.contains_key(number) && !found.damaged.contains_key(number);
    Some(alive.filter(traceless).count() as u64)
}

/// Makes the new store beside the old one; the last commit holds `mark`.
fn fill(
    directory: &Path,
    key: Key,
    mark: &Mark,
    copy: impl FnOnce(&Store) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let path = directory.join(UNFINISHED);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let filled = Store::open(&path, key).and_then(|(store, _)| {
        copy(&store)?;
        store.commit(&[], &BTreeSet::new(), mark)
    });
    if filled.is_err() {
        // On a full disk it would be in the way.
        let _ = fs::remove_file(&path);
    }
    filled
}

fn copy(found: &Found, key: Key, whole: &BTreeSet<u64>, next: u64, store: &Store) -> Result<(), Failure> {
    let (mut batch, mut size, mut copied) = (Vec::new(), 0, BTreeSet::new());
    for number in whole {
        let Some(place) = found.whole.get(number) else { continue };
        let record = found.record(*place).map_err(disk)?;
        size += record.body.len();
        batch.push((*number, record::encode(&key, &record.header, &record.body)));
        copied.insert(*number);
        if size >= BATCH {
            store.commit(&batch, &BTreeSet::new(), &Mark::of(0, next, &copied))?;
            (batch, size) = (Vec::new(), 0);
        }
    }
    store.commit(&batch, &BTreeSet::new(), &Mark::of(0, next, &copied))
}

/// The name of a damaged record's file.
pub(super) fn record_name(number: u64) -> String {
    format!("{number:020}.record")
}

/// What can't be read is no matter of damage here: a second search would not find more.
fn disk(error: io::Error) -> Failure {
    Failure::Disk(error.kind())
}
