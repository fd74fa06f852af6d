'use strict'

module.exports = require('./entry.js').encoding('o200k_base')
module.exports.default = module.exports

// For Node, which looks for the names of exports without running a file.
0 && (module.exports = { ...require('./names.js') })
