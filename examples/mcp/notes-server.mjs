// A small MCP server, as one would write one with the SDK: notes in a folder. It knows nothing of Countersign.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const [folder = 'notes'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const fileOf = (name) => join(folder, `${name}.md`)
const names = () =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length))
if (names().length === 0) {
  writeFileSync(fileOf('team-calendar'), '# Team calendar\n\n- Stand-up: every day at 9:30\n- Planning: Mondays at 14:00\n')
  writeFileSync(fileOf('ideas'), '# Ideas\n\n- Walking meetings\n')
}

const Name = z.string().regex(/^[a-z0-9-]+$/)
const text = (words) => ({ content: [{ type: 'text', text: words }] })

serveStdio(() => {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  server.registerTool('list_notes', { description: 'Lists the names of all notes', inputSchema: z.object({}) }, () =>
    text(names().join('\n')),
  )
  server.registerTool('read_note', { description: 'Reads a note', inputSchema: z.object({ name: Name }) }, ({ name }) =>
    text(readFileSync(fileOf(name), 'utf8')),
  )
  server.registerTool(
    'write_note',
    { description: 'Writes a note, in place of what it held', inputSchema: z.object({ name: Name, content: z.string() }) },
    ({ name, content }) => {
      writeFileSync(fileOf(name), content)
      return text(`wrote ${name}`)
    },
  )
  return server
})
