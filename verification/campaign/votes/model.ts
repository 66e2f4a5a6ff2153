/** An event of one action, between `M` persons who may all vote at first. */
export type Op =
  | { do: 'vote'; who: number; verdict: 'approve' | 'decline' }
  | { do: 'demote' | 'promote'; who: number }
  /** The action goes back for approval as another revision. */
  | { do: 'revise' }

export interface Table {
  /** Approvals that it takes. */
  n: number
  /** Declines that it takes. */
  d: number
  /** Persons. */
  m: number
  /** True when the last of them asked for it and may not decide about it. */
  notRequester: boolean
}

/** The answer to a vote, and the state of the action after it. */
export interface Heard {
  answer: 'ok' | 'forbidden' | 'already_decided'
  state: 'proposed' | 'approved' | 'declined'
  /** The votes on the current revision: `1+ 0-`, in the order of the persons. */
  votes: string
}

/**
 * The rules, written down without looking at how the gate does it: everything is worked out anew from all that happened so far. Answers
 * what each vote is told.
 */
export function expectedOf({ n, d, m, notRequester }: Table, ops: readonly Op[]): Heard[] {
  const heard: Heard[] = []
  let end: Heard['state'] = 'proposed'
  const taken: { at: number; who: number; verdict: 'approve' | 'decline' }[] = []
  ops.forEach((op, at) => {
    if (op.do !== 'vote') return
    const before = ops.slice(0, at)
    const asked = before.findLastIndex((one) => one.do === 'revise')
    const mayVote = (who: number) => {
      const change = before.findLast((one) => (one.do === 'demote' || one.do === 'promote') && one.who === who)
      return change?.do !== 'demote' && !(notRequester && who === m - 1)
    }
    const since = taken.filter((vote) => vote.at > asked)
    const lastOf = (who: number) => since.findLast((vote) => vote.who === who)
    let answer: Heard['answer'] = 'ok'
    if (!mayVote(op.who)) answer = 'forbidden'
    else if (end !== 'proposed') answer = lastOf(op.who)?.verdict === op.verdict ? 'ok' : 'already_decided'
    else {
      const vote = { at, who: op.who, verdict: op.verdict }
      if (lastOf(op.who)?.verdict !== op.verdict) {
        taken.push(vote)
        since.push(vote)
      }
      const says = (verdict: string) =>
        Array.from({ length: m }, (_, who) => who).filter((who) => mayVote(who) && lastOf(who)?.verdict === verdict)
      if (says('decline').length >= d) end = 'declined'
      else if (says('approve').length >= n) end = 'approved'
    }
    const said = Array.from({ length: m }, (_, who) => lastOf(who)).flatMap((vote) =>
      vote ? [`${vote.who}${vote.verdict === 'approve' ? '+' : '-'}`] : [],
    )
    heard.push({ answer, state: end, votes: said.join(' ') })
  })
  return heard
}

/** Only the last revision waits for approval: once it is decided, the action is not revised. */
function isPossible(table: Table, ops: readonly Op[]): boolean {
  return ops.every((op, at) => op.do !== 'revise' || (expectedOf(table, ops.slice(0, at)).at(-1)?.state ?? 'proposed') === 'proposed')
}

/** True when equal persons come in the order of their numbers. The one who may not decide is like nobody else. */
function isFirstOfEqual({ m, notRequester }: Table, ops: readonly Op[]): boolean {
  const equal = notRequester ? m - 1 : m
  let next = 0
  for (const op of ops) {
    if (op.do === 'revise' || op.who >= equal || op.who < next) continue
    if (op.who > next) return false
    next++
  }
  return true
}

export const TABLES: readonly Table[] = [1, 2, 3].flatMap((n) =>
  [1, 2].flatMap((d) => [1, 2, 3, 4].flatMap((m) => [false, true].map((notRequester) => ({ n, d, m, notRequester })))),
)

const votesOf = (m: number): Op[] =>
  Array.from({ length: m }, (_, who) => (['approve', 'decline'] as const).map((verdict) => ({ do: 'vote' as const, who, verdict }))).flat()

/** Everybody votes once, in every order, one way or the other. */
export function* everyOrder({ m }: Table): Generator<Op[]> {
  function* from(left: readonly number[]): Generator<Op[]> {
    if (left.length === 0) yield []
    for (const who of left) {
      for (const rest of from(left.filter((other) => other !== who))) {
        for (const verdict of ['approve', 'decline'] as const) yield [{ do: 'vote', who, verdict }, ...rest]
      }
    }
  }
  yield* from(Array.from({ length: m }, (_, who) => who))
}

/**
 * Every sequence of `length` steps: votes, also again and otherwise; who loses and gets the role; another revision in between. Of those that
 * differ only in which of several equal persons does what, one: at four steps that is a ninth of them.
 */
export function* everySequence(table: Table, length: number): Generator<Op[]> {
  const ops: Op[] = [...votesOf(table.m), { do: 'revise' }]
  for (let who = 0; who < table.m; who++) ops.push({ do: 'demote', who }, { do: 'promote', who })
  function* from(left: number): Generator<Op[]> {
    if (left === 0) yield []
    else for (const rest of from(left - 1)) for (const op of ops) yield [...rest, op]
  }
  for (const sequence of from(length)) {
    // One that ends in something else than a vote asks nothing that a shorter one does not.
    if (sequence.at(-1)?.do === 'vote' && isFirstOfEqual(table, sequence) && isPossible(table, sequence)) yield sequence
  }
}
