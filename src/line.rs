//! The line that batches stand in.
//!
//! libuv has four threads, and fs, dns and crypto live on them too. A batch works on its libuv thread and on the core's
//! own, so more than two at a time would gain nothing and could hold up every file that the process reads. Therefore at
//! most [`limit`] run at a time in the whole process, whatever JS thread they come from, and the others wait in the order
//! in which they came.
//!
//! A waiting batch holds no thread: it is a ticket here and a promise in JS. `lib/line.js` asks again whenever a batch of
//! its own thread ends, and on a timer while other threads hold the places. A [`Turn`] leaves the line when it is dropped,
//! so a worker that is terminated takes its tickets with it: Node finalizes its objects. Other runtimes do not, so a ticket
//! that nobody has asked for in a while keeps its place but holds up nobody.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi::bindgen_prelude::External;
use napi_derive::napi;
use tokenlane_core::batch::Cancel;

/// The most batches that run at a time.
const MOST: usize = 2;

/// How many may run: [`MOST`], but always one less than libuv's threads where a process asked for so few.
fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        let threads = std::env::var("UV_THREADPOOL_SIZE").ok().and_then(|size| size.trim().parse::<usize>().ok());
        threads.map_or(MOST, |threads| threads.saturating_sub(1).clamp(1, MOST))
    });
    *LIMIT
}

/// Tickets that were not asked for in so long do not count: their thread is busy with batches of its own, or gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of a line. `running` counts the permits there are; `waiting` holds the tickets in the order they came.
#[derive(Default)]
struct Line {
    running: usize,
    waiting: VecDeque<Ticket>,
    next_ticket: u64,
}

struct Ticket {
    number: u64,
    /// When its thread last asked, or when it came.
    asked: Instant,
}

static LINE: Mutex<Line> = Mutex::new(Line { running: 0, waiting: VecDeque::new(), next_ticket: 0 });

fn line() -> MutexGuard<'static, Line> {
    // Nothing panics while the lock is held, and the state is whole between any two statements.
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn join(&mut self, now: Instant) -> u64 {
        let number = self.next_ticket;
        self.next_ticket += 1;
        self.waiting.push_back(Ticket { number, asked: now });
        number
    }

    /// Whether `ticket` may start; if so it has left the line and counts as running.
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

/// The right to run. Dropped on whatever thread the work ends, and even when the work panics.
pub struct Permit(());

impl Drop for Permit {
    fn drop(&mut self) {
        line().running -= 1;
    }
}

/// One batch's place in the line, and the flag that stops it.
pub struct Turn {
    ticket: u64,
    waiting: Cell<bool>,
    permit: RefCell<Option<Permit>>,
    cancel: Arc<Cancel>,
}

impl Turn {
    /// The permit, if this turn has come and it was not taken before.
    pub fn take_permit(&self) -> Option<Permit> {
        self.permit.borrow_mut().take()
    }

    /// The flag that the batch looks at while it runs.
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

/// Takes a place at the end of the line.
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

/// Whether the batch may start now. Once true, the place counts as taken until the batch ends or `leave_line`.
#[napi]
pub fn may_start(turn: &External<Turn>) -> bool {
    if turn.waiting.get() && line().start(turn.ticket, limit(), Instant::now()) {
        turn.waiting.set(false);
        *turn.permit.borrow_mut() = Some(Permit(()));
        return true;
    }
    false
}

/// Stops the batch if it runs and gives its place up if it waits.
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
