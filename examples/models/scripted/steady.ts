import { defineScript } from 'countersign'

/** The model that answers in place of the busy one: it looks, proposes to send what was not sent, and says how that ended. */
export default defineScript({
  reply({ messages }) {
    const asked = messages.findLastIndex((message) => message.role === 'user')
    const outcomes = messages.slice(asked + 1).flatMap((message) => (message.role === 'tool' ? [message.outcome] : []))
    const usage = { inputTokens: 400 + 100 * outcomes.length, cachedInputTokens: 380 * Math.min(outcomes.length, 1), outputTokens: 30 }
    const [listed, sent] = outcomes
    if (!listed) return { text: 'Let me look.', calls: [{ tool: 'office_listInvoices', arguments: {} }], usage }
    const invoices = listed.type === 'output' ? (listed.value as { id: string; customer: string; sent: boolean }[]) : []
    const open = invoices.find((invoice) => !invoice.sent)
    if (!open) return { text: 'All invoices were sent.', usage }
    if (!sent) {
      return {
        text: `${open.id} for ${open.customer} was not sent.`,
        calls: [{ tool: 'office_sendInvoice', arguments: { id: open.id } }],
        usage,
      }
    }
    return { text: sent.type === 'output' ? `${open.id} is on its way.` : `${open.id} stays where it is.`, usage }
  },
})
