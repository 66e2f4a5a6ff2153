// The program of the section *Quickstart* in dist/docs/references/docs-agents-human-in-the-loop.md of the npm package @mastra/core 1.71.0,
// Copyright (c) 2025 Kepler Software, Inc., Apache License 2.0. Changed: Mastra, the model and db, which the section leaves to its reader, are
// imported.
import { Agent, createTool, db, model } from './supplied-mastra.ts'
import { z } from 'zod'
import { gate } from '../../packages/client/src/gate/mastra.ts'
import { createClient } from '../../packages/client/src/index.ts'

const deleteTool = createTool({
  id: 'delete-record',
  description: 'Delete a record by ID',
  inputSchema: z.object({ id: z.string() }),
  outputSchema: z.object({ deleted: z.boolean() }),
  execute: async ({ id }) => {
    await db.delete(id)
    return { deleted: true }
  },
})

const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY })
const agent = new Agent({
  id: 'my-agent',
  name: 'My Agent',
  model: model,
  tools: { deleteTool: gate(client, deleteTool, { register: true }) },
})

const stream = await agent.stream('Delete record abc-123')

for await (const c of stream.textStream) process.stdout.write(c)
