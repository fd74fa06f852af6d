//! Whose memory results lie in.
//!
//! The core gathers a batch into slabs of its pool, one of ids and one a column. JS gets a slab itself, as the memory of an ArrayBuffer, and Node
//! calls a finalizer between turns of the event loop once V8 has let go of it; only then it goes back to the pool. A loop
//! that never yields would let slabs pile up. Therefore what is outstanding is counted, and past half of the pool's cap, or
//! where a runtime allows no external memory (Electron), the values are copied into memory that V8 itself collects.
//!
//! V8 counts such memory, but sees no reason to collect before there is a lot of it. So the JS thread asks for a collection
//! itself now and then; [`Pressure`] says when.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use napi::Env;
use napi_derive::napi;
use tokenlane_core::memory::{
    self, Advice, AllocStep, Collection, Collector, Kind, OutOfMemory, Plain, Settings, Slab, StepCost,
};

use crate::allocator;
use crate::error::{Class, Failure};
use crate::node_api;

/// Up to this many bytes a copy costs less than a finalizer: 16 KiB.
const SMALL: usize = 16 << 10;

/// Bytes lent to V8 and not yet given back: `lent == sum of the bytes of all live loans`.
static LENT: AtomicUsize = AtomicUsize::new(0);

/// The most bytes that may wait for a finalizer, in the whole process: half of the pool's cap. The other half is for
/// texts and ids on their way.
fn most_lent() -> usize {
    memory::settings().cap / 2
}

/// Numbers on their way to JS, in this machine's byte order.
#[derive(Debug)]
pub enum Values<T: Plain> {
    /// They are lent to V8, if that can be.
    Pooled(Slab<T>),
    /// They are copied.
    Plain(Vec<T>),
}

/// They become an ArrayBuffer of 32-bit words.
pub type Words = Values<u32>;

/// They become a Uint8Array.
pub type Bytes = Values<u8>;

impl<T: Plain> TryFrom<&[T]> for Values<T> {
    type Error = OutOfMemory;

    /// Done by the thread that made them: many values move into the pool, so that JS gets them without another copy.
    fn try_from(values: &[T]) -> Result<Self, OutOfMemory> {
        if size_of_val(values) <= SMALL {
            return Ok(Self::Plain(values.to_vec()));
        }
        let mut slab = Slab::try_with_capacity(values.len())?;
        slab.extend_from_slice(values);
        Ok(Self::Pooled(slab))
    }
}

impl<T: Plain> TryFrom<Vec<T>> for Values<T> {
    type Error = OutOfMemory;

    fn try_from(values: Vec<T>) -> Result<Self, OutOfMemory> {
        if size_of_val(&values[..]) <= SMALL { Ok(Self::Plain(values)) } else { Self::try_from(&values[..]) }
    }
}

impl<T: Plain> AsRef<[T]> for Values<T> {
    fn as_ref(&self) -> &[T] {
        match self {
            Self::Pooled(slab) => slab,
            Self::Plain(values) => values,
        }
    }
}

/// A slab that V8 looks at. Dropping it gives it back to the pool.
#[derive(Debug)]
pub struct Loan<T: Plain> {
    slab: Slab<T>,
    bytes: usize,
}

impl<T: Plain> Loan<T> {
    /// Registers the values as lent, or gives them back where they had better be copied. On the JS thread.
    pub fn take(values: Values<T>) -> Result<Self, Values<T>> {
        let bytes = size_of_val(values.as_ref());
        if bytes <= SMALL {
            return Err(values);
        }
        PRESSURE.with_borrow_mut(|pressure| pressure.hand(bytes));
        let slab = match values {
            // In WebAssembly JS sees no memory of ours but copies.
            Values::Pooled(slab) if slab.is_pooled() && !cfg!(target_family = "wasm") => slab,
            other => return Err(other),
        };
        // Relaxed: the count guards no memory, it only has to add up.
        let before = LENT.fetch_add(bytes, Ordering::Relaxed);
        let loan = Self { slab, bytes };
        if before + bytes > most_lent() { Err(loan.into_values()) } else { Ok(loan) }
    }

    /// The values, for V8 to look at. They stay where they are until the loan is dropped.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.slab
    }

    /// Takes the values back.
    pub fn into_values(mut self) -> Values<T> {
        Values::Pooled(std::mem::take(&mut self.slab))
    }
}

impl<T: Plain> Drop for Loan<T> {
    fn drop(&mut self) {
        LENT.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A JS thread asks for a collection when it was handed so many bytes since the last one: 12 MiB. So much is garbage
/// between two collections; half of it where collections are quick.
const LEAST_HANDED: usize = 12 << 20;
/// When the pool is at its cap: 3 MiB.
const LEAST_ASKED: usize = 3 << 20;
/// And where collections are of no use, because the results are kept, it waits for more and more, up to 512 MiB.
const MOST_HANDED: usize = 512 << 20;
/// Between two collections of a kind this many times what the last one of it took goes by, at least.
const REST: u32 = 10;
/// And this many times, where only half as much was handed out.
const LONG_REST: u32 = 20;
/// When so many quick ones in a row did not help, the next is a full one. One alone may have met a result that V8, in a full collection
/// of its own, made old; each full one makes the results old that are in use.
const IN_VAIN: u32 = 2;

/// When one JS thread should collect.
///
/// A quick collection frees what is young: most results. When two did not free half of what they could have, the next
/// is a full one; when that did not either, the results are still in use, and twice as many are handed out before the
/// next try. The latest result is taken to be in use.
#[derive(Debug)]
pub struct Pressure {
    /// Bytes handed to this thread since the last collection.
    handed: usize,
    /// Of these, those of results before the latest.
    delivered: usize,
    /// Bytes of the latest result at the last collection, if that was a quick one: a full one makes it old, and quick ones leave it
    /// alone from then on.
    newest: usize,
    /// Bytes outside of V8's heap that are not of results: the least that were ever seen.
    others: i64,
    /// Bytes handed that make it worth to collect.
    enough: usize,
    last: Option<Last>,
    /// How many quick ones in a row did not help.
    in_vain: u32,
    /// Of each kind.
    ended: [Option<Ended>; 2],
}

/// The last collection of a kind.
#[derive(Debug, Clone, Copy)]
struct Ended {
    at: Instant,
    /// How long it and the one before it took.
    took: [Duration; 2],
}

impl Ended {
    /// Whether so many times goes by that a collection takes. The shorter of two counts: one alone may have been interrupted.
    fn has_rested(&self, times: u32, now: Instant) -> bool {
        now >= self.at + self.took[0].min(self.took[1]) * times
    }
}

/// A collection, and how things were just before it.
#[derive(Debug, Clone, Copy)]
struct Last {
    how: Collection,
    /// Bytes outside of V8's heap that V8 knew of.
    external: i64,
    /// What it could free: bytes handed since the collection before, but for those of the latest result, as far as V8 had not
    /// freed them itself.
    could_free: i64,
}

impl Default for Pressure {
    fn default() -> Self {
        Self {
            handed: 0,
            delivered: 0,
            newest: 0,
            others: i64::MAX,
            enough: LEAST_HANDED,
            last: None,
            in_vain: 0,
            ended: [None; 2],
        }
    }
}

thread_local! {
    static PRESSURE: RefCell<Pressure> = RefCell::default();
}

impl Pressure {
    /// Notes bytes that are handed to JS.
    fn hand(&mut self, bytes: usize) {
        self.handed = self.handed.saturating_add(bytes);
    }

    /// The collection to do now, if any. `external` are the bytes outside of V8's heap that V8 knows of; `asked` is whether
    /// the pool asked for one at its cap: then less is enough.
    fn next(&mut self, asked: bool, now: Instant, external: impl FnOnce() -> i64) -> Option<Collection> {
        let newest = self.handed - std::mem::replace(&mut self.delivered, self.handed);
        let ended = self.ended;
        let has_rested = |how, times| ended[how as usize].is_none_or(|ended| ended.has_rested(times, now));
        let is_due = self.handed >= if asked { LEAST_ASKED } else { self.enough }
            && has_rested(Collection::Quick, REST)
            || self.handed >= self.enough / 2 && has_rested(Collection::Quick, LONG_REST);
        if !is_due {
            return None;
        }
        let external = external();
        let mut how = Collection::Quick;
        if let Some(last) = self.last {
            let freed = last.external + self.handed as i64 - external;
            let helped = freed >= last.could_free / 2;
            match (last.how, helped) {
                (how, true) => {
                    self.in_vain = 0;
                    self.enough = LEAST_HANDED.max(self.enough / 2);
                    memory::record_collection(how, StepCost { helped: 1, ..StepCost::default() });
                }
                // Where little could be freed, it says nothing that little was.
                (Collection::Quick, false) if last.could_free < LEAST_ASKED as i64 => {}
                (Collection::Quick, false) => {
                    self.in_vain += 1;
                    if self.in_vain >= IN_VAIN && has_rested(Collection::Full, REST) {
                        (self.in_vain, how) = (0, Collection::Full);
                    }
                }
                (Collection::Full, false) if last.could_free < self.enough as i64 => {}
                (Collection::Full, false) => self.enough = MOST_HANDED.min(self.enough * 2),
            }
        }
        let beside_newest = external - newest as i64;
        self.others = self.others.min(beside_newest);
        let could_free = ((self.handed - newest + self.newest) as i64).min(beside_newest - self.others);
        self.newest = if how == Collection::Quick { newest } else { 0 };
        self.last = Some(Last { how, external, could_free });
        (self.handed, self.delivered) = (0, 0);
        Some(how)
    }

    /// Notes how long that collection took.
    fn took(&mut self, how: Collection, took: Duration, now: Instant) {
        let before = self.ended[how as usize].map_or(took, |ended| ended.took[1]);
        self.ended[how as usize] = Some(Ended { at: now, took: [before, took] });
    }
}

/// Whether collections are asked for at all.
static COLLECTS: AtomicBool = AtomicBool::new(true);

/// Whether the pool asked for a collection at its cap.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Allocations run on workers, collections on JS threads: the wish is noted for the next result that is delivered, and
/// nobody waits, for a JS thread may be waiting for the very batch that wants memory.
struct LaterOnTheJsThread;

impl Collector for LaterOnTheJsThread {
    fn collect(&self, _how: Collection) -> bool {
        ASKED.store(true, Ordering::Relaxed);
        false
    }
}

/// Which collection the JS thread should do now: 0 none, 1 a quick one, 2 a full one.
#[napi]
pub fn next_collection(env: Env) -> u8 {
    if !COLLECTS.load(Ordering::Relaxed) {
        return 0;
    }
    let asked = ASKED.swap(false, Ordering::Relaxed);
    let external = || node_api::external_memory(env);
    PRESSURE.with_borrow_mut(|pressure| pressure.next(asked, Instant::now(), external)).map_or(0, |how| match how {
        Collection::Quick => 1,
        Collection::Full => 2,
    })
}

/// Notes that the collection that [`next_collection`] named is done, and how many milliseconds it took.
#[napi]
pub fn collected(full: bool, milliseconds: f64) {
    let time = Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default();
    let how = if full { Collection::Full } else { Collection::Quick };
    PRESSURE.with_borrow_mut(|pressure| pressure.took(how, time, Instant::now()));
    // Whether it helped is seen when the next one is due.
    memory::record_collection(how, StepCost { count: 1, helped: 0, time });
}

/// What `memory.configure` was told; what is missing stays as it is.
#[napi(object)]
pub struct MemoryOptions {
    /// The pool's name.
    pub pool: Option<String>,
    /// Its cap in bytes. JS has checked that it is a whole number of some size.
    pub cap: Option<f64>,
    /// The advice's name.
    pub madvise: Option<String>,
    /// Whether to collect.
    pub collect: Option<bool>,
}

/// Sets the pool, and whether collections are asked for.
#[napi]
pub fn configure_memory(env: Env, options: MemoryOptions) -> napi::Result<()> {
    let configured = (|| {
        let mut settings = memory::settings();
        if let Some(name) = options.pool {
            settings.kind = Kind::named("pool", &name).map_err(unknown)?;
        }
        if let Some(name) = options.madvise {
            settings.advice = Advice::named("madvise", &name).map_err(unknown)?;
        }
        if let Some(cap) = options.cap {
            settings.cap = cap as usize;
        }
        if let Some(collects) = options.collect {
            COLLECTS.store(collects, Ordering::Relaxed);
        }
        memory::configure(settings);
        Ok(())
    })();
    configured.map_err(|failure| node_api::js_error(env, &failure))
}

fn unknown(error: memory::UnknownName) -> Failure {
    Failure::new(Class::Range, "ERR_TOKENLANE_ARGUMENT_VALUE", error.to_string())
}

/// Sets the pool and the allocator as the environment says, once in a process, and makes the pool ask for collections.
#[napi]
pub fn prepare_memory(env: Env) -> napi::Result<()> {
    static PREPARED: OnceLock<Result<(), Failure>> = OnceLock::new();
    let prepared = PREPARED.get_or_init(|| {
        memory::set_collector(&LaterOnTheJsThread);
        memory::configure(Settings::from_env().map_err(unknown)?);
        allocator::keep_freed_memory();
        node_api::look_at_limits();
        Ok(())
    });
    prepared.as_ref().map_err(|failure| node_api::js_error(env, failure)).copied()?;
    env.add_env_cleanup_hook((), |()| trim_memory()).map(|_| ())
}

/// Gives back to the system whatever of the pool is not lent, and what the allocator keeps of what was freed.
///
/// Also done when a JS thread ends: what it needed nobody may need again. Node runs hooks in the reverse order of their
/// making, so this one, made when the addon is loaded, comes after the finalizers of the thread's results.
#[napi]
pub fn trim_memory() {
    memory::trim();
    allocator::release_free_memory();
}

/// What the pool is, has and did.
#[napi(object)]
pub struct MemoryStats {
    /// The pool's name.
    pub pool: String,
    /// The advice's name.
    pub madvise: String,
    /// Whether collections are asked for.
    pub collect: bool,
    /// Bytes in the order of [`memory::Stats`], and what is lent to V8.
    pub bytes: Vec<f64>,
    /// Count, helped and milliseconds of each step.
    pub steps: Vec<f64>,
}

/// What the pool is, has and did.
#[napi]
pub fn memory_stats() -> MemoryStats {
    let (settings, stats, steps) = (memory::settings(), memory::stats(), memory::steps());
    let lent = LENT.load(Ordering::Relaxed);
    let bytes = [
        stats.mapped,
        stats.outstanding,
        stats.free,
        stats.cached,
        stats.warm,
        stats.peak_outstanding,
        stats.cap,
        lent,
    ];
    let of_step = |step| {
        let taken = steps.of(step);
        [taken.count as f64, taken.helped as f64, taken.time.as_secs_f64() * 1e3]
    };
    MemoryStats {
        pool: settings.kind.name().into(),
        madvise: settings.advice.name().into(),
        collect: COLLECTS.load(Ordering::Relaxed),
        bytes: bytes.map(|bytes| bytes as f64).to_vec(),
        steps: AllocStep::ALL.into_iter().flat_map(of_step).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because all of it is about one count.
    #[test]
    fn loans_add_up_and_are_capped() {
        let pooled = |words: usize| {
            let mut slab = Slab::with_capacity(words);
            slab.resize(words, 7);
            Words::Pooled(slab)
        };
        assert!(Loan::take(Words::try_from(vec![7; 4]).expect("there is memory")).is_err(), "few words are copied");
        assert!(Loan::take(Words::Plain(vec![7; 1 << 20])).is_err(), "words that are not the pool's are copied");
        let half = most_lent() / size_of::<u32>() / 2;
        let first = Loan::take(pooled(half)).expect("half of what may be lent");
        let second = Loan::take(pooled(half)).expect("the other half");
        assert!(Loan::take(pooled(1 << 20)).is_err(), "nothing is left");
        drop(first);
        let third = Loan::take(pooled(1 << 20)).expect("there is room again");
        assert_eq!(second.into_values().as_ref().len() + third.into_values().as_ref().len(), half + (1 << 20));
        assert_eq!(LENT.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn two_collections_that_do_not_help_are_followed_by_a_full_one_and_then_by_patience() {
        let (now, mut pressure) = (Instant::now(), Pressure::default());
        assert_eq!(pressure.next(false, now, || 0), None, "nothing was handed out");
        let mut external = 0;
        let mut hand = |pressure: &mut Pressure, bytes: usize, kept: bool| {
            pressure.hand(bytes);
            external += bytes as i64;
            let how = pressure.next(false, now, || external);
            external -= if kept { 0 } else { bytes as i64 };
            how
        };
        assert_eq!(hand(&mut pressure, LEAST_HANDED, false), Some(Collection::Quick));
        assert_eq!(hand(&mut pressure, LEAST_HANDED, true), Some(Collection::Quick));
        assert_eq!(hand(&mut pressure, LEAST_HANDED, true), Some(Collection::Quick), "nothing could be freed");
        assert_eq!(hand(&mut pressure, LEAST_HANDED, true), Some(Collection::Quick), "one did not help");
        assert_eq!(hand(&mut pressure, LEAST_HANDED, true), Some(Collection::Full), "two did not help");
        assert_eq!(hand(&mut pressure, LEAST_HANDED, true), Some(Collection::Quick));
        assert_eq!(pressure.enough, 2 * LEAST_HANDED, "the results are kept");
        // No collection has taken any time yet, so half of what is enough is worth one.
        assert_eq!(hand(&mut pressure, LEAST_HANDED / 2, true), None);
        assert_eq!(
            hand(&mut pressure, LEAST_HANDED / 2, true),
            Some(Collection::Quick),
            "of an old result nothing is said"
        );
    }

    /// How collections go while one result after the other is dropped when the next one has come.
    fn of_dropped_results(pressure: &mut Pressure, others: i64, now: Instant) {
        let result = LEAST_HANDED as i64;
        for round in 0..20 {
            pressure.hand(LEAST_HANDED);
            let external = others + if round == 0 { 1 } else { 2 } * result;
            assert_eq!(pressure.next(false, now, || external), Some(Collection::Quick), "{round}");
        }
    }

    #[test]
    fn a_collection_is_not_blamed_for_the_latest_result_nor_for_what_v8_freed_itself() {
        let (now, mut pressure) = (Instant::now(), Pressure::default());
        let (result, others) = (LEAST_HANDED as i64, 5 << 20);
        of_dropped_results(&mut pressure, others, now);
        // V8 collects: only the result that is delivered then is left, and a collection finds nothing.
        for results in [1, 2, 2, 1, 2, 1, 2, 2] {
            pressure.hand(LEAST_HANDED);
            let how = pressure.next(false, now, || others + results * result);
            assert_eq!((how, pressure.in_vain), (Some(Collection::Quick), 0), "{results}");
        }
        assert_eq!(pressure.enough, LEAST_HANDED);
    }

    #[test]
    fn what_a_full_collection_made_old_is_not_expected_of_a_quick_one() {
        let (now, mut pressure) = (Instant::now(), Pressure::default());
        let result = LEAST_HANDED as i64;
        let mut next = |results: i64| {
            pressure.hand(LEAST_HANDED);
            (pressure.next(false, now, || results * result), pressure.in_vain)
        };
        assert_eq!([1, 2, 3].map(&mut next).map(|(_, in_vain)| in_vain), [0, 0, 1]);
        assert_eq!(next(4), (Some(Collection::Full), 0), "two freed nothing");
        // That frees all but the latest, which is old from then on: it stays, and is held against nobody.
        assert_eq!([2, 3, 3, 3].map(next), [(Some(Collection::Quick), 0); 4]);
        assert_eq!(pressure.enough, LEAST_HANDED);
    }

    #[test]
    fn collections_rest_and_the_pool_may_ask() {
        let (now, mut pressure) = (Instant::now(), Pressure::default());
        assert_eq!(pressure.next(true, now, || 0), None, "nothing was handed out");
        pressure.hand(LEAST_ASKED);
        assert_eq!(pressure.next(false, now, || 0), None, "too little");
        assert_eq!(pressure.next(true, now, || 0), Some(Collection::Quick));
        pressure.took(Collection::Quick, Duration::from_millis(3), now);
        pressure.hand(MOST_HANDED);
        assert_eq!(pressure.next(true, now + Duration::from_millis(29), || 0), None);
        assert!(pressure.next(false, now + Duration::from_millis(30), || 0).is_some());
        // The shorter of the last two counts.
        pressure.took(Collection::Quick, Duration::from_millis(300), now);
        pressure.hand(pressure.enough / 2);
        assert_eq!(pressure.next(false, now + Duration::from_millis(59), || 0), None);
        assert!(pressure.next(false, now + Duration::from_millis(60), || 0).is_some(), "half is worth a quick one");
    }
}
