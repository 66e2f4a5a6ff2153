import type { Action } from '@countersign/client'
import { decidingVotes } from '@countersign/core/text'
import { STATE_WORDS, showInvisible } from '@countersign/react'
import { withParam } from '../shell/use-address.ts'
import { dayName } from '../time/format.ts'
import { dayOf } from './days.ts'
import { deciderText } from './decider.ts'

type Way = {
  words: string
  keyOf: (action: Action) => string
  /** The heading of a group, from one of its actions. */
  titleOf: (action: Action) => string
  /** The filters that find exactly the group, also what is not on the page yet; undefined where none does. */
  filterOf: (action: Action, search: string) => Record<string, string> | undefined
}

const settledDay = ({ settledAt, updatedAt }: Action): string => dayOf(new Date(settledAt ?? updatedAt))

/** Adds a term to a search. */
const withTerm = (search: string, name: string, value: string): Record<string, string> => {
  const q = new URLSearchParams(search).get('q') ?? ''
  return { q: `${q} ${name}:"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`.trim() }
}

function decidedBy(action: Action): Record<string, string> | undefined {
  const { policy, votes } = action
  if (policy.verdict !== 'ask') return { rule: policy.rule }
  const [vote] = decidingVotes(action)
  return vote && votes.length === 1 ? { decider: vote.by.name } : undefined
}

/** The ways to group what was decided, among what is on the page. */
export const GROUPINGS = {
  day: {
    words: 'Day',
    keyOf: settledDay,
    titleOf: ({ settledAt, updatedAt }) => dayName(settledAt ?? updatedAt),
    filterOf: (action) => ({ since: settledDay(action), until: settledDay(action) }),
  },
  tool: {
    words: 'Tool',
    keyOf: ({ tool }) => tool,
    titleOf: ({ tool }) => showInvisible(tool),
    filterOf: ({ tool }, search) => withTerm(search, 'tool', tool),
  },
  agent: {
    words: 'Agent',
    keyOf: ({ agent, agentVerified }) => JSON.stringify([agent, agentVerified]),
    titleOf: ({ agent, agentVerified }) => (agent === null ? 'No agent' : showInvisible(agent) + (agentVerified ? '' : ' (not verified)')),
    filterOf: ({ agent }, search) => (agent === null ? undefined : withTerm(search, 'agent', agent)),
  },
  decider: {
    words: 'Decided by',
    keyOf: deciderText,
    titleOf: deciderText,
    filterOf: decidedBy,
  },
  result: {
    words: 'Result',
    keyOf: ({ state }) => state,
    titleOf: ({ state }) => STATE_WORDS[state].word,
    filterOf: ({ state }) => ({ state }),
  },
} as const satisfies Record<string, Way>

export type Grouping = keyof typeof GROUPINGS

/** The groups of an address; undefined where it names none. */
export const groupingOf = (params: URLSearchParams): Grouping | undefined => {
  const name = params.get('group')
  return name !== null && Object.hasOwn(GROUPINGS, name) ? (name as Grouping) : undefined
}

/** Actions of the page that belong together. Without groups, all of them, without a heading. */
export type Group = { key: string; title: string | undefined; href: string | undefined; actions: readonly Action[] }

/**
 * Returns the groups in the order of their first actions; each keeps the order of its own.
 * @param search The address's query, which a group's link narrows.
 */
export function groupsOf(actions: readonly Action[], grouping: Grouping | undefined, search: string): Group[] {
  if (grouping === undefined) return [{ key: '', title: undefined, href: undefined, actions }]
  const { keyOf, titleOf, filterOf }: Way = GROUPINGS[grouping]
  return [...Map.groupBy(actions, keyOf)].flatMap(([key, members]) => {
    const [first] = members
    if (first === undefined) return []
    const filter = filterOf(first, search)
    const narrowed =
      filter && Object.entries({ ...filter, group: '' }).reduce((text, [name, value]) => withParam(text, name, value), search)
    return [{ key, title: titleOf(first), href: narrowed && `?${narrowed}`, actions: members }]
  })
}
