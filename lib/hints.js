'use strict'

// Names of options that people know from other libraries, and what they are called here.

/**
 * For each name, by its lower-case letters without underscores and hyphens: the options that were
 * probably meant.
 */
const SYNONYMS = {
  chunksize: ['maxTokens'],
  chunklength: ['maxTokens'],
  tokenlimit: ['maxTokens', 'limit'],
  maxlength: ['maxTokens', 'truncation'],
  maxlen: ['maxTokens', 'truncation'],
  maxtokens: ['truncation'],
  limit: ['maxTokens', 'truncation'],
  truncate: ['truncation'],
  stride: ['truncation', 'overlap'],
  chunkoverlap: ['overlap'],
  overlapsize: ['overlap'],
  separator: ['boundary'],
  separators: ['boundary'],
  splitby: ['boundary'],
  mode: ['boundary'],
  pad: ['padding'],
  padtomultipleof: ['padding'],
  textpair: ['pair', 'pairs'],
  textpairs: ['pairs'],
  issplitintowords: ['pretokenized'],
  ispretokenized: ['pretokenized'],
  allowedspecial: ['specialTokens'],
  disallowedspecial: ['specialTokens'],
  allowedspecialtokens: ['specialTokens'],
  parsespecial: ['specialTokens'],
  addbos: ['addSpecialTokens'],
  addeos: ['addSpecialTokens'],
  returnoffsetsmapping: ['offsets'],
  returnoffsets: ['offsets'],
  returnattentionmask: ['columns'],
  returntokentypeids: ['columns'],
  returnspecialtokensmask: ['columns'],
  returntokens: ['columns'],
  returnoverflowingtokens: ['overflow'],
  returnoverflow: ['overflow'],
  concurrency: ['threads'],
  parallelism: ['threads'],
  numthreads: ['threads'],
  workers: ['threads'],
  abortsignal: ['signal'],
  skipspecial: ['skipSpecialTokens'],
  branch: ['revision'],
  accesstoken: ['token'],
  authtoken: ['token'],
  cachefolder: ['cacheDir'],
  offline: ['localFilesOnly'],
}

/** How an option is given whose value is an object or a list. */
const FORMS = {
  truncation: 'truncation: { maxLength: … }',
  padding: 'padding: { to: … }',
  columns: "columns: ['attentionMask', …]",
}

/** How to write the option that was probably meant; undefined if none is known. */
function synonymOf(name, known) {
  const key = name.length > 60 ? '' : name.toLowerCase().replaceAll(/[_-]/g, '')
  const meant = Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key].find((option) => known.includes(option)) : undefined
  return meant === undefined || meant === name ? undefined : (FORMS[meant] ?? meant)
}

module.exports = { synonymOf }
