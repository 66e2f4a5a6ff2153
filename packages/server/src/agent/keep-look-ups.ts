import { viewSaid, writeSession } from '../gate/index.ts'
import { messages, type RunRow, sessions } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import type { Heard } from './listen.ts'
import { assistantPayload } from './look-ups.ts'

/**
 * Keeps what a remote brain had looked up for an answer that a person cancelled: at the message with what it had said until then, or at a
 * message of its own. Only the process that heard the brain knows it, so it comes after the cancelling, whichever process did that.
 */
export async function keepLookUps(
  { store, clock }: Pick<AgentDeps, 'store' | 'clock'>,
  { run, messageId }: { run: RunRow; messageId: string },
  { lookedUp, lookedUpBy: model }: Pick<Heard, 'lookedUp' | 'lookedUpBy'>,
): Promise<void> {
  const payload = assistantPayload(undefined, lookedUp)
  if (payload === null) return
  const now = clock.nowMs()
  const { session_id } = run
  await store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, session_id, now)
    // The deletion removed the messages of the session. A message that is added now would stay.
    if (writer.row.deleted_at !== null) return
    const current = yield* sessions.findRun.first({ session_id, id: run.id })
    // Otherwise the step is made again, or somebody else has made it.
    if (current?.state !== 'cancelled' || current.steps !== run.steps) return
    const said = yield* messages.findMessage.first({ session_id, id: messageId })
    if (said) {
      yield* messages.addPayload.run({ session_id, id: messageId, payload, model })
      writer.event({ type: 'message', data: { message: yield* viewSaid({ ...said, payload, model }) } })
    } else {
      // Behind the next message of a person it would be no answer to it.
      const inHistory = writer.state.run?.id === run.id
      yield* writer.message({ id: messageId, run_id: run.id, role: 'assistant', content: '', payload, model, inHistory })
    }
    yield* writer.save()
  })
}
