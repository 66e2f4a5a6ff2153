import { ACTION_STATES, type ActionFilterQuery, type ActionState, CountersignError, type Principal } from '@countersign/core'
import { readerOf } from '../gate/index.ts'
import type { actions } from '../store/index.ts'

/**
 * Returns the filter of the store for a query, narrowed to what the principal may see. An empty text looks for nothing.
 * @throws CountersignError `bad_request` for an unknown state.
 */
export function readFilter(
  query: Omit<ActionFilterQuery, 'mine' | 'snoozed' | 'delegated'>,
  principal: Principal,
): Omit<actions.ActionFilter, 'limit'> {
  const { state, tool, session, agent, risk, q, words, toolText, agentText, requester, requesterId, decider, order, ...exact } = query
  const { createdAfter, createdBefore, settledAfter, settledBefore, ...search } = exact
  return {
    states: readStates(state),
    tool,
    session,
    agent,
    text: q || undefined,
    risk,
    search: {
      ...search,
      words: readWords(words ?? ''),
      toolText: toolText || undefined,
      agentText: agentText || undefined,
      requester: requester || undefined,
      requesterId: requesterId || undefined,
      decider: decider || undefined,
      createdAfter: msOf(createdAfter),
      createdBefore: msOf(createdBefore),
      settledAfter: msOf(settledAfter),
      settledBefore: msOf(settledBefore),
    },
    reader: readerOf(principal),
    ...(order !== undefined && order !== 'asked' && { ordered: { order } }),
  }
}

const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time))

/** Splits a text at spaces. Double quotes keep several words together; in them a backslash makes the next character an ordinary one. */
const readWords = (text: string): string[] =>
  [...text.matchAll(/"((?:[^"\\]|\\.)*)"?|[^\s"]+/gsu)]
    .map(([word, quoted]) => quoted?.replaceAll(/\\(.)/gsu, '$1') ?? word)
    .filter(Boolean)

function readStates(text: string | undefined): ActionState[] {
  if (text === undefined || text === '') return []
  return text.split(',').map((state) => {
    const known = ACTION_STATES.find((candidate) => candidate === state)
    if (!known) throw new CountersignError('bad_request', `state: ${JSON.stringify(state)} is not one of ${ACTION_STATES.join(', ')}`)
    return known
  })
}
