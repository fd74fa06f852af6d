'use strict'

// For the other packages of this repository, whose versions are this one's: errors with the codes
// of this package, and checks that hold for values of other realms.

exports.errors = require('../errors.js')
exports.realm = require('../realm.js')
