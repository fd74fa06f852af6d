'use strict'

// Reasoning between tags, which most models share.

module.exports = { open: ['<think>'], close: ['</think>'] }
