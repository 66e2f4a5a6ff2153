import { ToolError } from '@countersign/core'
import { expect, test, vi } from 'vitest'
import { createRedactor, openNetwork } from './net/index.ts'
import type { SourceFinding, ToolSource } from './source.ts'
import type { ToolDraft } from './tool-draft.ts'
import { watchAway } from './watch-away.ts'

const CONTEXT = { actionId: 'act_1', idempotencyKey: 'act_1.1', signal: new AbortController().signal }
const unreachable = () => new ToolError('unreachable', 'http://crm could not be reached:\nconnect ECONNREFUSED')

/** A source with one tool that fails as a test says, and checks as it says. */
function openSource() {
  const state: { fails?: unknown; found: SourceFinding[]; checks: number; next?: { ms: number; run: () => void } | undefined } = {
    found: [{ level: 'problem', message: 'no answer' }],
    checks: 0,
  }
  const answer = async () => {
    if (state.fails !== undefined) throw state.fails
    return 'done'
  }
  const draft = { name: 'note', execute: answer, preview: answer } as unknown as ToolDraft
  const source: ToolSource = {
    kind: 'test',
    secrets: [],
    drafts: () => [draft],
    async check() {
      state.checks++
      return state.found
    },
  }
  const watched = watchAway(source, (run, ms) => {
    state.next = { run, ms }
    return () => {
      state.next = undefined
    }
  })
  const [tool] = watched.drafts({ network: openNetwork(), redactor: createRedactor(['tok-12345']) }, () => undefined)
  if (!tool) throw new Error('no tool')
  return { state, watched, tool, call: () => tool.execute({}, CONTEXT as never).catch(() => undefined) }
}

test('a source is away from the first call that could not be sent, in one plain line, until a call is answered', async () => {
  const { state, watched, call } = openSource()
  await call()
  expect(watched.away).toBeUndefined()
  state.fails = unreachable()
  const before = Date.now()
  await call()
  const { sinceMs, why } = watched.away ?? { sinceMs: 0, why: '' }
  expect(sinceMs).toBeGreaterThanOrEqual(before)
  expect(why).toBe('http://crm could not be reached: connect ECONNREFUSED')
  await call()
  expect(watched.away?.sinceMs).toBe(sinceMs)
  state.fails = undefined
  await call()
  expect(watched.away).toBeUndefined()
  await watched.close?.()
})

test('a preview that could not be read shows it too; a refusal, a lost answer and a fault of our own show nothing', async () => {
  const { state, watched, tool, call } = openSource()
  for (const fails of [new ToolError('refused', 'No.'), new ToolError('ambiguous', 'It broke off.'), new Error('a fault')]) {
    state.fails = fails
    await call()
    expect(watched.away).toBeUndefined()
  }
  state.fails = unreachable()
  await expect(tool.preview?.({}, CONTEXT.signal)).rejects.toThrow('could not be reached')
  expect(watched.away).toBeDefined()
  await watched.close?.()
})

test('while it is away it is checked by itself, more and more seldom, and is back once a check finds no problem; closed, it is not checked', async () => {
  const { state, watched, call } = openSource()
  const nextCheck = async () => {
    const { next, checks } = state
    state.next = undefined
    next?.run()
    await vi.waitFor(() => expect([state.checks, state.next !== undefined || !watched.away]).toEqual([checks + 1, true]))
    return next?.ms
  }
  state.fails = unreachable()
  await call()
  const delays = []
  for (let n = 0; n < 10; n++) delays.push(await nextCheck())
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000])
  expect(watched.away).toBeDefined()
  state.found = [{ level: 'ok', message: 'answers' }]
  await nextCheck()
  expect([watched.away, state.next]).toEqual([undefined, undefined])
  await call()
  expect(state.next).toBeDefined()
  await watched.close?.()
  expect(state.next).toBeUndefined()
  await call()
  expect(state.next).toBeUndefined()
})

test('what is said of a source holds none of its secrets', async () => {
  const { state, watched, call } = openSource()
  state.fails = new ToolError('unreachable', 'http://crm did not take tok-12345')
  await call()
  expect(watched.away?.why).toBe('http://crm did not take [redacted]')
  await watched.close?.()
})
