// The answers to the page: those of its server. The static site replaces this file by one that
// answers in the page.

/**
 * Asks the server. An error response becomes an error with the same message. The bytes of a file
 * are sent as they are, with its name in the query.
 */
export async function ask(method, what, body, signal) {
  const { name, bytes } = body ?? {}
  const [query, type, content] =
    bytes === undefined
      ? ['', 'json', JSON.stringify(body)]
      : [`?${new URLSearchParams({ name })}`, 'octet-stream', bytes]
  const init =
    body === undefined
      ? { method }
      : { method, signal, headers: { 'content-type': `application/${type}` }, body: content }
  const response = await fetch(`/api/${what}${query}`, init).catch((error) => {
    throw signal?.aborted ? error : new Error('The server does not respond. Start it again: tokenlane inspect --web')
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer
}
