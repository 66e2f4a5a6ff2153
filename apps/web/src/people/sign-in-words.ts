import type { ConsoleSessionView } from '@countersign/client'

/** How somebody signed in at a console. */
export const SIGN_IN_WORDS: Record<ConsoleSessionView['how'], string> = {
  local: 'At the server’s own machine',
  key: 'With a key',
  oidc: 'With the sign-in service',
}
