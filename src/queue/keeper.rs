//! The thread that alone touches a queue's files. Jobs come by a channel; what has gathered while one commit was on its way
//! to the disk goes into the next one, so that many waiting clients cost one fsync.
//!
//! After a failed write the store is opened anew, and appends are refused until a probe has found room again; what is
//! stored is delivered all the same. Nothing is answered before it is on disk.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::files::{Ballast, write_whole};
use super::ledger::{Ledger, Room, Size};
use super::record::{self, Header, Key, Mark, Record};
use super::recovery::{self, DEAD_LETTER, Opened, QUARANTINE, record_name};
use super::store::{Failure, Store};
use crate::admin::Health;
use crate::otlp::Signal;
use crate::telemetry::{Metrics, QueueLoss};

/// The most body bytes in one commit, unless one body is larger.
const LARGEST_COMMIT: usize = 32 << 20;
/// Bytes written to an empty queue after which its file, which never shrinks, is replaced.
const START_OVER_AFTER: u64 = 256 << 20;
/// Between two tries of a store that can't be written.
const FIRST_PROBE: Duration = Duration::from_secs(1);
const LAST_PROBE: Duration = Duration::from_secs(10);

/// The disk did not do it; it may later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unwritable;

/// Tells who asked.
type Answer<T> = oneshot::Sender<Result<T, Unwritable>>;

/// A redacted request to be stored.
pub(super) struct Draft {
    pub(super) signal: Signal,
    pub(super) items: u64,
    pub(super) hops: u8,
    pub(super) accepted: SystemTime,
    pub(super) body: Bytes,
    pub(super) room: Room,
}

/// What the keeper is asked to do. Every answer comes after the disk has it.
pub(super) enum Job {
    Append {
        draft: Draft,
        answer: Answer<()>,
    },
    /// `None`: it is damaged and has been put aside, or is gone.
    Read {
        number: u64,
        answer: Answer<Option<Record>>,
    },
    /// Delivered.
    Remove {
        number: u64,
    },
    /// Keep a body that the backend refused, under this name.
    DeadLetter {
        number: u64,
        name: String,
        body: Bytes,
        answer: Answer<()>,
    },
    /// Keep a record that can't be handled.
    Quarantine {
        number: u64,
        answer: Answer<()>,
    },
    Close,
}

/// The keeper of one queue.
pub(super) struct Keeper {
    exporter: Arc<str>,
    directory: PathBuf,
    key: Key,
    ballast: Ballast,
    store: Option<Store>,
    ledger: Arc<Ledger>,
    metrics: Arc<Metrics>,
    health: Arc<Health>,
    next: u64,
    commits: u64,
    /// What is in the store.
    stored: BTreeSet<u64>,
    /// What must leave the store with the next commit.
    leaving: BTreeSet<u64>,
    /// Bytes written since the file was new.
    written: u64,
    trouble: Option<Trouble>,
}

/// The store could not be written.
struct Trouble {
    /// How much room is wanted, in bytes.
    bytes: usize,
    pause: Duration,
    next_try: Instant,
}

impl Keeper {
    /// Opens the store and tells the ledger what is in it.
    pub(super) fn open(
        exporter: &str,
        (directory, key): (PathBuf, Key),
        ledger: Arc<Ledger>,
        metrics: Arc<Metrics>,
        health: Arc<Health>,
    ) -> Result<Self, Failure> {
        let Opened { store, contents, quarantined } = recovery::open(&directory, key)?;
        let stored = contents.headers.iter().map(|header| header.number).collect();
        let keeper = Self {
            exporter: Arc::from(exporter),
            ballast: Ballast::new(&directory),
            directory,
            key,
            store: Some(store),
            ledger,
            metrics,
            health,
            next: contents.next,
            commits: contents.commits,
            stored,
            leaving: BTreeSet::new(),
            written: 0,
            trouble: None,
        };
        for header in &contents.headers {
            keeper.ledger.found(header.number, Size::of(header.items, header.length));
        }
        keeper.count_quarantined(quarantined);
        if let Err(error) = keeper.ballast.take() {
            tracing::warn!(exporter, reason = %error.kind(), "the queue's disk is nearly full");
        }
        if !contents.headers.is_empty() {
            let requests = contents.headers.len();
            tracing::info!(exporter, requests, "the queue holds requests from before");
        }
        Ok(keeper)
    }

    /// Does jobs until it is told to close, or nobody is left to ask.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut open = true;
        while open {
            let first = match self.wait(jobs) {
                Ok(job) => Some(job),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            self.probe();
            let mut drafts = Vec::new();
            let mut size = 0;
            let mut job = first;
            while let Some(now) = job {
                open = !matches!(now, Job::Close);
                if let Some((draft, answer)) = self.work(now) {
                    size += draft.body.len();
                    drafts.push((draft, answer));
                }
                job = if open && size < LARGEST_COMMIT { jobs.try_recv().ok() } else { None };
            }
            self.commit(drafts);
        }
    }

    /// Does what needs no commit, and gives back what does.
    fn work(&mut self, job: Job) -> Option<(Draft, Answer<()>)> {
        match job {
            Job::Append { draft, answer } => return Some((draft, answer)),
            Job::Read { number, answer } => {
                let _ = answer.send(self.read(number));
            }
            Job::Remove { number } => self.remove(number),
            Job::DeadLetter { number, name, body, answer } => {
                let _ = answer.send(self.dead_letter(number, &name, &body));
            }
            Job::Quarantine { number, answer } => {
                let _ = answer.send(self.quarantine(number));
            }
            Job::Close => {}
        }
        None
    }

    fn wait(&self, jobs: &Receiver<Job>) -> Result<Job, RecvTimeoutError> {
        match &self.trouble {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(trouble) => jobs.recv_timeout(trouble.next_try.saturating_duration_since(Instant::now())),
        }
    }

    fn commit(&mut self, drafts: Vec<(Draft, Answer<()>)>) {
        if self.trouble.is_some() {
            for (_, answer) in drafts {
                let _ = answer.send(Err(Unwritable));
            }
            return;
        }
        if drafts.is_empty() && self.leaving.is_empty() {
            return;
        }
        let mut added = Vec::with_capacity(drafts.len());
        let mut waiting = Vec::with_capacity(drafts.len());
        let mut bytes = 0;
        for (draft, answer) in drafts {
            let Draft { signal, items, hops, accepted, body, room } = draft;
            let number = self.next;
            self.next += 1;
            let header = Header { number, accepted, items, length: body.len() as u64, signal, hops };
            let encoded = record::encode(&self.key, &header, &body);
            bytes += encoded.len();
            added.push((number, encoded));
            waiting.push((number, room, answer));
        }
        let numbers: Vec<u64> = added.iter().map(|(number, _)| *number).collect();
        match self.settle(added) {
            Ok(()) => {
                self.written += bytes as u64;
                for (number, room, answer) in waiting {
                    room.fill(number);
                    let _ = answer.send(Ok(()));
                }
                let used_up = self.stored.is_empty() && self.written >= START_OVER_AFTER;
                if let Some(failure) = used_up.then(|| self.start_over()).and_then(Result::err) {
                    self.fail(failure, 0);
                }
            }
            Err(failure) => {
                // Whether they are on disk is not known. Their clients are told that they are not, so they must not be.
                self.leaving.extend(numbers);
                self.fail(failure, bytes);
                for (_, _, answer) in waiting {
                    let _ = answer.send(Err(Unwritable));
                }
            }
        }
    }

    /// Makes the store hold these records too, and not those that are leaving. Where that fails, only opening it anew says
    /// what is in it.
    fn settle(&mut self, added: Vec<(u64, Vec<u8>)>) -> Result<(), Failure> {
        let store = self.store.as_ref().ok_or(Failure::Damaged)?;
        for number in &self.leaving {
            self.stored.remove(number);
        }
        self.stored.extend(added.iter().map(|(number, _)| *number));
        self.commits += 1;
        store.commit(&added, &self.leaving, &Mark::of(self.commits, self.next, &self.stored))?;
        self.leaving.clear();
        Ok(())
    }

    /// Remembers the trouble, and opens the store anew, as redb demands after any failed write.
    fn fail(&mut self, failure: Failure, bytes: usize) {
        if self.trouble.is_none() {
            tracing::error!(exporter = &*self.exporter, reason = %failure, "the queue can't be written");
            self.health.queue_failed();
        }
        let pause = self.trouble.as_ref().map_or(FIRST_PROBE, |trouble| (trouble.pause * 2).min(LAST_PROBE));
        let bytes = self.trouble.as_ref().map_or(bytes, |trouble| trouble.bytes.max(bytes));
        self.ballast.give();
        self.trouble = Some(Trouble { bytes, pause, next_try: Instant::now() + pause });
        self.store = None;
        if let Err(failure) = self.reopen() {
            tracing::error!(exporter = &*self.exporter, reason = %failure, "the queue can't be opened");
        }
    }

    fn reopen(&mut self) -> Result<(), Failure> {
        let Opened { store, contents, quarantined } = recovery::open(&self.directory, self.key)?;
        self.store = Some(store);
        self.next = self.next.max(contents.next);
        self.commits = self.commits.max(contents.commits);
        self.stored = contents.headers.iter().map(|header| header.number).collect();
        self.leaving = &self.leaving & &self.stored;
        let held = self.ledger.held();
        for lost in held.difference(&self.stored) {
            self.ledger.done(*lost);
        }
        self.leaving.extend(self.stored.difference(&held));
        self.count_quarantined(quarantined);
        Ok(())
    }

    /// Where the store could not be written: tries again, once it is time.
    fn probe(&mut self) {
        let Some(trouble) = self.trouble.as_ref().filter(|trouble| trouble.next_try <= Instant::now()) else {
            return;
        };
        let bytes = trouble.bytes;
        match self.try_again(bytes) {
            Ok(()) => {
                tracing::info!(exporter = &*self.exporter, "the queue can be written again");
                self.trouble = None;
                self.health.queue_works();
            }
            Err(failure) => self.fail(failure, bytes),
        }
    }

    fn try_again(&mut self, bytes: usize) -> Result<(), Failure> {
        if self.store.is_none() {
            self.reopen()?;
        }
        // What was delivered in the meantime makes room; where that is all, an empty file makes the most.
        if !self.leaving.is_empty() && self.stored.is_subset(&self.leaving) {
            self.start_over()?;
        } else {
            self.settle(Vec::new())?;
        }
        self.store.as_ref().map_or(Err(Failure::Damaged), |store| store.probe(bytes))?;
        Ok(self.ballast.take()?)
    }

    fn remove(&mut self, number: u64) {
        self.ledger.done(number);
        self.leaving.insert(number);
    }

    fn read(&mut self, number: u64) -> Result<Option<Record>, Unwritable> {
        let bytes = match self.store.as_ref().ok_or(Unwritable)?.read(number) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                if self.ledger.done(number) {
                    self.count_quarantined(1);
                }
                return Ok(None);
            }
            Err(failure) => {
                self.fail(failure, 0);
                return Err(Unwritable);
            }
        };
        match record::decode(&self.key, bytes.clone()) {
            Ok(record) if record.header.number == number => Ok(Some(record)),
            _ => {
                self.put_aside(number, &bytes)?;
                Ok(None)
            }
        }
    }

    fn quarantine(&mut self, number: u64) -> Result<(), Unwritable> {
        match self.store.as_ref().ok_or(Unwritable)?.read(number) {
            Ok(Some(bytes)) => self.put_aside(number, &bytes),
            Ok(None) => {
                self.remove(number);
                Ok(())
            }
            Err(failure) => {
                self.fail(failure, 0);
                Err(Unwritable)
            }
        }
    }

    fn put_aside(&mut self, number: u64, bytes: &[u8]) -> Result<(), Unwritable> {
        self.keep(QUARANTINE, &record_name(number), bytes)?;
        self.count_quarantined(1);
        self.remove(number);
        Ok(())
    }

    fn dead_letter(&mut self, number: u64, name: &str, body: &[u8]) -> Result<(), Unwritable> {
        self.keep(DEAD_LETTER, name, body)?;
        self.metrics.queue_lost(&self.exporter, QueueLoss::DeadLettered, 1);
        self.remove(number);
        Ok(())
    }

    fn keep(&self, directory: &str, name: &str, bytes: &[u8]) -> Result<(), Unwritable> {
        write_whole(&self.directory.join(directory), name, bytes).map_err(|error| {
            let reason = error.kind();
            tracing::warn!(exporter = &*self.exporter, %reason, "a file of {directory} can't be written");
            Unwritable
        })
    }

    fn count_quarantined(&self, records: u64) {
        if records > 0 {
            tracing::error!(
                exporter = &*self.exporter,
                records,
                "damaged records of the queue were put aside"
            );
            self.metrics.queue_lost(&self.exporter, QueueLoss::Quarantined, records);
        }
    }

    /// Gives the disk back what a queue has used of which everything is delivered.
    fn start_over(&mut self) -> Result<(), Failure> {
        self.store = None;
        self.written = 0;
        self.commits += 1;
        let mark = Mark::of(self.commits, self.next, &BTreeSet::new());
        // Where it fails, the old file is still there.
        let replaced = recovery::start_over(&self.directory, self.key, &mark);
        self.reopen()?;
        replaced
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        match (std::thread::panicking(), &self.trouble) {
            // Nobody takes requests any more.
            (true, None) => self.health.queue_failed(),
            (false, Some(_)) => self.health.queue_works(),
            _ => {}
        }
    }
}
