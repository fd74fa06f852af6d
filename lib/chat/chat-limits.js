'use strict'

const { limits } = require('../limits.js')

/** The result of work that writes text for a chat without a template, within the same limits. */
function withinChatLimits(work) {
  const jinja = require('@tokenlane/jinja/internal')
  try {
    return jinja.renderCost.within(new jinja.renderCost.RenderCost(limits), work)
  } catch (failure) {
    // `template`, which has the errors of limits, loads the whole template engine.
    return jinja.template.guarded(() => {
      throw failure
    }, 'failed')
  }
}

module.exports = { withinChatLimits }
