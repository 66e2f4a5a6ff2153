import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiAnswer, ApiClient } from '../../testing/api-client.ts'
import { startTarget, type Target, toolsOf } from '../../testing/target.ts'

/** Something that a client was told, or a target was asked for, at `ns` of `process.hrtime.bigint()`. */
export interface Seen {
  ns: bigint
  /** The argument `what` of the action: each has its own. */
  what: string
}

/** Observations from outside of servers whose disk is faulty. */
export interface Witness {
  /** Proposals that were answered with 201, with the action's id. */
  readonly proposed: (Seen & { id: string })[]
  /** Decisions that were answered with 200. */
  readonly decided: (Seen & { id: string; verdict: Verdict })[]
  /** Writes that reached the target. */
  readonly effects: (Seen & { tool: string })[]
  /** Answers that were no success. */
  readonly refused: Pick<ApiAnswer, 'status' | 'text'>[]
}

type Verdict = 'approve' | 'decline'

export interface Workload extends AsyncDisposable {
  readonly witness: Witness
  /** The configuration file of the servers. */
  readonly configFile: string
  /** Proposes `count` actions at once. Does not throw when the server refuses or goes away. */
  propose(admin: ApiClient, count: number): Promise<void>
  /** Decides all that was proposed and not tried yet, at once; every fourth is declined. */
  decide(admin: ApiClient): Promise<void>
  /** Waits until what was approved is settled. */
  settle(admin: ApiClient): Promise<void>
}

/** Clients and a target for servers that have their configuration in `folder`. */
export async function openWorkload(folder: string): Promise<Workload> {
  const witness: Witness = { proposed: [], decided: [], effects: [], refused: [] }
  const target: Target = await startTarget(({ body, path }) => {
    witness.effects.push({ ns: process.hrtime.bigint(), what: (body as { what: string }).what, tool: path.slice(1) })
    return { status: 200, body: { id: 1 } }
  })
  const configFile = join(folder, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target) }))
  const tried = new Set<string>()
  let count = 0

  /** Undefined when there was no success. */
  async function ask(admin: ApiClient, path: string, body: unknown): Promise<ApiAnswer | undefined> {
    const answer = await admin.send('POST', path, { body }).catch(() => undefined)
    if (answer && answer.status >= 300) witness.refused.push(answer)
    return answer && answer.status < 300 ? answer : undefined
  }

  async function proposeOne(admin: ApiClient): Promise<void> {
    const what = `${randomBytes(3).toString('hex')} ${++count}`
    const tool = count % 2 === 0 ? 'keyed' : 'unkeyed'
    const answer = await ask(admin, '/api/actions', { tool, arguments: { what } })
    if (answer) witness.proposed.push({ ns: process.hrtime.bigint(), what, id: answer.body.id })
  }

  async function decideOne(admin: ApiClient, { id, what }: Witness['proposed'][number]): Promise<void> {
    const verdict = tried.size % 4 === 0 ? 'decline' : 'approve'
    tried.add(id)
    const answer = await ask(admin, `/api/actions/${id}/decision`, { verdict })
    if (answer) witness.decided.push({ ns: process.hrtime.bigint(), what, id, verdict })
  }

  return {
    witness,
    configFile,
    async propose(admin, wanted) {
      await Promise.all(Array.from({ length: wanted }, () => proposeOne(admin)))
    },
    async decide(admin) {
      await Promise.all(witness.proposed.filter(({ id }) => !tried.has(id)).map((action) => decideOne(admin, action)))
    },
    async settle(admin) {
      const approved = witness.decided.filter(({ verdict }) => verdict === 'approve')
      await Promise.all(approved.map(({ id }) => admin.send('GET', `/api/actions/${id}?wait=10&until=settled`).catch(() => undefined)))
    },
    [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
  }
}
