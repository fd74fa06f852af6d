//! The pools beside each other, on traces of allocations. Prints a line of JSON for each pool.
//!
//! usage: pools TRACE CAP_PERCENT POOL…
//!
//! TRACE is one of:
//! - `batches`: the allocations of batches of 6.5 MB of text (texts, chunks of ids, the result);
//!   three results are kept.
//! - `many`: a million blocks of 512 bytes to 64 KiB, of which up to 2,000 are kept.
//! - `decades`: 20,000 blocks of 100 bytes to 100 MB, of which up to 40 are kept.
//! - `service`: three batches of 2 MB of text in flight, the results of the last eight kept for a
//!   while, and nothing to do for a second and a half after each 100 batches.
//!
//! A POOL is a kind of the pool, or `vec`: each block is a `Vec` of the linked allocator.
//!
//! CAP_PERCENT is the pool's cap in percent of the largest number of bytes in use; 0 disables it. A
//! block that the pool refuses comes from the allocator, as for a slab. Every page of a block is
//! written. `seconds` is processor time, `hitNs` the median time of an allocation, `fragmentation`
//! the maximum of mapped bytes relative to the maximum of requested bytes in use; `rss` and
//! `idleRss` are MiB in memory at the most, and at the end of the last pause (Linux, one POOL).

use std::collections::VecDeque;
use std::error::Error;
use std::mem::MaybeUninit;
use std::time::Instant;

use tokenlane_core::memory::{self, AllocStep, BlockGuard, PoolKind, Settings};

#[path = "shared/allocator.rs"]
mod allocator;

/// One step of a trace: allocates a block of this many bytes, or releases the kept block with this
/// index, counted from the oldest.
enum Op {
    Allocate(usize),
    Release(usize),
    /// No request for a while: the pool is trimmed, as the addon's timer does.
    Pause,
}

/// The owner of a block.
enum Held {
    Pool(#[allow(dead_code, reason = "held to be dropped")] BlockGuard),
    Allocator(#[allow(dead_code, reason = "held to be dropped")] Vec<u8>),
}

/// A generator that needs no crate: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    /// A size between two powers of ten, each decade as likely as the others.
    fn size(&mut self, from: f64, to: f64) -> usize {
        let part = self.next() as f64 / u64::MAX as f64;
        10f64.powf(from + (to - from) * part) as usize
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [trace, percent, pools @ ..] = &args[..] else { return Err("usage: pools TRACE CAP_PERCENT POOL…".into()) };
    let ops = match trace.as_str() {
        "batches" => batches(),
        "many" => random(1_000_000, 2_000, (512f64.log10(), 65_536f64.log10())),
        "decades" => random(20_000, 40, (2.0, 8.0)),
        "service" => service(),
        other => return Err(format!("there is no trace {other}: batches, many, decades, service").into()),
    };
    let percent: usize = percent.parse()?;
    let most = most_in_use(&ops);
    let cap = if percent == 0 { usize::MAX / 4 } else { most / 100 * percent };
    for pool in pools {
        if pool == "vec" {
            run(None, &ops, trace, percent, most)?;
            continue;
        }
        let kind = PoolKind::named("POOL", pool)?;
        // Another kind in between, so that each pool starts empty.
        memory::configure(Settings {
            kind: if kind == PoolKind::Split { PoolKind::Binned } else { PoolKind::Split },
            ..Settings::default()
        });
        memory::configure(Settings { kind, cap, ..Settings::default() });
        run(Some(kind), &ops, trace, percent, most)?;
    }
    Ok(())
}

/// Runs a trace with a kind of the pool, or without the pool.
fn run(kind: Option<PoolKind>, ops: &[Op], trace: &str, percent: usize, most: usize) -> Result<(), Box<dyn Error>> {
    let mut held: VecDeque<Held> = VecDeque::new();
    let (mut hits, mut refused, mut most_mapped) = (vec![], 0, 0);
    let (mut most_rss, mut idle_rss) = (0.0_f64, 0.0);
    let started = cpu_seconds()?;
    for op in ops {
        match *op {
            Op::Allocate(bytes) => {
                let before = Instant::now();
                let guard = kind.and_then(|_| memory::allocate(bytes));
                let nanos = before.elapsed().as_nanos() as u32;
                match guard {
                    Some(mut guard) => {
                        hits.push(nanos);
                        touch(&mut guard.bytes_mut()[..bytes]);
                        held.push_back(Held::Pool(guard));
                    }
                    None => {
                        refused += 1;
                        let mut room = Vec::with_capacity(bytes);
                        touch(&mut room.spare_capacity_mut()[..bytes]);
                        held.push_back(Held::Allocator(room));
                    }
                }
                if bytes >= 1 << 20 {
                    most_rss = most_rss.max(rss_mib());
                    most_mapped = most_mapped.max(memory::stats().mapped);
                }
            }
            Op::Release(at) => drop(held.swap_remove_back(at)),
            Op::Pause => {
                std::thread::sleep(std::time::Duration::from_millis(1500));
                memory::trim();
                idle_rss = rss_mib();
            }
        }
    }
    let seconds = cpu_seconds()? - started;
    let (stats, steps) = (memory::stats(), memory::steps());
    drop(held);
    hits.sort_unstable();
    println!(
        "{{\"trace\":\"{trace}\",\"capPercent\":{percent},\"pool\":\"{}\",\"seconds\":{seconds:.4},\"hitNs\":{},\"fragmentation\":{:.3},\"refused\":{refused},\"mappings\":{},\"scans\":{},\"maps\":{},\"reclaims\":{},\"rss\":{most_rss:.1},\"idleRss\":{idle_rss:.1}}}",
        kind.map_or("vec", PoolKind::name),
        hits.get(hits.len() / 2).copied().unwrap_or(0),
        most_mapped.max(stats.mapped) as f64 / most as f64,
        steps.of(AllocStep::Map).helped,
        steps.of(AllocStep::Scan).count,
        steps.of(AllocStep::Map).count,
        steps.of(AllocStep::Reclaim).count,
    );
    Ok(())
}

/// Processor time of this process so far, which does not depend on other processes.
#[cfg(unix)]
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// Wall-clock time, where processor time is not available.
#[cfg(not(unix))]
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    Ok(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs_f64())
}

/// The memory of this process that the kernel keeps in RAM; 0 where that is not known.
fn rss_mib() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u32>().ok()).unwrap_or(0);
    f64::from(pages) / 256.0
}

/// Writes a byte of each page.
fn touch(bytes: &mut [MaybeUninit<u8>]) {
    bytes.iter_mut().step_by(4096).for_each(|byte| *byte = MaybeUninit::new(1));
}

/// Operations on blocks that have names: numbers in the order of their allocation.
#[derive(Default)]
struct Trace {
    ops: Vec<Op>,
    /// The blocks in the order in which [`run`] holds them.
    held: VecDeque<usize>,
    allocated: usize,
}

impl Trace {
    fn allocate(&mut self, bytes: usize) -> usize {
        self.ops.push(Op::Allocate(bytes));
        self.held.push_back(self.allocated);
        self.allocated += 1;
        self.allocated - 1
    }

    fn release(&mut self, block: usize) {
        let at = self.held.iter().position(|held| *held == block).expect("a block is released once");
        self.ops.push(Op::Release(at));
        self.held.swap_remove_back(at);
    }
}

fn batches() -> Vec<Op> {
    let (mut random, mut trace, mut results) = (Random(1), Trace::default(), VecDeque::new());
    for _ in 0..300 {
        let texts = [1 << 20, 1 << 20, 2 << 20, 4 << 20].map(|bytes| trace.allocate(bytes));
        let chunks = [256 << 10; 26].map(|bytes| trace.allocate(bytes));
        texts.into_iter().for_each(|text| trace.release(text));
        results.push_back(trace.allocate((6 << 20) - random.below(6 << 17)));
        chunks.into_iter().for_each(|chunk| trace.release(chunk));
        if results.len() > 3 {
            results.pop_front().into_iter().for_each(|oldest| trace.release(oldest));
        }
    }
    trace.ops
}

fn service() -> Vec<Op> {
    let (mut random, mut trace) = (Random(3), Trace::default());
    let (mut results, mut in_flight) = (vec![], VecDeque::new());
    for batch in 0..600 {
        let size = |random: &mut Random, bytes: usize| bytes - random.below(bytes / 2);
        // The text, and chunks of ids.
        let sizes = [2 << 20].into_iter().chain([256 << 10; 8]);
        let blocks: Vec<usize> = sizes.map(|bytes| trace.allocate(size(&mut random, bytes))).collect();
        in_flight.push_back(blocks);
        if in_flight.len() == 3 {
            results.push(trace.allocate(size(&mut random, 3 << 20)));
            in_flight.pop_front().into_iter().flatten().for_each(|block| trace.release(block));
            // Garbage is collected late, and then several at once.
            while results.len() > 8 || (!results.is_empty() && random.below(4) == 0) {
                trace.release(results.swap_remove(random.below(results.len())));
            }
        }
        if batch % 100 == 99 {
            trace.ops.push(Op::Pause);
        }
    }
    trace.ops
}

fn random(count: usize, kept: usize, decades: (f64, f64)) -> Vec<Op> {
    let mut random = Random(2);
    let (mut ops, mut held) = (vec![], 0);
    for _ in 0..count {
        ops.push(Op::Allocate(random.size(decades.0, decades.1)));
        held += 1;
        // Keeps sometimes many blocks, sometimes few.
        while held > 1 + random.below(kept) {
            ops.push(Op::Release(random.below(held)));
            held -= 1;
        }
    }
    ops
}

fn most_in_use(ops: &[Op]) -> usize {
    let mut held: VecDeque<usize> = VecDeque::new();
    let (mut sum, mut most) = (0, 0);
    for op in ops {
        match *op {
            Op::Allocate(bytes) => {
                held.push_back(bytes);
                sum += bytes;
                most = most.max(sum);
            }
            Op::Release(at) => sum -= held.swap_remove_back(at).unwrap_or(0),
            Op::Pause => {}
        }
    }
    most
}
