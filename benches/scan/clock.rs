//! CPU time of this thread, and what of it a pass over texts takes.

use std::time::Instant;

/// Passes of which the median counts.
const PASSES: usize = 7;
/// Least time of one pass, in seconds.
const LEAST: f64 = 0.05;

/// A pass that takes so long is the only one, in seconds.
const LONG: f64 = 4.0;

/// Bytes of the texts per CPU second of `look`, in millions.
pub(crate) fn megabytes_per_second(texts: &[Vec<u8>], look: &mut dyn FnMut(&[u8])) -> f64 {
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let mut pass = || {
        let start = Clock::start();
        let mut passes = 0.0;
        loop {
            texts.iter().for_each(|text| look(text));
            passes += 1.0;
            let seconds = start.seconds();
            if seconds >= LEAST {
                return (bytes as f64 * passes / seconds / 1e6, seconds);
            }
        }
    };
    let (first, seconds) = pass();
    if seconds > LONG {
        return first;
    }
    let mut rates: Vec<f64> = (0..PASSES).map(|_| pass().0).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(PASSES / 2).copied().unwrap_or_default()
}

/// Since when.
struct Clock {
    cpu: Option<u64>,
    wall: Instant,
}

impl Clock {
    fn start() -> Self {
        Self { cpu: cpu_nanoseconds(), wall: Instant::now() }
    }

    fn seconds(&self) -> f64 {
        match (self.cpu, cpu_nanoseconds()) {
            (Some(from), Some(to)) => to.saturating_sub(from) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// What Linux says; elsewhere wall-clock time has to do.
fn cpu_nanoseconds() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
