import { createInterface, type Interface } from 'node:readline/promises'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Action } from '@countersign/core'
import { isHighRisk } from '@countersign/core/text'
import { type Api, Refused } from '../api.ts'
import { complain } from '../say.ts'
import { detailLines } from './details.ts'
import type { Transcript } from './transcript.ts'

export interface AskInLine {
  /** Asks about an action once those before it are answered. */
  ask(action: Action): void
  /** Drops the question about an action that was decided. */
  close(actionId: string): void
}

/** Asks for decisions among the lines of a chat, one at a time. */
export function askInLine(api: Api, transcript: Transcript): AskInLine {
  const open = new Map<string, AbortController>()
  let queue = Promise.resolve()
  return {
    ask(action) {
      const stop = new AbortController()
      open.set(action.id, stop)
      queue = queue
        .then(() => askOne(api, transcript, action, stop.signal))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) complain(error instanceof Error ? error.message : String(error))
        })
    },
    close(actionId) {
      open.get(actionId)?.abort()
      open.delete(actionId)
    },
  }
}

async function askOne(api: Api, transcript: Transcript, action: Action, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { stdin, stdout } = process
  const { id, revision, digest, risk } = action
  transcript.endLine()
  stdout.write(`\n${detailLines(action, transcript.style, stdout.columns || 80).join('\n')}\n`)
  const lines = createInterface({ input: stdin, output: stdout, prompt: '' })
  // readline takes Ctrl-C for itself; here it ends the program. The run goes on, and the action still waits.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const question = async (words: string) => (await lines.question(words, { signal })).trim()
  try {
    await dropTyped(lines, signal)
    let answer: string
    do answer = (await question('[a]pprove, [d]ecline, [l]eave it to others? ')).toLowerCase()
    while (!['a', 'd', 'l'].includes(answer))
    const isApproved =
      answer === 'a' && (!isHighRisk(action) || (await question(`This is ${risk.level} risk. Type yes to approve it: `)) === 'yes')
    if (!isApproved && answer !== 'd') return transcript.line('It waits. Decide it with countersign inbox, or in the console.')
    const reason = isApproved ? '' : await question('Reason (may be empty): ')
    const body = { verdict: isApproved ? 'approve' : 'decline', revision, digest, ...(reason !== '' && { reason }) }
    await api.call('POST', `/api/actions/${encodeURIComponent(id)}/decision`, body)
  } catch (error) {
    if (signal.aborted) stdout.write('\n')
    else if (error instanceof Refused) transcript.line(`${id} was not decided: ${error.message}. countersign inbox shows it as it is.`)
    else throw error
  } finally {
    lines.close()
  }
}

/** The same as for a word that is typed in the console. */
const READ_MS = 1_000

/** Lets the person read what is above, and drops what was typed before: it answers something else. */
async function dropTyped(lines: Interface, signal: AbortSignal): Promise<void> {
  await delay(READ_MS, undefined, { signal })
  // The time may have passed before anything was read. Lines without a question are dropped by readline itself.
  await turn()
  if (lines.line !== '') lines.write(null, { ctrl: true, name: 'u' })
}
