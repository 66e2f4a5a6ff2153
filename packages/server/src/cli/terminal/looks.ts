import type { Action, Principal, SeenBy } from '@countersign/core'
import type { Api } from '../api.ts'

/** Shorter than this, an action that is moved past counts as seen. The same as on the card. */
const LOOK_MS = 1_000
/** No event says that somebody looks. */
const REREAD_MS = 15_000

/** The action on the screen. */
interface Shown {
  action: Action
  /** All of its details were on the screen. */
  isRead: boolean
}

/** Reports what this person has on the screen, and reads who else has. No decision depends on it, so a request that fails is left out. */
export interface Looks extends Disposable {
  /** To be called with each painting. */
  show(shown: Shown | undefined): void
}

/** @param tell Is given the other people who have seen the revision that is shown, the latest first. */
export function createLooks(
  api: Api,
  me: Pick<Principal, 'id' | 'kind' | 'scopes'>,
  tell: (digest: string, seenBy: SeenBy[]) => void,
): Looks {
  const mayReport = me.kind === 'person' && (me.scopes?.includes('decide') ?? true)
  const reported = new Set<string>()
  let key = ''
  let wait: NodeJS.Timeout | undefined
  let reread: NodeJS.Timeout | undefined

  const ask = async ({ id, digest }: Action, request: (path: string) => Promise<unknown>): Promise<void> => {
    const { seenBy = [] } = (await request(`/api/actions/${encodeURIComponent(id)}`)) as Pick<Action, 'seenBy'>
    tell(
      digest,
      seenBy.filter(({ by }) => by.id !== me.id),
    )
  }
  const read = (action: Action) => void ask(action, (path) => api.call('GET', path)).catch(() => undefined)
  const report = (action: Action) => {
    const { revision, digest } = action
    reported.add(digest)
    void ask(action, (path) => api.call('POST', `${path}/seen`, { revision, digest })).catch(() => reported.delete(digest))
  }
  const stop = () => {
    clearTimeout(wait)
    clearInterval(reread)
  }
  return {
    show(shown) {
      const next = shown ? `${shown.action.digest} ${shown.isRead}` : ''
      if (next === key) return
      const isOther = !shown || !key.startsWith(`${shown.action.digest} `)
      key = next
      clearTimeout(wait)
      if (isOther) clearInterval(reread)
      if (!shown) return
      const { action, isRead } = shown
      if (isOther) {
        read(action)
        reread = setInterval(() => read(action), REREAD_MS)
      }
      if (isRead && mayReport && !reported.has(action.digest)) wait = setTimeout(() => report(action), LOOK_MS)
    },
    [Symbol.dispose]: stop,
  }
}
