import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig, mcpStarter } from 'countersign'

// The notes of `notes-server.mjs`, an MCP server like any other. For one of your own write its command, for example
// `mcp: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/files'] }`, or `mcp: { url: 'https://…/mcp' }`.
const folder = process.env.NOTES_FOLDER ?? join(tmpdir(), 'countersign-example-notes')

export default defineConfig({
  agents: {
    assistant: {
      model: 'scripted/scripted/assistant.ts',
      instructions: 'You look after the notes of the team. Read before you propose. People decide on each change.',
      tools: ['notes.*'],
      suggestions: ['Move the stand-up to 10:00'],
    },
  },
  tools: {
    notes: {
      mcp: {
        command: 'node',
        args: ['notes-server.mjs', folder],
        // A server's own annotations never make a tool a read. Only this configuration does.
        tools: {
          'list_*': { effect: 'read' },
          'read_*': { effect: 'read' },
          write_note: {
            describe: 'Write the note {name}',
            before: { tool: 'read_note', arguments: { name: '{name}' }, becomes: 'content' },
          },
        },
      },
    },
  },
  policy: { rules: mcpStarter('notes') },
})
