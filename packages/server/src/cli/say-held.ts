import { say } from './say.ts'

/** Tells the person who started a server that it is held, why, and the two ways to end that. Prints nothing while nothing is held. */
export function sayHeld(why: string | undefined, url: string): void {
  if (why === undefined) return
  say(`  Held          Nothing is carried out here. ${why}`)
  say(`                See what is held at ${new URL('/held', url).href}. When the original does not run any more, accept the copy there,`)
  say('                or stop this server and start it again with --accept-copy.')
}
