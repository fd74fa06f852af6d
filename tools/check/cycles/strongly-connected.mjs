/**
 * Returns the groups of nodes that reach each other, and the nodes that name themselves (Tarjan's
 * algorithm).
 *
 * @param {Map<string, string[]>} graph the nodes that each node points to
 * @returns {string[][]}
 */
export function cyclesOf(graph) {
  const order = new Map()
  const lowest = new Map()
  const stack = []
  const cycles = []
  const visit = (node) => {
    order.set(node, order.size)
    lowest.set(node, order.get(node))
    stack.push(node)
    for (const other of graph.get(node)) {
      if (!order.has(other)) visit(other)
      if (stack.includes(other)) lowest.set(node, Math.min(lowest.get(node), lowest.get(other)))
    }
    if (lowest.get(node) !== order.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1 || graph.get(node).includes(node)) cycles.push(group)
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return cycles
}
