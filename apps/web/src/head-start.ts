import { type Client, type InboxStore, type Me, openInbox } from '@countersign/client'
import { errorText } from './errors.ts'
import { hasSignInLink, storedSignIn, takeSignInLink } from './sign-in/stored-sign-in.ts'

/** Who is signed in, and why the sign-in link of the address did not work, if it did not. */
export type Entering = Me & { linkFailure?: string }

/** What the console asks the server for before there is anything to draw it with. */
export interface HeadStart {
  /** Who is signed in, as the server answered the first time; undefined before that, or when it could not be asked. */
  readonly entered: Entering | undefined
  /** Resolves when that is known, or is known to have failed. */
  readonly settled: Promise<void>
  /** Signs in with the link that the page was opened with, if there is one, and returns who is signed in. The link is used up in any case. */
  enter(signal: AbortSignal): Promise<Entering>
  /** The inbox that was opened early, until it is taken. */
  readonly begunInbox: InboxStore | undefined
  /** Returns that inbox once, and a new one after that. The caller closes it. */
  takeInbox(): InboxStore
}

/**
 * Asks who is signed in and what waits for them, at once and side by side. On a phone the code that draws takes longer to start than the answers
 * take to come.
 */
export function takeHeadStart(client: Client): HeadStart {
  let inbox = mayBeSignedIn() ? openInbox(client) : undefined
  let entered: Entering | undefined
  const settled = enter(client).then(
    (found) => {
      entered = found
      if (found.principal !== null) return
      inbox?.close()
      inbox = undefined
    },
    // Whoever draws asks again, and says what is wrong.
    () => undefined,
  )
  return {
    get entered() {
      return entered
    },
    settled,
    enter: (signal) => enter(client, signal),
    get begunInbox() {
      return inbox
    },
    takeInbox() {
      const taken = inbox ?? openInbox(client)
      inbox = undefined
      return taken
    },
  }
}

/** A link signs in somebody else. Over https a cookie that no script can read may say who this is. */
const mayBeSignedIn = (): boolean => !hasSignInLink() && (storedSignIn.read() !== undefined || location.protocol === 'https:')

async function enter(client: Client, signal?: AbortSignal): Promise<Entering> {
  const link = takeSignInLink()
  const options = signal ? { signal } : {}
  if (link === undefined) return client.me(options)
  try {
    return await client.signInWithLink(link)
  } catch (error) {
    return { ...(await client.me(options)), linkFailure: errorText(error) }
  }
}
