//! The queue of batches and loads.
//!
//! libuv has four threads by default, and fs, dns and crypto use them too. A batch uses its libuv
//! thread and the core's own threads, so running more than two batches at a time gains nothing and
//! could delay all file reads of the process. Therefore at most [`limit`] batches run at a time in
//! the whole process, on behalf of all JS threads. The others wait in the order of their arrival.
//!
//! A waiting batch does not occupy a thread: it is a ticket here and a promise in JS.
//! `lib/queue.js` calls [`may_start`] again when a batch of its own JS thread ends, and on a timer
//! while other JS threads hold the permits. A [`Turn`], the queue entry, leaves the queue when it
//! is dropped. When a worker is terminated, Node finalizes its objects and thereby removes its
//! entries. Other runtimes do not, so a ticket that was not polled for [`PATIENCE`] keeps its place
//! in the queue but no longer delays the tickets behind it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_core::batch::Cancel;

/// Maximum number of batches and loads that run at a time.
const MOST: usize = 2;

/// The number of permits: [`MOST`], or one less than `UV_THREADPOOL_SIZE` if that is smaller, but
/// at least one.
fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        let threads = std::env::var("UV_THREADPOOL_SIZE").ok().and_then(|size| size.trim().parse::<usize>().ok());
        threads.map_or(MOST, |threads| threads.saturating_sub(1).clamp(1, MOST))
    });
    *LIMIT
}

/// A ticket that was not polled for this long is skipped: its thread is busy with its own batches,
/// or has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of the queue. `running` is the number of permits in use; `waiting` has the tickets in
/// the order of their arrival.
#[derive(Default)]
struct Line {
    running: usize,
    waiting: VecDeque<Ticket>,
    next_ticket: u64,
}

struct Ticket {
    number: u64,
    /// When its thread polled last, or when the ticket was created.
    asked: Instant,
}

static LINE: Mutex<Line> = Mutex::new(Line { running: 0, waiting: VecDeque::new(), next_ticket: 0 });

fn line() -> MutexGuard<'static, Line> {
    // No code panics while it holds the lock, and the state is consistent after each statement.
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn join(&mut self, now: Instant) -> u64 {
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.push_back(Ticket { number, asked: now });
        number
    }

    /// Polls: returns whether `ticket` may start. If so, the ticket is removed from the queue and
    /// counts as running.
    fn start(&mut self, ticket: u64, limit: usize, now: Instant) -> bool {
        let Some(place) = self.waiting.iter().position(|waiting| waiting.number == ticket) else { return false };
        self.waiting[place].asked = now;
        let counts = |waiting: &&Ticket| now.duration_since(waiting.asked) < PATIENCE;
        let may_start = self.running + self.waiting.iter().take(place).filter(counts).count() < limit;
        if may_start {
            self.waiting.remove(place);
            self.running += 1;
        }
        may_start
    }

    fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|waiting| waiting.number != ticket);
    }
}

/// The permit to run a batch. It may be dropped on any thread, and is dropped even if the batch
/// panics.
pub struct Permit(());

impl Drop for Permit {
    fn drop(&mut self) {
        line().running -= 1;
    }
}

/// The queue entry of one batch, and the flag that cancels the batch.
pub struct Turn {
    ticket: u64,
    waiting: Cell<bool>,
    permit: RefCell<Option<Permit>>,
    cancel: Arc<Cancel>,
}

impl Turn {
    /// The permit, if this entry has one. Later calls return `None`.
    pub fn take_permit(&self) -> Option<Permit> {
        self.permit.borrow_mut().take()
    }

    /// The flag that the batch checks while it runs.
    pub fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    fn leave(&self) {
        if self.waiting.replace(false) {
            line().leave(self.ticket);
        }
        drop(self.take_permit());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Appends an entry to the queue.
#[napi]
pub fn join_line() -> External<Turn> {
    let ticket = line().join(Instant::now());
    External::new(Turn {
        ticket,
        waiting: Cell::new(true),
        permit: RefCell::new(None),
        cancel: Arc::new(Cancel::new()),
    })
}

/// Whether the batch may start now. From then on the entry holds a permit, until the batch ends or
/// `leave_line` is called.
#[napi]
pub fn may_start(turn: &External<Turn>) -> bool {
    if turn.waiting.get() && line().start(turn.ticket, limit(), Instant::now()) {
        turn.waiting.set(false);
        *turn.permit.borrow_mut() = Some(Permit(()));
        return true;
    }
    false
}

/// Cancels the batch if it runs, and removes its entry from the queue if it waits.
#[napi]
pub fn leave_line(turn: &External<Turn>) {
    turn.cancel.cancel();
    turn.leave();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_start_in_the_order_they_came() {
        let (mut line, now) = (Line::default(), Instant::now());
        let tickets: Vec<u64> = (0..4).map(|_| line.join(now)).collect();
        assert!(!line.start(tickets[2], 2, now), "two are before it");
        assert!(line.start(tickets[1], 2, now), "one may be before it while nothing runs");
        assert!(line.start(tickets[0], 2, now));
        assert!(!line.start(tickets[2], 2, now), "both places are taken");
        line.running -= 1;
        assert!(!line.start(tickets[3], 2, now), "the place is the third ticket's");
        assert!(line.start(tickets[2], 2, now));
        assert!(!line.start(tickets[2], 2, now), "a ticket starts once");
    }

    #[test]
    fn one_that_leaves_holds_nobody_up() {
        let (mut line, now) = (Line::default(), Instant::now());
        let (first, second) = (line.join(now), line.join(now));
        line.leave(first);
        assert!(line.start(second, 1, now));
    }

    #[test]
    fn tickets_of_a_thread_that_is_gone_hold_nobody_up() {
        let (mut line, now) = (Line::default(), Instant::now());
        let [gone, other, asking] = [(); 3].map(|()| line.join(now));
        assert!(!line.start(asking, 2, now), "two are before it");
        let later = now + PATIENCE;
        assert!(!line.start(asking, 0, later));
        assert!(line.start(asking, 1, later), "nobody has asked for the two");
        line.running -= 1;
        assert!(line.start(other, 1, later), "they keep their places, for whoever asks");
        line.running -= 1;
        assert!(line.start(gone, 1, later));
    }
}
