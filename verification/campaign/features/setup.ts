import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSettled } from '@countersign/core'
import type { Database } from '../../../packages/server/src/store/index.ts'
import type { CampaignDatabase } from '../../crash/database.ts'
import type { Door, Person } from '../../crash/door.ts'
import { acceptKey } from '../../testing/accept-key.ts'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { NAMES, type Name } from './plan.ts'
import { readRows } from './rows.ts'

/** Key results that progress is recorded for. */
const KEY_RESULTS = 3

export function personOf(persons: ReadonlyMap<Name, Person>, name: Name): Person {
  const person = persons.get(name)
  if (!person) throw new Error(`there is no ${name}`)
  return person
}

/** A repository with a file that many calls change. */
export function makeWorkFolder(folder: string): string {
  const root = join(folder, 'work')
  for (const part of ['files', 'own']) mkdirSync(join(root, part), { recursive: true })
  writeFileSync(join(root, 'shared.txt'), 'END\n')
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', 'commit', '-q', '-m', 'Begin')
  return root
}

const ROLES: Record<Name, readonly string[]> = {
  ...{ Ana: ['approver'], Ben: ['approver'], Cy: ['approver'], Dee: ['approver'] },
  ...{ Fay: ['finance'], Gil: ['finance'], Vic: [] },
}

/** Makes the persons, and the agent that asks. */
export async function introduce(door: Door, data: Database) {
  const admin: Person = { id: 'bootstrap', name: 'admin', headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } }
  const make = async (name: string, body: object): Promise<Person & { key: string }> => {
    const answer = await door.send(admin, 'POST', '/api/keys', { body: { name, ...body } })
    if (answer?.status !== 201) throw new Error(`no key for ${name}: ${answer?.text}`)
    if (answer.body.acceptedAt === null) await acceptKey(data, answer.body.id)
    return { id: answer.body.principal.id, name, key: answer.body.key, headers: { authorization: `Bearer ${answer.body.key}` } }
  }
  const persons = new Map<Name, Person>()
  for (const name of NAMES) persons.set(name, await make(name, { kind: 'person', roles: ROLES[name] }))
  const bot = await make('bot', { kind: 'agent' })
  return { admin, bot, persons, botKey: bot.key }
}

/** An objective whose key results calls record progress for. */
export async function makeKeyResults(
  door: Door,
  bot: Person,
  persons: ReadonlyMap<Name, Person>,
  database: CampaignDatabase,
): Promise<string[]> {
  const keyResults = Array.from({ length: KEY_RESULTS }, (_, i) => ({ title: `Result ${i}`, start: 0, target: 1_000_000 }))
  const args = { title: 'Everything', owner: 'ops', period: '2026', keyResults }
  const asked = await door.send(bot, 'POST', '/api/actions', { body: { tool: 'goals.createObjective', arguments: args } })
  await door.send(personOf(persons, 'Ana'), 'POST', `/api/actions/${asked?.body.id}/decision`, { body: { verdict: 'approve' } })
  const read = () => door.send(bot, 'GET', `/api/actions/${asked?.body.id}?wait=60&until=settled`)
  let done = await read()
  while (done?.status === 200 && !isSettled(done.body.state)) done = await read()
  if (done?.body.state !== 'succeeded') throw new Error(`no objective: ${done?.text}`)
  return (await readRows(database)).keyResults.map(({ id }) => id)
}
