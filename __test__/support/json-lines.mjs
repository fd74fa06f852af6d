/** Parses JSON Lines: one value a line. Only the last line may be empty. */
export function parseJsonLines(text) {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => JSON.parse(line))
}
