'use strict'

// The original's module has only types.
