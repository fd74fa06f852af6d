'use strict'

// What other packages of tokenlane use. Not for users: it changes without notice. Each module is
// loaded when it is first read, because the whole engine takes six mebibytes.

module.exports = {
  get convert() {
    return require('./src/convert.js')
  },
  get entries() {
    return require('./src/entries.js')
  },
  get json() {
    return require('./src/json.js')
  },
  get origins() {
    return require('./src/origins.js')
  },
  get pieces() {
    return require('./src/pieces.js')
  },
  get print() {
    return require('./src/print.js')
  },
  get renderCost() {
    return require('./src/render-cost.js')
  },
  get strftime() {
    return require('./src/strftime.js')
  },
  get template() {
    return require('./src/template.js')
  },
  get traced() {
    return require('./src/traced.js')
  },
  get values() {
    return require('./src/values.js')
  },
}
