import { type Action, isSettled, type JsonObject, type ToolView } from '@countersign/core'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Random } from '../../simulation/random.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import type { TestServer } from '../../testing/test-server.ts'
import { valuesFor } from '../openapi/arguments.ts'
import { shuffled } from './shuffled.ts'

/** Calls of one agent, which policy asks people about, each in another order of its arguments. */
export interface SameLook {
  server: TestServer
  agent: ApiClient
  random: Random
  /** Changes what changes by itself, and nothing else. */
  drift(): void | Promise<void>
  /** The changes made at the target, each with unique words. */
  changes(): readonly string[] | Promise<readonly string[]>
}

/** Only for calls that ask: nobody is shown what runs at once. */
export const ASK_ALL: { default: 'ask'; rules: [] } = { default: 'ask', rules: [] }

/**
 * Proposes a call, twice more with its arguments in other orders and the target's answer in another one, then approves it: all three are the
 * same card, the second is known as the first, and it runs once without being asked again.
 * @returns The settled action, or why the call was refused when it was proposed.
 */
export async function looksTheSame({ server, agent, random, drift, changes }: SameLook, tool: string, args: JsonObject) {
  const { admin } = server
  const ask = (who: ApiClient) => who.send('POST', '/api/actions', { body: { tool, arguments: shuffled(args, random) } })
  const call = `${tool} ${JSON.stringify(args)}`
  const { status, body } = await ask(agent)
  if (status >= 300) return { refused: `${status} ${body.detail}` }
  const first: Action = await admin.get(`/api/actions/${body.id}`)
  if (first.previewError !== null) return { refused: first.previewError }
  expect(first, call).toMatchObject({ state: 'proposed', revision: 1 })

  await drift()
  const again = await ask(agent)
  expect(again.body, call).toMatchObject({ id: first.id, folded: true })
  expect(await admin.get(`/api/actions/${first.id}`), call).toMatchObject({ timesAsked: 2 })
  const other = await ask(admin)
  const beside: Action = await admin.get(`/api/actions/${other.body.id}`)
  expect([call, cardOf(beside)]).toEqual([call, cardOf(first)])
  await admin.post(`/api/actions/${beside.id}/decision`, { verdict: 'decline' })

  await drift()
  const before = await changes()
  const { id, revision, digest } = first
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  const action: Action = await admin.get(`/api/actions/${id}`)
  expect([call, action.revision, action.revised, isSettled(action.state), action.attempt]).toEqual([call, 1, null, true, 1])
  const made = without(await changes(), before)
  expect([call, made]).toEqual([call, [...new Set(made)]])
  if (action.effect === 'read') expect([call, made]).toEqual([call, []])
  return { action, made }
}

/** Removes the entries of one list from another, once per occurrence. */
function without(all: readonly string[], some: readonly string[]): string[] {
  const rest = [...some]
  return all.filter((entry) => {
    const at = rest.indexOf(entry)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

/** As bytes: also the order in which a value's members stand on the card. */
const cardOf = ({ digest, description, preview, destination }: Action): string =>
  JSON.stringify({ digest, description, destination, preview }, null, 1)

const MAX_DRAWS = 12

/**
 * {@link looksTheSame} for every tool of a group: the call of the table, then calls whose further arguments are drawn from the tool's schema.
 * @param drawn How many drawn calls of each tool are to get as far as a card; default 2.
 * @param renew Sets the target back, before each call. Answers with arguments by the name of the tool, without the group.
 * @throws Error for a tool that has no example and takes nothing that is drawn from its schema.
 */
export async function everyToolLooksTheSame(
  look: SameLook,
  {
    group,
    seed,
    drawn: wanted = 2,
    renew,
  }: { group: string; seed: number; drawn?: number; renew(): Promise<Readonly<Record<string, JsonObject>>> },
): Promise<{ tools: number; calls: number }> {
  const { items }: { items: ToolView[] } = await look.server.admin.get('/api/tools')
  const tools = items.filter(({ name }) => name.startsWith(`${group}.`))
  let calls = 0
  for (const { name, inputSchema } of tools) {
    const exampleOf = async () => (await renew())[name.slice(group.length + 1)]
    let drawn = 0
    let example = await exampleOf()
    const hasExample = example !== undefined
    if (example) {
      const { refused, action } = await looksTheSame(look, name, example)
      expect([name, refused, action?.error ?? null, action?.state]).toEqual([name, undefined, null, 'succeeded'])
      calls++
      example = await exampleOf()
    }
    for (const more of fc.sample(valuesFor(inputSchema), { numRuns: MAX_DRAWS, seed })) {
      if (drawn === wanted) break
      // Through JSON, as what a model writes comes.
      const args: JsonObject = JSON.parse(JSON.stringify({ ...(more as JsonObject), ...example }))
      const { refused } = await looksTheSame(look, name, args)
      // A refused call has changed nothing.
      if (refused !== undefined) continue
      drawn++
      example = await exampleOf()
    }
    calls += drawn
    if (!hasExample && drawn === 0) throw new Error(`${name} takes nothing that is drawn from its schema: put a call of it into EXAMPLES`)
  }
  return { tools: tools.length, calls }
}
