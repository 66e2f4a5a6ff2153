import type { CheckedPolicy } from '@countersign/core'
import { plant } from './hostile.ts'
import { type HostileAnswers, hostileAnswers } from './hostile-answers.ts'
import { type HostileServer, startHostileServer } from './hostile-server.ts'

const AT = '2026-11-22T10:00:00.000Z'
const RULES = [
  { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
  { name: 'large refunds', match: { tool: 'shop.refund', when: 'args.amount > 500' }, verdict: 'ask', requires: { quorum: 2 } },
  { name: 'nothing leaves', match: { tool: 'mail.*' }, verdict: 'deny', reason: 'mail is off' },
  { name: 'old one', match: { tool: 'mail.send' }, verdict: 'allow' },
]
const USES = [
  { rule: 'reads run', tools: 3, hits: 1204, lastHitAt: AT, never: null, warnings: [], conflicts: [] },
  {
    ...{ rule: 'large refunds', tools: 1, hits: 0, lastHitAt: null, never: null },
    conflicts: [{ with: 'reads run', isCertain: false, text: 'the rule "refunds" above matches first: its quorum of 1 applies, not 2' }],
    warnings: ['names args.amuont, which shop.refund does not have; it has amount'],
  },
  { rule: 'nothing leaves', tools: 1, hits: 1, lastHitAt: AT, never: null, warnings: [], conflicts: [] },
  { rule: 'old one', tools: 1, hits: 0, lastHitAt: null, never: { why: 'overruled', by: ['nothing leaves'] }, warnings: [], conflicts: [] },
]
/** The policy in force. */
export const TEXT = `# Ask Ana before you loosen anything.
default: ask
rules:
  - { name: reads run, match: { effect: read }, verdict: allow }
  - name: large refunds # agreed in May
    match: { tool: shop.refund, when: args.amount > 500 }
    verdict: ask
`
const NAMES = {
  tools: 1,
  variables: [{ name: 'agent', type: 'map<string, string>', fields: ['name'] }],
  functions: [{ name: 'startsWith', on: 'text', example: 'args.name.startsWith("A")', gives: 'true if the text begins so' }],
  arguments: [
    { path: 'args.amount', types: ['number'], values: [], tools: 1 },
    { path: 'args.note', types: ['string'], values: [], tools: 1 },
  ],
}
const COUNTS = { allow: 3, ask: 2, deny: 0 }
export const REPLAYED = { version: null, since: AT, evaluated: 5, skipped: 0, truncated: false, was: COUNTS, wouldBe: COUNTS, changes: [] }
export const FINE: CheckedPolicy = { problems: [], warnings: [], rules: [] }

/** The answers of the policy server, which a test sets. `checks` counts the texts that the server was asked to check. */
export interface PolicyAnswers {
  checked: CheckedPolicy
  checks: number
  mayRead: boolean
  /** The version on trial, and the one that was in force when the trial began. */
  trial: { version: number; basedOn: number } | undefined
}

/** Serves the console with a policy of four rules. @param wire The wire contract, which this folder may not import. */
export async function startPolicyServer(
  wire: Parameters<typeof hostileAnswers>[1],
): Promise<HostileServer & { answered: PolicyAnswers; answers: HostileAnswers }> {
  const answers = hostileAnswers(plant(), wire)
  const answered: PolicyAnswers = { checked: FINE, checks: 0, mayRead: true, trial: undefined }
  const server = await startHostileServer({
    answer(method, path, query) {
      if (path === '/api/policy' && query.get('format') !== 'yaml') {
        const version = { version: 4, inUse: 'force', source: 'api', author: null, reason: '', createdAt: AT }
        const shadow = answered.trial ? { ...version, version: answered.trial.version, inUse: 'shadow' } : null
        return { body: { ...version, document: { default: 'ask', rules: RULES }, shadow } }
      }
      if (path === '/api/policy/shadow' && answered.trial)
        return { body: { ...answered.trial, since: AT, evaluated: 0, differences: 0, counts: [], samples: [] } }
      if (path === '/api/policy/versions/3') {
        const document = { default: 'deny', rules: [{ name: 'as tried', match: { tool: 'mail.*' }, verdict: 'ask' }] }
        return { body: { version: 3, inUse: 'shadow', source: 'api', author: null, reason: '', createdAt: AT, document, changes: [] } }
      }
      if (path === '/api/policy/rollback') {
        // Somebody saved the version in force just now.
        answered.trial = { version: 3, basedOn: 2 }
        return { status: 409, body: { code: 'revision_mismatch', detail: 'version 4 came into force', version: 4 } }
      }
      if (path === '/api/me') {
        return { body: { principal: { id: 'prn_ann', kind: 'person', name: 'Ann', roles: ['admin'] }, signIn: 'key' } }
      }
      if (path === '/api/policy' && method === 'GET') return { type: 'application/yaml', body: TEXT }
      if (path === '/api/policy/check') {
        answered.checks++
        return { body: answered.checked }
      }
      if (path === '/api/policy/test') return { body: REPLAYED }
      if (path === '/api/policy/names') return { body: NAMES }
      if (path === '/api/policy/rules') {
        const hidden = { hits: null, lastHitAt: null }
        const items = USES.map((use) => (answered.mayRead ? use : { ...use, ...hidden }))
        return { body: { version: 4, days: 30, items, default: answered.mayRead ? { hits: 7, lastHitAt: AT } : hidden, isComplete: true } }
      }
      if (path === '/api/hold') return { body: { held: false, why: null, since: null, epoch: 1, open: null } }
      return answers.answer(method, path, query)
    },
  })
  return { ...server, answered, answers }
}
