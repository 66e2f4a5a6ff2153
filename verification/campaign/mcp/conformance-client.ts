// The client that the public conformance suite runs: the MCP source of tools, opened on the address in its last argument.
import { env } from 'node:process'
import { createRedactor, openNetwork } from '../../../packages/toolkit/src/net/index.ts'
import type { SourceOpening } from '../../../packages/toolkit/src/source.ts'
import { mcp } from '../../../packages/tools-mcp/src/index.ts'

/** The tool that each scenario expects to be called. */
const CALLS: Readonly<Record<string, { tool: string; arguments: Record<string, number> }>> = {
  tools_call: { tool: 'add_numbers', arguments: { a: 5, b: 3 } },
  'sse-retry': { tool: 'test_reconnection', arguments: {} },
}

const opening: SourceOpening = {
  group: 'conformance',
  folder: '.',
  network: openNetwork(),
  report: ({ message }) => {
    throw new Error(message)
  },
  fillSecret: (value) => ({ value, secrets: [] }),
  fillAddress: (text) => text,
  refuseVariables: () => {},
  inherit: () => ({}),
}

const source = await mcp.open(mcp.schema.parse({ url: process.argv.at(-1) }), opening)
if (!source) throw new Error('it was not opened')
const way = { network: opening.network, redactor: createRedactor([]) }
const call = CALLS[env.MCP_CONFORMANCE_SCENARIO ?? '']
const draft = call && source.drafts(way, () => {}).find(({ name }) => name === call.tool)
if (call && !draft) throw new Error(`there is no tool ${call.tool}`)
const signal = AbortSignal.timeout(240_000)
if (call) await draft?.execute(call.arguments, { actionId: 'act_1', idempotencyKey: 'act_1.1', principalId: undefined, signal })
await source.close?.()
