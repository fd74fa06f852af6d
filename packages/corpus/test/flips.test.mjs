// A hundred flipped bits in every compressed and Parquet input. `damage` has a few.

import { scratch } from '../../../__test__/support/corpus.mjs'
import { flipTests } from './support/flips.mjs'

flipTests(scratch(), 100, 2)
