import type { SignInStorage } from '@countersign/client'

const CONSOLE = 'countersign.console'
const BEGUN = 'countersign.sign-in'

// Storage may be forbidden by the browser: then the sign-in holds for this page only.
let inMemory: string | undefined

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Keeps the console's secret in the storage of its origin when served over plain http. The browser sends a cookie to all ports of a host,
 * but never sends stored data.
 */
export const storedSignIn: SignInStorage = {
  read: () => attempt(() => localStorage.getItem(CONSOLE)) ?? inMemory,
  write(secret) {
    inMemory = secret
    attempt(() => (secret === undefined ? localStorage.removeItem(CONSOLE) : localStorage.setItem(CONSOLE, secret)))
  },
}

let onElsewhere: (() => void) | undefined
let isMissed = false

/** Begins to note when another tab of this browser signs in or out. Call it before the page asks who is signed in: the answer may be out of date. */
export function watchSignInElsewhere(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    // The hourly replacement of a secret is neither a sign-in nor a sign-out.
    if (key !== CONSOLE || (oldValue !== null && newValue !== null)) return
    if (onElsewhere) onElsewhere()
    else isMissed = true
  })
}

/** Calls `listener` when another tab of this browser signs in or out, and at once when one has done so since the watch began. Answers how to stop that. */
export function onSignInElsewhere(listener: () => void): () => void {
  onElsewhere = listener
  if (isMissed) listener()
  isMissed = false
  return () => {
    onElsewhere = undefined
  }
}

/** Keeps a sign-in that the sign-in service is to finish, for this tab alone. */
export function keepBegunSignIn(begun: string | undefined): void {
  attempt(() => (begun === undefined ? sessionStorage.removeItem(BEGUN) : sessionStorage.setItem(BEGUN, begun)))
}

/** Takes it out again. */
export function takeBegunSignIn(): string | undefined {
  const begun = attempt(() => sessionStorage.getItem(BEGUN)) ?? undefined
  keepBegunSignIn(undefined)
  return begun
}

const FRAGMENT = '#sign-in='

/** True when the address holds a sign-in link's token. */
export const hasSignInLink = (): boolean => location.hash.startsWith(FRAGMENT)

/** The token of the sign-in link that was opened; it is taken out of the address and its place in the history. */
export function takeSignInLink(): string | undefined {
  if (!hasSignInLink()) return undefined
  const token = location.hash.slice(FRAGMENT.length)
  history.replaceState(history.state, '', location.pathname + location.search)
  return token
}
