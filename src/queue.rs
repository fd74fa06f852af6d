//! The queue of batches and loads.
//!
//! libuv has four threads by default, and fs, dns and crypto use them too. A batch uses its libuv
//! thread and the core's own threads, so running more than two batches at a time gains nothing and
//! could delay all file reads of the process. Therefore at most [`limit`] batches run at a time in
//! the whole process, on behalf of all JS threads. The others wait in the order of their arrival.
//!
//! A waiting batch does not occupy a thread: it is a ticket here and a promise in JS.
//! `lib/queue.js` calls [`try_start`] again when a batch of its own JS thread ends, and on a timer
//! while other JS threads hold the permits. A [`QueueEntry`] leaves the queue when it is dropped.
//! When a worker is terminated, Node finalizes its objects and thereby removes its entries. Other
//! runtimes do not, so a ticket that was not polled for [`PATIENCE`] keeps its place in the queue
//! but no longer delays the tickets behind it.
//!
//! A batch that may start first copies its texts, in slices between iterations of the event loop
//! (see `text`). Meanwhile it has no permit, because its JS thread may end, but its ticket counts
//! like one: as long as each slice polls.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi::Env;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_core::batch::{BatchError, Cancel};

use crate::error::Failure;
use crate::guard::{EntryPoint, Held, contained};
use crate::node_api;
use crate::text::{Inputs, Texts};

/// Maximum number of batches and loads that run at a time.
const MAX_RUNNING: usize = 2;

/// The number of permits: [`MAX_RUNNING`], or one less than `UV_THREADPOOL_SIZE` if that is
/// smaller, but at least one.
fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        let threads = std::env::var("UV_THREADPOOL_SIZE").ok().and_then(|size| size.trim().parse::<usize>().ok());
        threads.map_or(MAX_RUNNING, |threads| threads.saturating_sub(1).clamp(1, MAX_RUNNING))
    });
    *LIMIT
}

/// A ticket that was not polled for this long is skipped: its thread is busy with its own batches,
/// or has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of the queue. `running` is the number of permits in use; `starting` has the tickets
/// that may start and do not have their permits yet; `waiting` has the others, in the order of
/// their arrival.
#[derive(Default)]
struct Queue {
    running: usize,
    starting: Vec<Ticket>,
    waiting: VecDeque<Ticket>,
    next_ticket: u64,
}

struct Ticket {
    number: u64,
    /// When its thread polled last, or when the ticket was created.
    last_polled: Instant,
}

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { running: 0, starting: vec![], waiting: VecDeque::new(), next_ticket: 0 });

fn queue() -> MutexGuard<'static, Queue> {
    // No code panics while it holds the lock, and the state is consistent after each statement.
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn join(&mut self, now: Instant) -> u64 {
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.push_back(Ticket { number, last_polled: now });
        number
    }

    /// Polls: returns whether `ticket` may start. If so, it leaves the queue.
    fn start(&mut self, ticket: u64, limit: usize, now: Instant) -> bool {
        let Some(index) = self.waiting.iter().position(|waiting| waiting.number == ticket) else { return false };
        self.waiting[index].last_polled = now;
        let counts = |ticket: &&Ticket| now.duration_since(ticket.last_polled) < PATIENCE;
        let before = self.starting.iter().chain(self.waiting.iter().take(index)).filter(counts).count();
        let may_start = self.running + before < limit;
        if may_start {
            self.starting.extend(self.waiting.remove(index));
        }
        may_start
    }

    /// Polls for a ticket that may start, so that it still counts.
    fn keep(&mut self, ticket: u64, now: Instant) {
        self.starting
            .iter_mut()
            .filter(|starting| starting.number == ticket)
            .for_each(|starting| starting.last_polled = now);
    }

    /// Exchanges a ticket that may start for a permit. Returns whether it was one.
    fn run(&mut self, ticket: u64) -> bool {
        let index = self.starting.iter().position(|starting| starting.number == ticket);
        index.map(|index| self.starting.swap_remove(index)).inspect(|_| self.running += 1).is_some()
    }

    fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|waiting| waiting.number != ticket);
        self.starting.retain(|starting| starting.number != ticket);
    }
}

/// Whether a batch or a load runs, on behalf of any JS thread.
pub fn is_busy() -> bool {
    let queue = queue();
    queue.running + queue.starting.len() > 0
}

/// The permit to run a batch. It may be dropped on any thread, and is dropped even if the batch
/// panics.
pub struct Permit(());

impl Drop for Permit {
    fn drop(&mut self) {
        queue().running -= 1;
    }
}

/// The queue entry of one batch, with the flag that cancels the batch and the texts that were
/// copied for it.
pub struct QueueEntry {
    ticket: u64,
    /// Whether the ticket is in the queue.
    is_queued: Cell<bool>,
    cancel: Arc<Cancel>,
    /// The texts of the batch, and their pairs. They are not here while [`Self::with_texts`] runs.
    texts: Held<Cell<[Option<Texts>; 2]>>,
}

impl QueueEntry {
    /// The permit, if the batch may start. Later calls return `None`.
    pub fn take_permit(&self) -> Option<Permit> {
        (self.is_queued.replace(false) && queue().run(self.ticket)).then_some(Permit(()))
    }

    /// The flag that the batch checks while it runs.
    pub fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    /// Runs `copy` with the texts copied so far: those of the batch or, if `second` is set, their
    /// pairs. `copy` may run JS (a getter), which may cancel the batch: the texts are dropped then.
    pub fn with_texts<T>(
        &self,
        second: bool,
        copy: impl FnOnce(&mut Option<Texts>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.check_cancel()?;
        queue().keep(self.ticket, Instant::now());
        let mut texts = self.texts.take();
        let copied = copy(&mut texts[usize::from(second)])?;
        self.check_cancel()?;
        self.texts.set(texts);
        Ok(copied)
    }

    fn check_cancel(&self) -> Result<(), Failure> {
        if self.cancel.is_cancelled() { Err(Failure::from(BatchError::Cancelled)) } else { Ok(()) }
    }

    /// Takes the copied texts.
    pub fn take_inputs(&self) -> Result<Inputs, Failure> {
        self.check_cancel()?;
        let [first, second] = self.texts.take();
        Inputs::new(first, second)
    }

    fn leave(&self) {
        if self.is_queued.replace(false) {
            queue().leave(self.ticket);
        }
        drop(self.texts.take());
    }
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        contained(EntryPoint::Drop, || self.leave());
    }
}

/// Appends an entry to the queue.
#[napi(catch_unwind)]
pub fn enqueue(env: Env) -> napi::Result<External<QueueEntry>> {
    node_api::guarded(env, || {
        let cancel = Arc::new(Cancel::new());
        let texts = Held::new(Cell::default());
        let ticket = queue().join(Instant::now());
        Ok(External::new(QueueEntry { ticket, is_queued: Cell::new(true), cancel, texts }))
    })
}

/// The number of batches and loads that may run at a time in the process.
#[napi(catch_unwind)]
pub fn max_running(env: Env) -> napi::Result<u32> {
    node_api::guarded(env, || Ok(limit() as u32))
}

/// Whether the batch may start now. From then on other batches wait for it, until it ends or
/// `leave_queue` is called.
#[napi(catch_unwind)]
pub fn try_start(env: Env, entry: &External<QueueEntry>) -> napi::Result<bool> {
    let start = || entry.is_queued.get() && queue().start(entry.ticket, limit(), Instant::now());
    node_api::guarded(env, || Ok(start()))
}

/// Cancels the batch if it runs, removes its entry from the queue, and releases its texts.
#[napi(catch_unwind)]
pub fn leave_queue(env: Env, entry: &External<QueueEntry>) -> napi::Result<()> {
    node_api::guarded(env, || {
        entry.cancel.cancel();
        entry.leave();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_start_in_the_order_they_came() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let tickets: Vec<u64> = (0..4).map(|_| queue.join(now)).collect();
        assert!(!queue.start(tickets[2], 2, now), "two are before it");
        assert!(queue.start(tickets[1], 2, now), "one may be before it while nothing runs");
        assert!(queue.start(tickets[0], 2, now));
        assert!(!queue.start(tickets[2], 2, now), "both places are taken");
        assert!(queue.run(tickets[0]) && queue.run(tickets[1]), "they get their permits");
        assert!(!queue.run(tickets[0]), "a ticket is exchanged once");
        assert!(!queue.start(tickets[2], 2, now), "both permits are in use");
        queue.running -= 1;
        assert!(!queue.start(tickets[3], 2, now), "the place is the third ticket's");
        assert!(queue.start(tickets[2], 2, now));
        assert!(!queue.start(tickets[2], 2, now), "a ticket starts once");
    }

    #[test]
    fn one_that_leaves_holds_nobody_up() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let (first, second) = (queue.join(now), queue.join(now));
        queue.leave(first);
        assert!(queue.start(second, 1, now));
        let third = queue.join(now);
        assert!(!queue.start(third, 1, now), "the second may start");
        queue.leave(second);
        assert!(queue.start(third, 1, now));
    }

    #[test]
    fn one_that_may_start_and_does_not_go_on_holds_nobody_up() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let [gone, other] = [(); 2].map(|()| queue.join(now));
        assert!(queue.start(gone, 1, now));
        queue.keep(gone, now + PATIENCE / 2);
        assert!(!queue.start(other, 1, now + PATIENCE), "it polled in the meantime");
        assert!(queue.start(other, 1, now + PATIENCE * 3 / 2));
        assert!(queue.run(gone), "it goes on all the same");
    }

    #[test]
    fn tickets_of_a_thread_that_is_gone_hold_nobody_up() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let [gone, other, polling] = [(); 3].map(|()| queue.join(now));
        assert!(!queue.start(polling, 2, now), "two are before it");
        let later = now + PATIENCE;
        assert!(!queue.start(polling, 0, later));
        assert!(queue.start(polling, 1, later), "nobody has polled for the two");
        queue.leave(polling);
        assert!(queue.start(other, 1, later), "they keep their places, for whoever polls");
        queue.leave(other);
        assert!(queue.start(gone, 1, later));
    }
}
