import type { ModelMessage } from '@countersign/core'

/** Returns the faults of a history given to a model. Every call has exactly one result, right behind its step, in the order of the calls. */
export function historyFaults(history: readonly ModelMessage[]): string[] {
  const faults: string[] = []
  const ids = new Set<string>()
  let owed: string[] = []
  for (const message of history) {
    if (message.role === 'tool') {
      if (owed.shift() !== message.toolCallId) faults.push(`the result of ${message.toolCallId} stands at the wrong place`)
      continue
    }
    if (owed.length > 0) faults.push(`no result of ${owed.join(', ')}`)
    owed = message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []
    for (const id of owed) {
      if (ids.has(id)) faults.push(`the id ${id} is used twice`)
      ids.add(id)
    }
  }
  if (owed.length > 0) faults.push(`the history ends before the results of ${owed.join(', ')}`)
  if (history.at(-1)?.role === 'assistant') faults.push('the history ends with the model')
  return faults
}
