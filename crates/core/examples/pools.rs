//! The pools beside each other, on traces of allocations. Prints a line of JSON for each pool.
//!
//! usage: pools TRACE CAP_PERCENT POOL…
//!
//! TRACE is one of:
//! - `batches`: the allocations of batches of 6.5 MB of text (texts, chunks of ids, the result);
//!   three results are kept.
//! - `many`: a million blocks of 512 bytes to 64 KiB, of which up to 2,000 are kept.
//! - `decades`: 20,000 blocks of 100 bytes to 100 MB, of which up to 40 are kept.
//!
//! CAP_PERCENT is the pool's cap in percent of the largest number of bytes in use; 0 disables it. A
//! block that the pool refuses comes from the allocator, as for a slab. Every page of a block is
//! written. `seconds` is processor time, `hitNs` the median time of an allocation, `fragmentation`
//! the maximum of mapped bytes relative to the maximum of requested bytes in use.

use std::collections::VecDeque;
use std::error::Error;
use std::mem::MaybeUninit;
use std::time::Instant;

use tokenlane_core::memory::{self, AllocStep, BlockGuard, PoolKind, Settings};

/// One step of a trace: allocates a block of this many bytes, or releases the kept block with this
/// index, counted from the oldest.
enum Op {
    Allocate(usize),
    Release(usize),
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
        other => return Err(format!("there is no trace {other}: batches, many, decades").into()),
    };
    let percent: usize = percent.parse()?;
    let most = most_in_use(&ops);
    let cap = if percent == 0 { usize::MAX / 4 } else { most / 100 * percent };
    for pool in pools {
        let kind = PoolKind::named("POOL", pool)?;
        // Another kind in between, so that each pool starts empty.
        memory::configure(Settings {
            kind: if kind == PoolKind::Off { PoolKind::Split } else { PoolKind::Off },
            ..Settings::default()
        });
        memory::configure(Settings { kind, cap, ..Settings::default() });
        run(kind, &ops, trace, percent, most)?;
    }
    Ok(())
}

fn run(kind: PoolKind, ops: &[Op], trace: &str, percent: usize, most: usize) -> Result<(), Box<dyn Error>> {
    let mut held: VecDeque<Held> = VecDeque::new();
    let (mut hits, mut refused, mut most_mapped) = (vec![], 0, 0);
    let started = cpu_seconds()?;
    for op in ops {
        match *op {
            Op::Allocate(bytes) => {
                let before = Instant::now();
                let guard = memory::allocate(bytes);
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
                    most_mapped = most_mapped.max(memory::stats().mapped);
                }
            }
            Op::Release(at) => drop(held.swap_remove_back(at)),
        }
    }
    let seconds = cpu_seconds()? - started;
    let (stats, steps) = (memory::stats(), memory::steps());
    drop(held);
    hits.sort_unstable();
    println!(
        "{{\"trace\":\"{trace}\",\"capPercent\":{percent},\"pool\":\"{}\",\"seconds\":{seconds:.4},\"hitNs\":{},\"fragmentation\":{:.3},\"refused\":{refused},\"mappings\":{},\"scans\":{},\"maps\":{},\"reclaims\":{}}}",
        kind.name(),
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

/// Writes a byte of each page.
fn touch(bytes: &mut [MaybeUninit<u8>]) {
    bytes.iter_mut().step_by(4096).for_each(|byte| *byte = MaybeUninit::new(1));
}

fn batches() -> Vec<Op> {
    let mut random = Random(1);
    let mut ops = vec![];
    for batch in 0..300 {
        let part = |random: &mut Random, bytes: usize| bytes - random.below(bytes / 8);
        let texts = [1 << 20, 1 << 20, 2 << 20, 4 << 20];
        let chunks = 26;
        ops.extend(texts.map(Op::Allocate));
        ops.extend((0..chunks).map(|_| Op::Allocate(256 << 10)));
        // The kept results are the oldest blocks, then come the texts, then the chunks of ids.
        let kept = batch.min(3);
        ops.extend(texts.map(|_| Op::Release(kept)));
        ops.push(Op::Allocate(part(&mut random, 6 << 20)));
        ops.extend((0..chunks).map(|_| Op::Release(kept)));
        if kept == 3 {
            ops.push(Op::Release(0));
        }
    }
    ops
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
        }
    }
    most
}
