'use strict'

// The tokenizer classes of @huggingface/transformers, by their names. They differ in a few defaults
// and methods.

const { boundedArray, named, primitive } = require('tokenlane/internal/dropins/bounded.js')
const { error, notCovered, typeError } = require('tokenlane/internal/dropins/errors.js')
const { isTensor } = require('./tensor.js')
const { PreTrainedTokenizer, idsOfTensor } = require('./tokenizer.js')

class LlamaTokenizer extends PreTrainedTokenizer {
  padding_side = 'left'
}

/** Its tokens are letters with a pause between each two. Decoding drops the pauses. */
class VitsTokenizer extends PreTrainedTokenizer {
  decode_single(token_ids, options) {
    super.decode_single(token_ids, options) // Checks the arguments.
    const tokens = token_ids.map((id) => this._tokenizer.id_to_token(id) ?? '')
    return tokens.filter((_, index) => index % 2 === 1).join('')
  }
}

class MarianTokenizer extends PreTrainedTokenizer {
  languageRegex = /^(>>\w+<<)\s*/

  get supported_language_codes() {
    return [...this.get_vocab().keys()].filter((token) => this.languageRegex.test(token))
  }
}

class WhisperTokenizer extends PreTrainedTokenizer {
  get timestamp_begin() {
    return this._tokenizer.token_to_id('<|notimestamps|>') + 1
  }

  decode(token_ids, decode_args = {}) {
    const { decode_with_timestamps = false, time_precision = 0.02, ...rest } = decode_args ?? {}
    if (!decode_with_timestamps) return super.decode(token_ids, rest)
    const ids = isTensor(token_ids) ? idsOfTensor(token_ids) : token_ids
    const begin = this.all_special_ids.at(-1) + 1
    let text = ''
    let open = []
    const flush = () => {
      if (open.length > 0) text += super.decode(open, rest)
      open = []
    }
    for (const id of boundedArray(ids, 'token_ids').map((one) => Number(primitive(one, 'an id')))) {
      if (id < begin) open.push(id)
      else {
        flush()
        text += `<|${((id - begin) * time_precision).toFixed(2)}|>`
      }
    }
    flush()
    return text
  }

  _decode_asr() {
    throw notCovered('_decode_asr, which joins the outputs of speech recognition')
  }
}

/** A tokenizer of a translation model, whose texts start with the token of their language. */
class TranslationTokenizer extends PreTrainedTokenizer {
  languageRegex = /^$/

  /** The code of the language that a token stands for. */
  _codeOf(token) {
    return token
  }

  /** The token of a language. */
  lang_to_token = (code) => code

  get language_codes() {
    return this.all_special_tokens.filter((token) => this.languageRegex.test(token)).map((token) => this._codeOf(token))
  }

  _build_translation_inputs(raw_inputs, tokenizer_options, generate_kwargs) {
    if (typeof generate_kwargs !== 'object' || generate_kwargs === null)
      throw typeError('generate_kwargs must be an object')
    const { src_lang: source, tgt_lang: target } = generate_kwargs
    this.#check('Target', target)
    if (source !== undefined) {
      this.#check('Source', source)
      this.#setLanguage(this.lang_to_token(source))
    }
    generate_kwargs.forced_bos_token_id = this._tokenizer.token_to_id(this.lang_to_token(target))
    return this._call(raw_inputs, tokenizer_options)
  }

  #check(which, code) {
    const known = this.language_codes
    if (known.includes(code)) return
    throw error(
      'ARGUMENT_VALUE',
      `${which} language code "${named(code)}" is not valid. Must be one of: {${known.join(', ')}}`,
    )
  }

  /** Replaces the language token in the post-processor's template for one text. */
  #setLanguage(token) {
    const template = this._tokenizer.settings.post_processor
    const single = template?.single ?? []
    const at = single.findIndex((item) => this.languageRegex.test(item.SpecialToken?.id ?? ''))
    if (at === -1 || single[at].SpecialToken.id === token) return
    const known = { id: token, ids: [this._tokenizer.token_to_id(token)], tokens: [token] }
    this._tokenizer.replacePostProcessor({
      ...template,
      single: single.with(at, { SpecialToken: { ...single[at].SpecialToken, id: token } }),
      special_tokens: { ...template.special_tokens, [token]: known },
    })
  }
}

class MBartTokenizer extends TranslationTokenizer {
  languageRegex = /^[a-z]{2}_[A-Z]{2}$/
}

class MBart50Tokenizer extends MBartTokenizer {}

class NllbTokenizer extends TranslationTokenizer {
  languageRegex = /^[a-z]{3}_[A-Z][a-z]{3}$/
}

class M2M100Tokenizer extends TranslationTokenizer {
  languageRegex = /^__[a-z]{2,3}__$/
  lang_to_token = (code) => `__${primitive(code, 'code')}__`

  _codeOf(token) {
    if (typeof token !== 'string') throw typeError('token must be a string')
    return token.slice(2, -2)
  }
}

/** Creates a class with a name and a default for token type ids, and nothing else of its own. */
function plain(name, hasTypeIds = false) {
  const named = {
    [name]: class extends PreTrainedTokenizer {
      return_token_type_ids = hasTypeIds
    },
  }
  return named[name]
}

const withTypeIds = (name) => plain(name, true)

exports.AlbertTokenizer = withTypeIds('AlbertTokenizer')
exports.BartTokenizer = plain('BartTokenizer')
exports.BertTokenizer = withTypeIds('BertTokenizer')
exports.BlenderbotSmallTokenizer = plain('BlenderbotSmallTokenizer')
exports.BlenderbotTokenizer = plain('BlenderbotTokenizer')
exports.BloomTokenizer = plain('BloomTokenizer')
exports.CLIPTokenizer = plain('CLIPTokenizer')
exports.CamembertTokenizer = plain('CamembertTokenizer')
exports.CodeGenTokenizer = plain('CodeGenTokenizer')
exports.CodeLlamaTokenizer = plain('CodeLlamaTokenizer')
exports.CohereAsrTokenizer = plain('CohereAsrTokenizer')
exports.CohereTokenizer = plain('CohereTokenizer')
exports.ConvBertTokenizer = withTypeIds('ConvBertTokenizer')
exports.DebertaTokenizer = withTypeIds('DebertaTokenizer')
exports.DebertaV2Tokenizer = withTypeIds('DebertaV2Tokenizer')
exports.DistilBertTokenizer = plain('DistilBertTokenizer')
exports.ElectraTokenizer = withTypeIds('ElectraTokenizer')
exports.EsmTokenizer = plain('EsmTokenizer')
exports.FalconTokenizer = plain('FalconTokenizer')
exports.GPT2Tokenizer = plain('GPT2Tokenizer')
exports.GPTNeoXTokenizer = plain('GPTNeoXTokenizer')
exports.GemmaTokenizer = plain('GemmaTokenizer')
exports.HerbertTokenizer = withTypeIds('HerbertTokenizer')
exports.LlamaTokenizer = LlamaTokenizer
exports.M2M100Tokenizer = M2M100Tokenizer
exports.MBart50Tokenizer = MBart50Tokenizer
exports.MBartTokenizer = MBartTokenizer
exports.MPNetTokenizer = plain('MPNetTokenizer')
exports.MarianTokenizer = MarianTokenizer
exports.MgpstrTokenizer = plain('MgpstrTokenizer')
exports.MobileBertTokenizer = withTypeIds('MobileBertTokenizer')
exports.NllbTokenizer = NllbTokenizer
exports.NougatTokenizer = plain('NougatTokenizer')
exports.Qwen2Tokenizer = plain('Qwen2Tokenizer')
exports.RoFormerTokenizer = withTypeIds('RoFormerTokenizer')
exports.RobertaTokenizer = plain('RobertaTokenizer')
exports.SiglipTokenizer = plain('SiglipTokenizer')
exports.SpeechT5Tokenizer = plain('SpeechT5Tokenizer')
exports.SqueezeBertTokenizer = withTypeIds('SqueezeBertTokenizer')
exports.T5Tokenizer = plain('T5Tokenizer')
exports.VitsTokenizer = VitsTokenizer
exports.Wav2Vec2CTCTokenizer = plain('Wav2Vec2CTCTokenizer')
exports.WhisperTokenizer = WhisperTokenizer
exports.XLMRobertaTokenizer = plain('XLMRobertaTokenizer')
exports.XLMTokenizer = withTypeIds('XLMTokenizer')
