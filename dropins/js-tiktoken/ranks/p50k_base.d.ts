import ranks = require('../internal/ranks.js')
export = ranks
