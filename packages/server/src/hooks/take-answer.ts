import { CountersignError, isCountersignError } from '@countersign/core'
import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import { type ActionRow, actions, stored, type Tx } from '../store/index.ts'
import { changedInput, toGateCall } from './find-call.ts'
import type { Holders } from './holders.ts'
import { proposeOnce } from './propose-once.ts'
import type { HookEvent } from './shapes/index.ts'

interface Deps extends Pick<HttpDeps, 'store' | 'gate' | 'tools'> {
  holders: Holders
}

type Answered = Extract<HookEvent, { kind: 'answered' }>

/**
 * Records that the person at the editor answered first. The card is closed as answered elsewhere.
 * @returns `accepted` when the answer counts: it does not when policy denies the call, or somebody has declined it here, or approved it with
 * another input. `reports` when the host is to say what comes of the call, because it was allowed here as well.
 * @throws CountersignError for a call that cannot be proposed: it must not run.
 */
export async function takeAnswer(
  deps: Deps,
  { call, session, callId, allowed, said }: Answered,
  caller: Omit<Caller, 'once'>,
): Promise<{ accepted: boolean; reports: boolean }> {
  // The answer may be here before the question: then this makes its action, and policy has its say.
  const { id } = await proposeOnce(deps, toGateCall(deps.tools.all(), call, session, callId), caller)
  const reason =
    said === undefined
      ? `answered elsewhere: it was ${allowed ? 'allowed' : 'declined'} in the editor`
      : `answered elsewhere: it was ${allowed ? 'allowed' : 'not allowed'} in the editor: ${said}`
  for (;;) {
    const row = await read(deps, id)
    const { state, epoch } = row
    const isDecided = state === 'approved' || state === 'executing'
    // The person here was first, and wants another input. In opencode the call runs already: what was approved for it is closed below.
    if (allowed && isDecided && call.host !== 'opencode' && changedInput(call, stored.argumentsOf(row)))
      return { accepted: false, reports: false }
    if (state === 'proposed' || state === 'approved') {
      try {
        await deps.gate.withdraw(id, { reason }, caller)
        return { accepted: true, reports: false }
      } catch (error) {
        // Decided meanwhile: what it is now counts.
        if (!isCountersignError(error) || error.code === 'internal') throw error
        if ((await read(deps, id)).state === state) throw error
      }
    } else if (state === 'executing' && !allowed) {
      await deps.gate.takeClientResult(id, { epoch, error: { kind: 'refused', message: `${reason}, so it did not run.` } }, caller)
      return { accepted: true, reports: false }
    } else return { accepted: state === 'executing' || !allowed, reports: state === 'executing' }
  }
}

function read({ store }: Deps, id: string): Promise<ActionRow> {
  return store.read(function* (): Tx<ActionRow> {
    const row = yield* actions.findAction.first({ id })
    if (!row) throw new CountersignError('not_found', `there is no action ${id}`)
    return row
  })
}
