import { type Action, CountersignError, type JsonObject } from '@countersign/core'

/** A client that waits for people is told to come back after so long. */
const ASK_AGAIN_SECONDS = 10

export const refused = (reason: string, extra: Record<string, unknown> = {}): CountersignError =>
  new CountersignError('forbidden', `Not allowed: ${reason}. Nothing was passed on.`, extra)

/** @param publicUrl The only source of links: whoever sends a request chooses its Host. */
export function waits(
  { id, description, state }: Action,
  publicUrl: string | undefined,
  retryAfterSeconds = ASK_AGAIN_SECONDS,
): CountersignError {
  const decideAt = publicUrl === undefined ? undefined : `${publicUrl}/actions/${id}`
  return new CountersignError(
    'forbidden',
    `Waiting for approval ${id}: ${description}. People decide ${decideAt === undefined ? 'in the console' : `at ${decideAt}`}; nothing was passed on. Send exactly this request again later: it passes once it is approved.`,
    { actionId: id, state, retryAfterSeconds, ...(decideAt !== undefined && { decideAt }) },
  )
}

/** The action is over, or somebody has it: the words are for a model. */
export function ended(action: Action): CountersignError {
  const { id, state, description, outcome } = action
  if (state === 'executing') return refused(`${id} is being passed on for another request: ${description}`, { actionId: id, state })
  if (state === 'succeeded') return refused(`${id} has passed already: ${description}`, { actionId: id, state })
  return new CountersignError('forbidden', outcome?.text ?? `${id} is ${state}: ${description}. Nothing was passed on.`, {
    actionId: id,
    state,
  })
}

export function changed(
  { id, state }: Pick<Action, 'id' | 'state'>,
  { method, host, port, url, contentType, body }: JsonObject,
): CountersignError {
  const request = JSON.stringify({ method, host, port, url, contentType, body })
  return new CountersignError(
    'forbidden',
    `A person changed this request before approving it (${id}). Nothing was passed on. Send exactly what they approved: ${request}`,
    { actionId: id, state },
  )
}
