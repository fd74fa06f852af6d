//! The steps of an allocation, counted and timed.

use std::time::{Duration, Instant};

/// One step of an allocation, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocStep {
    /// Looking among the blocks that are there.
    Scan,
    /// Taking in what was handed back, and merging it.
    Merge,
    /// Mapping new memory.
    Map,
    /// Unmapping what is not lent, to stay below the cap.
    Reclaim,
    /// Asking whoever holds blocks for a quick collection.
    QuickCollection,
    /// Asking whoever holds blocks for a full collection.
    FullCollection,
    /// Giving up: whoever asked takes memory from elsewhere.
    Copy,
}

impl AllocStep {
    /// All steps, in order.
    pub const ALL: [Self; 7] =
        [Self::Scan, Self::Merge, Self::Map, Self::Reclaim, Self::QuickCollection, Self::FullCollection, Self::Copy];

    /// Its name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Merge => "merge",
            Self::Map => "map",
            Self::Reclaim => "reclaim",
            Self::QuickCollection => "quickCollection",
            Self::FullCollection => "fullCollection",
            Self::Copy => "copy",
        }
    }
}

/// How often a step was taken, how often it was the last one needed, and how long all of that took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCost {
    /// Times taken.
    pub count: u64,
    /// Times that it gave what was wanted: a block, or bytes that made room for one.
    pub helped: u64,
    /// Time spent in it.
    pub time: Duration,
}

/// Of so many scans one is timed, and stands for all: reading the clock takes as long as finding a block.
const TIMED_SCANS: u32 = 16;

/// What all steps have taken. The time of scans is an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocSteps([StepCost; 7]);

impl AllocSteps {
    /// What one step has taken.
    pub fn of(&self, step: AllocStep) -> StepCost {
        self.0[step as usize]
    }

    /// Notes a step that took from `since` until now, and moves `since` on.
    pub(super) fn record(&mut self, step: AllocStep, helped: bool, since: &mut Instant) {
        let now = Instant::now();
        self.add(step, StepCost { count: 1, helped: u64::from(helped), time: now - *since });
        *since = now;
    }

    /// When a scan begins that is to be timed.
    pub(super) fn start_scan(&self) -> Option<Instant> {
        self.of(AllocStep::Scan).count.is_multiple_of(u64::from(TIMED_SCANS)).then(Instant::now)
    }

    /// Notes a scan, and its time if it was to be timed.
    pub(super) fn record_scan(&mut self, helped: bool, since: Option<Instant>) {
        let time = since.map_or(Duration::ZERO, |since| since.elapsed() * TIMED_SCANS);
        self.add(AllocStep::Scan, StepCost { count: 1, helped: u64::from(helped), time });
    }

    /// Adds what a step has taken elsewhere.
    pub(super) fn add(&mut self, step: AllocStep, taken: StepCost) {
        let sum = &mut self.0[step as usize];
        sum.count += taken.count;
        sum.helped += taken.helped;
        sum.time += taken.time;
    }
}
