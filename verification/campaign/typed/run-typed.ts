import { Agent, request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { CreateKeyBody, Session } from '@countersign/core'
import type { ConfigInput } from '../../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../../packages/server/src/models/index.ts'
import type { Database } from '../../../packages/server/src/store/index.ts'
import { makeKey } from '../../testing/accept-key.ts'
import type { ApiClient } from '../../testing/api-client.ts'
import { type Target, toolsOf } from '../../testing/target.ts'
import { concurrently } from '../concurrently.ts'
import { WORDS } from './texts.ts'

/** Texts that wait in one session. */
const PER_SESSION = 400
const SESSIONS_AT_ONCE = 8
/** A little more than a word needs. */
const READING_MS = 1_100
/** Texts under way in one session. */
const AT_ONCE = 4

/** An agent that asks for one action in each session, and then says yes to everything. */
export const typedSetup = (target: Target): { config: ConfigInput; scripts: { desk: ScriptStep[] } } => ({
  config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
  scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Fine.' }] },
})

export interface TypedOptions {
  /** A server set up as `typedSetup` says, as its admin. */
  admin: Pick<ApiClient, 'url' | 'post'>
  headers: Record<string, string>
  /** Of that server. */
  database: Database
  texts: readonly string[]
  endsAt: number
  say(line: string): void
}

export interface TypedReport {
  /** Texts that were sent, by who sent them: command words among them where they are nobody's to say. */
  sent: Record<string, number>
  /** Sessions in which something waited all the while. */
  sessions: number
  /** Exact words of the right person, each of which decided. */
  decided: number
  violations: string[]
}

interface Speaker {
  name: string
  headers: Record<string, string>
  /** The status that answers every text. */
  status: number
  /** The people in whose sessions they type; undefined means their own. */
  in?: Record<string, string>
  /** True for who may not decide even with the exact words. */
  saysWords: boolean
}

/**
 * Everybody says everything around the command words, and who may not decide the words themselves: nothing is decided. Then the right
 * person says the words: each decides the one action that waits.
 */
export async function runTyped({ admin, headers: adminHeaders, database, texts, endsAt, say }: TypedOptions): Promise<TypedReport> {
  const report: TypedReport = { sent: {}, sessions: 0, decided: 0, violations: [] }
  const connections = new Agent({ keepAlive: true, maxSockets: SESSIONS_AT_ONCE * AT_ONCE })

  async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const sending = request(admin.url + path, { method, agent: connections, headers: { ...headers, 'content-type': 'application/json' } })
    sending.on('error', reject)
    sending.on('response', async (response) => resolve({ status: response.statusCode ?? 0, text: await readText(response) }))
    sending.end(body && JSON.stringify(body))
    return promise
  }
  async function succeed(method: string, path: string, headers: Record<string, string>, body?: object) {
    const { status, text } = await send(method, path, headers, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return JSON.parse(text)
  }

  async function keyOf(who: CreateKeyBody) {
    const { key, principal } = await makeKey(admin, database, who)
    return { headers: { authorization: `Bearer ${key}` }, id: String(principal.id) }
  }

  /** A conversation in which an action waits. */
  async function ask(headers: Record<string, string>): Promise<string> {
    const { id } = await succeed('POST', '/api/sessions', headers, {})
    const { runId } = await succeed('POST', `/api/sessions/${id}/messages`, headers, { content: 'go' })
    if (!runId) throw new Error('the first message begins a run')
    const action = await waitingIn(id)
    if (!action) throw new Error(`nothing waits in session ${id}`)
    report.sessions++
    return id
  }
  /** The action that waits in a session: asked until it is there. */
  async function waitingIn(sessionId: string): Promise<Session['pendingApprovals'][number] | undefined> {
    for (;;) {
      const session: Session = await succeed('GET', `/api/sessions/${sessionId}`, adminHeaders)
      if (session.status !== 'active') return session.pendingApprovals[0]
    }
  }

  async function speak({ name, headers, status, in: owner, saysWords }: Speaker): Promise<void> {
    const all = saysWords ? [...WORDS, ...WORDS.map((word) => word.toUpperCase()), ...texts] : texts
    const starts = Array.from({ length: Math.ceil(all.length / PER_SESSION) }, (_, i) => i * PER_SESSION).values()
    // One session takes one text at a time: several are spoken in side by side.
    await concurrently(SESSIONS_AT_ONCE, starts, async (from) => {
      if (Date.now() >= endsAt) return
      const sessionId = await ask(owner ?? headers)
      await concurrently(AT_ONCE, all.slice(from, from + PER_SESSION).values(), async (content) => {
        const answer = await send('POST', `/api/sessions/${sessionId}/messages`, headers, { content })
        report.sent[name] = (report.sent[name] ?? 0) + 1
        if (answer.status !== status || answer.text.includes('"decided"')) {
          report.violations.push(`${JSON.stringify(content)} of ${name} was answered ${answer.status}: ${answer.text}`)
        }
      })
      const action = await waitingIn(sessionId)
      if (action?.state !== 'proposed' || action.votes.length > 0 || action.revision !== 1) {
        report.violations.push(`after what ${name} said in ${sessionId}, its action is ${action?.state} with ${action?.votes.length} votes`)
      }
    })
    say(`${name} said ${report.sent[name] ?? 0} texts`)
  }

  try {
    const ana = await keyOf({ name: 'Ana', kind: 'person', roles: ['approver'] })
    const own = { kind: 'person', person: ana.id, name: 'half' } as const
    const person = async (role: string) => (await keyOf({ name: role, kind: 'person', roles: [role] })).headers
    const program = async (kind: 'agent' | 'service') => (await keyOf({ name: kind, kind, person: ana.id })).headers
    const speakers: Speaker[] = [
      { name: 'the approver', headers: ana.headers, status: 202, saysWords: false },
      { name: 'an agent', headers: await program('agent'), status: 202, saysWords: true },
      { name: 'a service', headers: await program('service'), status: 202, saysWords: true },
      {
        name: 'a key that only proposes',
        headers: (await keyOf({ ...own, scopes: ['propose'] })).headers,
        status: 202,
        in: ana.headers,
        saysWords: true,
      },
      {
        name: 'a key that only decides',
        headers: (await keyOf({ ...own, scopes: ['decide'] })).headers,
        status: 403,
        in: ana.headers,
        // Its words are votes, as the approver's are.
        saysWords: false,
      },
      { name: 'a viewer', headers: await person('viewer'), status: 403, in: ana.headers, saysWords: true },
      { name: 'another group', headers: await person('finance'), status: 404, in: ana.headers, saysWords: true },
      { name: 'another’s agent', headers: await program('agent'), status: 404, in: ana.headers, saysWords: true },
      { name: 'nobody', headers: {}, status: 401, in: ana.headers, saysWords: true },
    ]
    for (const speaker of speakers) await speak(speaker)

    const said: { word: string; sessionId: string }[] = []
    for (const word of WORDS.flatMap((exact) => [exact, exact.toUpperCase(), ` ${exact}\n`])) {
      const sessionId = await ask(ana.headers)
      await succeed('GET', `/api/sessions/${sessionId}`, ana.headers)
      said.push({ word, sessionId })
    }
    // Words count a second after the actions were shown.
    await delay(READING_MS)
    for (const { word, sessionId } of said) {
      const { decided } = await succeed('POST', `/api/sessions/${sessionId}/messages`, ana.headers, { content: word })
      if (decided?.length === 1) report.decided++
      else report.violations.push(`${JSON.stringify(word)} of the approver decided ${decided?.length ?? 0} actions`)
    }
    return report
  } finally {
    connections.destroy()
  }
}
