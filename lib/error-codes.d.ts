/**
 * Every code of an error, and when it happens. Codes are stable; messages may change between
 * versions.
 */
export interface ErrorCodes {
  /** An argument, or a field of a body or a message, has the wrong type; the message names it. */
  ERR_TOKENLANE_ARGUMENT_TYPE: string
  /** An argument, or a field of a body or a message, is outside the allowed range. */
  ERR_TOKENLANE_ARGUMENT_VALUE: string
  /** The call has no option of this name. */
  ERR_TOKENLANE_UNKNOWN_OPTION: string
  /** The bytes are in a detached, resizable or shared buffer. */
  ERR_TOKENLANE_BUFFER: string
  /** The file does not exist, or a folder has no tokenizer. */
  ERR_TOKENLANE_FILE_NOT_FOUND: string
  /** It is not a regular file. */
  ERR_TOKENLANE_NOT_A_FILE: string
  /** The file cannot be read. */
  ERR_TOKENLANE_FILE: string
  /** A file beside the tokenizer, of the hub's cache or of a job exceeds its limit. */
  ERR_TOKENLANE_FILE_TOO_LARGE: string
  /** The file is empty. */
  ERR_TOKENLANE_EMPTY_FILE: string
  /** The file is of no format that has a tokenizer. */
  ERR_TOKENLANE_UNKNOWN_FORMAT: string
  /** The file, or a row, is not valid JSON. */
  ERR_TOKENLANE_JSON: string
  /** A field of the file has the wrong type. */
  ERR_TOKENLANE_SHAPE: string
  /** A SentencePiece model is cut or malformed. */
  ERR_TOKENLANE_PROTOBUF: string
  /** A GGUF file is cut or malformed. */
  ERR_TOKENLANE_GGUF: string
  /** tokenlane lacks a component of the file, or a feature of the call; an archive is no text. */
  ERR_TOKENLANE_UNSUPPORTED: string
  /** A merge names tokens that the vocabulary lacks. */
  ERR_TOKENLANE_MERGE: string
  /** Two tokens of the vocabulary share an id. */
  ERR_TOKENLANE_DUPLICATE_ID: string
  /** The tokenizer exceeds a size limit. */
  ERR_TOKENLANE_TOO_LARGE: string
  /** A regular expression does not compile. */
  ERR_TOKENLANE_PATTERN: string
  /** A line of a rank file is malformed. */
  ERR_TOKENLANE_RANK_LINE: string
  /** A rank file was loaded without its pattern. */
  ERR_TOKENLANE_PATTERN_MISSING: string
  /** No bundled encoding has this name. */
  ERR_TOKENLANE_UNKNOWN_ENCODING: string
  /** No model of OpenAI has this name. */
  ERR_TOKENLANE_UNKNOWN_MODEL: string
  /** The text is not UTF-8. */
  ERR_TOKENLANE_INVALID_UTF8: string
  /** A text exceeds its maximum size. */
  ERR_TOKENLANE_TEXT_TOO_LONG: string
  /** A batch exceeds its maximum size. */
  ERR_TOKENLANE_BATCH_TOO_LARGE: string
  /** The text contains a special token that is not allowed here. */
  ERR_TOKENLANE_SPECIAL_TOKEN: string
  /** An option names a special token that does not exist. */
  ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN: string
  /** More than `limits.maxInputBytes`. */
  ERR_TOKENLANE_INPUT_TOO_LARGE: string
  /** More than `limits.maxQueuedBatches`. */
  ERR_TOKENLANE_QUEUE_FULL: string
  /** Special tokens alone, one character, or the newest message need more ids than the limit. */
  ERR_TOKENLANE_LIMIT_TOO_SMALL: string
  /**
   * A component makes more than `limits.maxExpansion` times the text, or takes too much work
   * (`component`, `reached`, `limit`).
   */
  ERR_TOKENLANE_OUTPUT_LIMIT: string
  /** A regular expression takes too many steps on this text. */
  ERR_TOKENLANE_PATTERN_LIMIT: string
  /** The text needs the unknown token, and the model has none. */
  ERR_TOKENLANE_UNKNOWN_TOKEN_MISSING: string
  /** The text needs the token of a byte, and the model has none. */
  ERR_TOKENLANE_NO_TOKEN_FOR_BYTE: string
  /** The stride of truncation leaves no progress. */
  ERR_TOKENLANE_TRUNCATION_STRIDE: string
  /** The text cannot be truncated to so few tokens. */
  ERR_TOKENLANE_TRUNCATION_TOO_SHORT: string
  /** Truncation is of the second text, and there is none. */
  ERR_TOKENLANE_TRUNCATION_NO_SECOND_TEXT: string
  /** Truncation would return more overflow parts than the limit. */
  ERR_TOKENLANE_OVERFLOW_TOO_LARGE: string
  /** Padding would add more than the limit. */
  ERR_TOKENLANE_PADDING_TOO_LONG: string
  /** The post-processor's template names an unknown token, or does not fit the call. */
  ERR_TOKENLANE_TEMPLATE: string
  /** The vocabulary of a rank file has no such id. */
  ERR_TOKENLANE_UNKNOWN_ID: string
  /** A tokenizer.json cannot express these ranks or this SentencePiece model. */
  ERR_TOKENLANE_SAVE: string
  /** The batch was disposed, or the drop-in's encoder was freed. */
  ERR_TOKENLANE_DISPOSED: string
  /** Drop-ins: bytes that are not a token, or a missing padding token. */
  ERR_TOKENLANE_NO_SUCH_TOKEN: string
  /** Drop-ins: a call before `init()`. */
  ERR_TOKENLANE_NOT_INITIALIZED: string
  /** Drop-ins: a failed download. */
  ERR_TOKENLANE_DOWNLOAD: string
  /** Drop-ins: rows of different lengths for one tensor, or dimensions that do not fit. */
  ERR_TOKENLANE_TENSOR_SHAPE: string
  /** The repository does not exist, or is private and the token is not the right one. */
  ERR_TOKENLANE_HUB_REPO_NOT_FOUND: string
  /** The repository has no such revision. */
  ERR_TOKENLANE_HUB_REVISION_NOT_FOUND: string
  /** The repository has no such file. */
  ERR_TOKENLANE_HUB_FILE_NOT_FOUND: string
  /** The repository asks for access. */
  ERR_TOKENLANE_HUB_GATED: string
  /** The token is refused. */
  ERR_TOKENLANE_HUB_ACCESS: string
  /** Too many requests (`retryAfter`: seconds). */
  ERR_TOKENLANE_HUB_RATE_LIMIT: string
  /** No connection to the hub. */
  ERR_TOKENLANE_HUB_NETWORK: string
  /** An invalid answer of the hub (`status`). */
  ERR_TOKENLANE_HUB_SERVER: string
  /** A download differs from the announced file. */
  ERR_TOKENLANE_HUB_CORRUPT: string
  /** The hub sent, or announced, more than a limit allows; the message names the limit. */
  ERR_TOKENLANE_HUB_LIMIT: string
  /** The cache lacks the file, and downloads are off. */
  ERR_TOKENLANE_HUB_NOT_CACHED: string
  /** The cache cannot be read or written. */
  ERR_TOKENLANE_HUB_CACHE: string
  /** The tokenizer has no chat template. */
  ERR_TOKENLANE_CHAT_TEMPLATE_MISSING: string
  /** The chat template is faulty, or uses an unsupported feature. */
  ERR_TOKENLANE_CHAT_TEMPLATE: string
  /** The chat template rejects these messages. */
  ERR_TOKENLANE_CHAT_REFUSED: string
  /** OpenAI documents no rule for a part of a chat, or a part, such as audio, has no estimate. */
  ERR_TOKENLANE_CHAT_UNDOCUMENTED: string
  /** The size of an image is not known. */
  ERR_TOKENLANE_CHAT_IMAGE_SIZE: string
  /** The chat template exceeds a limit of `limits`, or is too long or too deeply nested. */
  ERR_TOKENLANE_CHAT_LIMIT: string
  /** A row has no text in the field, or there is no such column. */
  ERR_TOKENLANE_FIELD: string
  /** A Parquet file is damaged, or needs more than the limits. */
  ERR_TOKENLANE_PARQUET: string
  /** Compressed data is damaged. */
  ERR_TOKENLANE_DECOMPRESS: string
  /** Compressed data becomes more than `maxRatio` allows. */
  ERR_TOKENLANE_DECOMPRESS_LIMIT: string
  /** Jobs: nothing has the name of the tokenizer. */
  ERR_TOKENLANE_UNKNOWN_TOKENIZER: string
  /** Jobs: `encoding` is given for something that is not a file. */
  ERR_TOKENLANE_USAGE: string
  /** Training: the texts have no words. */
  ERR_TOKENLANE_TRAIN_NO_WORDS: string
  /** Training: the vocabulary of Unigram is too small for alphabet and special tokens. */
  ERR_TOKENLANE_TRAIN_VOCABULARY: string
  /** Training: the distinct words have too many characters. */
  ERR_TOKENLANE_TRAIN_TOO_LARGE: string
  /** Training: an option that the trainer refuses, under its Python name. */
  ERR_TOKENLANE_TRAIN_OPTION: string
  /** Training: a part of a tokenizer.json is damaged. */
  ERR_TOKENLANE_TRAIN_BASE: string
  /** Training: a temporary file of words was cut or changed. */
  ERR_TOKENLANE_TRAIN_WORDS: string
  /** Jobs: the output folder has another job or other files; the message names the difference. */
  ERR_TOKENLANE_CORPUS_MISMATCH: string
  /** Jobs: an input lies in the output folder. */
  ERR_TOKENLANE_OUTPUT_IS_INPUT: string
  /** Jobs: an input differs from the planned one, or from the input of a finished shard. */
  ERR_TOKENLANE_CORPUS_INPUT_CHANGED: string
  /** Jobs: `filter` or `map` threw for a document, or returned another type. */
  ERR_TOKENLANE_CORPUS_HOOK: string
  /** Jobs: Redis cannot be used, or the queue has something that is not a job of tokenlane. */
  ERR_TOKENLANE_CORPUS_QUEUE: string
  /** Jobs: shards failed three times, or no worker had a shard for `giveUpSeconds`. */
  ERR_TOKENLANE_CORPUS_SHARDS_FAILED: string
  /** Jobs: the store refused a request, failed too often, or sends a listing without an end. */
  ERR_TOKENLANE_CORPUS_STORE: string
  /** Jobs: another program uses the port of the metrics, or this machine has no such address. */
  ERR_TOKENLANE_METRICS: string
  /** A worker: a job names a path that is not below `allow`; the shard returns to the queue. */
  ERR_TOKENLANE_CORPUS_NOT_ALLOWED: string
  /** Jobs: a record or the plan is missing or changed, or the queue names bytes of no shard. */
  ERR_TOKENLANE_CORPUS_DAMAGED: string
  /** The process has no file descriptors left. */
  ERR_TOKENLANE_TOO_MANY_FILES: string
  /** A package is not installed, or has another version; the message has the command. */
  ERR_TOKENLANE_PACKAGE_MISSING: string
  /** No addon for this machine is installed; the message has the command that installs it. */
  ERR_TOKENLANE_ADDON_MISSING: string
  /** The package was bundled, and its files are not found; the message has each bundler's line. */
  ERR_TOKENLANE_BUNDLED: string
  /** The platform package has another version than tokenlane. */
  ERR_TOKENLANE_ADDON_VERSION: string
  /** Node's permission model, `--no-addons` or Deno does not permit the addon. */
  ERR_TOKENLANE_ADDON_NOT_PERMITTED: string
  /** The system cannot load the addon, for example because it is for another C library. */
  ERR_TOKENLANE_ADDON_LOAD: string
  /** `TOKENLANE_CPU_LEVEL`, which is for tests, names a level that the CPU lacks. */
  ERR_TOKENLANE_CPU_LEVEL: string
  /** The system does not have the memory; the call has no effect and the process continues. */
  ERR_TOKENLANE_OUT_OF_MEMORY: string
  /** A defect of tokenlane; please report it. */
  ERR_TOKENLANE_PANIC: string
}
