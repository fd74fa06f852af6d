// Whether this thread is ending. A thread that is ended within a call of the system leaves a file
// open in its process: Node drops the call, and nothing closes the file. So reads and writes fail
// once the thread is ending, and what works closes its files.

let isEnding = false

export function endWork() {
  isEnding = true
}

/** Throws if the thread is ending. */
export function checkEnding() {
  if (isEnding) throw new Error('the thread is ending')
}
