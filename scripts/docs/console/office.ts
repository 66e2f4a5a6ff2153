import { fileURLToPath } from 'node:url'
import type { Action, CreateKeyBody } from '@countersign/core'
import { openConfig } from '../../../packages/server/src/config/index.ts'
import type { ApiClient } from '../../../verification/testing/api-client.ts'
import { freePort } from '../../../verification/testing/free-port.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../../../verification/testing/test-server.ts'
import { configAt } from './config.ts'
import { clock, setClock } from './past.ts'
import { startService } from './service.ts'

/** Somebody who speaks with the server. */
export type Voice = ApiClient & { id: string; key: string }

const PEOPLE = {
  ana: { name: 'Ana Ruiz', roles: ['admin', 'approver', 'finance', 'release'] },
  ben: { name: 'Ben Okoro', roles: ['approver', 'finance'] },
  cleo: { name: 'Cleo Martin', roles: ['approver', 'release'] },
  dan: { name: 'Dan Weber', roles: ['viewer'] },
} as const

/** Agents elsewhere, each with the program that asks for it. */
const AGENTS = {
  orders: { agent: 'order-desk', name: 'Shop backend' },
  billing: { agent: 'returns', name: 'Returns service' },
  support: { agent: 'support', name: 'Help desk' },
  release: { agent: 'release-bot', name: 'Build server' },
} as const

export type Person = keyof typeof PEOPLE
export type Agent = keyof typeof AGENTS

export interface Office extends AsyncDisposable {
  server: TestServer
  people: Record<Person, Voice>
  agents: Record<Agent, Voice>
}

const FOLDER = fileURLToPath(new URL('./', import.meta.url))

/** Starts a server `agoMs` ago, with people and agents, that nobody has asked anything yet. */
export async function openOffice(agoMs: number): Promise<Office> {
  setClock(agoMs)
  const stack = new AsyncDisposableStack()
  const service = stack.use(await startService())
  const config = await openConfig(configAt(service.url), { environment: {}, folder: FOLDER })
  const place = { dataDir: stack.use(temporaryFolder()).path, environment: {} }
  const server = stack.use(await startTestServer({ config, clock, place, flags: { port: await freePort() } }))
  const voiceOf = async (body: CreateKeyBody): Promise<Voice> => {
    const { key, principal } = await server.makeKey(body)
    return { ...server.with({ authorization: `Bearer ${key}` }), id: principal.id, key }
  }
  const people = await voicesOf(PEOPLE, ({ name, roles }) => voiceOf({ name, kind: 'person', roles: [...roles] }))
  const agents = await voicesOf(AGENTS, ({ agent, name }) => voiceOf({ name, kind: 'agent', agent }))
  return { server, people, agents, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function voicesOf<Name extends string, Who>(
  all: Record<Name, Who>,
  speak: (who: Who) => Promise<Voice>,
): Promise<Record<Name, Voice>> {
  const voices: Partial<Record<Name, Voice>> = {}
  for (const name of Object.keys(all) as Name[]) voices[name] = await speak(all[name])
  return voices as Record<Name, Voice>
}

/** Decides about an action as it is shown. */
export const decide = (person: ApiClient, { id, revision, digest }: Action, decision: object): Promise<Action> =>
  person.post(`/api/actions/${id}/decision`, { revision, digest, ...decision })
