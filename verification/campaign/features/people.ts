import { setTimeout as delay } from 'node:timers/promises'
import { type Action, canonicalJson } from '@countersign/core'
import type { Door, Person } from '../../crash/door.ts'
import type { Journal, SentVote } from './journal.ts'
import type { Name, PlannedCall, PlannedVote } from './plan.ts'
import { WHAT } from './targets-file.ts'

const POLL_MS = 40

/** Persons who look at what waits, again and again, and vote as planned. */
export interface People extends AsyncDisposable {
  /** How many votes they have begun and not finished. */
  readonly busy: number
  /** They have seen this revision of it. */
  hasSeen(actionId: string, revision: number): boolean
  /** They have seen this revision of it, and none of them has a vote left to send. */
  areDoneWith(actionId: string, revision: number): boolean
}

export interface PeopleOptions {
  door: Door
  admin: Person
  persons: ReadonlyMap<Name, Person>
  journal: Journal
  /** Undefined for a call that nobody planned. */
  planOf(what: string): PlannedCall | undefined
  /** Hears of a vote that was accepted with a grant. */
  onGrant(action: Action): void
}

export const whatOf = (args: string): string => WHAT.exec(args)?.[0] ?? ''

export function openPeople({ door, admin, persons, journal, planOf, onGrant }: PeopleOptions): People {
  const seen = new Set<string>()
  const hasSeen = (actionId: string, revision: number) => seen.has(`${actionId} ${revision}`)
  /** The votes in progress, each with its action. */
  const voting = new Set<{ actionId: string }>()
  let isOver = false

  async function vote(action: Action, what: string, { who, verdict, edit, uses }: PlannedVote): Promise<void> {
    const person = persons.get(who)
    if (!person) throw new Error(`there is no ${who}`)
    const { id, revision, digest } = action
    const remember =
      uses === undefined
        ? undefined
        : { scope: 'agent', expiresIn: 'PT1H', when: `args.batch == "${String(action.arguments.batch)}"`, uses }
    if (uses !== undefined) journal.uses.set(id, uses)
    const body = { verdict, revision, digest, ...(edit && { arguments: edit }), ...(remember && { remember }) }
    const sent: SentVote = {
      ...{ actionId: id, what, by: person.id, verdict, revision, edit: edit && canonicalJson(edit) },
      fate: 'unanswered',
    }
    journal.votes.push(sent)
    const answer = await door.send(person, 'POST', `/api/actions/${id}/decision`, { body })
    if (!answer) return
    const { status, text, isRepeat } = answer
    // A repeat can be refused although the try before it counts: the voter's right ended in between.
    if (status === 200) sent.fate = 'accepted'
    else if (!isRepeat) sent.fate = 'refused'
    // A delegate no longer sees the action once the delegation has ended.
    const isExpected = [200, 409].includes(status) || (who === 'Vic' && [403, 404].includes(status))
    if (!isExpected && status < 500) door.complaints.push(`a vote of ${who} on ${what} was answered ${status}: ${text.slice(0, 300)}`)
    if (uses !== undefined && status === 200) onGrant(action)
  }

  async function voteInTurn(action: Action, what: string, votes: readonly PlannedVote[]): Promise<void> {
    for (const one of votes) {
      await delay(one.afterMs)
      await vote(action, what, one)
    }
  }

  function see(action: Action): void {
    const what = whatOf(JSON.stringify(action.arguments))
    const planned = planOf(what)
    const key = `${action.id} ${action.revision}`
    if (!planned || seen.has(key)) return
    seen.add(key)
    const votes = action.revision === 1 ? planned.votes : planned.again.map((who): PlannedVote => ({ who, verdict: 'approve', afterMs: 0 }))
    for (const own of Map.groupBy(votes, ({ who }) => who).values()) {
      const one = { actionId: action.id }
      voting.add(one)
      void voteInTurn(action, what, own).finally(() => voting.delete(one))
    }
  }

  async function look(): Promise<void> {
    while (!isOver) {
      const answer = await door.send(admin, 'GET', '/api/actions?state=proposed&limit=200')
      for (const action of answer?.body?.items ?? []) see(action)
      await delay(POLL_MS)
    }
  }
  const looking = look()

  return {
    get busy() {
      return voting.size
    },
    hasSeen,
    areDoneWith: (actionId, revision) => hasSeen(actionId, revision) && ![...voting].some((one) => one.actionId === actionId),
    async [Symbol.asyncDispose]() {
      isOver = true
      await looking
    },
  }
}
