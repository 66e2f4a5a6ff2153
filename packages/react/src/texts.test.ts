import type { Action, Principal } from '@countersign/client'
import { valueText } from '@countersign/core/text'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { beforeAll, expect, test } from 'vitest'
import { ownVote, whyNot } from './may-decide.ts'
import { objectName } from './object-name.ts'
import { isSafeLink, linkHost, outcomeText } from './outcome.ts'
import { sayError } from './say-error.ts'
import { loadMarks } from './show-text.ts'
import { ACTION_PER_STATE, ADA, ago, NOW_MS, SAM, sampleAction } from './testing/actions.ts'
import { agoText, spanText } from './time.ts'
import { countApprovals, Votes } from './votes.tsx'

beforeAll(loadMarks)

test('who may decide reads nothing; everybody else reads why not', () => {
  expect(whyNot(sampleAction(), ADA)).toBeNull()
  expect(whyNot(sampleAction(), null)).toBe('Sign in to decide.')
  expect(whyNot(sampleAction(), { ...ADA, kind: 'service' })).toMatch(/^Only persons/)
  const finance = sampleAction({ requires: { quorum: 1, declineQuorum: 1, roles: ['finance'], notRequester: true } })
  expect(whyNot(finance, ADA)).toMatch(/role finance/)
  expect(whyNot(finance, { ...ADA, roles: ['admin'] })).toMatch(/role finance/)
  expect(whyNot(sampleAction(), { ...ADA, roles: ['admin'] })).toBeNull()
  expect(whyNot({ ...finance, requesters: [ADA] }, { ...ADA, roles: ['finance'] })).toMatch(/^You asked for this/)
  const half = sampleAction({ votes: [{ by: ADA, verdict: 'approve', at: ago(3) }] })
  expect([ADA, SAM, null].map((me) => ownVote(half, me)?.verdict)).toEqual(['approve', undefined, undefined])
  // A vote may be changed while others are waited for.
  expect(whyNot(half, ADA)).toBeNull()
  expect(whyNot(finance, ADA, [{ ...SAM, roles: ['finance'] }])).toBeNull()
  expect(
    whyNot({ ...finance, requesters: [{ ...SAM, id: 'prn_bot', kind: 'agent', personId: ADA.id }] }, { ...ADA, roles: ['finance'] }),
  ).toMatch(/^You asked/)
  expect(whyNot({ ...finance, requesters: [SAM, ADA] }, { ...ADA, roles: ['finance'] }), 'one of several who asked').toMatch(/^You asked/)
  const both = sampleAction({ requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], alsoRoles: [['legal']], notRequester: false } })
  expect(whyNot(both, ADA)).toMatch(/role approver and legal/)
  expect(whyNot(both, { ...ADA, roles: ['approver', 'legal'] })).toBeNull()
  expect(whyNot(sampleAction(), { ...ADA, scopes: ['propose'] })).toMatch(/may not decide/)
})

test('in the place of others one decides while they did not ask for it, and their votes are not given', () => {
  const requires = { quorum: 3, declineQuorum: 1, roles: ['finance'], notRequester: true }
  const [fay, gil] = ['fay', 'gil'].map((name) => ({ ...SAM, id: `prn_${name}`, name, roles: ['finance'] })) as [Principal, Principal]
  const votes = [{ by: fay, verdict: 'approve', at: ago(3) }] as const
  const action = (changed: Partial<Action> = {}) => sampleAction({ requires, ...changed })
  expect(whyNot(action({ requesters: [fay] }), ADA, [fay])).toMatch(/^Waiting for someone with the role finance/)
  expect(whyNot(action({ requesters: [fay] }), ADA, [fay, gil])).toBeNull()
  expect(whyNot(action({ votes: [...votes] }), ADA, [fay])).toMatch(/^Waiting for/)
  expect(whyNot(action({ votes: [...votes] }), ADA, [fay, gil])).toBeNull()
  expect(whyNot(action({ votes: [{ ...votes[0], by: SAM, for: fay }] }), ADA, [fay])).toMatch(/^Waiting for/)
  expect(whyNot(action({ votes: [{ ...votes[0], by: ADA, for: fay }] }), ADA, [fay]), 'their own may be changed').toBeNull()
  expect(whyNot(action({ votes: [{ ...votes[0], counts: false }] }), ADA, [fay])).toBeNull()
  const anybody = { requires: { ...requires, notRequester: false } }
  expect(whyNot(action({ ...anybody, requesters: [SAM, ADA] }), ADA, [fay]), 'who asked, in nobody’s place').toMatch(/^You asked for this/)
  expect(whyNot(action({ ...anybody, requesters: [ADA] }), { ...ADA, roles: ['finance'] }, [fay]), 'in their own right').toBeNull()
  expect(whyNot(action({ ...anybody, requesters: [fay] }), ADA, [fay]), 'what she may approve herself, her delegate may').toBeNull()
})

test('a vote that does not count is no vote of its person and no approval, and the card says so', () => {
  const requires = { quorum: 2, declineQuorum: 2, roles: ['approver'], alsoRoles: [['legal', 'finance']], notRequester: false }
  const votes: Action['votes'] = [
    { by: ADA, for: { ...SAM, name: 'Fay' }, verdict: 'approve', at: ago(200), counts: false },
    { by: SAM, verdict: 'decline', at: ago(180) },
  ]
  const action = sampleAction({ requires, votes })
  expect([ADA, SAM].map((me) => ownVote(action, me)?.verdict)).toEqual([undefined, 'decline'])
  expect(countApprovals(action)).toBe(0)
  const text = renderToStaticMarkup(createElement(Votes, { action, nowMs: NOW_MS })).replace(/<[^>]+>| [AP]M/g, '')
  expect(text).toBe(
    '0 of 2 approvals · 1 of 2 declines · Ada approved for Fay 10:41:40 (does not count) · Sam declined 10:42:00 · waits for approver and legal or finance',
  )
})

test('an outcome names those whose votes decided it, with their reason, and a late decider is told of its own time', () => {
  const votes: Action['votes'] = [
    { by: ADA, for: SAM, verdict: 'decline', at: ago(300), reason: 'void', counts: false },
    { by: ADA, verdict: 'approve', at: ago(200) },
    { by: SAM, verdict: 'decline', at: ago(8), reason: 'Wrong order' },
  ]
  const declined = sampleAction({ ...ACTION_PER_STATE.declined, votes })
  expect(outcomeText(declined, NOW_MS)).toMatch(/^Declined by Sam · .* · Wrong order$/)
  expect(sayError({ code: 'already_decided', action: declined }, NOW_MS)).toBe('Already declined by Sam 8 s ago.')
  const other = { by: ADA, verdict: 'decline', at: ago(9) } as const
  const byThree = { ...declined, votes: [other, ...votes, { ...other, reason: 'Too much' }] }
  expect(outcomeText(byThree, NOW_MS)).toMatch(/ · Wrong order \/ Too much$/)
  const void1 = { by: ADA, for: SAM, verdict: 'approve', at: ago(300), counts: false } as const
  const approved = sampleAction({ ...ACTION_PER_STATE.succeeded, votes: [void1, { by: SAM, verdict: 'approve', at: ago(20) }] })
  expect(sayError({ code: 'already_decided', action: approved }, NOW_MS)).toBe('Already approved by Sam 20 s ago.')
  expect(outcomeText(approved, NOW_MS)).toMatch(/^Approved by Sam/)
  const expired = sampleAction({ ...ACTION_PER_STATE.expired, votes: [{ by: ADA, verdict: 'approve', at: ago(200) }] })
  expect(sayError({ code: 'already_decided', action: expired }, NOW_MS)).toBe('Already expired 8 s ago.')
})

test('what the agent took back says so on its card and to who decides too late', () => {
  const error = { kind: 'withdrawn', message: 'Withdrawn by the agent bot\u202E: No need', retryable: false }
  const action = sampleAction({ state: 'cancelled', updatedAt: ago(8), error })
  expect(outcomeText(action, NOW_MS)).toMatch(/^Withdrawn by the agent bot⟦U\+202E⟧: No need · .*, not run$/)
  expect(sayError({ code: 'already_decided', action }, NOW_MS)).toBe('Withdrawn by the agent bot⟦U+202E⟧: No need, 8 s ago.')
})

test('a refusal is told with who, what and when', () => {
  const declined = { code: 'already_decided', action: ACTION_PER_STATE.declined }
  expect(sayError(declined, NOW_MS)).toBe('Already declined by Sam 8 s ago.')
  expect(sayError({ code: 'already_decided', action: ACTION_PER_STATE.succeeded }, NOW_MS)).toBe('Already approved by Ada 20 s ago.')
  expect(sayError({ code: 'illegal_transition', action: ACTION_PER_STATE.expired }, NOW_MS)).toBe('Already expired 8 s ago.')
  expect(sayError({ code: 'offline' }, NOW_MS)).toMatch(/cannot be reached/)
  expect(sayError(new Error('Your role\u202E changed'), NOW_MS)).toBe('Your role⟦U+202E⟧ changed')
  expect(sayError(undefined, NOW_MS)).toMatch(/not taken/)
})

test('the object to type is the one named, else the first that can be typed, else the tool', () => {
  const name = (args: Parameters<typeof objectName>[0]['arguments']) => objectName({ tool: 'deleteOrder', arguments: args })
  expect(name({ note: 'old', orderId: 'ORD-001' })).toBe('ORD-001')
  expect(name({ amount: 12 })).toBe('12')
  expect(name({ id: 'ORD\u200B1', list: [1] })).toBe('deleteOrder')
  expect(name({ id: { constructor: 1 }, text: 'x'.repeat(65) })).toBe('deleteOrder')
})

test('a link to another site says which, and one that only looks like it says that', () => {
  expect(['/orders/1', 'orders?id=1', 'https://shop.example:8080/x', '//evil.example', '\\\\evil.example/'].map(linkHost)).toEqual([
    '',
    '',
    'shop.example:8080',
    'evil.example',
    'evil.example',
  ])
  expect(linkHost('https://аpple.com/')).toBe('xn--pple-43d.com⟦аpple.com⟧')
})

test('values are shown so that a string is not taken for something else', () => {
  expect([1, null, true, {}, 'plain', '', '12', 'null', '[x', ' '].map(valueText)).toEqual([
    '1',
    'null',
    'true',
    '{}',
    'plain',
    '""',
    '"12"',
    '"null"',
    '"[x"',
    '" "',
  ])
})

test('only http, https and relative links are followed', () => {
  for (const url of ['/orders/1', 'orders', 'https://shop.example/1', 'HTTP://shop.example']) expect(isSafeLink(url), url).toBe(true)
  for (const url of ['javascript:alert(1)', 'java\nscript:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///x', 'http://']) {
    expect(isSafeLink(url), url).toBe(false)
  }
})

test('every outcome has its words, and an unknown one promises nothing', () => {
  const words = Object.values(ACTION_PER_STATE).map((action) => outcomeText(action, NOW_MS))
  expect(words.slice(4, 8)).toEqual([
    'Approved by Ada · starting',
    'Approved by Ada · to be carried out by a browser',
    'Running for 12 s · attempt 2',
    'Approved by Ada · took 12 s',
  ])
  const byAgent = { executor: 'client', destination: 'local' } as const
  expect(outcomeText({ ...sampleAction(ACTION_PER_STATE['approved-client']), ...byAgent }, NOW_MS)).toBe(
    'Approved by Ada · to be carried out by its agent',
  )
  expect(outcomeText({ ...sampleAction(ACTION_PER_STATE.executing), ...byAgent }, NOW_MS)).toBe('Running in its agent for 12 s · attempt 2')
  expect(
    outcomeText(sampleAction({ state: 'declined', policy: { verdict: 'deny', rule: 'r', version: 1, reason: 'Never on Friday' } }), NOW_MS),
  ).toMatch(/^Declined by policy · .* · Never on Friday$/)
  expect(words.at(-1)).toMatch(/^May or may not have run\. Last sign /)
  const { outcome_unknown: unknown } = ACTION_PER_STATE
  const checks = { since: ago(57), until: ago(-243), ended: false, lastAt: ago(57), lastFound: 'not_found' } as const
  const said = (ended: boolean) => outcomeText({ ...sampleAction(unknown), checks: { ...checks, ended } }, NOW_MS)
  expect(said(false)).toMatch(/ · checking until \d/)
  expect(said(true)).toMatch(/ · no longer checking$/)
})

test('times are rounded down and never negative', () => {
  expect([-5, 999, 1_000, 59_999, 60_000, 7_199_999, 172_800_000].map(spanText)).toEqual([
    '< 1 s',
    '< 1 s',
    '1 s',
    '59 s',
    '1 min',
    '1 h',
    '2 d',
  ])
  expect(agoText(ago(8), NOW_MS)).toBe('8 s ago')
})
