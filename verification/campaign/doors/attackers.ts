import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@countersign/core'
import type { Random } from '../../simulation/random.ts'
import { dumpDatabase } from '../../testing/database.ts'
import { localSignIns } from '../../testing/nginx.ts'
import { asOtherUser, postAsOtherUser } from '../../testing/other-user.ts'
import { rawRequest } from '../../testing/raw-request.ts'
import { type WayIn, waysIn } from '../../testing/ways-in.ts'
import type { Ledger } from './ledger.ts'
import { bearer, type Holder, type World } from './world.ts'

/** Somebody who left: their keys, and the console that they had signed in to. */
export interface Leaver {
  person: Holder
  agent: Holder
  console: Record<string, string>
}

/** The means an attempt has at hand. */
export interface Chance {
  world: World
  ledger: Ledger
  random: Random
  /** A waiting action. */
  action: Action
  leaver: Leaver
  /** All texts of a stolen copy of the database that may be a key. */
  stolen: readonly string[]
  /** Addresses of proxies in front of the server. */
  proxies: readonly string[]
  /** The cheat's own vote counts once: called when it was taken. */
  voted(action: Action, who: Holder): void
}

interface Sender {
  attacker: string
  headers: Record<string, string>
  /** The holder of the valid key in the headers. */
  holder?: Holder
  mayPass?: boolean
}

async function send({ world, ledger }: Chance, { attacker, headers, holder, mayPass = false }: Sender, { method, path, body }: WayIn) {
  const answer = await world.send(method, path, headers, body)
  const hasWrongKey = headers.authorization !== undefined && !holder
  ledger.note({ attacker, method, path, status: answer.status, principalId: holder?.principal.id, hasWrongKey, mayPass })
  return answer
}

const decide = ({ id }: Action): WayIn => ({ method: 'POST', path: `/api/actions/${id}/decision`, body: { verdict: 'approve' } })

/** An agent with a shell on the machine of the server: it has its own key, and may send whatever it likes. */
async function shell(chance: Chance): Promise<void> {
  const { world, random, action } = chance
  const { bot } = world.people
  const attacker = 'agent with a shell'
  const { port } = new URL(world.url)
  const origin = { origin: world.url }
  const own: Sender = { attacker, headers: bearer(bot), holder: bot }
  const sender = random.pick<Sender>([
    own,
    { ...own, headers: { ...bearer(bot), ...origin } },
    { attacker, headers: origin },
    { attacker, headers: { origin: 'http://localhost:1', host: `localhost:${port}` } },
    { attacker, headers: { ...origin, 'x-forwarded-for': '127.0.0.1' } },
    { attacker, headers: { ...origin, cookie: `countersign_${port}=${'A'.repeat(43)}` } },
    { attacker, headers: { ...origin, 'countersign-console': bot.key } },
  ])
  const refunds = { tool: 'unkeyed', arguments: { what: action.id }, agent: 'refunds' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'unkeyed', arguments: { what: action.id } } }
  const special: [Sender, WayIn][] = [
    [own, { method: 'POST', path: '/api/actions', body: refunds }],
    [own, { method: 'POST', path: '/mcp?agent=refunds', body: call }],
    [
      { attacker, headers: origin },
      { method: 'POST', path: '/api/sign-in', body: { key: bot.key } },
    ],
  ]
  await send(chance, ...(random.chance(0.3) ? random.pick(special) : ([sender, random.pick(waysIn(action.id))] as const)))
}

/** Another user of the machine: files first, then the door. */
async function otherUser({ world, ledger, random, action }: Chance): Promise<void> {
  const attacker = 'second user'
  const file = random.pick(readdirSync(world.dataDir))
  const read = await asOtherUser('head', '-c', '1', join(world.dataDir, file))
  // The file may have been removed meanwhile. A file that exists must not be readable.
  if (read.code === 0) ledger.violations.push(`${attacker}: reads ${file} of the data folder`)
  const { path, body } = random.pick(waysIn(action.id).filter(({ method }) => method === 'POST'))
  const { status, text } = await postAsOtherUser(new URL(world.url).port, path, JSON.stringify(body))
  ledger.note({ attacker, method: 'POST', path, status })
  if (/^(set-cookie|countersign-console):/im.test(text)) ledger.violations.push(`${attacker}: ${path} gave a sign-in away`)
}

/** Somebody elsewhere, behind nginx on the machine of the server. */
async function outsider({ world, ledger, random, action, proxies }: Chance): Promise<void> {
  const attacker = 'behind nginx'
  const proxy = random.pick(proxies)
  const { headers, body } = random.pick([...localSignIns(proxy, world.url)])
  const way = random.chance(0.7) ? { method: 'POST', path: '/api/sign-in', text: body } : textOf(random.pick(waysIn(action.id)))
  const answer = await rawRequest(proxy + way.path, { method: way.method, headers, body: way.text })
  ledger.note({ attacker, method: way.method, path: way.path, status: answer.status })
  const given = answer.headers['set-cookie'] ?? answer.headers['countersign-console']
  if (given !== undefined) ledger.violations.push(`${attacker}: ${way.path} gave a sign-in away`)
}

const textOf = ({ method, path, body }: WayIn) => ({ method, path, text: JSON.stringify(body) })

/** Somebody with a copy of the database: whatever stands in it is nobody's key, console or link. */
async function thief(chance: Chance): Promise<void> {
  const { world, random, action, stolen } = chance
  const text = random.pick(stolen)
  const origin = { origin: world.url }
  const attacker = 'thief of the database'
  const way = random.pick([decide(action), ...waysIn(action.id)])
  const headers = random.pick<Record<string, string>>([
    { ...origin, authorization: `Bearer ${text}` },
    { ...origin, 'countersign-console': text },
    { ...origin, cookie: `__Host-countersign=${text}` },
  ])
  if (random.chance(0.2)) {
    const body = random.pick([{ link: text }, { key: text }])
    await send(chance, { attacker, headers: origin }, { method: 'POST', path: '/api/sign-in', body })
  } else await send(chance, { attacker, headers }, way)
}

/** The keys, the console and the delegate of somebody who left. */
async function leaver(chance: Chance): Promise<void> {
  const { world, random, action } = chance
  const attacker = 'person who left'
  const { person, agent, console } = chance.leaver
  const { vic } = world.people
  const way = random.pick([decide(action), ...waysIn(action.id)])
  if (random.chance(0.3)) await send(chance, { attacker, headers: bearer(vic), holder: vic }, decide(action))
  else await send(chance, { attacker, headers: random.pick([bearer(person), bearer(agent), { ...console, origin: world.url }]) }, way)
}

/** An admin who approves, and would like to be two. */
async function cheat(chance: Chance): Promise<void> {
  const { world, random, action } = chance
  const { cheat: admin, ben } = world.people
  const attacker = 'admin who cheats'
  const own: Sender = { attacker, headers: bearer(admin), holder: admin, mayPass: true }
  const asHolder = async (made: { body: unknown; status: number }) => {
    if (made.status !== 201) return
    const { key, id, principal } = made.body as Holder & { id: string }
    const forged: Sender = { attacker, headers: bearer({ key }), holder: { key, principal } }
    await send(chance, forged, decide(action))
    await send(chance, forged, { method: 'POST', path: `/api/keys/${id}/accept`, body: {} })
    await send(chance, forged, { method: 'POST', path: '/api/delegations', body: { to: admin.principal.id, expiresIn: 'P1D' } })
    await send(chance, forged, decide(action))
  }
  const mint = (body: object) => send(chance, own, { method: 'POST', path: '/api/keys', body })
  await random.pick<() => Promise<unknown>>([
    async () => {
      for (let n = 0; n < 2; n++) if ((await send(chance, own, decide(action))).status === 200) chance.voted(action, admin)
    },
    async () => asHolder(await mint({ name: 'more', kind: 'person', principal: ben.principal.id })),
    async () => asHolder(await mint({ name: 'puppet', kind: 'person', roles: ['approver'] })),
    async () => asHolder(await mint({ name: 'machine', kind: 'service', roles: ['approver'] })),
    () =>
      send(
        chance,
        { ...own, mayPass: false },
        { method: 'POST', path: '/api/delegations', body: { from: ben.principal.id, to: admin.principal.id, expiresIn: 'P1D' } },
      ),
    // A person who is enabled again needs new keys, and their earlier votes stay void.
    async () => {
      const path = `/api/people/${chance.leaver.person.principal.id}`
      await send(chance, own, { method: 'POST', path: `${path}/enable`, body: {} })
      await leaver(chance)
      await send(chance, own, { method: 'POST', path: `${path}/disable`, body: {} })
    },
  ])()
}

/** Everybody who tries without a browser, by name. */
export const ATTACKERS = { shell, otherUser, outsider, thief, leaver, cheat }

/** Returns the secret-like strings that a thief finds in a copy of the database. */
export async function steal({ database }: World): Promise<readonly string[]> {
  return [...new Set(JSON.stringify(await dumpDatabase(database)).match(/[\w-]{20,100}/g) ?? [])]
}
