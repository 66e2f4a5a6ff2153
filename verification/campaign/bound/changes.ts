import { canonicalJson, type JsonObject, type PolicyDocument, type Tool } from '@countersign/core'
import type { ActionRow, VoteRow } from '../../../packages/server/src/store/index.ts'
import type { Random } from '../../simulation/random.ts'

/** All that an approved action rests on, between the decision and its start. */
export interface Footing {
  row: ActionRow
  votes: VoteRow[]
  /** The roles of those who voted, by their place in `votes`. */
  voters: { kind: 'person' | 'agent'; roles: string[] }[]
  tool: Tool
  policy: PolicyDocument
  /** The target's answer when it is read again; undefined when it cannot be read. */
  target: JsonObject | undefined
}

/** Changes one thing in place. */
export type Change = (footing: Footing, random: Random) => void

const otherHex = (text: string, random: Random): string => {
  const at = text.length - 1 - random.int(64)
  const digit = Number.parseInt(text[at] ?? '0', 16)
  return `${text.slice(0, at)}${((digit + 1 + random.int(15)) % 16).toString(16)}${text.slice(at + 1)}`
}

const HOSTS = ['http://127.0.0.1:4400', 'https://shop.example', 'http://local', 'LOCAL', 'local ', '']

function otherArguments(text: string, random: Random): string {
  const args: JsonObject = JSON.parse(text)
  const cents = Number(args.cents)
  return random.pick<() => string>([
    () => canonicalJson({ ...args, cents: cents + 1 + random.int(100_000) }),
    () => canonicalJson({ ...args, cents: cents * 10 }),
    () => canonicalJson({ ...args, cents: -cents }),
    () => canonicalJson({ ...args, order: `${args.order}${String.fromCodePoint(0x200b + random.int(4))}` }),
    () => canonicalJson({ ...args, order: `o${random.int(1_000_000)}` }),
    () => canonicalJson({ ...args, [`also${random.int(1_000)}`]: true }),
    () => canonicalJson({ cents }),
    () => ` ${text}`,
    () => text.replace(':', ': '),
  ])()
}

const vote = (footing: Footing, random: Random): VoteRow => random.pick(footing.votes)
const voter = (footing: Footing, random: Random): Footing['voters'][number] => random.pick(footing.voters)

const tool =
  (changed: (random: Random) => Partial<Tool & { definition: string }>): Change =>
  (footing, random) => {
    footing.tool = { ...footing.tool, ...changed(random) }
  }

const rule =
  (changed: Partial<PolicyDocument['rules'][number]>): Change =>
  (footing) => {
    const [first] = footing.policy.rules
    if (first) footing.policy = { ...footing.policy, rules: [{ ...first, ...changed }] }
  }

/** One field of what was decided, or of what it was decided on, is another: none of these may be sent. */
export const CHANGES: Readonly<Record<string, Change>> = {
  'row.arguments': ({ row }, random) => {
    row.arguments = otherArguments(row.arguments, random)
  },
  'row.digest': ({ row }, random) => {
    row.digest = otherHex(row.digest, random)
  },
  'row.definition_hash': ({ row }, random) => {
    row.definition_hash = otherHex(row.definition_hash, random)
  },
  'row.destination': ({ row }, random) => {
    row.destination = random.pick(HOSTS)
  },
  'row.credential': ({ row }, random) => {
    row.credential = random.pick(['none', `authorization:${random.int(2 ** 31).toString(16)}`, ''])
  },
  'row.precondition': ({ row }, random) => {
    row.precondition = otherHex(row.precondition ?? '', random)
  },
  'row.precondition missing': ({ row }) => {
    row.precondition = null
  },
  'row.tool': ({ row }, random) => {
    row.tool = random.pick(['own.other', 'own.gone', 'refund', 'own.Refund', `own.refund${random.int(100)}`])
  },
  'row.revision': ({ row }, random) => {
    row.revision += 1 + random.int(5)
  },
  'vote.verdict': (footing, random) => {
    vote(footing, random).verdict = 'decline'
  },
  'vote.revision': (footing, random) => {
    vote(footing, random).revision += 1 + random.int(3)
  },
  'vote missing': (footing, random) => {
    footing.votes.splice(random.int(footing.votes.length), 1)
  },
  'voter.roles': (footing, random) => {
    voter(footing, random).roles = random.pick([[], ['viewer'], ['agent'], ['finance'], ['Approver'], ['approver ']])
  },
  'voter.kind': (footing, random) => {
    voter(footing, random).kind = 'agent'
  },
  'tool.description': tool((random) => ({ description: `Refunds an order. ${random.int(1_000)}` })),
  'tool.inputSchema': tool((random) => ({
    inputSchema: { type: 'object', properties: { cents: { type: 'integer', maximum: random.int(1_000_000) } } },
  })),
  'tool.effect': tool(() => ({ effect: 'read' })),
  'tool.executor': tool(() => ({ executor: 'client' })),
  'tool.idempotent': tool(() => ({ idempotent: true })),
  'tool.destination': tool((random) => ({ destination: random.pick(HOSTS) })),
  'tool.credential': tool((random) => ({ credential: random.pick(['none', `authorization:${random.int(2 ** 31).toString(16)}`]) })),
  'tool.definition': tool((random) => ({ definition: `path ${random.int(1_000)}` })),
  'target.value': (footing, random) => {
    const { paid } = footing.target ?? {}
    footing.target = { paid: random.pick([Number(paid) + 1 + random.int(1_000), String(paid), null, [paid ?? 0], { paid: paid ?? 0 }]) }
  },
  'target missing': (footing) => {
    footing.target = {}
  },
  'target away': (footing) => {
    footing.target = undefined
  },
  'policy.verdict': rule({ verdict: 'deny' }),
  'policy.quorum': rule({ requires: { quorum: 3 } }),
  'policy.roles': rule({ requires: { quorum: 2, roles: ['finance'] } }),
  'policy.default': (footing) => {
    footing.policy = { default: 'deny', rules: [] }
  },
}

/** How each change of an inspected field ends: the state, and the reason for reapproval or failure. */
export const ENDS: Readonly<Record<string, string>> = {
  'tool.description': 'proposed tool',
  'tool.inputSchema': 'proposed tool',
  'tool.effect': 'proposed tool',
  'tool.executor': 'proposed tool',
  'tool.idempotent': 'proposed tool',
  'tool.destination': 'proposed tool',
  'tool.definition': 'proposed tool',
  'tool.credential': 'proposed credential',
  'row.credential': 'proposed credential',
  'row.precondition': 'proposed target',
  'target.value': 'proposed target',
  'target missing': 'proposed target',
  'target away': 'failed unreadable',
  'voter.roles': 'proposed decider',
  'voter.kind': 'proposed decider',
  'vote missing': 'proposed decider',
  'policy.quorum': 'proposed policy',
  'policy.roles': 'proposed policy',
  'policy.verdict': 'declined policy',
  'policy.default': 'declined policy',
  'row.arguments': 'failed digest_mismatch',
  'row.digest': 'failed digest_mismatch',
  'row.precondition missing': 'failed digest_mismatch',
}

/** Changes that do not alter the action: all of these must be sent. */
export const HARMLESS: Readonly<Record<string, Change>> = {
  nothing: () => undefined,
  'tool.describe': tool((random) => ({ describe: () => `Give money back, ${random.int(10)}` })),
  'tool.timeoutMs': tool((random) => ({ timeoutMs: 1_000 + random.int(10_000) })),
  'target.other': (footing, random) => {
    footing.target = { ...footing.target, seen: random.int(1_000) }
  },
  'voter.name': (footing, random) => {
    voter(footing, random).roles.push('finance')
  },
  'policy.reminder': rule({ remind: 'PT1H' }),
  'policy.weaker': rule({ requires: { quorum: 1 } }),
  'policy.allow': rule({ verdict: 'allow', requires: undefined }),
}
