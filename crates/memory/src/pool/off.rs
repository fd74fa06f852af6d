//! No pool: every block is a mapping of its own that is unmapped on release. The baseline that the
//! other pools are compared with.

use super::mappings::Mappings;
use super::{Block, Pages, Pool, PoolUsage};
use crate::pages::{Advice, page_size};

/// See the module documentation. Invariant: all mapped memory is outstanding.
#[derive(Debug)]
pub struct Off<P> {
    mappings: Mappings<P>,
}

impl<P> Default for Off<P> {
    fn default() -> Self {
        Self { mappings: Mappings::default() }
    }
}

impl<P: Pages> Pool for Off<P> {
    fn scan(&mut self, _bytes: usize) -> Option<Block> {
        None
    }

    fn needed(&self, bytes: usize) -> usize {
        bytes.max(1).checked_next_multiple_of(page_size()).unwrap_or(usize::MAX)
    }

    fn map(&mut self, bytes: usize, available: usize) -> Option<Block> {
        let bytes = Some(self.needed(bytes)).filter(|&needed| needed <= available)?;
        let id = self.mappings.add(bytes, bytes)?;
        Some(Block { start: self.mappings.address(id, 0), bytes: self.mappings.get(id).bytes(), id })
    }

    fn release(&mut self, block: Block) {
        let bytes = self.mappings.remove(block.id);
        debug_assert_eq!(bytes, block.bytes);
    }

    fn shrink(&mut self, _block: &mut Block, _bytes: usize) {}

    fn reclaim(&mut self, _bytes: usize) -> usize {
        0
    }

    fn decommit_cold(&mut self, _warm: usize, _advice: Advice) {}

    fn decommit_all(&mut self, _advice: Advice) {}

    fn usage(&self) -> PoolUsage {
        PoolUsage { mapped: self.mappings.bytes(), outstanding: self.mappings.bytes(), cached: 0, warm: 0 }
    }
}

#[cfg(feature = "testing")]
impl<P: Pages> super::CheckedPool for Off<P> {
    fn check_all(&self) {}
}
