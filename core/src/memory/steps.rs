//! The steps of an allocation, counted and timed.

use std::time::{Duration, Instant};

/// One step of an allocation, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
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

impl Step {
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
pub struct Taken {
    /// Times taken.
    pub count: u64,
    /// Times that it gave what was wanted: a block, or bytes that made room for one.
    pub helped: u64,
    /// Time spent in it.
    pub time: Duration,
}

/// What all steps have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Steps([Taken; 7]);

impl Steps {
    /// What one step has taken.
    pub fn of(&self, step: Step) -> Taken {
        self.0[step as usize]
    }

    /// Notes a step that took from `since` until now, and moves `since` on.
    pub(super) fn note(&mut self, step: Step, helped: bool, since: &mut Instant) {
        let now = Instant::now();
        self.add(step, Taken { count: 1, helped: u64::from(helped), time: now - *since });
        *since = now;
    }

    /// Adds what a step has taken elsewhere.
    pub(super) fn add(&mut self, step: Step, taken: Taken) {
        let sum = &mut self.0[step as usize];
        sum.count += taken.count;
        sum.helped += taken.helped;
        sum.time += taken.time;
    }
}
