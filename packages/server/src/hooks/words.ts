import type { Action, JsonObject } from '@countersign/core'

export const NOT_DECIDED = 'Nobody has decided in time.'

/** Tells a model why a call does not run. */
export function deniedAbout(action: Action, consoleUrl: string): string {
  const { id, state, description, outcome } = action
  if (state === 'proposed') {
    return `Waiting for approval ${id}: ${description}. People decide at ${consoleUrl}/actions/${id}; nothing was run. Do other things meanwhile, or make exactly the same call again later: it finds this approval. Do not try to reach the same in another way.`
  }
  if (state === 'succeeded') return `${id} has run already: ${description}. It is not run again by the same call.`
  if (state === 'executing') return `${id} was allowed once, and that call is running: ${description}.`
  return outcome?.text ?? `${id} is ${state}: ${description}. Nothing was run.`
}

/** Tells a model about a change for which its host has no place in the answer. */
export const otherInput = ({ id }: Action, input: JsonObject): string =>
  `A person changed this call before approving it (${id}). Nothing was run. To run what they approved, make the call with exactly this input: ${JSON.stringify(input)}`
