//! Searches a damaged store file for whole records, wherever in it they lie. The records tell by themselves where they
//! begin and end and whether they are whole, and the marks tell which of them had been delivered before.
//!
//! Reads only; `recovery` decides what becomes of what is found.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use bytes::Bytes;
use memchr::memmem;

use super::record::{self, HEADER, Key, LONGEST_MARK, Mark, PREFIX, Record};

/// How much of the file is searched at a time, in bytes.
const WINDOW: usize = 4 << 20;

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    offset: u64,
    length: usize,
}

/// What a damaged file holds.
#[derive(Debug)]
pub(super) struct Found {
    file: File,
    key: Key,
    /// Records that pass their checks, by number.
    pub(super) whole: BTreeMap<u64, Place>,
    /// Records whose header is whole and whose body is not, and of which there is no whole copy.
    pub(super) damaged: BTreeMap<u64, Place>,
    /// The newest mark.
    pub(super) mark: Option<Mark>,
}

/// Searches the whole file.
pub(super) fn search(path: &Path, key: Key) -> io::Result<Found> {
    let file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut found = Found { file, key, whole: BTreeMap::new(), damaged: BTreeMap::new(), mark: None };
    let finder = memmem::Finder::new(&PREFIX);
    let mut window = vec![0; WINDOW];
    let mut at = 0;
    while at < end {
        let length = read_at_most(&found.file, &mut window, at)?;
        let bytes = window.get(..length).unwrap_or_default();
        // Where the search goes on: behind the last whole record, else behind the window, less a prefix cut by its end.
        let mut next = at + (length.saturating_sub(PREFIX.len() - 1)).max(1) as u64;
        let mut skip_to = at;
        for position in finder.find_iter(bytes) {
            let offset = at + position as u64;
            if offset < skip_to {
                continue;
            }
            if let Some(behind) = found.look(offset, end)? {
                skip_to = behind;
            }
        }
        next = next.max(skip_to);
        at = next;
    }
    let Found { whole, damaged, .. } = &mut found;
    damaged.retain(|number, _| !whole.contains_key(number));
    Ok(found)
}

impl Found {
    /// Looks at what begins here; gives the place behind it, if it is a whole record.
    fn look(&mut self, offset: u64, end: u64) -> io::Result<Option<u64>> {
        let mut bytes = vec![0; LONGEST_MARK];
        let length = read_at_most(&self.file, &mut bytes, offset)?;
        bytes.truncate(length);
        if let Some(mark) = Mark::decode(&self.key, &bytes) {
            if self.mark.as_ref().is_none_or(|newest| newest.commit < mark.commit) {
                self.mark = Some(mark);
            }
            return Ok(None);
        }
        let Some(header) = record::header(&self.key, &bytes) else { return Ok(None) };
        let Some(wanted) = header.length.checked_add(HEADER as u64) else { return Ok(None) };
        let there = wanted.min(end - offset);
        let Ok(length) = usize::try_from(there) else { return Ok(None) };
        let place = Place { offset, length };
        if there == wanted && self.read(place).is_ok_and(|bytes| record::decode(&self.key, bytes).is_ok()) {
            self.whole.insert(header.number, place);
            return Ok(Some(offset + there));
        }
        self.damaged.insert(header.number, place);
        Ok(None)
    }

    /// The bytes at a place.
    pub(super) fn read(&self, place: Place) -> io::Result<Bytes> {
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.offset)?;
        Ok(bytes.into())
    }

    /// A record that was found whole.
    pub(super) fn record(&self, place: Place) -> io::Result<Record> {
        record::decode(&self.key, self.read(place)?).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
