import type { Server } from 'node:http'
import type { Tokenizer } from 'tokenlane'

/** What the page offers. */
export interface PageChoice {
  /** The names of the tokenizers that the page offers; the first two are compared at first. */
  names: readonly string[]
  /** Loads one of them. What it throws is shown on the page. */
  load: (name: string) => Promise<Tokenizer>
  /** The text that the page begins with. Default: an example. */
  text?: string | undefined
  /** Those of the names that links to a view leave out, such as paths. Default: none. */
  local?: readonly string[] | undefined
  /** Loads a file that is opened on the page, of at most 128 MiB. Default: files are refused. */
  openFile?: ((bytes: Uint8Array) => Promise<Tokenizer>) | undefined
  /** Loads a repository that is named on the page, `OWNER/NAME`. Default: names are refused. */
  openRepository?: ((name: string) => Promise<Tokenizer>) | undefined
}

/**
 * A server of the page, which is not listening yet. It answers requests from pages of its own
 * origin and to the hosts 127.0.0.1, localhost and ::1 only: listen on one of them.
 */
export declare function pageServer(choice: PageChoice): Server
