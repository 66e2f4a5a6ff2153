import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { digestOf } from '../../../packages/server/src/gate/propose/digest.ts'
import type { ActionRow } from '../../../packages/server/src/store/index.ts'
import type { Evidence } from './cases.ts'
import { checkDecisions } from './check-decisions.ts'
import { checkEffects } from './check-effects.ts'
import { checkInbox } from './check-inbox.ts'
import type { Kind } from './kinds.ts'
import { checkLocalState } from './local-effects.ts'
import type { PlannedCall } from './plan.ts'
import type { TargetEntry } from './targets-file.ts'

// A judge that finds nothing shows nothing: each broken promise is written down by hand, and has to be found by its own sentence.

const WHAT = 'c1-answer'

/** Two of two people approved a call, and it was done once: nothing is wrong. */
function evidence(kind: Kind = 'quorum', more: Partial<ActionRow> = {}): Evidence & { row: ActionRow } {
  const bound = { tool: 'two', arguments: JSON.stringify({ what: WHAT, note: 'as asked', batch: 'b1' }), revision: 1, grant_id: null }
  const row = {
    ...{ id: 'act_1', state: 'succeeded', requires: '{"quorum":2,"declineQuorum":2,"roles":["approver"]}', policy: '{}' },
    ...{ definition_hash: 'h', destination: 'd', credential: 'c', precondition: null, target_version: null, preview: null },
    ...{ created_at: 10, updated_at: 60, ...bound, ...more },
  } as ActionRow
  row.digest = digestOf(row)
  const vote = (by: string, at: number) => ({
    ...{ action_id: row.id, revision: row.revision, principal_id: by, for_id: null, verdict: 'approve' as const },
    ...{ reason: null, counts: null, created_at: at },
  })
  const deed = (id: number, kind: string, at: number) => ({ id, kind, action_id: row.id, at, data: null })
  const entry = (kind: TargetEntry['kind'], atMs: number): TargetEntry => ({
    ...{ kind, service: 'plain', what: WHAT, key: 'act_1.1', how: 'answer', body: row.arguments, isGone: false, atMs },
  })
  const sent = (by: string) => ({
    ...{ actionId: row.id, what: WHAT, by, verdict: 'approve' as const, revision: 1, edit: undefined, fate: 'accepted' as const },
  })
  const person = (id: string, ...roles: string[]) => ({ id, name: id, roles: JSON.stringify(roles) })
  const planned: PlannedCall = { what: WHAT, kind, tool: row.tool, arguments: JSON.parse(row.arguments), votes: [], again: [] }
  return {
    row,
    rows: {
      ...{ actions: [row], votes: [vote('ana', 20), vote('ben', 30)], grants: [], delegations: [], events: [], revisions: [] },
      ...{ deeds: [deed(1, 'proposed', 10), deed(2, 'executing', 40), deed(3, 'succeeded', 60)] },
      ...{ principals: [person('ana', 'approver'), person('ben', 'approver'), person('vic')], objectives: [], changes: [], keyResults: [] },
    },
    entries: [entry('request', 45), entry('effect', 50), entry('answer', 55)],
    journal: { votes: [sent('ana'), sent('ben')], gateway: [], afterRevoke: new Map(), uses: new Map() },
    workFolder: '/nowhere',
    planOf: (what) => (what === WHAT ? planned : undefined),
  }
}

const judge = (given: Evidence): string => [...checkEffects(given), ...checkDecisions(given)].join('\n')

test('the judge finds nothing where nothing is wrong', () => {
  expect(judge(evidence())).toBe('')
})

type Breach = [name: string, kind: Kind, more: Partial<ActionRow>, change: (given: Evidence) => void, sentence: RegExp]

const drop = <T>(list: readonly T[], index: number): void => void (list as T[]).splice(index, 1)
const grant = (uses: number, used: number) => ({ id: 'gra_1', made_from: 'act_1', used, uses_left: uses - used }) as never

const BREACHES: readonly Breach[] = [
  ['acts twice', 'quorum', {}, ({ entries }) => void (entries as TargetEntry[]).push({ ...entries[1] } as TargetEntry), /2 effects/],
  ['succeeds without an effect', 'quorum', {}, ({ entries }) => drop(entries, 1), /succeeded with 0 effects/],
  ['is called failed and acted', 'quorum', { state: 'failed' }, () => {}, /called failed, although it acted/],
  ['is declined and acted', 'quorum', { state: 'declined' }, () => {}, /1 requests and 1 effects all the same/],
  ['is unknown and was not cut', 'quorum', { state: 'outcome_unknown' }, () => {}, /no attempt was cut/],
  [
    ...(['is sent twice without a key', 'quorum', {}] as const),
    ({ entries }) => void (entries as TargetEntry[]).push({ ...entries[0] } as TargetEntry),
    /2 requests without anything/,
  ],
  [
    ...(['sends something else', 'edit', {}] as const),
    ({ entries }) => Object.assign(entries[0] ?? {}, { body: '{"note":"as nobody wrote"}' }),
    /"as asked" was approved/,
  ],
  ['is bound to something else', 'edit', {}, ({ rows }) => Object.assign(rows.actions[0] ?? {}, { destination: 'x' }), /its bytes give/],
  ['begins with too few votes', 'quorum', {}, ({ rows }) => drop(rows.votes, 1), /began with 1 approvals of 2/],
  [
    ...(['counts votes of an earlier revision', 'edit', { revision: 2 }] as const),
    ({ rows }) => Object.assign(rows.votes[1] ?? {}, { revision: 1 }),
    /began with 1 approvals of 2/,
  ],
  [
    ...(['counts a right twice', 'delegation', {}] as const),
    ({ rows }) => Object.assign(rows.votes[1] ?? {}, { principal_id: 'ben', for_id: 'ana' }),
    /began with 1 approvals of 2/,
  ],
  [
    ...(['counts who has not the role', 'quorum', {}] as const),
    ({ rows }) => Object.assign(rows.principals[1] ?? {}, { roles: '[]' }),
    /ben has none of the roles/,
  ],
  ['is sent before it is decided', 'quorum', {}, ({ rows }) => Object.assign(rows.votes[1] ?? {}, { created_at: 47 }), /2 ms before/],
  ['loses an acknowledged vote', 'quorum', { state: 'proposed' }, ({ rows }) => drop(rows.votes, 1), /acknowledged and is lost/],
  [
    'counts a refused vote',
    'quorum',
    {},
    ({ journal }) => Object.assign(journal.votes[1] ?? {}, { fate: 'refused' }),
    /was refused and counts/,
  ],
  ['counts what nobody sent', 'quorum', {}, ({ journal }) => drop(journal.votes, 1), /nobody sent the approve of ben/],
  ['waits though it is approved', 'quorum', { state: 'proposed' }, () => {}, /waits with 2 approvals of 2/],
  [
    ...(['loses an acknowledged edit', 'edit', {}] as const),
    ({ journal }) => Object.assign(journal.votes[0] ?? {}, { edit: '{"note":"as Ana wrote"}' }),
    /the edit of ana was acknowledged and is lost/,
  ],
  [
    ...(['is voted for in a place that was not lent', 'delegation', {}] as const),
    ({ rows }) => Object.assign(rows.votes[1] ?? {}, { principal_id: 'vic', for_id: 'ben' }),
    /who lent nothing/,
  ],
  [
    ...(['begins by a vote that was lent and is over', 'delegation', {}] as const),
    ({ rows }) => {
      Object.assign(rows.votes[1] ?? {}, { principal_id: 'vic', for_id: 'ben' })
      rows.delegations.push({ id: 'del_1', from_id: 'ben', to_id: 'vic', created_at: 5, revoked_at: 35 } as never)
      rows.deeds.unshift({ id: 1, kind: 'delegation_ended', action_id: null, at: 35, data: '{"id":"del_1"}' })
    },
    /by the vote of vic for ben, which was over/,
  ],
  [
    ...(['is one more than a grant allows', 'grant', { grant_id: 'gra_1' }] as const),
    ({ rows }) => void rows.grants.push(grant(0, 1)),
    /is for 0 calls, counts 1 and let 1 run/,
  ],
  [
    ...(['is allowed by a grant that was revoked', 'grant', { grant_id: 'gra_1' }] as const),
    ({ journal }) => void journal.afterRevoke.set(WHAT, 'gra_1'),
    /which was revoked before/,
  ],
  [
    ...(['is proposed twice by a call over the gateway that has a name', 'gateway', {}] as const),
    ({ rows, journal, row }: Evidence & { row?: ActionRow }) => {
      rows.actions.push({ ...(row as ActionRow), id: 'act_2', state: 'proposed' })
      journal.gateway.push({ what: WHAT, actionId: 'act_1', state: 'succeeded', isNamed: true })
    },
    /was proposed 2 times/,
  ],
]

test.each(BREACHES)('the judge finds it when an action %s', (_name, kind, more, change, sentence) => {
  const given = evidence(kind, more)
  change(given)
  expect(judge(given)).toMatch(sentence)
})

test('the judge finds a file that is half written, an edit that is there twice, and a key result that is not what its history says', () => {
  const workFolder = mkdtempSync(join(tmpdir(), 'countersign-judge-'))
  try {
    for (const folder of ['files', 'own']) mkdirSync(join(workFolder, folder))
    writeFileSync(join(workFolder, 'shared.txt'), `${WHAT}\nsomebody\nEND\n`)
    writeFileSync(join(workFolder, 'files', `${WHAT}.txt`), 'half')
    writeFileSync(join(workFolder, 'own', `${WHAT}.txt`), `begin ${WHAT} ${WHAT}\n`)
    const given = { ...evidence('workspace'), workFolder }
    given.rows.keyResults.push({ id: 'kre_1', objective_id: 'obj_1', current_value: '1', version: 1 })
    given.rows.changes.push({ action_id: 'act_1', key_result_id: 'kre_1', after: '{"current":2}', kind: 'progress_recorded' })
    expect(checkLocalState(given)).toEqual([
      `the file ${WHAT}.txt holds 4 characters that nobody approved`,
      expect.stringContaining(`begin ${WHAT} ${WHAT}`),
      'the shared file holds "somebody"',
      'the key result kre_1 is at 1, its history says 2',
    ])
  } finally {
    rmSync(workFolder, { recursive: true })
  }
})

test('the judge finds a gap, a repeat and a stale end in what a reader of the inbox was sent', () => {
  const { rows } = evidence()
  const proposed = { id: 1, type: 'action_proposed', data: { proposal: { id: 'act_1', state: 'proposed', revision: 1 } } }
  const update = { id: 2, type: 'action_update', data: { proposalId: 'act_1', state: 'succeeded', revision: 1 } }
  expect(checkInbox([proposed, update], rows)).toEqual([])
  expect(checkInbox([update], rows)).toEqual(['a reader of the inbox was told 0 times of act_1'])
  expect(checkInbox([proposed], rows).join()).toContain('knows act_1 as proposed')
  expect(checkInbox([proposed, update, update], rows).join()).toContain('was sent 2 behind 2')
})
