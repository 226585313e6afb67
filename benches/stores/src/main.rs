//! Compares embedded stores on the queue's pattern: append bodies of 4 to 400 KB, one fsync for a group of them, read in
//! order, delete. Then damages what they wrote. Prints one line a figure; no part of blackbar.
//!
//! `cargo run --release -- DIRECTORY` on the disk that is to be measured; `cargo run --release -- DIRECTORY SMALL` with an
//! empty directory on a disk of some 20 MiB (a tmpfs), which is filled.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const BODIES: u64 = 2_000;
const GROUP: u64 = 8;

/// What the queue asks of a store. Every method is on disk when it returns.
trait Store: Sized {
    const NAME: &'static str;
    fn open(directory: &Path) -> Result<Self, String>;
    fn append(&mut self, records: &[(u64, Vec<u8>)]) -> Result<(), String>;
    fn read(&mut self, from: u64) -> Result<Option<(u64, Vec<u8>)>, String>;
    fn delete(&mut self, keys: &[u64]) -> Result<(), String>;
}

const TABLE: redb::TableDefinition<u64, &[u8]> = redb::TableDefinition::new("queue");

/// With a commit in one step, or in two, as blackbar does it.
struct Redb<const STEPS: u8>(redb::Database);

impl<const STEPS: u8> Redb<STEPS> {
    fn begin(&self) -> Result<redb::WriteTransaction, String> {
        let mut tx = self.0.begin_write().map_err(text)?;
        tx.set_two_phase_commit(STEPS == 2);
        Ok(tx)
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string().chars().take(60).collect()
}

impl<const STEPS: u8> Store for Redb<STEPS> {
    const NAME: &'static str = if STEPS == 2 { "redb, 2 steps" } else { "redb, 1 step" };

    fn open(directory: &Path) -> Result<Self, String> {
        let db = redb::Builder::new()
            .set_cache_size(16 << 20)
            .create(directory.join("queue.redb"))
            .map_err(text)?;
        let tx = db.begin_write().map_err(text)?;
        tx.open_table(TABLE).map_err(text)?;
        tx.commit().map_err(text)?;
        Ok(Self(db))
    }

    fn append(&mut self, records: &[(u64, Vec<u8>)]) -> Result<(), String> {
        let tx = self.begin()?;
        {
            let mut table = tx.open_table(TABLE).map_err(text)?;
            for (key, body) in records {
                table.insert(key, body.as_slice()).map_err(text)?;
            }
        }
        tx.commit().map_err(text)
    }

    fn read(&mut self, from: u64) -> Result<Option<(u64, Vec<u8>)>, String> {
        use redb::ReadableDatabase;
        let tx = self.0.begin_read().map_err(text)?;
        let table = tx.open_table(TABLE).map_err(text)?;
        let mut range = table.range(from..).map_err(text)?;
        match range.next() {
            None => Ok(None),
            Some(entry) => {
                let (key, value) = entry.map_err(text)?;
                Ok(Some((key.value(), value.value().to_vec())))
            }
        }
    }

    fn delete(&mut self, keys: &[u64]) -> Result<(), String> {
        let tx = self.begin()?;
        {
            let mut table = tx.open_table(TABLE).map_err(text)?;
            for key in keys {
                table.remove(key).map_err(text)?;
            }
        }
        tx.commit().map_err(text)
    }
}

struct Fjall {
    db: fjall::Database,
    queue: fjall::Keyspace,
}

impl Store for Fjall {
    const NAME: &'static str = "fjall";

    fn open(directory: &Path) -> Result<Self, String> {
        let db =
            fjall::Database::builder(directory.join("fjall")).cache_size(16 << 20).open().map_err(text)?;
        let options = || {
            fjall::KeyspaceCreateOptions::default()
                .with_kv_separation(Some(fjall::KvSeparationOptions::default()))
        };
        let queue = db.keyspace("queue", options).map_err(text)?;
        Ok(Self { db, queue })
    }

    fn append(&mut self, records: &[(u64, Vec<u8>)]) -> Result<(), String> {
        let mut batch = self.db.batch().durability(Some(fjall::PersistMode::SyncData));
        for (key, body) in records {
            batch.insert(&self.queue, key.to_be_bytes(), body.as_slice());
        }
        batch.commit().map_err(text)
    }

    fn read(&mut self, from: u64) -> Result<Option<(u64, Vec<u8>)>, String> {
        match self.queue.range(from.to_be_bytes()..).next() {
            None => Ok(None),
            Some(guard) => {
                let (key, value) = guard.into_inner().map_err(text)?;
                let key = u64::from_be_bytes(key.as_ref().try_into().map_err(|_| "key".to_owned())?);
                Ok(Some((key, value.to_vec())))
            }
        }
    }

    fn delete(&mut self, keys: &[u64]) -> Result<(), String> {
        let mut batch = self.db.batch().durability(Some(fjall::PersistMode::SyncData));
        for key in keys {
            batch.remove(&self.queue, key.to_be_bytes());
        }
        batch.commit().map_err(text)
    }
}

/// A body that compression can't shrink much, so that every store writes the same amount; sizes are 4 to 400 KB.
fn body(n: u64) -> Vec<u8> {
    let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let exponent = (next() % 1000) as f64 / 1000.0;
    let size = (4096.0 * 100_f64.powf(exponent)) as usize;
    let mut body = Vec::with_capacity(size + 8);
    while body.len() < size {
        body.extend(next().to_le_bytes());
    }
    body
}

fn size_of(directory: &Path) -> u64 {
    files(directory).iter().map(|f| fs::metadata(f).map_or(0, |m| m.len())).sum()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

fn written() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|l| l.strip_prefix("wchar: ")).unwrap_or("0");
    line.trim().parse().unwrap_or(0)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn speed<S: Store>(root: &Path) {
    let directory = root.join(S::NAME);
    fs::create_dir_all(&directory).unwrap();
    let bodies: Vec<_> = (0..BODIES).map(|n| (n, body(n))).collect();
    let total: u64 = bodies.iter().map(|(_, b)| b.len() as u64).sum();
    let mut store = S::open(&directory).unwrap();
    let (before, start) = (written(), Instant::now());
    let mut waits = Vec::new();
    for group in bodies.chunks(GROUP as usize) {
        let start = Instant::now();
        store.append(group).unwrap();
        waits.push(start.elapsed());
    }
    let took = start.elapsed();
    waits.sort();
    let at = |share: f64| waits[(waits.len() as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{}: append {:.0} MiB in groups of {GROUP}: {:.0} MiB/s; a group p50 {:.1} ms, p99 {:.1} ms; written {:.2} x, on disk {:.2} x",
        S::NAME,
        mib(total),
        mib(total) / took.as_secs_f64(),
        at(0.5),
        at(0.99),
        (written() - before) as f64 / total as f64,
        size_of(&directory) as f64 / total as f64,
    );
    let start = Instant::now();
    let mut next = 0;
    while let Some((key, value)) = store.read(next).unwrap() {
        assert_eq!(value, bodies[key as usize].1);
        next = key + 1;
    }
    assert_eq!(next, BODIES);
    println!("{}: read in order {:.0} MiB/s", S::NAME, mib(total) / start.elapsed().as_secs_f64());
    let (before, start) = (written(), Instant::now());
    for group in (0..BODIES).collect::<Vec<_>>().chunks(GROUP as usize) {
        store.delete(group).unwrap();
    }
    println!(
        "{}: delete {:.0} records/s, written {:.2} x, on disk afterwards {:.1} MiB",
        S::NAME,
        BODIES as f64 / start.elapsed().as_secs_f64(),
        (written() - before) as f64 / total as f64,
        mib(size_of(&directory)),
    );
    // A queue that is nearly empty all the time, the usual case: append a group, read it, delete it.
    let (before, start) = (written(), Instant::now());
    let mut next = BODIES;
    for group in bodies.chunks(GROUP as usize) {
        let group: Vec<_> = group.iter().map(|(n, b)| (n + BODIES, b.clone())).collect();
        store.append(&group).unwrap();
        let mut keys = Vec::new();
        for _ in 0..group.len() {
            let (key, _) = store.read(next).unwrap().unwrap();
            next = key + 1;
            keys.push(key);
        }
        store.delete(&keys).unwrap();
    }
    println!(
        "{}: nearly empty queue {:.0} MiB/s, written {:.2} x, on disk afterwards {:.1} MiB",
        S::NAME,
        mib(total) / start.elapsed().as_secs_f64(),
        (written() - before) as f64 / total as f64,
        mib(size_of(&directory)),
    );
}

#[derive(Default, Debug)]
struct Outcomes {
    unharmed: u32,
    /// The damaged body came as if it were right; all others right.
    wrong_body_given: u32,
    /// Only some records came, without any error.
    silently_missing: u32,
    /// It opened, but reading stopped with an error before all others were read.
    stopped: u32,
    refused_to_open: u32,
    panicked: u32,
}

/// Writes, damages one place, opens and reads all.
fn damage<S: Store>(root: &Path, what: &str, harm: impl Fn(&Path, u64)) {
    let clean = root.join(format!("{}-clean", S::NAME));
    let _ = fs::remove_dir_all(&clean);
    fs::create_dir_all(&clean).unwrap();
    let bodies: Vec<_> = (0..64).map(|n| (n, body(n))).collect();
    {
        let mut store = S::open(&clean).unwrap();
        for group in bodies.chunks(8) {
            store.append(group).unwrap();
        }
    }
    let mut outcomes = Outcomes::default();
    for round in 0..200 {
        let hurt = root.join(format!("{}-hurt", S::NAME));
        let _ = fs::remove_dir_all(&hurt);
        copy(&clean, &hurt);
        harm(&hurt, round);
        let read = catch_unwind(AssertUnwindSafe(|| {
            let mut store = S::open(&hurt).map_err(|_| None)?;
            let (mut got, mut next) = (Vec::new(), 0);
            loop {
                match store.read(next) {
                    Ok(Some((key, value))) => {
                        next = key + 1;
                        got.push((key, value));
                    }
                    Ok(None) => return Ok(got),
                    Err(_) => return Err(Some(got.len())),
                }
            }
        }));
        match read {
            Err(_) => outcomes.panicked += 1,
            Ok(Err(None)) => outcomes.refused_to_open += 1,
            Ok(Err(Some(_))) => outcomes.stopped += 1,
            Ok(Ok(got)) if got == bodies => outcomes.unharmed += 1,
            Ok(Ok(got)) if got.len() == bodies.len() => outcomes.wrong_body_given += 1,
            Ok(Ok(_)) => outcomes.silently_missing += 1,
        }
    }
    println!("{}: {what}, 200 times: {outcomes:?}", S::NAME);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(fs::copy(entry.path(), target))
        }
    }
}

/// The file that holds the bodies.
fn largest(directory: &Path) -> PathBuf {
    files(directory).into_iter().max_by_key(|f| fs::metadata(f).map_or(0, |m| m.len())).unwrap()
}

fn flip(directory: &Path, round: u64) {
    let path = largest(directory);
    let mut bytes = fs::read(&path).unwrap();
    // Where something is written: the tail of a file that grows by leaps is empty.
    let used = bytes.iter().rposition(|b| *b != 0).unwrap_or(0) + 1;
    let at = (round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as usize % used;
    bytes[at] ^= 1 << (round % 8);
    fs::write(&path, bytes).unwrap();
}

fn truncate(directory: &Path, round: u64) {
    let path = largest(directory);
    let bytes = fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|b| *b != 0).unwrap_or(0) + 1;
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len((used as u64).saturating_sub(1 + round * 100)).unwrap();
}

/// A small disk: append until it is full, then delete all, then append again.
fn full<S: Store>(directory: &Path) {
    let said = catch_unwind(AssertUnwindSafe(|| {
        let mut store = S::open(directory).unwrap();
        let mut n = 0;
        let error = loop {
            match store.append(&[(n, body(n))]) {
                Ok(()) => n += 1,
                Err(error) => break error,
            }
        };
        let again = store.append(&[(n, vec![7; 1000])]).err().unwrap_or("accepted".to_owned());
        let keys: Vec<_> = (0..n).collect();
        let deleted = store.delete(&keys).err().unwrap_or("ok".to_owned());
        drop(store);
        let mut store = match S::open(directory) {
            Ok(store) => store,
            Err(error) => {
                return format!(
                    "full after {n}: {error}; small append: {again}; delete: {deleted}; open: {error}"
                );
            }
        };
        let mut left = 0;
        let mut next = 0;
        while let Ok(Some((key, _))) = store.read(next) {
            left += 1;
            next = key + 1;
        }
        let keys: Vec<_> = (0..next).collect();
        let delete = store.delete(&keys).err().unwrap_or("ok".to_owned());
        let append = store.append(&[(n + 1, body(n))]).err().unwrap_or("ok".to_owned());
        format!(
            "full after {n}: {error}; small append: {again}; delete: {deleted}; reopened with {left}, delete {delete}, append {append}"
        )
    }));
    println!("{}: full disk: {}", S::NAME, said.unwrap_or("panicked".to_owned()));
}

fn main() {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or("/tmp/stores".to_owned()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(small) = std::env::args().nth(2) {
        let small = PathBuf::from(small);
        full::<Redb<2>>(&small);
        for file in files(&small) {
            let _ = fs::remove_file(file);
        }
        full::<Fjall>(&small);
        return;
    }
    for _ in 0..2 {
        speed::<Redb<1>>(&root);
        speed::<Redb<2>>(&root);
        speed::<Fjall>(&root);
        for name in [Redb::<1>::NAME, Redb::<2>::NAME, Fjall::NAME] {
            let _ = fs::remove_dir_all(root.join(name));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    damage::<Redb<2>>(&root, "a flipped bit", flip);
    damage::<Fjall>(&root, "a flipped bit", flip);
    damage::<Redb<2>>(&root, "a cut end", truncate);
    damage::<Fjall>(&root, "a cut end", truncate);
    let _ = fs::remove_dir_all(&root);
}
