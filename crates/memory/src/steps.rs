//! The steps of an allocation, counted and timed.

use std::time::Duration;

use super::clock::Instant;

/// A step of an allocation. The module `shared` documents the order of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocStep {
    /// Looking for a cached block.
    Scan,
    /// Draining released blocks into the pool, and merging them.
    Merge,
    /// Mapping new memory.
    Map,
    /// Unmapping cached memory, to stay below the bound.
    Reclaim,
    /// Requesting a quick collection.
    QuickCollection,
    /// Requesting a full collection.
    FullCollection,
    /// Giving up; the caller gets memory from elsewhere.
    Copy,
}

impl AllocStep {
    /// All steps, in the order of their declaration.
    pub const ALL: [Self; 7] =
        [Self::Scan, Self::Merge, Self::Map, Self::Reclaim, Self::QuickCollection, Self::FullCollection, Self::Copy];

    /// The name, for tables.
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

/// How often a step was taken, how often it was successful, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepCost {
    /// Times taken.
    pub count: u64,
    /// Times that it found a block, or freed memory for one.
    pub helped: u64,
    /// Total time.
    pub time: Duration,
}

/// One in this many scans is timed and counts for all: reading the clock takes as long as a scan.
const TIMED_SCANS: u32 = 16;

/// The costs of all steps. The time of scans is an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocSteps([StepCost; 7]);

impl AllocSteps {
    /// The cost of a step.
    pub fn of(&self, step: AllocStep) -> StepCost {
        self.0[step as usize]
    }

    /// Records a step that took from `since` until now, and sets `since` to now.
    pub(super) fn record(&mut self, step: AllocStep, helped: bool, since: &mut Instant) {
        let now = Instant::now();
        self.add(step, StepCost { count: 1, helped: u64::from(helped), time: now - *since });
        *since = now;
    }

    /// The start time of a scan, if it is one that is timed.
    pub(super) fn start_scan(&self) -> Option<Instant> {
        self.of(AllocStep::Scan).count.is_multiple_of(u64::from(TIMED_SCANS)).then(Instant::now)
    }

    /// Records a scan, which started at the time that [`Self::start_scan`] returned.
    pub(super) fn record_scan(&mut self, helped: bool, since: Option<Instant>) {
        let time = since.map_or(Duration::ZERO, |since| since.elapsed() * TIMED_SCANS);
        self.add(AllocStep::Scan, StepCost { count: 1, helped: u64::from(helped), time });
    }

    /// Adds a cost that was measured elsewhere.
    pub(super) fn add(&mut self, step: AllocStep, taken: StepCost) {
        let sum = &mut self.0[step as usize];
        sum.count += taken.count;
        sum.helped += taken.helped;
        sum.time += taken.time;
    }
}
