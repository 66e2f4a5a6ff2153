import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, isSettled, type JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { systemClock } from '../../../packages/server/src/clock.ts'
import { type Random, seededRandom } from '../../simulation/random.ts'
import { ana, openGate } from '../../testing/open-gate.ts'
import { startTarget } from '../../testing/target.ts'
import { shuffled } from '../same-look/shuffled.ts'
import type { Members, Value } from './described.ts'
import { CALLS, type DrawnCall, type DrawnService, documentOf, SERVICES, wrapped, written } from './drawn-service.ts'
import { judgeCard } from './judge-card.ts'

export interface WorldRun {
  documents: number
  calls: number
  violations: string[]
}

/** One thing of one service, and the request that reached it last. */
interface Held {
  thing: Members | undefined
  looks: number
  sent: { method: string; body: Value } | undefined
  before: Members | undefined
}

const AROUND = (name: string, inner: Value): Value => ({ [name]: inner })

/**
 * Draws services with their documents, proposes and approves drawn writes at the real gate, and holds each card against what was sent and what
 * came of it. Between card and start whatever changes by itself does, and members of an answer stand in another order each time.
 */
export async function runWorld(options: {
  documents: number
  calls: number
  seed: number
  isOver?: () => boolean
  onViolation?: (words: string) => void
}): Promise<WorldRun> {
  const { seed, isOver = () => false, onViolation = () => {} } = options
  const run: WorldRun = { documents: 0, calls: 0, violations: [] }
  const services = fc.sample(SERVICES, { numRuns: options.documents, seed })
  const folder = mkdtempSync(join(tmpdir(), 'countersign-world-'))
  const held = new Map<string, Held>()
  const random = seededRandom(seed)
  try {
    await using target = await startTarget(({ method, path, headers, body }) => {
      const one = held.get(path)
      const service = services[Number(path.split('/')[1])]
      if (!one || !service) return { status: 500 }
      const version = `"${path.length}-${one.looks}"`
      if (method !== 'GET') {
        if (headers['if-match'] !== undefined && headers['if-match'] !== version) return { status: 412, body: {} }
        one.sent = { method, body: body as Value }
        one.before = one.thing
        one.thing = written(service, one.thing, method, (body === undefined ? {} : inside(service, body as Members)) as Members)
        return { status: 200, body: {} }
      }
      if (!one.thing) return { status: 404, body: {} }
      one.looks++
      for (const name of service.counters) one.thing[name] = one.looks
      const answer = wrapped<Value>(shuffled(one.thing, random), service.answerWrap, AROUND)
      const etag: Record<string, string> = service.hasVersion ? { etag: `"${path.length}-${one.looks}"` } : {}
      return { status: 200, headers: etag, body: { ...service.about, ...(answer as Members) } }
    })
    const tools = Object.fromEntries(
      services.map((service, index) => {
        const document = join(folder, `${index}.json`)
        writeFileSync(document, JSON.stringify(documentOf(service, pathOf(service, index))))
        return [`s${index}`, { openapi: { document, baseUrl: target.url } }]
      }),
    )
    await using gate = await openGate([], { tools, clock: systemClock })
    for (const [index, service] of services.entries()) {
      if (isOver()) break
      run.documents++
      for (const call of fc.sample(CALLS, { numRuns: options.calls, seed: seed + index })) {
        const path = pathOf(service, index).replace('{id}', encodeURIComponent(call.id))
        const one = held.get(path) ?? { thing: { id: call.id }, looks: 0, sent: undefined, before: undefined }
        // Only PUT and POST can make a deleted thing again.
        if (!one.thing && (call.method === 'patch' || call.method === 'delete')) one.thing = { id: call.id, name: 'again' }
        held.set(path, Object.assign(one, { sent: undefined }))
        for (const fault of await callOnce(gate, `s${index}.${call.method}`, call, service, one, random)) {
          const words = `${JSON.stringify(service)} ${JSON.stringify(call)}: ${fault}`
          run.violations.push(words)
          onViolation(words)
        }
        run.calls++
      }
    }
    return run
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const pathOf = ({ noun }: DrawnService, index: number): string => `/${index}/${noun.replace(/y$/, 'ie')}s/{id}`

async function callOnce(
  { engine, until }: Awaited<ReturnType<typeof openGate>>,
  tool: string,
  { method, id, body }: DrawnCall,
  service: DrawnService,
  one: Held,
  random: Random,
): Promise<string[]> {
  const given = method === 'delete' ? { id } : { body: wrapped<Value>(body, service.bodyWrap, AROUND), id }
  const propose = async () => {
    const proposed = await engine.gate.propose({ tool, arguments: shuffled(given as JsonObject, random) }, { principal: ana })
    return until(proposed.id, () => true)
  }
  const [shown, again] = [await propose(), await propose()]
  await engine.gate.decide(again.id, { verdict: 'decline' }, { principal: ana })
  if (cardOf(again) !== cardOf(shown)) return [`its card was ${cardOf(shown)} and is ${cardOf(again)} a moment later`]
  const actionId = shown.id
  if (shown.previewError !== null || shown.preview === null) return [`the card has no preview: ${shown.previewError}`]
  await engine.gate.decide(actionId, { verdict: 'approve' }, { principal: ana })
  const done = await until(actionId, ({ state, revision }) => isSettled(state) || revision > 1)
  if (done.revision > 1) return [`it was asked again: ${done.revised?.reason}`]
  if (done.state !== 'succeeded' || !one.sent) return [`it ended as ${done.state}: ${done.error?.message}`]
  const sent = one.sent.body === undefined ? {} : (inside(service, one.sent.body as Members) as Members)
  return judgeCard(shown.preview, { before: one.before, after: one.thing, sent, counters: service.counters })
}

/** As bytes: also the order in which a value's members stand on the card. */
const cardOf = ({ digest, description, preview }: Action): string => JSON.stringify({ digest, description, preview })

/** Returns the part of a request inside its envelopes. */
const inside = ({ bodyWrap }: DrawnService, body: Members): Value =>
  bodyWrap.reduce<Value>((outer, name) => (outer as Members)[name] ?? {}, body)
