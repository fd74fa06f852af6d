//! The scheduler: rows are divided into row windows, which a shared counter distributes.
//!
//! A *row window* (window for short) is a run of adjacent rows that one worker processes. Its size
//! is measured in bytes and not in rows, because row lengths vary. Each worker takes windows from
//! the counter until none is left; workers share nothing else. The first windows are large, so that
//! there are few of them. Later ones are smaller, so that all workers end at about the same time.
//!
//! The counter has a cache line of its own, because every worker writes it and would invalidate
//! whatever shared the line. `fetch_add` returns each number to exactly one worker in any ordering,
//! so relaxed is sufficient: starting the workers orders their reads after the writes of the rows,
//! and joining them orders the reads of their results.
//!
//! If several rows fail, the error of the first is returned. A worker whose window fails stores its
//! index in `failed`, and workers skip windows after it. Windows before it were distributed
//! earlier, because the counter only increases, and are finished.

use crossbeam_utils::CachePadded;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cancel::Cancel;
use super::{BatchError, parallelism};
use crate::lock::{Lock, Locks, Std};

/// A window takes the remaining bytes divided by this and by the number of workers.
const WINDOW_SHARE: usize = 2;
/// Minimum size of a window in bytes, so that the cost of the counter is negligible: 16 KiB.
const MIN_WINDOW_BYTES: usize = 16 << 10;
/// A worker yields its processor after this many bytes: 16 KiB. If every processor runs a worker, a
/// thread with an event loop or a file to read would otherwise wait until its next time slice.
const YIELD_BYTES: usize = 16 << 10;
/// Batches of fewer bytes run on the calling thread, because waking others takes longer: 64 KiB.
const MIN_PARALLEL_BYTES: usize = 64 << 10;

/// Divides rows into windows for `workers` workers. `weights` are the sizes of the rows in bytes.
/// The windows are contiguous, not empty, and cover all rows.
pub(super) fn divide(weights: &[usize], workers: usize) -> Vec<Range<usize>> {
    let mut rest: usize = weights.iter().sum();
    let mut windows = Vec::with_capacity(workers * 8);
    let (mut start, mut size) = (0, 0);
    for (row, &weight) in weights.iter().enumerate() {
        size += weight;
        // A window takes a share of the remaining bytes, so windows become smaller towards the end.
        if size >= (rest / (workers * WINDOW_SHARE).max(1)).max(MIN_WINDOW_BYTES) {
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

/// Returns the numbers 0, 1, 2…, each to one caller.
pub(super) struct Counter<A>(CachePadded<A>);

/// The atomic operations that the scheduler needs. A trait, so that a model checker can use its own
/// atomics.
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

    /// The next number, if it is below `count`. Each worker stops after its first `None`, so the
    /// counter cannot overflow.
    pub(super) fn next(&self, count: usize) -> Option<usize> {
        Some(self.0.fetch_increment()).filter(|&number| number < count)
    }
}

/// The state that the workers of a batch share.
struct Schedule<T: Send, A, L: Locks> {
    counter: Counter<A>,
    /// The lowest index of a window that is known to have failed; `usize::MAX` if none is.
    failed: A,
    /// The result of each window; `None` if it was not finished.
    results: Vec<L::Of<Option<Result<T, BatchError>>>>,
}

impl<T: Send, A: AtomicIndex, L: Locks> Schedule<T, A, L> {
    fn new(windows: usize) -> Self {
        let results = (0..windows).map(|_| L::Of::new(None)).collect();
        Self { counter: Counter::new(), failed: A::new(usize::MAX), results }
    }

    /// Runs windows until none is left. `run_window` runs the window with a given index. The
    /// function that it receives returns false if it should stop early.
    fn run_worker(
        &self,
        cancelled: impl Fn() -> bool,
        run_window: impl Fn(usize, &dyn Fn() -> bool) -> Result<T, BatchError>,
    ) {
        while let Some(at) = self.counter.next(self.results.len()) {
            let should_continue = || !cancelled() && self.failed.get() >= at;
            if !should_continue() {
                continue;
            }
            let result = run_window(at, &should_continue);
            if result.is_err() {
                self.failed.lower(at);
            }
            self.results[at].with(|slot| *slot = Some(result));
        }
    }

    /// The results of all windows, or the first error. Called after all workers have ended.
    fn collect_results(&self, cancelled: impl Fn() -> bool) -> Result<Vec<T>, BatchError> {
        if cancelled() {
            return Err(BatchError::Cancelled);
        }
        // Windows after a failed one may be missing; the iteration ends at the failed one before
        // it reaches them.
        let in_order = self.results.iter().map(|slot| slot.with(Option::take));
        in_order.map(|result| result.expect("every window before a failed one was finished")).collect()
    }
}

/// Yields the rows of a window until the batch stops.
pub(super) struct RowCursor<'a> {
    rows: Range<usize>,
    /// The row that was yielded last.
    current: usize,
    weights: &'a [usize],
    /// The number of bytes of the rows since the last `yield_now`.
    since_yield: usize,
    should_continue: &'a dyn Fn() -> bool,
}

impl RowCursor<'_> {
    /// The number of rows that are left.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The size of the rows that are left.
    pub(super) fn bytes(&self) -> usize {
        self.weights[self.rows.clone()].iter().sum()
    }

    /// The next row.
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

/// Runs `work` over all rows. Returns its results by window, in the order of the rows.
///
/// `work` takes rows from the cursor until there are none and returns its result for them. If it
/// panics, the error names the row that it took last.
pub(super) fn run<T: Send>(
    weights: &[usize],
    threads: usize,
    cancel: Option<&Cancel>,
    work: impl Fn(&mut RowCursor<'_>) -> Result<T, BatchError> + Sync,
) -> Result<Vec<T>, BatchError> {
    let cancelled = || cancel.is_some_and(Cancel::is_cancelled);
    let run_window = |rows: Range<usize>, should_continue: &dyn Fn() -> bool| {
        let mut cursor = RowCursor { current: rows.start, rows, weights, since_yield: 0, should_continue };
        // A panic leaves no broken state behind: everything that `work` uses is dropped, including
        // its encoder, which is not returned to the pool.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&mut cursor)));
        outcome.unwrap_or_else(|panic| Err(BatchError::panicked(cursor.current, &*panic)))
    };

    let total: usize = weights.iter().sum();
    let workers = if total < MIN_PARALLEL_BYTES { 1 } else { threads.min(weights.len()) };
    let windows = if workers > 1 { divide(weights, workers) } else { vec![] };
    let pool = if windows.len() > 1 { parallelism::pool(workers - 1) } else { None };
    let Some(pool) = pool else {
        let result = run_window(0..weights.len(), &|| !cancelled());
        return if cancelled() { Err(BatchError::Cancelled) } else { result.map(|all| vec![all]) };
    };

    let schedule = Schedule::<T, AtomicUsize, Std>::new(windows.len());
    let run_at = |at: usize, should_continue: &dyn Fn() -> bool| run_window(windows[at].clone(), should_continue);
    let worker = || schedule.run_worker(cancelled, run_at);
    // The calling thread is one of the workers.
    pool.in_place_scope(|scope| {
        for _ in 1..workers.min(windows.len()) {
            scope.spawn(|_| worker());
        }
        worker();
    });
    schedule.collect_results(cancelled)
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

    /// Makes loom explore more interleavings. Loom remembers only the last access to an atomic, so
    /// it does not try a write between two reads of two threads. A relaxed write to another atomic
    /// before each access makes it do so without ordering anything.
    struct MoreInterleavings<A> {
        value: A,
        other: LoomAtomic,
    }

    impl<A> MoreInterleavings<A> {
        fn of(value: A) -> Self {
            Self { value, other: LoomAtomic::new(0) }
        }

        fn next(&self) -> &A {
            self.other.fetch_add(1, Ordering::Relaxed);
            &self.value
        }
    }

    impl<A: AtomicIndex> AtomicIndex for MoreInterleavings<A> {
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

    impl<A: Flag> Flag for MoreInterleavings<A> {
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
            let windows = divide(&weights, workers);
            let mut next = 0;
            for window in &windows {
                prop_assert!(window.start == next && window.end > next);
                next = window.end;
            }
            prop_assert_eq!(next, weights.len());
            // Every window but the last has the minimum size and could not have ended one row
            // earlier.
            for window in &windows[..windows.len().saturating_sub(1)] {
                let size: usize = weights[window.clone()].iter().sum();
                prop_assert!(size >= MIN_WINDOW_BYTES);
                let without_last: usize = weights[window.start..window.end - 1].iter().sum();
                let rest: usize = weights[window.start..].iter().sum();
                prop_assert!(without_last < (rest / (workers * WINDOW_SHARE).max(1)).max(MIN_WINDOW_BYTES));
            }
        }
    }

    #[test]
    fn windows_get_smaller_towards_the_end() {
        let weights = vec![6500; 1000];
        let sizes: Vec<usize> = divide(&weights, 2).iter().map(|window| window.len()).collect();
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

    /// Two workers and a thread that cancels: in every interleaving, the batch is cancelled or
    /// complete. Threads are preempted at most three times; without that bound the test takes
    /// minutes.
    #[test]
    fn a_batch_is_cancelled_or_complete_in_every_interleaving() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let work = Arc::new(Schedule::<usize, LoomAtomic, Loom>::new(2));
            let flag = Arc::new(MoreInterleavings::of(LoomBool::new(false)));
            let help = |work: &Schedule<usize, LoomAtomic, Loom>, flag: &MoreInterleavings<LoomBool>| {
                // Each window has one row. A window that should stop returns no row.
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
            // The scope waits for the helper only.
            helper.join().expect("no panic");
            match work.collect_results(|| flag.is_set()) {
                Ok(all) => assert_eq!(all, [0, 1], "whoever stopped early did so because of the flag"),
                Err(error) => assert_eq!(error, BatchError::Cancelled),
            }
            canceller.join().expect("no panic");
            assert_eq!(work.collect_results(|| flag.is_set()), Err(BatchError::Cancelled), "once set it stays set");
        });
    }

    /// Two workers and failing windows: the error of the first is returned, and the windows before
    /// it are finished.
    #[test]
    fn the_error_of_the_first_failed_window_is_returned_in_every_interleaving() {
        type Shared = Schedule<usize, MoreInterleavings<LoomAtomic>, Loom>;
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

    /// Runs windows over rows of 10 KB each. `row` returns the result of a row.
    fn run_rows(
        count: usize,
        threads: usize,
        cancel: Option<&Cancel>,
        row: impl Fn(usize) -> Result<usize, BatchError> + Sync,
    ) -> Result<Vec<usize>, BatchError> {
        let work = |rows: &mut RowCursor<'_>| {
            let mut results = vec![];
            while let Some(at) = rows.next() {
                results.push(row(at)?);
            }
            Ok(results)
        };
        run(&vec![10_000; count], threads, cancel, work).map(|windows| windows.concat())
    }

    fn failure(row: usize) -> BatchError {
        BatchError::Encode { index: row, source: crate::EncodeError::InvalidUtf8 { byte: row } }
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
    fn the_error_of_the_first_failed_row_is_returned() {
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
            assert_eq!(result, Err(BatchError::Panicked { index: 150, message: "row 150 is bad".into() }));
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
