import { type Client, type InboxStore, type Me, openInbox } from '@countersign/client'
import { errorText } from './errors.ts'
import { sharedEvents } from './live/shared-events.ts'
import { hasSignInLink, storedSignIn, takeSignInLink } from './sign-in/stored-sign-in.ts'

/** The signed-in person, and the reason if a sign-in link or a sign-out failed. */
export type Entering = Me & { signInNotice?: string }

/** The requests that are sent while the code that draws the console still loads. */
export interface HeadStart {
  /** The first answer to who is signed in; undefined before it arrives and after a failure. */
  readonly entered: Entering | undefined
  /** Resolves after that answer or failure. */
  readonly settled: Promise<void>
  /** Signs in with the link that the page was opened with, if there is one, and returns who is signed in. The link is used up in any case. */
  enter(signal: AbortSignal): Promise<Entering>
  /** The inbox that was opened early, if it was opened for this person and is not taken yet. */
  begunInbox(personId: string): InboxStore | undefined
  /** Returns the inbox of `begunInbox` once, else a new one. The caller closes it. */
  takeInbox(personId: string): InboxStore
}

/**
 * Asks who is signed in and what waits for them, at once and side by side. On a phone the code that draws takes longer to start than the answers
 * take to come.
 */
export function takeHeadStart(client: Client): HeadStart {
  let entered: Entering | undefined
  const person = Promise.withResolvers<string | undefined>()
  let inbox = mayBeSignedIn() ? openInbox(client, { follow: sharedEvents(person.promise) }) : undefined
  function dropInbox(): void {
    inbox?.close()
    inbox = undefined
  }
  const settled = enter(client).then(
    (found) => {
      entered = found
      if (found.principal === null) dropInbox()
    },
    // The drawn page asks again and shows the error.
    () => undefined,
  )
  void settled.then(() => person.resolve(entered?.principal?.id))
  // Somebody else may have signed in since: through a sign-in service, or with a link.
  const begunInbox = (personId: string) => (entered?.principal?.id === personId ? inbox : undefined)
  return {
    get entered() {
      return entered
    },
    settled,
    enter: (signal) => enter(client, signal),
    begunInbox,
    takeInbox(personId) {
      const begun = begunInbox(personId)
      if (begun) inbox = undefined
      else dropInbox()
      return begun ?? openInbox(client, { follow: sharedEvents(Promise.resolve(personId)) })
    },
  }
}

/** False with a sign-in link, because it signs in somebody else. Over https the sign-in is in a cookie that no script can read. */
const mayBeSignedIn = (): boolean => !hasSignInLink() && (storedSignIn.read() !== undefined || location.protocol === 'https:')

async function enter(client: Client, signal?: AbortSignal): Promise<Entering> {
  const link = takeSignInLink()
  const options = signal ? { signal } : {}
  if (link === undefined) return client.me(options)
  try {
    return await client.signInWithLink(link)
  } catch (error) {
    return { ...(await client.me(options)), signInNotice: errorText(error) }
  }
}
