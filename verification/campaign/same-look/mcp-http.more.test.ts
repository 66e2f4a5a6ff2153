import type { JsonObject } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { startEverything } from '../mcp/servers.ts'
import { ASK_ALL, everyToolLooksTheSame, looksTheSame } from './looks-the-same.ts'
import { type KeptNotes, startNotes } from './notes-server.ts'
import { startShuffler } from './shuffler.ts'

const SEED = inject('propertySeed')

/** A tool that takes nothing that is drawn from its schema, or takes long or goes elsewhere with it, needs a call here. */
const EVERYTHING: Record<string, JsonObject> = {
  'get-annotated-message': { messageType: 'success', includeImage: true },
  'get-resource-reference': { resourceType: 'Text', resourceId: 1 },
  'get-structured-content': { location: 'Chicago' },
  'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,a', outputType: 'resource' },
  'simulate-research-query': { topic: 'approvals', ambiguous: false },
  'trigger-long-running-operation': { duration: 0.05, steps: 1 },
}

test('MCP over HTTP: permuting the arguments of any tool or the answers of server-everything asks nobody again', async () => {
  const random = seededRandom(SEED)
  await using shuffler = await startShuffler(random)
  const everything = await startEverything()
  try {
    shuffler.upstream = new URL(everything.url).origin
    await using server = await startTestServer({
      environment: process.env,
      config: { tools: { all: { mcp: { url: `${shuffler.url}/mcp`, as: 'everything' } } }, policy: ASK_ALL },
    })
    const agent = await server.as({ name: 'bot', kind: 'agent' })
    const run = await everyToolLooksTheSame(
      { server, agent, random, drift: shuffler.drift, changes: () => [] },
      { group: 'all', seed: SEED, drawn: 1, renew: async () => EVERYTHING },
    )
    expect(run.tools).toBeGreaterThanOrEqual(12)
    expect(run.calls).toBeGreaterThanOrEqual(run.tools)
  } finally {
    await everything.stop()
  }
})

test.each<KeptNotes['says']>(['structured', 'text', 'both', 'both in other orders'])(
  'MCP over HTTP: a note that is read before it is replaced, %s, is the same note in any order, and its own counters do not count',
  async (says) => {
    const random = seededRandom(SEED)
    const notes = await startNotes(random, says)
    await using server = await startTestServer({
      environment: process.env,
      config: {
        tools: {
          notes: {
            mcp: {
              url: notes.url,
              tools: { get: { effect: 'read' }, set: { before: { tool: 'get', arguments: { id: '{id}' }, becomes: 'note' } } },
            },
          },
        },
        policy: ASK_ALL,
      },
    })
    let agent = await server.as({ name: 'bot', kind: 'agent' })
    const drift = () => {
      notes.seen += 1
    }
    const note = { title: 'New', body: { text: 'x', lines: [{ n: 1, t: 'a' }] }, tags: ['b', 'a'] }
    for (let round = 0; round < 8; round++) {
      const args = { id: `n${round}`, note, options: { notify: true, by: { name: 'Ana', mail: 'ana@example.com' } } }
      const { action, made } = await looksTheSame({ server, agent, random, drift, changes: () => [...notes.calls] }, 'notes.set', args)
      expect(action?.state).toBe('succeeded')
      const oldValue = {
        id: args.id,
        title: 'Old',
        body: { text: 'y', lines: [{ n: 1, t: 'a' }] },
        tags: ['b', 'a'],
        meta: { owner: 'Ana' },
      }
      expect(action?.preview?.[0]).toEqual({ field: 'note', oldValue, newValue: note })
      expect(made).toHaveLength(1)
      // The list of tools in another order is the same list: after a start nothing is said to have changed.
      if (round !== 3) continue
      await server.restart()
      agent = await server.as({ name: 'bot at the new address', kind: 'agent' })
    }
    const read = await looksTheSame({ server, agent, random, drift, changes: () => [...notes.calls] }, 'notes.get', {
      id: 'n1',
      deep: { b: 1, a: 2 },
    })
    expect(read.action).toMatchObject({ state: 'succeeded' })
  },
)
