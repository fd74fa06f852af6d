'use strict'

const { limits } = require('../limits.js')

/** The result of work that writes text for a chat without a template, within the same limits. */
function withinChatLimits(work) {
  const { renderCost } = require('@tokenlane/jinja/internal')
  try {
    return renderCost.within(new renderCost.RenderCost(limits), work)
  } catch (failure) {
    // The module with the errors of limits has the whole template engine.
    return require('@tokenlane/jinja/internal').template.guarded(() => {
      throw failure
    }, 'failed')
  }
}

module.exports = { withinChatLimits }
