/** The files that a user writes in a folder with our packages installed: a configuration, and a page. By file name. */
export const PROJECT: Readonly<Record<string, string>> = {
  'countersign.config.ts': `import { defineConfig, defineSource, defineTool, draftOf, ToolError } from 'countersign'
import { z } from 'zod'

const refund = defineTool({
  name: 'refund',
  description: 'Refunds a customer',
  input: z.object({ customer: z.string(), amountCents: z.number().int().positive() }),
  effect: 'write',
  describe: ({ customer, amountCents }) => \`Refund \${(amountCents / 100).toFixed(2)} to \${customer}\`,
  preview: ({ customer }) => {
    if (customer === 'nobody') throw new ToolError('refused', 'There is no customer nobody.', { impossible: true })
    return [{ field: 'customer', newValue: customer }]
  },
  execute: async ({ customer }, { idempotencyKey }) => ({ customer, idempotencyKey }),
})

const ledger = defineSource({
  schema: z.strictObject({ accounts: z.array(z.string()).min(1) }),
  starter: (group) => [{ name: 'bookings ask', match: { tool: \`\${group}.*\` }, verdict: 'ask' }],
  open: ({ accounts }, { group }) => ({
    kind: 'ledger',
    secrets: [],
    drafts: () =>
      accounts.map((account) =>
        draftOf(
          defineTool({
            name: \`book_\${account}\`,
            description: \`Books an amount on \${account}\`,
            input: z.object({ cents: z.int() }),
            effect: 'write',
            execute: async ({ cents }) => ({ group, account, cents }),
          }),
          { destination: 'https://ledger.example.com' },
        ),
      ),
    check: async () => [{ level: 'ok', message: \`\${accounts.length} accounts\` }],
  }),
})

export default defineConfig({
  agents: { desk: { model: 'scripted/desk.json', tools: ['bank.*', 'files.*'] } },
  tools: { bank: { tools: [refund] }, books: { source: ledger({ accounts: ['cash'] }) }, files: { workspace: { root: './work' } } },
})
// @ts-expect-error A source of the wrong settings: its types are really there.
ledger({ accounts: [1] })
`,
  'front-end.tsx': `import { createClient, openInbox } from '@countersign/client'
import type { Action } from '@countersign/core'
import { ApprovalCard } from '@countersign/react'
import '@countersign/react/card.css'

export const client = createClient({ baseUrl: 'http://127.0.0.1:4319', key: process.env.COUNTERSIGN_KEY })
export const inbox = openInbox(client)
export const waiting: Promise<Action[]> = client.actions.list({ state: 'proposed' }).then(({ items }) => items)
// @ts-expect-error There is no such filter: the types are really there.
export const wrong = client.actions.list({ nonsense: 1 })
export { ApprovalCard }
`,
}
