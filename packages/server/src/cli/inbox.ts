import { createInterface } from 'node:readline/promises'
import type { Action, ActionList } from '@countersign/core'
import { Command } from 'commander'
import type { Environment } from '../config/index.ts'
import { type Api, type ApiFlags, openApi, Refused, readPerson, withApiFlags } from './api.ts'
import { say, sayJson } from './say.ts'
import { askedWords, factWords, revisedWords, riskWords } from './terminal/card-words.ts'
import { rowLabel, unreadText, wordsOf } from './terminal/details.ts'
import { showInbox } from './terminal/inbox-screen.ts'

interface DecideFlags extends ApiFlags {
  reason?: string
  revision?: string
  digest?: string
  yes?: true
}

/** The server's answers to a decision that comes too late. */
const MOVED = 409
const MOVED_EXIT = 3

/** `countersign inbox`: lists the actions that wait for the key's person, to decide them one by one at a terminal. */
export const inboxCommand = (environment: Environment): Command =>
  withApiFlags(new Command('inbox').description('show what waits for your decision; at a terminal, decide it on the whole screen'))
    .option('--json', 'print one JSON object, {items}, and ask nothing')
    .option('--ask', 'ask for each in turn, also without a terminal: answers are read as lines')
    .action(async (flags: ApiFlags & { ask?: true }) => {
      const api = openApi(flags, environment)
      if (process.stdin.isTTY && process.stdout.isTTY && !flags.json && !flags.ask)
        return showInbox({ api, environment, waiting: () => waiting(api) })
      const items = await waiting(api)
      if (items.length === 0) await readPerson(api)
      if (flags.json) return void sayJson({ items })
      if (items.length === 0) return void say('Nothing waits for your decision.')
      if (flags.ask) return decideEach(api, items)
      for (const action of items) say(lineOf(action))
    })

/** `countersign approve ID` and `countersign decline ID`. */
export const decideCommand = (verdict: 'approve' | 'decline', environment: Environment): Command =>
  withApiFlags(new Command(verdict).description(`${verdict} an action that waits`))
    .argument('<id>', 'its id: act_…')
    .option('--reason <text>', 'the reason, which the agent is told')
    .option('--revision <number>', 'the revision that you saw; needed with --digest once the action was changed')
    .option('--digest <digest>', 'the digest that you saw')
    .option('--yes', 'decide without confirmation at a terminal')
    .option('--json', 'print the action as one JSON object')
    .action((id: string, flags: DecideFlags) => decideOne(openApi(flags, environment), id, verdict, flags))

async function decideOne(api: Api, id: string, verdict: 'approve' | 'decline', flags: DecideFlags): Promise<void> {
  const { reason, revision, digest, yes, json } = flags
  const said = { verdict, ...(reason !== undefined && { reason }) }
  let named = { ...(revision !== undefined && { revision: Number(revision) }), ...(digest !== undefined && { digest }) }
  if (!yes && process.stdin.isTTY && process.stdout.isTTY && digest === undefined) {
    const action = await read(api, id)
    for (const line of cardLines(action)) say(line)
    // The decision is about exactly the revision that is shown.
    named = { revision: action.revision, digest: action.digest }
    if (!/^y(es)?$/i.test(await question(`${verdict === 'approve' ? 'Approve' : 'Decline'} it? [y/N] `)))
      return void say('Nothing was decided.')
  }
  const decided = await decide(api, id, { ...said, ...named })
  if (decided && json) sayJson(decided)
  else if (decided) say(`${decided.id} is ${decided.state}: ${decided.description}`)
}

async function decideEach(api: Api, items: readonly Action[]): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answers = lines[Symbol.asyncIterator]()
  const ask = async (words: string): Promise<string | undefined> => {
    process.stdout.write(words)
    const { value, done } = await answers.next()
    return done ? undefined : String(value).trim()
  }
  try {
    for (const [index, action] of items.entries()) {
      say('')
      say(`${index + 1} of ${items.length}`)
      for (const line of cardLines(action)) say(line)
      const { id, revision, digest } = action
      const answer = await askKey(ask)
      if (answer === undefined || answer === 'q') return
      if (answer === 's') continue
      const reason = answer === 'd' ? await ask('Reason (may be empty): ') : undefined
      const verdict = answer === 'a' ? 'approve' : 'decline'
      const decided = await decide(api, id, { verdict, revision, digest, ...(reason && { reason }) })
      if (decided) say(`${id} is ${decided.state}`)
    }
  } finally {
    lines.close()
  }
}

async function askKey(ask: (words: string) => Promise<string | undefined>): Promise<string | undefined> {
  for (;;) {
    const answer = (await ask('[a]pprove, [d]ecline, [s]kip, [q]uit? '))?.toLowerCase()
    if (answer === undefined || ['a', 'd', 's', 'q'].includes(answer)) return answer
  }
}

async function question(words: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await lines.question(words)
  } finally {
    lines.close()
  }
}

interface Decision extends Partial<Pick<Action, 'revision' | 'digest'>> {
  verdict: 'approve' | 'decline'
  reason?: string
}

/** Returns undefined when the action has changed: that is printed, and sets the exit code. */
async function decide(api: Api, id: string, body: Decision): Promise<Action | undefined> {
  const undecided = (why: string) => {
    say(`${id} was not decided: ${why}`, process.stderr)
    process.exitCode = MOVED_EXIT
    return undefined
  }
  try {
    const decided = (await api.call('POST', `/api/actions/${encodeURIComponent(id)}/decision`, body)) as Action
    // The server answers a repeated decision with the action as it is, and that may be the decision about another revision.
    const { revision = decided.revision, digest = decided.digest } = body
    if (revision !== decided.revision) return undecided(`it is ${decided.state} with revision ${decided.revision}, not ${revision}`)
    return digest === decided.digest ? decided : undecided(`it is ${decided.state} with another digest, ${decided.digest}`)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== MOVED) throw error
    return undecided(error.message)
  }
}

const read = async (api: Api, id: string): Promise<Action> => (await api.call('GET', `/api/actions/${encodeURIComponent(id)}`)) as Action

async function waiting(api: Api): Promise<Action[]> {
  const items: Action[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = new URLSearchParams({ state: 'proposed', mine: 'true', limit: '200', ...(cursor && { cursor }) }).toString()
    const page = (await api.call('GET', `/api/actions?${query}`)) as ActionList
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}

const lineOf = ({ id, risk, tool, description, createdAt, overdue }: Action): string =>
  `${id}  ${risk.level}  ${createdAt}${overdue ? ' (overdue)' : ''}  ${tool}  ${description}`

/** Returns everything that the action's card shows, because an approval covers what was shown. */
export function cardLines(action: Action): string[] {
  const { id, description, tool, arguments: args, preview, previewError, revision, overdue, createdAt } = action
  return [
    description,
    `  ${id}, revision ${revision}, ${tool}, ${riskWords(action)}`,
    `  ${askedWords(action)}`,
    ...(overdue ? [`  overdue: it has waited since ${createdAt}, and nobody has decided`] : []),
    ...[...revisedWords(action), ...factWords(action)].map((words) => `  ${words}`),
    ...wordsOf(action).map((words) => `  agent says (not verified): ${words}`),
    ...(previewError === null ? [] : [`  ${unreadText(previewError)}`]),
    `  arguments: ${JSON.stringify(args)}`,
    ...(preview ?? []).flatMap(rowLines),
  ]
}

function rowLines(row: NonNullable<Action['preview']>[number]): string[] {
  const { oldValue, newValue, diff } = row
  // Line by line, because line feeds inside a printed line are spelled out.
  if (diff !== undefined) return [`  ${rowLabel(row)}:`, ...diff.split('\n').map((line) => `    ${line}`)]
  const was = oldValue === undefined ? '' : `${JSON.stringify(oldValue)} → `
  return [`  ${rowLabel(row)}: ${was}${newValue === undefined ? 'removed' : JSON.stringify(newValue)}`]
}
