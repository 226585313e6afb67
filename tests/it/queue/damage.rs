//! Damaged files: flipped bits and cut ends. Only what is damaged is put aside, and the rest goes on.

use std::collections::BTreeMap;

use blackbar::otlp::Payload;
use blackbar::redact::Redactor;
use blackbar::telemetry::Metrics;

use super::*;
use crate::support::backend::Backend;

/// What a record begins with.
const MAGIC: &[u8] = b"\xB1BBQREC1";

/// Number and place of every record in a store's file.
fn records(file: &[u8]) -> BTreeMap<u64, usize> {
    let number = |at: usize| u64::from_le_bytes(file[at + 8..at + 16].try_into().unwrap());
    memchr::memmem::find_iter(file, MAGIC).map(|at| (number(at), at)).collect()
}

/// A directory whose queue holds so many requests, accepted in order by a process that is gone.
async fn filled(requests: usize, bytes: usize) -> TempDir {
    let directory = TempDir::new().unwrap();
    let process = Process::run(&config(directory.path(), DEAD, "")).await;
    for n in 0..requests {
        assert!(send(&process, Via::Protobuf, &format!("span-{n}"), bytes).await.is_ok());
    }
    process.terminate().await;
    directory
}

fn store(directory: &TempDir) -> PathBuf {
    directory.path().join(EXPORTER).join("queue.redb")
}

/// Starts a process on a directory in which one record is damaged.
async fn all_but_one(directory: &TempDir, damaged: u64, of: usize) {
    let backend = Backend::start().await;
    let process = Process::run(&config(directory.path(), &backend.http_url(), ", num_consumers: 1")).await;
    until(&process, "requests", 0).await;
    let wanted: Vec<_> = (0..of as u64).filter(|n| *n != damaged).map(|n| format!("span-{n}")).collect();
    assert_eq!(names(&backend.requests()), wanted);
    let aside = kept(directory, "quarantine");
    assert!(aside[0].ends_with(format!("{damaged:020}.record")), "{aside:?}");
    let page = metrics(&process).await;
    assert_eq!((value(&page, "quarantined_total"), value(&page, "dead_lettered_total")), (1, 0));
    // The queue goes on.
    assert!(send(&process, Via::Protobuf, "new", 0).await.is_ok());
    until(&process, "requests", 0).await;
    assert_eq!(names(&backend.requests()).last().unwrap(), "new");
    let page = metrics(&process).await;
    assert_no_secret(directory, &backend.requests(), &[&page, &process.log()]);
}

#[tokio::test]
async fn a_flipped_bit_costs_its_own_record() {
    let directory = filled(12, 20_000).await;
    let path = store(&directory);
    let mut file = fs::read(&path).unwrap();
    let at = records(&file)[&5] + 9_000;
    file[at] ^= 0x10;
    fs::write(&path, file).unwrap();
    all_but_one(&directory, 5, 12).await;
}

#[tokio::test]
async fn a_cut_end_costs_the_last_record() {
    let directory = filled(12, 20_000).await;
    let path = store(&directory);
    let file = fs::read(&path).unwrap();
    let (number, at) = records(&file).into_iter().max_by_key(|(_, at)| *at).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(at as u64 + 9_000).unwrap();
    all_but_one(&directory, number, 12).await;
}

#[tokio::test]
async fn a_record_that_is_no_request_holds_up_nothing() {
    let directory = TempDir::new().unwrap();
    let queue = open(directory.path(), 10, &Arc::new(Metrics::default()));
    let garbage = Redactor::pass_unsafely(Signal::Traces, Payload::new(Bytes::from_static(b"\x07garbage")));
    for body in [redacted("before", 0), garbage, redacted("after", 0)] {
        queue.append(&body, 0, std::time::Instant::now()).await.unwrap();
    }
    queue.close().await;
    drop(queue);
    let backend = Backend::start().await;
    let process = Process::run(&config(directory.path(), &backend.http_url(), ", num_consumers: 1")).await;
    until(&process, "requests", 0).await;
    assert_eq!(names(&backend.requests()), ["before", "after"]);
    assert_eq!(kept(&directory, "quarantine").len(), 1);
    assert_eq!(value(&metrics(&process).await, "quarantined_total"), 1);
}

/// Opens the queue itself; gives what can be read, and how many were put aside.
async fn read_all(directory: &Path) -> (Vec<String>, u64) {
    let metrics = Arc::new(Metrics::default());
    let queue = open(directory, 1000, &metrics);
    let mut read = Vec::new();
    while value(&metrics.render(), "requests") > 0 {
        let number = queue.next().await;
        if let Some(stored) = queue.read(number).await.unwrap() {
            read.push(name_of(stored.payload.as_bytes()));
            queue.done(number);
        }
        // Done comes to the ledger by way of the keeper: an answer says that it has passed.
        let _ = queue.read(u64::MAX).await;
    }
    let quarantined = value(&metrics.render(), "quarantined_total");
    queue.close().await;
    (read, quarantined)
}

#[tokio::test]
async fn any_flipped_bit_and_any_cut_costs_at_most_what_it_hits() {
    let clean = filled(10, 6_000).await;
    let all: Vec<_> = (0..10).map(|n| format!("span-{n}")).collect();
    let file = fs::read(store(&clean)).unwrap();
    let places = records(&file);
    let used = file.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let spread = |round: usize| (round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 13) % used;
    // Anywhere; in each mark; then everywhere in what stands before and behind a record, where the store keeps its own notes.
    let around = places[&3] - 64;
    let marks = memchr::memmem::find_iter(&file, b"\xB1BBQMRK1").map(|at| at + 12);
    let flips =
        (0..150).map(spread).chain(marks).chain((around..around + 130).step_by(3)).chain((0..512).step_by(7));
    for (round, at) in flips.enumerate() {
        let hurt = TempDir::new().unwrap();
        copy(clean.path(), hurt.path());
        let mut file = file.clone();
        file[at] ^= 1 << (round % 8);
        fs::write(store(&hurt), &file).unwrap();
        let (read, quarantined) = read_all(hurt.path()).await;
        let hit: Vec<_> =
            places.iter().filter(|(_, start)| (**start..**start + 6_400).contains(&at)).collect();
        let missing: Vec<_> = all.iter().filter(|name| !read.contains(name)).collect();
        assert!(missing.len() <= hit.len(), "a bit at {at}: {missing:?} are missing");
        assert_eq!(missing.len() as u64, quarantined, "a bit at {at}");
        assert!(read.is_sorted_by_key(|name| name[5..].parse::<u64>().unwrap()), "{read:?}");
        let twice = read.len() - set(read.clone()).len();
        assert_eq!(twice, 0, "a bit at {at}");
    }
    for round in 0..60 {
        let hurt = TempDir::new().unwrap();
        copy(clean.path(), hurt.path());
        let end = spread(round).max(4096);
        fs::OpenOptions::new().write(true).open(store(&hurt)).unwrap().set_len(end as u64).unwrap();
        let (read, quarantined) = read_all(hurt.path()).await;
        let whole = places.values().filter(|start| **start + 6_400 < end).count();
        assert!(read.len() >= whole, "cut at {end}: {read:?}");
        assert!(read.len() == all.len() || quarantined > 0, "cut at {end}: not counted");
    }
}

#[tokio::test]
async fn a_new_store_overwrites_nothing_that_was_kept() {
    let directory = TempDir::new().unwrap();
    for letters in 1..4 {
        let queue = open(directory.path(), 10, &Arc::new(Metrics::default()));
        let body = redacted(&format!("letter {letters}"), 0);
        queue.append(&body, 0, std::time::Instant::now()).await.unwrap();
        let number = queue.next().await;
        queue.dead_letter(number, "http-400", &body).await.unwrap();
        queue.close().await;
        fs::remove_file(store(&directory)).unwrap();
        assert_eq!(kept(&directory, "dead-letter").len(), letters);
    }
}

/// The bytes of what was delivered are still in the file: they are neither delivered again nor taken for damage.
#[tokio::test]
async fn what_was_delivered_does_not_come_back_from_a_damaged_file() {
    let directory = TempDir::new().unwrap();
    let queue = open(directory.path(), 100, &Arc::new(Metrics::default()));
    for n in 0..12 {
        queue.append(&redacted(&format!("span-{n}"), 20_000), 0, std::time::Instant::now()).await.unwrap();
    }
    for _ in 0..6 {
        let number = queue.next().await;
        if ![2, 4].contains(&number) {
            queue.done(number);
        }
    }
    queue.close().await;
    drop(queue);
    let path = store(&directory);
    let clean = fs::read(&path).unwrap();
    let places = records(&clean);
    let mut remains = [0, 1, 3, 5].into_iter().filter_map(|delivered| places.get(&delivered));
    let (body, header) = (remains.next().unwrap() + 9_000, remains.next().unwrap() + 20);
    let left = [2, 4, 6, 7, 8, 9, 10, 11];
    for damaged in [2, 7, 11] {
        let mut file = clean.clone();
        file[places[&damaged] + 9_000] ^= 1;
        // What remains of the delivered is of no account.
        file[body] ^= 1;
        file[header] ^= 1;
        fs::write(&path, file).unwrap();
        let copied = TempDir::new().unwrap();
        copy(directory.path(), copied.path());
        let (read, quarantined) = read_all(copied.path()).await;
        let wanted: Vec<_> = left.iter().filter(|n| **n != damaged).map(|n| format!("span-{n}")).collect();
        assert_eq!((read, quarantined), (wanted, 1));
        let aside = files(&copied.path().join(EXPORTER).join("quarantine"));
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert!(aside[0].ends_with(format!("{damaged:020}.record")), "{aside:?}");
    }
}
