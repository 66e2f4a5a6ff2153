import { isCountersignError, ToolError, type Verification } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'

/** The fate of a send: its answer is lost, it is refused, nothing listens, or the process is killed during it. */
const FATES = ['lost', 'refused', 'unreachable', 'killed'] as const
/** The answer of a check. */
const FINDINGS: Record<string, Verification> = {
  found: { done: true },
  'not found': { done: false },
  'will not come': { done: false, authoritative: true },
  'no idea': { done: 'unknown' },
}

type Step =
  | { do: 'retry'; fate: (typeof FATES)[number] }
  | { do: 'check'; finding: string }
  | { do: 'wait'; finding: string }
  | { do: 'resolve'; outcome: 'succeeded' | 'failed' }
  | { do: 'restart' }

const anyFate = fc.constantFrom(...FATES)
const anyFinding = fc.constantFrom(...Object.keys(FINDINGS))
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('retry' as const), fate: anyFate }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('check' as const), finding: anyFinding }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), finding: anyFinding }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('resolve' as const), outcome: fc.constantFrom('failed' as const, 'succeeded' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
)

const REFUSALS = ['illegal_transition', 'stale_preview']
const caller = { principal: ben }

test.each(STORES)(
  '$database: I4 whatever is lost, found, not found, resolved, retried or restarted: after an unknown outcome no second key is ever sent',
  async ({ database, open }) => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    let processes = 0
    const seen = { doubted: 0, sentAgain: 0, newKeys: 0 }

    const scenario = async (canLook: boolean, isKeyed: boolean, first: (typeof FATES)[number], steps: readonly Step[]) => {
      let leaptMs = 0
      let fate = first
      let finding = 'not found'
      let onSend = () => {}
      const keys: string[] = []
      const tool = defineTool({
        name: 'pay',
        description: 'Pay',
        input: { type: 'object' },
        effect: 'write',
        idempotent: isKeyed,
        execute: (_, { idempotencyKey }) => {
          keys.push(idempotencyKey)
          onSend()
          if (fate === 'killed') return new Promise<never>(() => {})
          throw new ToolError(fate === 'lost' ? 'ambiguous' : fate, 'No.', { retryable: true })
        },
        ...(canLook && { settlesWithin: 'PT1M', verify: () => FINDINGS[finding] ?? { done: 'unknown' } }),
      })
      const open = () => openBareGate(store, [tool], `prc_${++processes}`, { nowMs: () => Date.now() + leaptMs })
      let gate = open()
      const { id } = await gate.approved('pay')

      /** The process is gone; the next one takes over what it was carrying out. */
      const restart = async () => {
        const gone = gate.processId
        gate.stop()
        if (fate === 'killed') fate = 'lost'
        gate = open()
        await gate.recover([gone])
        await gate.idle()
      }
      /** Starts something, and if its process is to be killed on the way, kills it once the request is out. */
      const run = async (start: () => Promise<unknown>) => {
        const sent = Promise.withResolvers<void>()
        onSend = sent.resolve
        const ended = start().then(() => gate.idle())
        // A kill is no answer: nobody waits for what the old process would still say.
        if (fate !== 'killed') return ended
        ended.catch(() => undefined)
        await Promise.race([sent.promise, ended])
        await restart()
      }
      const act = async (step: Step) => {
        if ('finding' in step) finding = step.finding
        if (step.do === 'restart') return restart()
        if (step.do === 'resolve') return gate.resolve(id, { outcome: step.outcome, note: 'I looked.' }, caller)
        if (step.do === 'check') return run(() => gate.verify(id, caller))
        if (step.do === 'wait') {
          leaptMs += 61_000
          await gate.doWhatIsDue(AbortSignal.timeout(240_000))
          return gate.idle()
        }
        fate = step.fate
        return run(() => gate.retry(id, { principal: ana }))
      }

      let doubtedAt: number | undefined
      const note = async () => {
        const { state, in_doubt } = await rowOf(store, id)
        if ((state === 'outcome_unknown' || in_doubt) && doubtedAt === undefined) doubtedAt = keys.length
      }
      await run(() => gate.execute(id))
      await note()
      for (const step of steps) {
        try {
          await act(step)
        } catch (error) {
          if (!isCountersignError(error) || !REFUSALS.includes(error.code)) throw error
        }
        await note()
      }
      if (new Set(keys).size > 1) seen.newKeys++
      if (doubtedAt === undefined) return
      seen.doubted++
      // The key that was last sent when the outcome became unknown is the only one from then on.
      const since = keys.slice(Math.max(doubtedAt - 1, 0))
      if (since.length > 1) seen.sentAgain++
      expect(new Set(since).size).toBeLessThanOrEqual(1)
    }

    await fc.assert(fc.asyncProperty(fc.boolean(), fc.boolean(), anyFate, fc.array(anyStep, { minLength: 1, maxLength: 8 }), scenario), {
      // A commit there takes several times as long.
      numRuns: database === 'sqlite' ? 60 : 30,
    })
    // It did come to what it is about.
    expect(seen.doubted).toBeGreaterThan(5)
    expect(seen.sentAgain).toBeGreaterThan(0)
    expect(seen.newKeys).toBeGreaterThan(0)
  },
)
