// Loaded before a server (`node --import`). Kills or pauses the process at a named moment, and keeps a list of the moments that it came by.
// Which one, and which time it is reached, comes from the environment, or later as a message from whoever started the process.
import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeSync } from 'node:fs'

/** Where a process dies: when it reaches `point` for the `nth` time from now. */
export interface Crash {
  point: string
  nth: number
  /** It stands still there instead, until SIGCONT. */
  pauses?: true
}

/** The environment variables that this module reads. */
export const CRASH_VARIABLES = { crash: 'COUNTERSIGN_CAMPAIGN_CRASH', reached: 'COUNTERSIGN_CAMPAIGN_REACHED' } as const

/** The line behind which a list of reached moments ends when it ended there. */
export const killedLine = (point: string): string => `killed at ${point}`
export const pausedLine = (point: string): string => `paused at ${point}`

/** How long a process is kept from its next instruction, until the signal that pauses it has arrived. */
const SIGNAL_MS = 50

const { [CRASH_VARIABLES.crash]: given, [CRASH_VARIABLES.reached]: file } = process.env

if (file !== undefined) {
  const reached = openSync(file, 'a')
  let crash: Crash | null = given === undefined ? null : JSON.parse(given)

  subscribe('countersign.checkpoint', (message) => {
    const point = String(message)
    writeSync(reached, `${point}\n`)
    if (crash?.point !== point || --crash.nth > 0) return
    if (crash.pauses) {
      crash = null
      writeSync(reached, `${pausedLine(point)}\n`)
      process.kill(process.pid, 'SIGSTOP')
      for (const until = performance.now() + SIGNAL_MS; performance.now() < until; );
      return
    }
    writeSync(reached, `${killedLine(point)}\n`)
    process.kill(process.pid, 'SIGKILL')
    // The process must not run another instruction, whenever the signal arrives.
    for (;;);
  })
  process.on('message', (next: { crash: Crash | null }) => {
    crash = next.crash
    process.send?.('armed')
  })
  process.channel?.unref()
  // No server outlives the campaign.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
}
