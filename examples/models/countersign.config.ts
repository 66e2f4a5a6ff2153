import { defineConfig, defineTool } from 'countersign'
import { startBusyProvider } from './busy-provider.ts'

// The first model is a stand-in that is overloaded, so that one sees the second one answer without any key. With providers of your own:
// `model: 'anthropic/claude-sonnet-4-5', fallbacks: ['google/gemini-flash-latest', 'openai/gpt-5-mini']`, and their keys in the environment.
const busy = await startBusyProvider()

const invoices = [
  { id: 'INV-1', customer: 'Ada', amount: 120, sent: false },
  { id: 'INV-2', customer: 'Bo', amount: 80, sent: true },
]

const listInvoices = defineTool({
  name: 'listInvoices',
  description: 'All invoices and whether they were sent.',
  effect: 'read',
  input: { type: 'object', additionalProperties: false },
  execute: () => invoices,
})

const sendInvoice = defineTool({
  name: 'sendInvoice',
  description: 'Sends an invoice to its customer.',
  effect: 'write',
  input: { type: 'object', required: ['id'], additionalProperties: false, properties: { id: { type: 'string' } } },
  describe: ({ id }) => `Send the invoice ${id}`,
  execute: ({ id }) => {
    const invoice = invoices.find((each) => each.id === id)
    if (invoice) invoice.sent = true
    return { sent: invoice !== undefined }
  },
})

export default defineConfig({
  agents: {
    desk: {
      model: `remote/${busy.url}`,
      fallbacks: ['scripted/scripted/steady.ts'],
      budget: { totalTokens: 50_000 },
      cache: '1h',
      instructions: 'You look after the invoices. Read before you propose.',
      tools: ['office.*'],
      suggestions: ['Which invoices are still to be sent?'],
    },
  },
  tools: { office: { tools: [listInvoices, sendInvoice] } },
})
