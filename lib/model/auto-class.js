'use strict'

// The class that AutoTokenizer of transformers 5 uses for a folder, from the names in its configs.
// tools/compare/model-folders/make_classes.py writes the table of classes and models.

const table = require('./auto-classes.json')

const CLASSES = new Set(table.classes)
const PYTHON = new Set(table.python)
const WRONG_CLASSES = new Set(table.wrongClasses)
const CLASS_OF_MODEL = new Map(
  Object.entries(table.modelTypes).flatMap(([name, types]) => types.map((type) => [type, name])),
)
const CONFIG_TYPES = new Set(table.configTypes)
const PATTERNS = table.backendRepositories.map(
  (pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 's'),
)

/** The class that uses a tokenizer.json as it is. */
const BACKEND = 'TokenizersBackend'

const withoutFast = (name) => name.replace(/Fast$/, '')
const textOf = (value) => (typeof value === 'string' && value !== '' ? value : undefined)

/** The class with a name, or undefined if transformers has none. */
function named(name) {
  if (/^(?:Bloom|PreTrained)TokenizerFast$|^BloomTokenizer$|^TokenizersBackend$/.test(name)) return BACKEND
  if (name === 'PreTrainedTokenizer') return BACKEND
  const alias = Object.hasOwn(table.aliases, name) ? table.aliases[name] : name
  if (CLASSES.has(alias) || PYTHON.has(alias)) return alias
  return name.endsWith('Fast') ? named(withoutFast(name)) : undefined
}

/**
 * The name of the class, and whether it is code of the repository, which transformers runs only if
 * it is trusted.
 *
 * @param {{ tokenizer: any, model: any, name?: string, hasByteLevel: () => boolean }} folder the
 *   tokenizer_config.json and the config.json, the name of the repository or the folder as the
 *   caller gave it, and whether tokenizer.json mentions ByteLevel
 * @returns {{ name: string, isRemote?: boolean }}
 */
function autoClass({ tokenizer, model, name, hasByteLevel }) {
  const type = textOf(model.model_type) ?? ''
  const own = textOf(tokenizer.tokenizer_class)
  const declared = own ?? textOf(model.tokenizer_class)
  const isWrong = WRONG_CLASSES.has(type) || WRONG_CLASSES.has(model.model_name)
  const registered = CLASS_OF_MODEL.get(type)
  const map = Array.isArray(tokenizer.auto_map) ? tokenizer.auto_map : tokenizer.auto_map?.AutoTokenizer
  if (map === undefined || map === null) {
    // Where transformers has no config for the type, it uses the name that the config.json has.
    const repository = (CONFIG_TYPES.has(type) ? name : textOf(model._name_or_path))?.toLowerCase() ?? ''
    if (PATTERNS.some((pattern) => pattern.test(repository))) return { name: BACKEND }
    if (declared !== undefined && withoutFast(declared) === 'LlamaTokenizer' && !isWrong && hasByteLevel())
      return { name: BACKEND }
    if (declared !== undefined && registered !== undefined && withoutFast(registered) !== withoutFast(declared)) {
      if (registered === BACKEND) return { name: BACKEND }
      return { name: named(isWrong ? withoutFast(registered) : declared) ?? BACKEND }
    }
  } else if (!WRONG_CLASSES.has(type)) {
    const isKnown = CLASS_OF_MODEL.has(type) || (own !== undefined && named(own) !== undefined)
    if (!isKnown) return { name: BACKEND, isRemote: true }
  }
  return { name: named(withoutFast(own ?? textOf(model.tokenizer_class) ?? registered ?? BACKEND)) ?? BACKEND }
}

/** Whether a class of transformers is Python code that does not use tokenizer.json. */
const isPython = (name) => PYTHON.has(name)

/** The class of a model_type, if transformers registers one. */
const classOfModel = (type) => CLASS_OF_MODEL.get(type)

module.exports = {
  BACKEND,
  autoClass,
  classOfModel,
  isPython,
  languages: table.languages,
  whisperNames: table.whisperNames,
}
