//! The queue against a model in memory: whatever is appended, delivered, put aside, closed or crashed, in whatever order,
//! what is left is the same, in the same order.

use std::collections::VecDeque;

use blackbar::queue::Queue;
use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Append {
        bytes: usize,
    },
    /// Several at once: one commit for all of them.
    AppendTogether {
        requests: usize,
    },
    Deliver,
    GiveBack,
    DeadLetter,
    Quarantine,
    /// Closed, and opened again.
    Restart,
    /// The files as they are at this moment, opened by another process.
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![0..3_000usize, 3_000..60_000usize].prop_map(|bytes| Step::Append { bytes }),
        2 => (2..12usize).prop_map(|requests| Step::AppendTogether { requests }),
        5 => Just(Step::Deliver),
        1 => Just(Step::GiveBack),
        1 => Just(Step::DeadLetter),
        1 => Just(Step::Quarantine),
        1 => Just(Step::Restart),
        2 => Just(Step::Crash),
    ]
}

struct Rig {
    directory: TempDir,
    queue: Option<Queue>,
    appended: usize,
    /// What must be in the queue, in order.
    model: VecDeque<String>,
    dead_letters: usize,
    quarantined: usize,
}

const CAPACITY: u64 = 40;

impl Rig {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let queue = Some(open(directory.path(), CAPACITY, &Arc::default()));
        Self { directory, queue, appended: 0, model: VecDeque::new(), dead_letters: 0, quarantined: 0 }
    }

    fn queue(&self) -> &Queue {
        self.queue.as_ref().unwrap()
    }

    async fn restart(&mut self) {
        self.queue().close().await;
        // Two can't have the directory at once.
        drop(self.queue.take());
        self.queue = Some(open(self.directory.path(), CAPACITY, &Arc::default()));
    }

    async fn append(&mut self, requests: usize, bytes: usize) {
        let wanted: Vec<_> = (0..requests).map(|n| format!("span-{}", self.appended + n)).collect();
        self.appended += requests;
        let deadline = std::time::Instant::now();
        let bodies: Vec<_> = wanted.iter().map(|name| redacted(name, bytes)).collect();
        let appends = bodies.iter().map(|body| self.queue().append(body, 0, deadline));
        let results = futures_util::future::join_all(appends).await;
        for (name, result) in wanted.into_iter().zip(results) {
            assert_eq!(result.is_ok(), (self.model.len() as u64) < CAPACITY, "{name}: {result:?}");
            if result.is_ok() {
                self.model.push_back(name);
            }
        }
    }

    async fn take(&mut self) -> Option<u64> {
        let wanted = self.model.pop_front()?;
        let number = self.queue().next().await;
        let stored = self.queue().read(number).await.unwrap().unwrap();
        assert_eq!(name_of(stored.payload.as_bytes()), wanted);
        Some(number)
    }

    async fn run(&mut self, step: &Step) {
        match step {
            Step::Append { bytes } => self.append(1, *bytes).await,
            Step::AppendTogether { requests } => self.append(*requests, 1000).await,
            Step::Deliver => {
                if let Some(number) = self.take().await {
                    self.queue().done(number);
                    self.settle().await;
                }
            }
            Step::GiveBack => {
                let front = self.model.front().cloned();
                if let Some(number) = self.take().await {
                    self.queue().give_back(number);
                    self.model.push_front(front.unwrap());
                }
            }
            Step::DeadLetter => {
                let Some(name) = self.model.front().cloned() else { return };
                let number = self.take().await.unwrap();
                self.queue().dead_letter(number, "http-400", &redacted(&name, 0)).await.unwrap();
                self.dead_letters += 1;
            }
            Step::Quarantine => {
                if let Some(number) = self.take().await {
                    self.queue().quarantine(number).await.unwrap();
                    self.quarantined += 1;
                }
            }
            Step::Restart => {
                self.restart().await;
            }
            Step::Crash => {
                // Once an append is answered, everything before it is on disk, and the keeper is idle.
                if (self.model.len() as u64) < CAPACITY {
                    self.append(1, 10).await;
                    let after = TempDir::new().unwrap();
                    copy(self.directory.path(), after.path());
                    self.queue = Some(open(after.path(), CAPACITY, &Arc::default()));
                    self.directory = after;
                }
            }
        }
    }

    /// Until the keeper has done what it was told.
    async fn settle(&self) {
        let _ = self.queue().read(u64::MAX).await;
    }

    async fn check(mut self) {
        self.restart().await;
        while self.take().await.is_some() {}
        assert_eq!(kept(&self.directory, "dead-letter").len(), self.dead_letters);
        assert_eq!(kept(&self.directory, "quarantine").len(), self.quarantined);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_is_what_its_model_is(steps in proptest::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut rig = Rig::new();
            for step in &steps {
                rig.run(step).await;
            }
            rig.check().await;
        });
    }
}
