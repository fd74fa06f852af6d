// An added token of a tokenizer.json.

/** A special token that is found anywhere in a text. `flags` replace its fields. */
export const addedToken = (id, content, flags = {}) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...flags,
})
