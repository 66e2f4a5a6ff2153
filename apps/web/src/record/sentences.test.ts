import { AUDIT_KINDS, evaluatePolicy } from '@countersign/core'
import { expect, test } from 'vitest'
import { deciderText } from '../history/decider.ts'
import { NO_RULE } from '../policy/no-rule.ts'
import { quotedTitle, seenWords, sentenceOf } from './sentences.ts'

const ana = { id: 'prn_ana', kind: 'person', name: 'Ana' } as const
const server = { id: 'system', kind: 'system', name: 'the server' } as const
const TITLE = quotedTitle('Refund 40.00 to Bo')
const NAMES = { prn_ben: 'Ben', prn_cleo: 'Cleo' }
const said = (kind: string, data: Record<string, unknown> | null, actor: typeof ana | typeof server = ana) =>
  sentenceOf({ kind, actor, data } as Parameters<typeof sentenceOf>[0], TITLE, NAMES)

test('a row of the record reads as a sentence with names in place of ids', () => {
  expect(said('approved', { verdict: 'approve' })).toBe('Ana approved “Refund 40.00 to Bo”')
  expect(said('approved', { for: 'prn_ben', reason: 'fine' })).toBe('Ana approved “Refund 40.00 to Bo” for Ben: fine')
  expect(said('proposed', { agent: 'desk', policy: { verdict: 'ask', rule: 'large refunds' } })).toBe(
    'desk asked for “Refund 40.00 to Bo”, on behalf of Ana; it needs approval by the rule large refunds',
  )
  expect(said('proposed', { agent: 'Ana', policy: { verdict: 'ask', rule: 'default' } })).toBe(
    'Ana asked for “Refund 40.00 to Bo”; no rule matches, so it needs approval',
  )
  expect(said('executing', { attempt: 2 }, server)).toBe('The server started “Refund 40.00 to Bo”, attempt 2')
  expect(said('failed', { error: { message: 'no such account' } }, server)).toBe('“Refund 40.00 to Bo” failed: no such account')
  expect(said('asked_again', { why: 'edit', reason: 'Ana changed the arguments.' })).toBe('Ana edited “Refund 40.00 to Bo”')
  expect(said('asked_again', { why: 'undone', reason: 'Ana took the approval back.' })).toBe(
    'Ana took the approval back; “Refund 40.00 to Bo” needs approval again',
  )
  expect(said('asked_again', { why: 'target', reason: 'status was "new" and is "paid" now.' }, server)).toBe(
    'The server sent “Refund 40.00 to Bo” back for approval: status was "new" and is "paid" now',
  )
  expect(said('delegated', { from: 'prn_ben', to: 'prn_cleo' })).toBe('Ana let Cleo decide for Ben')
  expect(said('delegation_ended', { delegation: 'del_1', from: 'prn_ben', to: 'prn_cleo' })).toBe('Ana ended that Cleo decides for Ben')
  expect(said('grant_revoked', { grant: 'gra_1', tool: 'bank.refund' })).toBe('Ana revoked a grant for bank.refund')
  expect(said('proposed', { agent: 'Ana', policy: { verdict: 'allow', rule: 'grant gra_1m8g7djqw000jkgram67xv0g9' } })).toBe(
    'Ana asked for “Refund 40.00 to Bo”; allowed by a grant',
  )
  // Rows of earlier versions have only the ids.
  expect([said('delegation_ended', { delegation: 'del_1' }), said('grant_revoked', { grant: 'gra_1' })]).toEqual([
    'Ana ended a delegation',
    'Ana revoked a grant',
  ])
  expect(said('principal_changed', { name: 'Ben', roles: ['approver', 'finance'] })).toBe(
    'Ana changed the roles of Ben to approver, finance',
  )
  expect(said('resolved', { state: 'succeeded', note: 'seen at the bank' })).toBe(
    'Ana settled “Refund 40.00 to Bo” as done: seen at the bank',
  )
})

test('a call that no rule matches is said in the same words on every page, and in the reason that the server gives', () => {
  const asked = { agent: 'Ana', policy: { verdict: 'ask', rule: 'default' } }
  const denied = { agent: 'Ana', policy: { verdict: 'deny', rule: 'default' } }
  const call = { tool: 'refund', group: 'bank', effect: 'write', agent: undefined } as const
  const reasonOf = (verdict: 'ask' | 'deny') => evaluatePolicy({ default: verdict, rules: [] }, 1, call, () => false).reason
  expect(said('proposed', asked)).toBe('Ana asked for “Refund 40.00 to Bo”; no rule matches, so it needs approval')
  expect(said('proposed', denied)).toBe('Ana asked for “Refund 40.00 to Bo”; no rule matches, so it is denied')
  expect([reasonOf('ask'), reasonOf('deny')]).toEqual(['No rule matches, so it needs approval', 'No rule matches, so it is denied'])
  const policy = { verdict: 'deny', rule: 'default', reason: reasonOf('deny'), version: 1 } as const
  expect(deciderText({ policy, votes: [], state: 'declined', decidedAt: null })).toBe('Policy: no rule matches')
  // The page of an action, the list of rules and the dashboard show this text, and the groups of the inbox have a test of theirs.
  expect(NO_RULE).toBe('No rule matches')
})

test('every kind has a sentence, also for a redacted row, one with odd data, and for a kind of a newer server', () => {
  for (const kind of AUDIT_KINDS)
    for (const data of [null, {}, { error: 'x', roles: 'x', policy: 7, attempt: 'x', for: 3 }, { error: null, policy: null }]) {
      const sentence = said(kind, data)
      expect(sentence, kind).toMatch(/^\p{Lu}|^“/u)
      expect(sentence, kind).not.toMatch(/ {2}|\.$/)
      expect(sentence, kind).not.toMatch(/undefined|null|\[object/)
    }
  expect(said('frobnicated', {})).toBe('Ana: frobnicated')
  expect(quotedTitle(undefined)).toBe('an action')
})

test('a decision names the revision that was on the decider’s screen, and how long before', () => {
  const row = { actor: ana, at: '2026-11-26T10:45:00.000Z', data: { revision: 2 } }
  expect(seenWords(row, '2026-11-26T10:42:00.000Z')).toBe('revision 2 was on Ana’s screen 3 min before')
})

test('nothing in a sentence is invisible, whoever wrote it', () => {
  expect(said('declined', { reason: 'no\u202Eon' })).toContain('⟦U+202E⟧')
})
