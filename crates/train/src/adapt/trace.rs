//! The merges that a word takes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Pairs of ids with the index and the token of their merge.
pub(super) type Merges = HashMap<(u32, u32), (u32, u32), RandomState>;

/// A token of a word, in a list.
#[derive(Clone, Copy)]
struct Node {
    token: u32,
    before: usize,
    after: usize,
}

const END: usize = usize::MAX;

/// Merges the tokens of a word as encoding does: the lowest merge first, of equal ones the leftmost
/// one. Calls `visit` with each pair. Takes n log n time.
pub(super) fn trace(tokens: &[u32], merges: &Merges, mut visit: impl FnMut((u32, u32))) {
    let node = |(at, &token): (usize, &u32)| Node {
        token,
        before: at.checked_sub(1).unwrap_or(END),
        after: if at + 1 < tokens.len() { at + 1 } else { END },
    };
    let mut nodes: Vec<Node> = tokens.iter().enumerate().map(node).collect();
    let pair_at = |nodes: &[Node], at: usize| Some((nodes[at].token, nodes.get(nodes[at].after)?.token));
    let queued = |nodes: &[Node], at: usize| {
        let pair = pair_at(nodes, at)?;
        Some(Reverse((merges.get(&pair)?.0, at, pair)))
    };
    let mut queue: BinaryHeap<_> = (0..nodes.len()).filter_map(|at| queued(&nodes, at)).collect();
    while let Some(Reverse((_, at, pair))) = queue.pop() {
        // A token that was merged to the left is `END` now, which is in no pair.
        if pair_at(&nodes, at) != Some(pair) {
            continue;
        }
        visit(pair);
        let right = nodes[at].after;
        let (before, after) = (nodes[at].before, nodes[right].after);
        nodes[at] = Node { token: merges[&pair].1, before, after };
        nodes[right].token = u32::MAX;
        if let Some(next) = nodes.get_mut(after) {
            next.before = at;
        }
        queue.extend(queued(&nodes, at));
        if before != END {
            queue.extend(queued(&nodes, before));
        }
    }
}
