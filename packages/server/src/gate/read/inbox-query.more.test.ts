import type { Principal } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { type ActionRow, actions, delegations, principals, type Store, votes, waits } from '../../store/index.ts'
import { anAction } from '../../store/testing/an-action.ts'
import { findRight, requirementsOf } from '../decide/rights.ts'
import { countVotes } from './count.ts'
import { listWaitingFor } from './inbox-query.ts'

const ROLES = ['approver', 'finance', 'legal', 'admin']
const PEOPLE = ['ana', 'ben', 'cleo', 'del']
/** Each person has an agent. */
const ASKERS = PEOPLE.flatMap((name) => [`prn_${name}`, `prn_bot_of_${name}`])

const someRoles = fc.subarray(ROLES, { minLength: 1 })
const action = fc.record({
  requires: fc.record(
    {
      quorum: fc.constantFrom(1, 2),
      declineQuorum: fc.constantFrom(1, 2),
      roles: someRoles,
      alsoRoles: fc.array(someRoles, { minLength: 1, maxLength: 2 }),
      notRequester: fc.boolean(),
      escalation: fc.record({ at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'), roles: someRoles }),
    },
    { requiredKeys: ['quorum', 'declineQuorum', 'roles', 'notRequester'] },
  ),
  requested_by: fc.constantFrom(...ASKERS),
  // An action of an older version does not say who asked for it.
  requesters: fc.option(fc.subarray(ASKERS, { minLength: 1 })),
  state: fc.constantFrom('proposed' as const, 'proposed' as const, 'proposed' as const, 'approved' as const, 'expired' as const),
  votes: fc.array(
    fc
      .record({ by: fc.constantFrom(...PEOPLE), for: fc.option(fc.constantFrom(...PEOPLE)) })
      // Nobody is in their own place.
      .filter((vote) => vote.for !== vote.by),
    { maxLength: 2 },
  ),
  tool: fc.constantFrom('one', 'two'),
})
type Drawn = typeof action extends fc.Arbitrary<infer T> ? T : never

const world = fc.record({
  roles: fc.tuple(...PEOPLE.map(() => fc.subarray(ROLES))),
  delegations: fc.array(
    fc.record({ from: fc.constantFrom(...PEOPLE), to: fc.constantFrom(...PEOPLE), isOver: fc.boolean(), isLater: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  actions: fc.array(action, { maxLength: 30 }),
  limit: fc.integer({ min: 1, max: 12 }),
})

const rowOf = ({ requires, requesters, votes: _votes, ...given }: Drawn, i: number): ActionRow => ({
  ...anAction(`act_${String(i).padStart(3, '0')}`, given),
  idempotency_key: `key ${i}`,
  policy: '{"verdict":"ask","rule":"r"}',
  requires: JSON.stringify(requires),
  requesters: requesters && JSON.stringify(requesters),
})

async function fill(store: Store, { roles, delegations: lent, actions: drawn }: typeof world extends fc.Arbitrary<infer T> ? T : never) {
  const people: Principal[] = PEOPLE.map((name, i) => ({ id: `prn_${name}`, kind: 'person', name, roles: roles[i] ?? [] }))
  await store.transact(function* () {
    for (const person of people) {
      yield* principals.savePrincipal(person, 1)
      yield* principals.savePrincipal({ id: `prn_bot_of_${person.name}`, kind: 'agent', name: 'bot', roles: [], personId: person.id }, 1)
    }
    for (const [i, { from, to, isOver, isLater }] of lent.entries()) {
      const common = { reason: null, made_by: `prn_${from}`, revoked_at: null, revoked_by: null, created_at: isLater ? 2 : 1 }
      const expires_at = isOver ? 5 : 4_000_000_000_000
      yield* delegations.insertDelegation.run({ id: `dlg_${i}`, from_id: `prn_${from}`, to_id: `prn_${to}`, expires_at, ...common })
    }
    for (const [i, one] of drawn.entries()) {
      const row = rowOf(one, i)
      yield* actions.insertAction.run({ ...row })
      for (const vote of one.requires.quorum === 1 ? [] : one.votes) {
        const cast = { verdict: 'approve' as const, reason: null, created_at: 1, counts: null, for_id: vote.for && `prn_${vote.for}` }
        yield* votes.castVote.run({ action_id: row.id, revision: row.revision, principal_id: `prn_${vote.by}`, ...cast })
      }
    }
  })
  return people
}

/** Every waiting action, one after the other, as a decision looks at it. */
function* oneByOne(principal: Principal, filter: actions.ActionFilter, nowMs: number) {
  const found: string[] = []
  for (const row of yield* actions.listActions({ ...filter, states: ['proposed'], limit: 1_000 })) {
    const cast = yield* votes.votesOf.all({ action_id: row.id, revision: row.revision })
    const own = cast.find(({ principal_id }) => principal_id === principal.id)
    const { counted } = yield* countVotes(row, requirementsOf(row), cast, nowMs)
    // In the place of another, only a vote that counts is one.
    const hasVoted = own !== undefined && (own.for_id === null || counted.has(own))
    if (!hasVoted && (yield* findRight(row, principal, nowMs)).refusal === undefined) found.push(row.id)
  }
  return found
}

test.each(STORES)(
  'a person is listed exactly what they may decide and have not voted on ($database)',
  { timeout: 300_000 },
  async ({ open }) => {
    const nowMs = Date.now()
    const property = fc.asyncProperty(world, async (drawn) => {
      await using temp = await open()
      const people = await fill(temp.store, drawn)
      for (const person of people) {
        for (const tool of [undefined, 'one']) {
          const all: string[] = []
          for (let before: string | undefined; ; before = all.at(-1)) {
            const page = await temp.store.read(() => listWaitingFor(person, { tool, before, limit: drawn.limit }, nowMs))
            all.push(...page.map(({ id }) => id))
            if (page.length < drawn.limit) break
          }
          const wanted = await temp.store.read(() => oneByOne(person, { tool, limit: 1_000 }, nowMs))
          expect(all, `${person.name}, ${tool}`).toEqual(wanted)
        }
      }
    })
    await fc.assert(property, { numRuns: 40 })
  },
)

test('where nearly every action waits for others, a person is listed what they may decide all the same', async () => {
  const [{ open }] = STORES as [(typeof STORES)[number]]
  await using temp = await open()
  const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
  await temp.store.transact(function* () {
    yield* principals.savePrincipal(ana, 1)
    for (let i = 0; i <= waits.MAX_WAITS_FOR; i++) {
      const row = anAction(`act_${String(i).padStart(5, '0')}`, { idempotency_key: `key ${i}`, requested_by: ana.id })
      const requires = JSON.stringify({
        quorum: 1,
        declineQuorum: 1,
        roles: [i % 1_000 === 0 ? 'approver' : `group-${i}`],
        notRequester: false,
      })
      yield* actions.insertAction.run({ ...row, requires })
    }
  })
  const page = await temp.store.read(() => listWaitingFor(ana, { limit: 10 }, Date.now()))
  expect(page.map(({ id }) => id)).toEqual(['act_02000', 'act_01000', 'act_00000'])
})
