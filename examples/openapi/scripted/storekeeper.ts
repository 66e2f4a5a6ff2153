import { defineScript } from 'countersign'

interface Part {
  sku: string
  name: string
  stock: number
  reorderAt: number
}

/** Returns the storekeeper's next step, based on the results since the last request: read low stock, propose a change, report the outcome. */
export default defineScript({
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const [low, changed] = outcomes.map((outcome) => (outcome.type === 'output' ? outcome.value : undefined))
    if (outcomes.length === 0) {
      return { text: 'Let me see of what there is little.', calls: [{ tool: 'stock_parts_list', arguments: { below: 100 } }] }
    }
    const [part] = Array.isArray(low) ? (low as unknown as Part[]) : []
    if (!part) return { text: 'Nothing is running low.' }
    if (outcomes.length === 1) {
      return {
        text: `There are ${part.stock} of ${part.name}. I propose to reorder it earlier.`,
        calls: [{ tool: 'stock_parts_update', arguments: { sku: part.sku, body: { reorderAt: 100 } } }],
      }
    }
    return { text: changed === undefined ? `Then ${part.name} stays as it is.` : `Done: ${part.name} is reordered below 100 now.` }
  },
})
