'use strict'

module.exports = require('./entry.js').encoding('o200k_base')
module.exports.default = module.exports

// Never runs. Node finds the names of CommonJS exports by parsing, and this line declares them.
0 && (module.exports = { ...require('./names.js') })
