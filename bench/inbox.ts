import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchDatabase, copyActions } from './database.ts'
import { startServer, startTarget, writeServerConfig } from './server.ts'
import { statsOf } from './stats.ts'

const GROUPS = 50
const READS = 100
const WARM_UP = 5
/** A person whose pages take long is measured by fewer of them. */
const BUDGET_MS = 10_000

/** Text of the requirements of each copy: one is for `rare`, half are for `audit` and not for who asked, the others for fifty groups. */
const requires = (padded: string) => {
  const text = (role: string, notRequester: boolean) =>
    `'{"quorum":1,"declineQuorum":1,"roles":["' || ${role} || '"],"notRequester":${notRequester}}'`
  const group = `'group-' || (i / 2 % ${GROUPS})`
  return `case when i = 1 then ${text("'rare'", false)} when i % 2 = 0 then ${text("'audit'", true)} else ${text(group, false)} end || substr(${padded}, 1, 0)`
}

/**
 * Measures the page of actions that wait for one person, among `waiting` actions: a person of a group, of the group with a single action, of one with none,
 * a person who proposed half of all and so may decide none of them, and a person with a delegation.
 */
export async function benchInbox(openDatabase: (folder: string) => Promise<BenchDatabase>, waiting: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const database = await openDatabase(folder)
  const target = await startTarget()
  const configFile = writeServerConfig(folder, target.url)

  const first = await startServer(configFile, database)
  const keyOf = async (name: string, roles: string[]): Promise<{ key: string; id: string }> => {
    const { key, principal } = await first.call('/api/keys', { name, kind: 'person', roles })
    return { key, id: principal.id }
  }
  const people = {
    group: await keyOf('Gus', ['group-7']),
    rare: await keyOf('Rae', ['rare']),
    empty: await keyOf('Emma', ['nothing-waits']),
    asker: await keyOf('Asa', ['audit']),
    other: await keyOf('Otto', ['audit']),
    standIn: await keyOf('Sten', ['member']),
    admin: await keyOf('Ada', ['admin']),
  }
  const { id } = await first.call('/api/actions', { tool: 'act', arguments: { what: 'a thing' } })
  await first.stop()
  await copyActions(database, id, waiting, { requires: requires(database.padded), requesters: `'["${people.asker.id}"]'` })

  // Each person would have to accept a key that an admin made, and to delegate, with a sign-in of their own.
  await database.run('update api_key set accepted_at = created_at')
  await database.run(`insert into delegation (id, from_id, to_id, made_by, expires_at, created_at)
    values ('dlg_1', '${people.group.id}', '${people.standIn.id}', '${people.group.id}', 4000000000000, 0)`)

  const server = await startServer(configFile, database)
  const expected: Record<keyof typeof people, number> = { group: 50, rare: 1, empty: 0, asker: 0, other: 50, standIn: 50, admin: 1 }
  const pages: Record<string, unknown> = {}
  for (const [name, { key }] of Object.entries(people)) {
    const samples: number[] = []
    const endMs = performance.now() + BUDGET_MS
    for (let i = 0; i < READS + WARM_UP && (i < WARM_UP + 3 || performance.now() < endMs); i++) {
      const begin = performance.now()
      const { items } = await server.call('/api/actions?mine=true', undefined, key)
      if (items.length !== expected[name as keyof typeof people]) throw new Error(`the page of ${name} has ${items.length} actions`)
      if (i >= WARM_UP) samples.push(performance.now() - begin)
    }
    pages[name] = statsOf(samples)
  }
  await server.stop()
  target.close()
  await database.close()
  await rm(folder, { recursive: true })
  return { waiting, pageMs: pages }
}
