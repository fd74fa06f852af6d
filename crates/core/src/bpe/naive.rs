//! BPE by its definition: slow and obvious. Tests and fuzz targets compare the merge loops with it.

use super::Symbol;
use super::merges::Merge;

/// Repeatedly merges the pair of the lowest rank, the leftmost of equal ones. `merges` has left id,
/// right id and merge.
pub fn merge(merges: &[(u32, u32, Merge)], symbols: &[Symbol]) -> Vec<Symbol> {
    let mut symbols = symbols.to_vec();
    loop {
        let mut best: Option<(usize, Merge)> = None;
        for at in 1..symbols.len() {
            let pair = (symbols[at - 1].id, symbols[at].id);
            for &(left, right, merge) in merges {
                if (left, right) == pair && best.is_none_or(|(_, found)| merge.rank < found.rank) {
                    best = Some((at, merge));
                }
            }
        }
        let Some((at, merge)) = best else { return symbols };
        let right = symbols.remove(at);
        symbols[at - 1] = Symbol { id: merge.id, len: symbols[at - 1].len + right.len };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(ids: &[u32]) -> Vec<Symbol> {
        ids.iter().map(|&id| Symbol { id, len: 1 }).collect()
    }

    #[test]
    fn lowest_rank_first_then_leftmost() {
        // 1 1 -> 2 (rank 1), 1 3 -> 4 (rank 0): in 1 1 3 the right pair merges first, in 1 1 1 the
        // left.
        let merges = [(1, 1, Merge { rank: 1, id: 2 }), (1, 3, Merge { rank: 0, id: 4 })];
        assert_eq!(merge(&merges, &symbols(&[1, 1, 3])), [Symbol { id: 1, len: 1 }, Symbol { id: 4, len: 2 }]);
        assert_eq!(merge(&merges, &symbols(&[1, 1, 1])), [Symbol { id: 2, len: 2 }, Symbol { id: 1, len: 1 }]);
        assert_eq!(merge(&merges, &[]), []);
    }
}
