// An MCP client as one would write one with the SDK. It knows nothing of Countersign: it starts a command that speaks MCP, calls tools, and
// does what their answers say.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const countersign = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', 'packages/server/src/main.js']
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [...countersign, 'mcp', '--config', 'examples/mcp/countersign.config.ts', ...process.argv.slice(2)],
  env: process.env,
  stderr: 'inherit',
})
const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(transport)

const say = (what, { content, isError }) =>
  console.log(`${what}${isError ? ' (refused)' : ''}: ${content.map(({ text }) => text).join('\n')}\n`)
const name = 'team-calendar'
const read = await client.callTool({ name: 'notes_read_note', arguments: { name } })
say('Reading runs at once', read)

const content = '# Team calendar\n\n- Stand-up: every day at 10:00\n- Planning: Mondays at 14:00\n'
let told
const onprogress = ({ message }) => {
  // Every few seconds the same, with more time gone by.
  if (message !== told) console.log(message)
  told = message
}
let written = await client.callTool({ name: 'notes_write_note', arguments: { name, content } }, { onprogress })
// The call is not held for ever. It answers what to wait for, and this waits as long as it takes.
while (['waiting_for_approval', 'running'].includes(written.structuredContent?.status)) {
  const { actionId } = written.structuredContent
  written = await client.callTool({ name: 'countersign_wait', arguments: { actionId, seconds: 50 } })
}
say('Writing ended', written)
await client.close()
