'use strict'

/** A loaded tokenizer, which `from_pretrained` passes to constructors instead of its JSON. */
class Loaded {
  constructor(backend, templates) {
    this.backend = backend
    this.templates = templates
  }
}

module.exports = { Loaded }
