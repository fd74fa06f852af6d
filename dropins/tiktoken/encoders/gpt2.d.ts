import encoder = require('../internal/encoder.js')
export = encoder
