import { setImmediate } from 'node:timers/promises'
import type { Action, Principal, Vote } from '@countersign/client'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ADA, ago, SAM, sampleAction } from '../testing/actions.ts'
import type { CardInputs, DecisionDetails, Evidence, Verdict } from './card-inputs.ts'
import { type ApprovalCardStore, type CardSnapshot, createApprovalCard } from './create-approval-card.ts'

const HIGH = sampleAction({ risk: { level: 'high', reasons: ['moves money'], setBy: 'policy' } })
const REVISED = sampleAction({ revision: 2, digest: 'sha256:2', updatedAt: ago(10) })

const DEL: Principal = { id: 'prn_del', kind: 'person', name: 'Del', roles: ['member'] }

/** A card with a server that answers when the test says so. */
function openCard(changed: Partial<CardInputs> = {}) {
  const sent: { verdict: Verdict; details: DecisionDetails }[] = []
  const waiting: PromiseWithResolvers<unknown>[] = []
  const timers: (() => void)[] = []
  const limits: (() => void)[] = []
  const answerLater = () => {
    const answer = Promise.withResolvers<unknown>()
    waiting.push(answer)
    return answer.promise
  }
  const inputs: CardInputs = {
    action: sampleAction(),
    me: ADA,
    onDecide: (verdict, details) => {
      sent.push({ verdict, details })
      return answerLater()
    },
    onRetry: answerLater,
    onSuggest: async () => ({ refusal: null, exact: { matched: 0, of: 0 }, rule: null }),
    schedule: (run, delayMs) => {
      const list = delayMs === 60_000 ? limits : timers
      list.push(run)
      return () => list.splice(list.indexOf(run), 1)
    },
    ...changed,
  }
  const card = createApprovalCard({ ...inputs })
  return {
    card,
    sent,
    timers,
    /** The limits of the requests that are not answered yet. */
    limits,
    inputs,
    waiting,
    update: (more: Partial<CardInputs>) => card.update({ ...Object.assign(inputs, more) }),
    /** Answers the oldest request, and waits until the card has taken the answer. */
    answer: async (error?: unknown) => {
      const next = waiting.shift()
      if (error === undefined) next?.resolve(undefined)
      else next?.reject(error)
      await setImmediate()
    },
  }
}

const loaded = (card: ApprovalCardStore) => {
  const shown = card.get()
  if (shown.state === 'loading') throw new Error('the card is loading')
  return shown
}

test('a delegate carries out, or takes back, what they approved, and nothing that others approved or that failed', () => {
  const byDel: Vote = { by: DEL, for: ADA, verdict: 'approve', at: ago(20) }
  const asked: Partial<Action> = { state: 'approved', executor: 'client', startsAt: ago(-60), votes: [byDel] }
  const offers = (changed: Partial<Action>, standsFor: readonly Principal[] = [ADA]) => {
    const action = sampleAction({ ...asked, ...changed })
    const { carryOut, undo, retry } = loaded(
      openCard({ action, me: DEL, standsFor, onCarryOut: async () => undefined, onUndo: async () => undefined }).card,
    ).offers
    return { carryOut, undo, retry }
  }
  const nothing = { carryOut: false, undo: false, retry: false }
  expect(offers({})).toEqual({ carryOut: true, undo: true, retry: false })
  expect(offers({}, []), 'the delegation has ended').toEqual(nothing)
  expect(offers({ votes: [{ by: ADA, verdict: 'approve', at: ago(20) }] })).toEqual(nothing)
  expect(offers({ state: 'failed' })).toEqual(nothing)
  expect(offers({ startsAt: null }), 'nobody has claimed it').toEqual({ carryOut: true, undo: true, retry: false })
  expect(offers({ startsAt: null, executor: 'server' }), 'it starts at once').toEqual(nothing)
})

test('an approval is sent once, with the version that was shown, and is not called decided before the action says so', async () => {
  const { card, sent, answer, update } = openCard()
  card.approve()
  card.approve()
  expect(card.get().state).toBe('sending')
  await answer()
  expect(card.get().state).toBe('sent')
  expect(sent).toEqual([{ verdict: 'approve', details: { revision: 1, digest: sampleAction().digest } }])
  update({ action: sampleAction({ state: 'approved', updatedAt: ago(1) }) })
  expect(card.get().state).toBe('running')
  update({ action: sampleAction({ state: 'succeeded', updatedAt: ago(0) }) })
  expect(card.get().state).toBe('decided')
})

test('a card without an action is loading, and does nothing', () => {
  const { card, sent, update } = openCard({ action: undefined })
  for (const act of ['approve', 'decline', 'arm', 'openDecline', 'back', 'retry'] as const) card[act]()
  expect(card.get()).toEqual({ state: 'loading' })
  expect(sent).toEqual([])
  update({ action: sampleAction() })
  expect(card.get().state).toBe('waiting')
})

test('an action of high risk is approved in a second step', () => {
  const { card, sent } = openCard({ action: HIGH })
  card.approve()
  expect([card.get().state, sent.length]).toEqual(['confirming', 0])
  card.approve()
  expect([card.get().state, sent.length]).toEqual(['sending', 1])
})

test('what is armed lapses by its timer, and only then', () => {
  const { card, timers } = openCard()
  card.arm()
  expect([card.get().state, timers.length]).toEqual(['armed', 1])
  timers[0]?.()
  expect([card.get().state, timers.length]).toEqual(['waiting', 0])
  card.arm()
  card.close()
  expect(timers).toEqual([])
})

test('a reason that is being typed stays in its form when the action is asked again, and the card says that it changed', () => {
  const { card, sent, update } = openCard()
  const notice = 'This changed while you looked. Review it again.'
  card.openDecline()
  update({ action: REVISED })
  expect(loaded(card)).toMatchObject({ state: 'declining', notice, action: REVISED })
  card.back()
  expect(loaded(card)).toMatchObject({ state: 'changed', notice })
  card.openDecline()
  card.decline({ reason: 'No.' })
  expect(sent).toEqual([{ verdict: 'decline', details: { revision: 2, digest: 'sha256:2', reason: 'No.' } }])
})

test('an action that changes under a dialog says so and closes it', () => {
  const { card, update } = openCard({ action: HIGH })
  card.approve()
  update({ action: { ...HIGH, revision: 2, digest: 'sha256:2', updatedAt: ago(10) } })
  expect(loaded(card)).toMatchObject({ state: 'changed', notice: 'This changed while you looked. Review it again.' })
})

test.each([REVISED, sampleAction()])('a form closes when the action is no longer to be decided by this person', (action) => {
  const { card, update } = openCard()
  card.openDecline()
  update({ action: { ...action, state: 'declined', votes: [{ by: SAM, verdict: 'decline', at: ago(8) }], updatedAt: ago(8) } })
  expect(card.get().state).toBe('decided')
})

test('a refusal says why, takes the action that came with it, and the person can decide again', async () => {
  const { card, answer } = openCard()
  card.approve()
  await answer({ code: 'offline', message: 'no' })
  expect(loaded(card)).toMatchObject({ state: 'refused', notice: expect.stringContaining('The server cannot be reached.') })
  card.approve()
  const taken = sampleAction({ state: 'declined', votes: [{ by: SAM, verdict: 'decline', at: ago(8) }], updatedAt: ago(8) })
  await answer({ code: 'already_decided', message: 'no', action: taken })
  expect(loaded(card)).toMatchObject({ state: 'decided', action: taken, notice: expect.stringMatching(/^Already declined by Sam/) })
})

test.each(['before', 'after'] as const)(
  'a decision whose answer was lost is not called unsent once the action shows it, %s the request failed',
  async (when) => {
    const showing = {
      state: sampleAction({ state: 'approved', updatedAt: ago(1) }),
      vote: sampleAction({ votes: [{ by: ADA, verdict: 'approve', at: ago(1) }], updatedAt: ago(1) }),
    }
    for (const action of Object.values(showing)) {
      const { card, answer, update } = openCard()
      card.approve()
      if (when === 'before') update({ action })
      await answer({ code: 'offline', message: 'no' })
      if (when === 'after') {
        // News of something else leave it standing.
        update({ action: sampleAction({ overdue: true, updatedAt: ago(2) }) })
        expect(loaded(card)).toMatchObject({ state: 'refused', notice: expect.stringContaining('The server cannot be reached.') })
        update({ action })
      }
      expect(loaded(card)).toMatchObject({ state: expect.stringMatching(/^(running|voted)$/), notice: '' })
    }
  },
)

test('a request that is never answered does not keep the card busy; its late answer is not taken for that of the next one', async () => {
  const { card, sent, limits, answer, update } = openCard()
  card.approve()
  expect([card.get().state, limits.length]).toEqual(['sending', 1])
  limits[0]?.()
  await setImmediate()
  expect(loaded(card)).toMatchObject({ state: 'refused', rest: '', notice: expect.stringMatching(/^The server has not answered/) })
  card.decline()
  expect([card.get().state, sent.length, limits.length]).toEqual(['sending', 2, 1])
  await answer(new Error('the first, late'))
  expect(loaded(card)).toMatchObject({ state: 'sending', notice: '' })
  await answer()
  expect([card.get().state, limits.length]).toEqual(['sent', 0])
  update({ action: sampleAction({ state: 'declined', updatedAt: ago(1) }) })
  expect(card.get().state).toBe('decided')
})

test('without a connection nothing is sent, and what was edited and opened stays', () => {
  const { card, sent, update } = openCard()
  card.edit({ orderId: 'ORD-002', newStatus: 'processing' })
  expect(card.get().state).toBe('editing')
  update({ connection: 'offline' })
  expect(loaded(card)).toMatchObject({ state: 'offline', rest: 'paused', edits: [{ path: 'orderId' }] })
  card.approve()
  card.decline()
  expect(sent).toEqual([])
  card.openDecline()
  expect(card.get().state).toBe('declining')
  update({ connection: 'live' })
  expect(card.get().state).toBe('declining')
  card.back()
  expect(card.get().state).toBe('editing')
})

test('half an edit cannot be approved; a complete one is sent with the decision', () => {
  const { card, sent } = openCard()
  card.edit(undefined)
  card.approve()
  expect(loaded(card)).toMatchObject({ state: 'editing', notice: 'What you edited is not complete yet.' })
  card.edit({ orderId: 'ORD-002' })
  card.approve()
  expect(sent[0]?.details.arguments).toEqual({ orderId: 'ORD-002' })
})

test.each(['loading', 'failed'] as const)('while its evidence is %s, nothing is approved in any way, and a decline is sent', (evidence) => {
  const shows: { evidence: Evidence } = { evidence }
  const { card, sent, update, timers } = openCard({ evidence: () => shows.evidence })
  card.approve()
  card.arm()
  card.chooseGrant({ scope: 'agent', expiresIn: 'PT1H', exact: true }, 'words')
  expect(loaded(card)).toMatchObject({ state: 'waiting', evidence, blocked: expect.stringMatching(/\.$/) })
  expect(loaded(card).notice).toBe(loaded(card).blocked)
  expect([sent, timers]).toEqual([[], []])

  // What was begun while everything was shown is not finished either.
  for (const begin of [() => card.arm(), () => card.chooseGrant({ scope: 'agent', expiresIn: 'PT1H', exact: true }, 'words')]) {
    shows.evidence = 'ready'
    update({})
    begin()
    expect(['armed', 'granting']).toContain(card.get().state)
    shows.evidence = evidence
    card.approve()
    card.confirmGrant()
    update({})
    card.approve()
    card.confirmGrant()
    expect(sent).toEqual([])
    card.back()
  }
  card.decline()
  expect(sent.map(({ verdict }) => verdict)).toEqual(['decline'])
})

test('the second step of an action of high risk is not taken while its evidence is away', () => {
  const shows: { evidence: Evidence } = { evidence: 'ready' }
  const { card, sent } = openCard({ action: HIGH, evidence: () => shows.evidence })
  card.approve()
  expect(card.get().state).toBe('confirming')
  shows.evidence = 'loading'
  card.approve()
  expect(sent).toEqual([])
  shows.evidence = 'ready'
  card.approve()
  expect(sent).toHaveLength(1)
})

test('evidence is judged for the action that the card shows, also when an answer brought it', async () => {
  const seenAgain = sampleAction({ revision: 2, digest: 'sha256:2', updatedAt: ago(10) })
  const { card, sent } = openCard({
    onLookAgain: async () => seenAgain,
    evidence: ({ revision }) => (revision === 2 ? 'loading' : 'ready'),
  })
  card.lookAgain()
  await setImmediate()
  expect(loaded(card)).toMatchObject({ action: seenAgain, evidence: 'loading' })
  card.approve()
  expect(sent).toEqual([])
})

test('a look-up that settles nothing leaves the card to be used again, although no news follow', async () => {
  const error = { kind: 'ambiguous', message: 'It timed out.', retryable: true }
  const { card } = openCard({ action: sampleAction({ state: 'outcome_unknown', error }), onVerify: async () => undefined })
  card.verify()
  expect(card.get().state).toBe('sending')
  await setImmediate()
  expect(loaded(card)).toMatchObject({ state: 'unknown', rest: '', notice: '' })
})

test('the answer to a request about another action changes nothing', async () => {
  const { card, answer, update } = openCard()
  card.approve()
  update({ action: sampleAction({ id: 'act_other', state: 'failed' }) })
  expect(card.get().state).toBe('decided')
  card.retry()
  await answer(new Error('about the first'))
  expect(card.get().state).toBe('sending')
})

test('a component that draws again with the same inputs is not told of anything', () => {
  const { card, inputs } = openCard()
  let told = 0
  card.subscribe(() => {
    told += 1
  })
  const before = card.get()
  card.update({ ...inputs, me: { ...ADA }, onDecide: async () => undefined })
  expect([told, card.get()]).toEqual([0, before])
})

const STEPS = {
  approve: ({ card }) => card.approve(),
  decline: ({ card }) => card.decline({ reason: 'no' }),
  arm: ({ card }) => card.arm(),
  openDecline: ({ card }) => card.openDecline(),
  back: ({ card }) => card.back(),
  edit: ({ card }) => card.edit({ orderId: 'ORD-009' }),
  halfEdit: ({ card }) => card.edit(undefined),
  changeVote: ({ card }) => card.changeVote(),
  chooseGrant: ({ card }) => card.chooseGrant({ scope: 'agent', expiresIn: 'PT1H', exact: true }, 'words'),
  confirmGrant: ({ card }) => card.confirmGrant(),
  retry: ({ card }) => card.retry(),
  lapse: ({ timers }) => timers[0]?.(),
  accept: ({ answer }) => answer(),
  refuse: ({ answer }) => answer({ code: 'revision_mismatch', message: 'no' }),
  offline: ({ update }) => update({ connection: 'offline' }),
  live: ({ update }) => update({ connection: 'live' }),
  signOut: ({ update }) => update({ me: null }),
  signIn: ({ update }) => update({ me: ADA }),
  fresh: ({ update }) => update({ action: sampleAction() }),
  revise: ({ update }) => update({ action: REVISED }),
  high: ({ update }) => update({ action: HIGH }),
  vote: ({ update }) => update({ action: sampleAction({ votes: [{ by: ADA, verdict: 'approve', at: ago(1) }] }) }),
  fail: ({ update }) => update({ action: sampleAction({ state: 'failed' }) }),
  expire: ({ update }) => update({ action: sampleAction({ state: 'expired' }) }),
  other: ({ update }) => update({ action: sampleAction({ id: 'act_other' }) }),
  gone: ({ update }) => update({ action: undefined }),
  load: ({ update }) => update({ evidence: () => 'loading' }),
  failToLoad: ({ update }) => update({ evidence: () => 'failed' }),
  show: ({ update }) => update({ evidence: () => 'ready' }),
} satisfies Record<string, (opened: ReturnType<typeof openCard>) => unknown>

/** Invariants of every snapshot. */
function check({ card, sent, timers, inputs }: ReturnType<typeof openCard>, before: { shown: CardSnapshot; sent: number }): void {
  const shown = card.get()
  const isOpen = ['waiting', 'changed', 'editing', 'refused', 'offline', 'armed', 'confirming', 'granting', 'declining'].includes(
    shown.state,
  )
  expect(timers.length).toBe(shown.state === 'armed' ? 1 : 0)
  expect(shown.state === 'loading').toBe(inputs.action === undefined)
  if (sent.length > before.sent) {
    // One decision, by somebody who could see and decide exactly this version.
    expect(sent.length).toBe(before.sent + 1)
    if (before.shown.state === 'loading') throw new Error('a decision was sent while the card was loading')
    const { action, canDecide, rest } = before.shown
    expect([canDecide, rest]).toEqual([true, ''])
    if (sent.at(-1)?.verdict === 'approve') expect(inputs.evidence?.(action) ?? 'ready').toBe('ready')
    expect(sent.at(-1)?.details).toMatchObject({ revision: action.revision, digest: action.digest })
    expect(shown.state).toBe('sending')
  }
  if (shown.state === 'loading') return
  if (isOpen) expect(shown.canDecide).toBe(true)
  if (['decided', 'expired', 'running', 'unknown'].includes(shown.state)) expect(shown.action.state).not.toBe('proposed')
  if (shown.state === 'confirming') expect(shown.action.risk.level).toBe('high')
}

test('whatever happens in whatever order, a decision is sent once, for the version shown, by somebody who can decide it', async () => {
  const names = Object.keys(STEPS) as (keyof typeof STEPS)[]
  const reached = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names), { maxLength: 30 }), async (steps) => {
      const opened = openCard()
      for (const name of steps) {
        const before = { shown: opened.card.get(), sent: opened.sent.length }
        await STEPS[name](opened)
        check(opened, before)
        reached.add(opened.card.get().state)
      }
    }),
    { numRuns: 500 },
  )
  // The sequences came through all states but the two that no step leads to.
  expect([...reached].sort()).toEqual(
    'armed changed confirming decided declining editing expired granting loading offline readonly refused sending sent voted waiting'.split(
      ' ',
    ),
  )
})
