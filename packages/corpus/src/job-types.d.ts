// The options of corpus jobs, a part of index.d.ts.

import type { CorpusEvent } from './event-types.js'

/** Where metrics are served. */
export interface MetricsOptions {
  /** The port, 0 to 65,535. Required; there is no default. */
  port: number
  /**
   * The address of this machine. Others can reach the metrics at another one, and there is no
   * password. Default: `'127.0.0.1'`, this machine alone.
   */
  host?: string | undefined
}

/** Options of `tokenizeCorpus`. */
export interface CorpusOptions {
  /**
   * Files, folders and patterns (`*`, `?`, `**`, `[a-z]`, `{md,txt}`), read in this order. The
   * files of a folder are read in the order of their names, except those whose names start with a
   * dot. gzip, Zstandard and Parquet are recognised by their first bytes. `s3://bucket/prefix/` and
   * patterns of keys need the optional packages `@aws-sdk/client-s3` and `@aws-sdk/lib-storage`,
   * `gs://bucket/prefix/` `@google-cloud/storage`, `az://container/prefix/` `@azure/storage-blob`,
   * Parquet `hyparquet` and `fzstd`. `hf://datasets/OWNER/NAME[@REVISION]`, with a path or a
   * pattern after it, is a dataset of the Hugging Face Hub, at the commit that its revision has
   * when the job is planned, and needs `@huggingface/hub`. Default: none.
   */
  inputs?: string | readonly string[] | undefined
  /** A file with one more input per line. Default: none. */
  filesFrom?: string | undefined
  /**
   * The folder for the output, a path or an address of S3 (`s3://bucket/prefix/`), Google Cloud
   * Storage (`gs://`) or Azure Blob Storage (`az://`). It must not exist, be empty, or
   * contain the same job. Required unless `dryRun`. Default: none.
   */
  output?: string | undefined
  /**
   * A file (tokenizer.json, tekken.json, a SentencePiece model or a rank file), a folder with a
   * tokenizer.json or tekken.json, a bundled encoding, a model of OpenAI, or
   * `owner/name[@revision]` on the Hugging Face Hub. A tokenizer of several files, such as
   * vocab.json with merges.txt, is refused (`ERR_TOKENLANE_UNSUPPORTED`). Default: `'o200k_base'`.
   */
  tokenizer?: string | undefined
  /**
   * For a rank file: the bundled encoding whose pattern and special tokens it has. Default: none.
   */
  encoding?: string | undefined
  /**
   * `'megatron'`: .bin and .idx for IndexedDataset of megatron-core. `'npy'` and `'bin'`: tokens,
   * row offsets, and a table of the documents. `'llmc'`: .bin files of llm.c and modded-nanogpt,
   * without rows. `'mds'`: .mds files and an index.json for StreamingDataset and LocalDataset of
   * MosaicML's streaming. `'jsonl'`: ids as text. `'parquet'`: ids as a list of int32, by the
   * optional package `hyparquet-writer`. Default: `'megatron'`.
   */
  format?: 'megatron' | 'npy' | 'bin' | 'llmc' | 'mds' | 'jsonl' | 'parquet' | undefined
  /**
   * The type of ids in megatron, npy, bin, llmc and mds; there `'u32'` is int32. Default: `'u16'`
   * if the vocabulary fits, else `'u32'`.
   */
  type?: 'u16' | 'u32' | undefined
  /**
   * What a document is: a field of a line of JSON, a line without its line feed, or a file.
   * Default: `'json'` for names that end in .jsonl, .ndjson or .json (also .gz, .zst), else
   * `'lines'`. In a Parquet file, a document is always a field of a row.
   */
  rows?: 'json' | 'lines' | 'files' | undefined
  /**
   * The field with the text. Dots separate the names of nested fields, 32 at most. Default:
   * `'text'`.
   */
  field?: string | undefined
  /**
   * The field with the id of a document, a string or a number; not for megatron and llmc. Default:
   * none.
   */
  idField?: string | undefined
  /**
   * A field such as the language. `writeReport` shows tokens, and characters and bytes per token,
   * for each of its values. A record has at most 1,000 values; documents with further values are
   * one group, and documents without the field are another one. The files of tokens do not depend
   * on it. Default: none.
   */
  groupBy?: string | undefined
  /**
   * Puts a token before each document: `true` for the one that tokenizer_config.json or the
   * vocabulary suggests, or the token itself. Default: `false`.
   */
  bos?: boolean | string | undefined
  /** Puts a token after each document, in the same way. Default: `false`. */
  eos?: boolean | string | undefined
  /**
   * The length of rows in tokens. Rows then go across documents. No token is lost: the last row of
   * a shard may be shorter. Default: each document is a row.
   */
  pack?: number | undefined
  /**
   * How documents come into rows of `pack` tokens. `'sequential'`: one after the other; rows are
   * full, and documents are cut at their ends. `'best-fit'`: rows of whole documents that fit,
   * which may be shorter than `pack`; only documents longer than a row are cut. For megatron, npy,
   * bin and mds. Default: `'sequential'`.
   */
  packing?: 'sequential' | 'best-fit' | undefined
  /**
   * The seed of a random order of the shards and of the documents in each. Default: the order of
   * the inputs.
   */
  shuffle?: number | undefined
  /**
   * A module that exports `filter(document)`, `map(document)` or both, of the type {@link Hook}:
   * `filter` returns whether a document is kept, and `map` returns its new text. Its SHA-256, not
   * that of modules that it imports, is one of the options of the job, so the functions must give
   * the same results everywhere. A hook that throws or returns something else is an error of the
   * row (`ERR_TOKENLANE_CORPUS_HOOK`). Lines are read more slowly. Not with `messages`. Default:
   * none.
   */
  hooks?: string | undefined
  /**
   * `'skip'` leaves out rows that cannot be read or encoded, and counts them. The record of a shard
   * lists the first 20. Default: `'fail'`.
   */
  onError?: 'fail' | 'skip' | undefined
  /**
   * A range of numbers from 0 to 1, its end not included: a document is taken if the hash of its
   * text (the first 48 bits of its SHA-256) is in it. `[0, 0.01]` is one percent of a corpus;
   * `[0, 0.99]` and `[0.99, 1]` divide it, and equal texts are on the same side, also of inputs
   * that are added later. The text is that before `hooks`, or the rendered chat. Default: all.
   */
  sample?: readonly [number, number] | undefined
  /**
   * The maximum number of tokens in a document, including bos and eos. Further tokens are cut off
   * and counted. Default: no limit.
   */
  maxTokens?: number | undefined
  /**
   * How special tokens that are spelled out in a text are treated. Default: `'parse'` for a
   * tokenizer.json, `'text'` for ranks and for chats.
   */
  specialTokens?: 'parse' | 'text' | 'throw' | undefined
  /**
   * Makes documents of chats: the field with the messages of a row of JSON or Parquet, an array or
   * its JSON. Messages have a `role`, or `from` and `value` as in ShareGPT. Chats without a token
   * to learn from are left out and counted. The others are rendered with the chat template of the
   * tokenizer, or with the format of gpt-oss for `'o200k_harmony'`. Special tokens in messages are
   * text unless `specialTokens` is `'parse'`. Each id gets a loss mask, 1 if the assistant wrote
   * the token: `.mask.npy` or `.mask.bin` (u8), `.mask.bin` and `.mask.idx` for megatron,
   * `.mask.bin` for llmc, and `loss_mask` in mds, jsonl and parquet. Numbers have Python's form, so
   * `1.0` stays `1.0`; in columns of numbers of Parquet, it is `1`. Default: documents are texts.
   */
  messages?: string | undefined
  /**
   * With `messages`: a field with a text or messages that follow those of `messages`, such as
   * `'completion'` or `'chosen'`. Only they are learned, and both fields may be texts: a message of
   * the user and an answer. Default: none.
   */
  completion?: string | undefined
  /** With `messages`: the field with the tools of a chat. Default: no tools. */
  tools?: string | undefined
  /**
   * With `messages`: a file with a chat template. Default: that of the tokenizer. In both cases the
   * template is one of the job's options, so another template is another job.
   */
  template?: string | undefined
  /**
   * With `messages`: whether the loss mask is what `{% generation %}` blocks of the template mark,
   * as in transformers, or the answers of the assistant, as with `returnAssistantMask`. Default:
   * `'generation'` if the template has such blocks, else `'origin'`.
   */
  maskBy?: 'generation' | 'origin' | undefined
  /**
   * With `messages`: the answers that are learned. `'last'`: those after the last message of
   * another role. A message of these turns with `train: true` is learned whatever its role, and one
   * with `weight: 0`, `train: false` or `training: false` never is. Default: `'all'`.
   */
  maskTurns?: 'all' | 'last' | undefined
  /**
   * With `messages`: the roles whose messages are learned. Of other roles than the assistant, it is
   * the text of the message itself, without what the template writes around it. Default:
   * `['assistant']`.
   */
  maskRoles?: readonly string[] | undefined
  /**
   * With `messages`: reasoning is not learned: what is between `<think>`, `<seed:think>`, `[THINK]`
   * or `<|START_THINKING|>` and the tag that ends it, with the tags and the white space behind
   * them. A chat whose reasoning is written in another way is an error of the row
   * (`ERR_TOKENLANE_CHAT_REFUSED`). Default: `false`.
   */
  withoutReasoning?: boolean | undefined
  /**
   * With `messages`: the day that templates with `strftime_now` write, such as `'2026-01-31'`.
   * Required for such templates, because a job can run on several days. Default: none.
   */
  date?: string | undefined
  /**
   * The maximum size of a row in bytes. Default: 16 MiB, and 256 MiB for a whole file (`rows:
   * 'files'`). A row of one token per byte needs twenty times its size in memory.
   */
  maxRow?: number | undefined
  /** The maximum number of bytes per compressed byte, beyond the first 64 MiB. Default: 100. */
  maxRatio?: number | undefined
  /** The approximate size of a shard in bytes of text. Default: 268435456. */
  shardSize?: number | undefined
  /** Counts documents and tokens without writing anything. Default: `false`. */
  dryRun?: boolean | undefined
  /** How the files of an earlier run are compared with their records. Default: `'sha256'`. */
  resumeCheck?: 'sha256' | 'size' | undefined
  /**
   * If the output folder has the plan of the same job, uses it: the inputs are not listed, and
   * those of shards that are done are not compared. Inputs that are read are compared as always.
   * Default: `false`.
   */
  trustPlan?: boolean | undefined
  /**
   * If the output folder has a finished job with the same options, adds shards of the inputs that
   * it does not have; the shards that are there stay as they are. A known input on disk must have
   * the same size. Without new inputs, all shards are compared. Not with `queue`. Default: `false`.
   */
  append?: boolean | undefined
  /**
   * Number of shards at a time, 1 to 256. Default: half the number of processors, from 2 to 4; on
   * one or two processors 1 for plain files of lines without hooks, chats or shuffle, whose tokens
   * are written as numbers.
   */
  concurrency?: number | undefined
  /**
   * Maximum number of threads that encode one batch, 1 to 256. Two batches are encoded at the same
   * time. Default: half the number of processors; all of them for a batch of large rows.
   */
  threads?: number | undefined
  /**
   * The queue whose workers process the shards: `'redis://host:6379'`, or `'rediss://…'` for TLS.
   * User and password may be in the URL, or in the environment variables TOKENLANE_QUEUE_USERNAME
   * and TOKENLANE_QUEUE_PASSWORD. Needs the packages bullmq and ioredis. All machines must see the
   * inputs and the output under the same paths. Default: this machine processes the shards.
   */
  queue?: string | undefined
  /** The name of the queue. Default: `'tokenlane-corpus'`. */
  queueName?: string | undefined
  /**
   * With a queue: rejects with `ERR_TOKENLANE_CORPUS_SHARDS_FAILED` if no worker has had a shard
   * for this number of seconds, 1 to 86,400, and with `ERR_TOKENLANE_CORPUS_QUEUE` if Redis has not
   * answered for two seconds more. Default: waits.
   */
  giveUpSeconds?: number | undefined
  /**
   * Serves metrics for Prometheus at `http://host:port/metrics` while the job runs. Port 0 is any
   * free one, which the event `metrics` names. Rejects with `ERR_TOKENLANE_METRICS` if another
   * program uses the port. Default: none.
   */
  metrics?: MetricsOptions | undefined
  /**
   * Ends the job; the promise rejects with `signal.reason`, after 5 seconds at the latest, whatever
   * Redis, a store or the hub does. Its requests end with it and keep no process alive, apart from
   * pauses of up to 32 seconds in which the package of a store waits to try again. With a queue,
   * workers continue. Default: none.
   */
  signal?: AbortSignal | undefined
  /** Called with each event of the job. Default: none. */
  onEvent?: ((event: CorpusEvent) => void) | undefined
}

/** A document, as {@link CorpusOptions.hooks} get it. */
export interface HookDocument {
  /** The text. */
  text: string
  /** Its input. */
  path: string
  /** With `idField`: its id. */
  id?: string
  /** The row of JSON that it is in. */
  row?: Record<string, unknown>
}

/** A function of a module of {@link CorpusOptions.hooks}. */
export type Hook<Result extends boolean | string> = (document: HookDocument) => Result
