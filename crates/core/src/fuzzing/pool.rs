//! Pools, compared with a naive model on traces of allocations and releases.

use super::draw::Draw;
use crate::memory::pool::CheckedPool;
use crate::memory::pool::{Binned, Split};
use crate::memory::testing::{FakePages, PoolOp, drive, drive_shared};

/// Maximum length of a trace.
const MAX_TRACE_LEN: usize = 400;

/// Interprets bytes as a pool, its cap, and operations on it.
pub(super) fn pool(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let (which, shares) = (draw.below(2), draw.flag());
    let cap = if draw.flag() { usize::MAX / 2 } else { draw.below(200 << 20) };
    let mut ops = vec![];
    while !draw.is_over() && ops.len() < MAX_TRACE_LEN {
        ops.push(op(&mut draw));
    }
    match which {
        0 => beside_model(Split::<FakePages>::default(), shares, &ops, cap),
        _ => beside_model(Binned::<FakePages>::default(), shares, &ops, cap),
    }
}

fn beside_model(pool: impl CheckedPool + 'static, shares: bool, ops: &[PoolOp], cap: usize) {
    if shares { drive_shared(pool, ops, cap) } else { drive(pool, ops, cap) }
}

/// Draws an operation, from two or three bytes. Releases are about as frequent as allocations.
fn op(draw: &mut Draw<'_>) -> PoolOp {
    match draw.below(24) {
        0..10 => PoolOp::Allocate(size(draw)),
        10..19 => PoolOp::Release(draw.byte().into()),
        19..21 => PoolOp::Shrink(draw.byte().into(), draw.byte()),
        21 => PoolOp::Reclaim(size(draw)),
        22 => PoolOp::DecommitCold { warm: size(draw), off: draw.flag() },
        _ => PoolOp::Trim,
    }
}

/// Draws a size: from 64 bytes to 128 MiB, or one at a boundary of size classes or of rounding.
fn size(draw: &mut Draw<'_>) -> usize {
    const EDGES: [usize; 8] = [1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 32 << 20, (32 << 20) + 1];
    match draw.below(29) {
        at @ 0..8 => EDGES[at],
        at => (256 + usize::from(draw.byte())) << (at - 8) >> 2,
    }
}
