import { type Action, isSettled } from '@countersign/core'
import type { TestServer } from './test-server.ts'

type Server = Pick<TestServer, 'admin'>

/** The one action that waits for a person, as soon as there is exactly one. */
export async function waiting({ admin }: Server): Promise<Action> {
  using events = await admin.stream('/api/events')
  for (;;) {
    const known = events.seen.length
    const { items } = await admin.get('/api/actions?state=proposed')
    if (items.length === 1) return items[0]
    // What arrives beside the answer may be the action that the answer does not have yet.
    if (events.seen.length === known) await events.arrival()
  }
}

/** The action once it has ended, however long a busy machine takes. */
export async function settled({ admin }: { admin: Pick<TestServer['admin'], 'get'> }, id: string): Promise<Action> {
  for (;;) {
    const action: Action = await admin.get(`/api/actions/${id}?wait=60&until=settled`)
    if (isSettled(action.state)) return action
  }
}

/** Decides about what the card shows. @param body The verdict, and what else a decision may hold. */
export const decide = ({ admin }: Server, { id, revision, digest }: Action, body: object) =>
  admin.post(`/api/actions/${id}/decision`, { revision, digest, ...body })

/** Has the tool look what came of an action. The server looks by itself as well, and may have found it just before. */
export async function verify({ admin }: Server, id: string): Promise<Action> {
  const { status, body, text } = await admin.send('POST', `/api/actions/${id}/verify`, { body: {} })
  if (status === 200) return body
  if (status === 409 && body.action?.state === 'succeeded') return body.action
  throw new Error(`the look at ${id} was answered ${status}: ${text.slice(0, 500)}`)
}
