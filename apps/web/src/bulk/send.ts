import type { Action, Client, DecisionsAnswer } from '@countersign/client'
import { errorText, isUnanswered } from '../errors.ts'
import { noteStarts } from '../undo/starts.ts'
import { NO_ANSWER } from './each.ts'
import type { Verdict } from './plan.ts'

/** An action that was not decided, and why. */
export type Refused = { action: Action; why: string }

/** As many as the server takes in one request. */
const IN_ONE_REQUEST = 200

type Decision = { verdict: Verdict; reason: string; startAfter: string }

/**
 * Decides the actions as they were shown, each on its own, and answers which were refused. Approvals can be undone from then on. Once no answer
 * comes nothing more is sent.
 */
export async function decideAll(client: Client, actions: readonly Action[], { verdict, reason, startAfter }: Decision): Promise<Refused[]> {
  const refused: Refused[] = []
  const decided: Action[] = []
  let ended: string | undefined
  const said = { verdict, ...(reason !== '' && { reason }), ...(verdict === 'approve' && { startAfter }) }
  for (let at = 0; at < actions.length; at += IN_ONE_REQUEST) {
    const part = actions.slice(at, at + IN_ONE_REQUEST)
    const refuse = (why: string) => refused.push(...part.map((action) => ({ action, why })))
    if (ended !== undefined) {
      refuse(ended)
      continue
    }
    const items = part.map(({ id, revision, digest }) => ({ id, revision, digest }))
    let results: DecisionsAnswer['results']
    try {
      results = (await client.actions.decideMany({ ...said, items })).results
    } catch (error) {
      if (isUnanswered(error)) ended = errorText(error)
      refuse(ended === undefined ? errorText(error) : NO_ANSWER)
      continue
    }
    for (const [n, { action: answer, error }] of results.entries()) {
      const action = part[n]
      if (answer) decided.push(answer)
      else if (action) refused.push({ action, why: error?.detail ?? 'The server did not say why.' })
    }
  }
  noteStarts(decided)
  return refused
}
