//! The scheduler: rows are cut into contiguous windows, and one counter hands the windows out.
//!
//! A window is a run of rows, measured in bytes and not in rows, so that a few long rows weigh what they are. Each
//! worker asks the counter for the next window until there is none; nothing else is shared while it works. Windows are
//! large at first, so that there are few of them, and smaller towards the end, so that no worker is left alone with a
//! big one when the others are done.
//!
//! The counter has a cache line of its own: every worker writes it, and what stood beside it would be dragged along.
//! `fetch_add` gives every number to exactly one worker, whatever the ordering, so relaxed is enough: the rows were
//! written before the workers were started, and results are read after all of them have ended; starting and joining
//! order both.
//!
//! Of several errors the one in the first row is told. A window that fails says so in `failed`, and workers drop windows
//! behind it; windows before it had been handed out already, because the counter goes up, and are finished.

use crossbeam_utils::CachePadded;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cancel::Cancel;
use super::{BatchError, parallelism};
use crate::lock::{Lock, Locks, Std};

/// Windows per worker, about.
const WINDOWS_PER_WORKER: usize = 4;
/// A window has this much to do at least, in bytes: handing it out must not be what costs.
const MIN_WINDOW_BYTES: usize = 16 << 10;
/// After so many bytes a worker lets others have its processor, if any wait for it: with a worker on each of them, the
/// thread that runs an event loop or reads a file would otherwise wait until the scheduler's next turn.
const YIELD_BYTES: usize = 16 << 10;
/// Batches of less than this, in bytes, are not worth waking anybody for.
const MIN_PARALLEL_BYTES: usize = 64 << 10;

/// Cuts rows of the given weights into windows for so many workers: contiguous, none empty, all rows covered.
pub(super) fn windows(weights: &[usize], workers: usize) -> Vec<Range<usize>> {
    let mut rest: usize = weights.iter().sum();
    let mut windows = Vec::with_capacity(workers * WINDOWS_PER_WORKER * 2);
    let (mut start, mut size) = (0, 0);
    for (row, &weight) in weights.iter().enumerate() {
        size += weight;
        // A share of what is left: so windows get smaller as the end comes near.
        if size >= (rest / (workers * WINDOWS_PER_WORKER / 2).max(1)).max(MIN_WINDOW_BYTES) {
            windows.push(start..row + 1);
            start = row + 1;
            rest -= size;
            size = 0;
        }
    }
    if start < weights.len() {
        windows.push(start..weights.len());
    }
    windows
}

/// Numbers from zero up, each given out once.
pub(super) struct Counter<A>(CachePadded<A>);

/// The operations that the scheduler needs; a trait so that a model checker can put its own atomics in.
pub(super) trait AtomicIndex {
    fn new(number: usize) -> Self;
    fn fetch_increment(&self) -> usize;
    fn lower(&self, number: usize);
    fn get(&self) -> usize;
}

impl AtomicIndex for AtomicUsize {
    fn new(number: usize) -> Self {
        Self::new(number)
    }

    fn fetch_increment(&self) -> usize {
        self.fetch_add(1, Ordering::Relaxed)
    }

    fn lower(&self, number: usize) {
        self.fetch_min(number, Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.load(Ordering::Relaxed)
    }
}

impl<A: AtomicIndex> Counter<A> {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(A::new(0)))
    }

    /// The next number below `count`, if any is left. No more calls than workers come after the last number, so that it
    /// cannot wrap around.
    pub(super) fn next(&self, count: usize) -> Option<usize> {
        Some(self.0.fetch_increment()).filter(|&number| number < count)
    }
}

/// What the workers of a batch share, and how each of them works.
struct Schedule<T: Send, A, L: Locks> {
    counter: Counter<A>,
    /// The first window that is known to have failed.
    failed: A,
    /// What became of each window.
    results: Vec<L::Of<Option<Result<T, BatchError>>>>,
}

impl<T: Send, A: AtomicIndex, L: Locks> Schedule<T, A, L> {
    fn new(windows: usize) -> Self {
        let results = (0..windows).map(|_| L::Of::new(None)).collect();
        Self { counter: Counter::new(), failed: A::new(usize::MAX), results }
    }

    /// Does windows until there are none left. `one` does the window of a number, as long as it is told to go on.
    fn run_worker(
        &self,
        cancelled: impl Fn() -> bool,
        one: impl Fn(usize, &dyn Fn() -> bool) -> Result<T, BatchError>,
    ) {
        while let Some(at) = self.counter.next(self.results.len()) {
            let should_continue = || !cancelled() && self.failed.get() >= at;
            if !should_continue() {
                continue;
            }
            let result = one(at, &should_continue);
            if result.is_err() {
                self.failed.lower(at);
            }
            self.results[at].with(|slot| *slot = Some(result));
        }
    }

    /// What became of all, once nobody works any more.
    fn collect_results(&self, cancelled: impl Fn() -> bool) -> Result<Vec<T>, BatchError> {
        if cancelled() {
            return Err(BatchError::Cancelled);
        }
        // Windows behind a failed one may be missing, but then the failed one comes first and ends the collecting.
        let in_order = self.results.iter().map(|slot| slot.with(Option::take));
        in_order.map(|result| result.expect("every window before a failed one was finished")).collect()
    }
}

/// The rows of a window, one by one, as long as the batch goes on.
pub(super) struct RowCursor<'a> {
    rows: Range<usize>,
    /// The row handed out last.
    current: usize,
    weights: &'a [usize],
    /// Bytes of the rows handed out since the last yield.
    since_yield: usize,
    should_continue: &'a dyn Fn() -> bool,
}

impl RowCursor<'_> {
    pub(super) fn range(&self) -> Range<usize> {
        self.rows.clone()
    }

    pub(super) fn next(&mut self) -> Option<usize> {
        if !(self.should_continue)() {
            self.rows.start = self.rows.end;
        }
        self.current = self.rows.next()?;
        if self.since_yield >= YIELD_BYTES {
            self.since_yield = 0;
            std::thread::yield_now();
        }
        self.since_yield += self.weights[self.current];
        Some(self.current)
    }
}

/// Runs `work` over all rows and returns its results by window, in the order of the rows.
///
/// `work` takes rows until there are none and returns what it made of them. It may panic: that is the error of the row
/// it had taken last.
pub(super) fn run<T: Send>(
    weights: &[usize],
    threads: usize,
    cancel: Option<&Cancel>,
    work: impl Fn(&mut RowCursor<'_>) -> Result<T, BatchError> + Sync,
) -> Result<Vec<T>, BatchError> {
    let cancelled = || cancel.is_some_and(Cancel::is_cancelled);
    let one = |rows: Range<usize>, should_continue: &dyn Fn() -> bool| {
        let mut rows = RowCursor { current: rows.start, rows, weights, since_yield: 0, should_continue };
        // Whatever `work` leaves behind in a panic is dropped with it: encoders are taken for its time and not put back.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut rows)));
        outcome.unwrap_or_else(|panic| Err(BatchError::panicked(rows.current, &*panic)))
    };

    let total: usize = weights.iter().sum();
    let workers = if total < MIN_PARALLEL_BYTES { 1 } else { threads.min(weights.len()) };
    let windows = if workers > 1 { windows(weights, workers) } else { vec![] };
    let pool = if windows.len() > 1 { parallelism::pool(workers - 1) } else { None };
    let Some(pool) = pool else {
        let result = one(0..weights.len(), &|| !cancelled());
        return if cancelled() { Err(BatchError::Cancelled) } else { result.map(|all| vec![all]) };
    };

    let work = Schedule::<T, AtomicUsize, Std>::new(windows.len());
    let worker = || work.run_worker(cancelled, |at, should_continue| one(windows[at].clone(), should_continue));
    // The thread that asked works too; the pool's threads help it.
    pool.in_place_scope(|scope| {
        for _ in 1..workers.min(windows.len()) {
            scope.spawn(|_| worker());
        }
        worker();
    });
    work.collect_results(cancelled)
}

#[cfg(test)]
mod tests {
    use super::super::cancel::Flag;
    use super::*;
    use crate::lock::Loom;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool as LoomBool, AtomicUsize as LoomAtomic};
    use proptest::prelude::*;

    impl AtomicIndex for LoomAtomic {
        fn new(number: usize) -> Self {
            Self::new(number)
        }

        fn fetch_increment(&self) -> usize {
            self.fetch_add(1, Ordering::Relaxed)
        }

        fn lower(&self, number: usize) {
            self.fetch_min(number, Ordering::Relaxed);
        }

        fn get(&self) -> usize {
            self.load(Ordering::Relaxed)
        }
    }

    impl Flag for LoomBool {
        fn set(&self) {
            self.store(true, Ordering::Relaxed);
        }

        fn is_set(&self) -> bool {
            self.load(Ordering::Relaxed)
        }
    }

    /// Of the accesses to an atomic loom remembers the last one only, so that after two reads by two threads it does not try a
    /// write between them. A write of something else before each access makes it do that; relaxed, it orders nothing.
    struct Turns<A> {
        value: A,
        turn: LoomAtomic,
    }

    impl<A> Turns<A> {
        fn of(value: A) -> Self {
            Self { value, turn: LoomAtomic::new(0) }
        }

        fn next(&self) -> &A {
            self.turn.fetch_add(1, Ordering::Relaxed);
            &self.value
        }
    }

    impl<A: AtomicIndex> AtomicIndex for Turns<A> {
        fn new(number: usize) -> Self {
            Self::of(A::new(number))
        }

        fn fetch_increment(&self) -> usize {
            self.value.fetch_increment()
        }

        fn lower(&self, number: usize) {
            self.next().lower(number);
        }

        fn get(&self) -> usize {
            self.next().get()
        }
    }

    impl<A: Flag> Flag for Turns<A> {
        fn set(&self) {
            self.next().set();
        }

        fn is_set(&self) -> bool {
            self.next().is_set()
        }
    }

    proptest! {
        #[test]
        fn windows_cover_all_rows_in_order_and_none_is_empty(
            weights in prop::collection::vec(prop_oneof![0usize..50, 1000usize..9000, Just(3_000_000)], 0..400),
            workers in 1usize..90,
        ) {
            let windows = windows(&weights, workers);
            let mut next = 0;
            for window in &windows {
                prop_assert!(window.start == next && window.end > next);
                next = window.end;
            }
            prop_assert_eq!(next, weights.len());
            // No window but the last is smaller than it may be, and none could have ended a row earlier.
            for window in &windows[..windows.len().saturating_sub(1)] {
                let size: usize = weights[window.clone()].iter().sum();
                prop_assert!(size >= MIN_WINDOW_BYTES);
                let without_last: usize = weights[window.start..window.end - 1].iter().sum();
                let rest: usize = weights[window.start..].iter().sum();
                prop_assert!(without_last < (rest / (workers * WINDOWS_PER_WORKER / 2).max(1)).max(MIN_WINDOW_BYTES));
            }
        }
    }

    #[test]
    fn windows_get_smaller_towards_the_end() {
        let weights = vec![6500; 1000];
        let sizes: Vec<usize> = windows(&weights, 2).iter().map(|window| window.len()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        assert!(sizes[0] >= 200 && *sizes.last().expect("there are rows") <= 4, "{sizes:?}");
        assert!(sizes.len() <= 40, "{} windows", sizes.len());
    }

    #[test]
    fn every_number_goes_to_exactly_one_worker_in_every_interleaving() {
        loom::model(|| {
            const WINDOWS: usize = 3;
            let counter = Arc::new(Counter::<LoomAtomic>::new());
            let helpers: Vec<_> = (0..2)
                .map(|_| {
                    let counter = Arc::clone(&counter);
                    loom::thread::spawn(move || {
                        let mut taken = vec![];
                        while let Some(number) = counter.next(WINDOWS) {
                            taken.push(number);
                        }
                        taken
                    })
                })
                .collect();
            let mut all: Vec<usize> = helpers.into_iter().flat_map(|helper| helper.join().expect("no panic")).collect();
            assert!(counter.next(WINDOWS).is_none());
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
        });
    }

    /// Two workers and somebody who cancels: whatever comes first, the batch is cancelled or all of it is there. Threads are
    /// interrupted up to three times; without a bound it takes minutes.
    #[test]
    fn a_batch_is_cancelled_or_complete_in_every_interleaving() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let work = Arc::new(Schedule::<usize, LoomAtomic, Loom>::new(2));
            let flag = Arc::new(Turns::of(LoomBool::new(false)));
            let help = |work: &Schedule<usize, LoomAtomic, Loom>, flag: &Turns<LoomBool>| {
                // A row each: a window that is told to stop is one without it.
                work.run_worker(
                    || flag.is_set(),
                    |at, should_continue| Ok(if should_continue() { at } else { usize::MAX }),
                );
            };
            let canceller = loom::thread::spawn({
                let flag = Arc::clone(&flag);
                move || flag.set()
            });
            let helper = loom::thread::spawn({
                let (work, flag) = (Arc::clone(&work), Arc::clone(&flag));
                move || help(&work, &flag)
            });
            help(&work, &flag);
            // The scope waits for the helper, and for nobody else.
            helper.join().expect("no panic");
            match work.collect_results(|| flag.is_set()) {
                Ok(all) => assert_eq!(all, [0, 1], "whoever stopped early did so because of the flag"),
                Err(error) => assert_eq!(error, BatchError::Cancelled),
            }
            canceller.join().expect("no panic");
            assert_eq!(work.collect_results(|| flag.is_set()), Err(BatchError::Cancelled), "once set it stays set");
        });
    }

    /// Two workers, and windows that fail: the first of them is told, and those before it were finished.
    #[test]
    fn the_first_window_that_fails_is_told_in_every_interleaving() {
        type Shared = Schedule<usize, Turns<LoomAtomic>, Loom>;
        loom::model(|| {
            let work = Arc::new(Shared::new(3));
            let help =
                |work: &Shared| work.run_worker(|| false, |at, _| if at == 0 { Ok(at) } else { Err(failure(at)) });
            let helper = loom::thread::spawn({
                let work = Arc::clone(&work);
                move || help(&work)
            });
            help(&work);
            helper.join().expect("no panic");
            assert_eq!(work.collect_results(|| false), Err(failure(1)));
        });
    }

    /// Runs windows over rows of 10 KB each; `row` says what becomes of a row.
    fn run_rows(
        count: usize,
        threads: usize,
        cancel: Option<&Cancel>,
        row: impl Fn(usize) -> Result<usize, BatchError> + Sync,
    ) -> Result<Vec<usize>, BatchError> {
        let work = |rows: &mut RowCursor<'_>| {
            let mut made = vec![];
            while let Some(at) = rows.next() {
                made.push(row(at)?);
            }
            Ok(made)
        };
        run(&vec![10_000; count], threads, cancel, work).map(|windows| windows.concat())
    }

    fn failure(row: usize) -> BatchError {
        BatchError::Row { row, source: crate::EncodeError::InvalidUtf8 { byte: row } }
    }

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [1, 2, 3, 8] {
            let expected: Vec<usize> = (0..300).collect();
            assert_eq!(run_rows(300, threads, None, Ok), Ok(expected));
        }
        assert_eq!(run_rows(0, 4, None, Ok), Ok(vec![]));
    }

    #[test]
    fn the_first_row_that_fails_is_the_one_told() {
        for threads in [1, 2, 4] {
            for _ in 0..20 {
                let result =
                    run_rows(300, threads, None, |row| if row % 97 == 96 { Err(failure(row)) } else { Ok(row) });
                assert_eq!(result, Err(failure(96)));
            }
        }
    }

    #[test]
    fn a_row_that_panics_is_an_error_of_that_row_and_the_next_batch_works() {
        for threads in [1, 3] {
            let result =
                run_rows(200, threads, None, |row| if row == 150 { panic!("row {row} is bad") } else { Ok(row) });
            assert_eq!(result, Err(BatchError::Panicked { row: 150, message: "row 150 is bad".into() }));
            assert_eq!(run_rows(2, threads, None, Ok), Ok(vec![0, 1]));
        }
    }

    #[test]
    fn a_cancelled_batch_stops_within_a_row_of_each_worker() {
        for threads in [1, 3] {
            let (cancel, done) = (Cancel::new(), AtomicUsize::new(0));
            let result = run_rows(10_000, threads, Some(&cancel), |row| {
                if done.fetch_add(1, Ordering::Relaxed) == 50 {
                    cancel.cancel();
                }
                Ok(row)
            });
            assert_eq!(result, Err(BatchError::Cancelled));
            assert!(done.into_inner() <= 51 + threads);
            assert_eq!(run_rows(5, threads, Some(&cancel), Ok), Err(BatchError::Cancelled));
        }
    }
}
