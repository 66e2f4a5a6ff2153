import type { Patch } from '../campaign/patch.ts'

/** A bug that somebody might make, and that the simulation has to notice. */
export interface PlantedBug {
  name: string
  /** The invariants that it breaks, one or the other; `unexpected` for one of the code's own assertions. */
  breaks: readonly string[]
  patches: readonly Patch[]
  /** Worlds in which it is noticed at the latest. */
  within: number
}

const bug = (name: string, breaks: readonly string[], ...patches: readonly Patch[]): PlantedBug => ({
  name,
  breaks,
  patches,
  within: 1_000,
})

/** One that does harm only by a rare coincidence. */
const rareBug = (name: string, breaks: readonly string[], ...patches: readonly Patch[]): PlantedBug => ({
  name,
  breaks,
  patches,
  within: 5_000,
})

/** The second guard of those that tell a model twice: a call that has its result gets a note. */
const TOLD_IS_FORGOTTEN: Patch = { file: 'gate/events.ts', find: 'if (isTold) return', replace: 'if (isTold && row.attempt < 0) return' }

const APPROVAL_WAKES_NOBODY: Patch = {
  file: 'gate/decide/decide.ts',
  find: `if (to === 'approved' && moved.executor === 'server') outbox.actions.add(moved.id)`,
  replace: '',
}

/** Each is a few words of the production code, changed as it is loaded. One that does not fit its file any more fails, by its file. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  bug('what a commit asked for is begun before it is durable', ['I1', 'I7', 'I9'], {
    file: 'store/group-commit.ts',
    find: `      outcomes = runBatch(batch)
`,
    replace: `      outcomes = runBatch(batch)
      for (const outcome of outcomes) if (outcome.ok) onCommitted(outcome.outbox)
`,
  }),
  bug('an answer is given before it is durable', ['I8', 'I2', 'I5', 'I9'], {
    file: 'store/group-commit.ts',
    find: `      outcomes = runBatch(batch)
`,
    replace: `      outcomes = runBatch(batch)
      outcomes.forEach((outcome, i) => outcome.ok && batch[i]?.resolve(outcome.value))
`,
  }),
  bug('an approval wakes nobody', ['I9'], APPROVAL_WAKES_NOBODY),
  bug('a decline wakes nobody', ['I9'], {
    file: 'gate/decide/decide.ts',
    find: 'if (moved.session_id !== null) outbox.sessions.add(moved.session_id)',
    replace: '',
  }),
  bug('the model is never told of a decline', ['I6'], {
    file: 'gate/decide/decide.ts',
    find: 'yield* writeToolResult(writer, moved, reason ?? reasonOf(shown) ?? DEFAULT_REASON, nowMs)',
    replace: '',
  }),
  bug('a decision counts after the deadline', ['I2'], {
    file: 'store/tables/actions.ts',
    find: `      .set({ state: p.to as ActionRow['state'], told: p.told, due_at: p.due_at, updated_at: p.now })
      .where('id', '=', p.id)
      .where('state', '=', lit('proposed'))
      .where('revision', '=', p.revision)
      .where(isInTime(dialect, p.now)),`,
    replace: `      .set({ state: p.to as ActionRow['state'], told: p.told, due_at: p.due_at, updated_at: p.now })
      .where('id', '=', p.id)
      .where('state', '=', lit('proposed'))
      .where('revision', '=', p.revision),`,
  }),
  bug('what was decided meanwhile expires all the same', ['I2'], {
    file: 'store/tables/actions.ts',
    find: `    .where(sql<boolean>\`(state = 'proposed' or (state = 'approved' and executor = 'client'))\`)
    .where(isLate(dialect, p.now)),`,
    replace: `    .where(isLate(dialect, p.now)),`,
  }),
  bug('a tool is called before the intent is stored', ['I1', 'I5', 'I4'], {
    file: 'gate/execute/execute.ts',
    find: `async function executeNow(deps: GateDeps, approved: ActionRow): Promise<void> {
`,
    replace: `async function executeNow(deps: GateDeps, approved: ActionRow): Promise<void> {
  const { attempt } = await import('./attempt.ts')
  await attempt(deps, approved)
`,
  }),
  bug('what may have happened is called a failure', ['I4'], {
    file: 'gate/execute/attempt.ts',
    find: `isWrite && kind === 'ambiguous' ?`,
    replace: `false ?`,
  }),
  bug('an attempt is sent again to a target that knows no keys', ['I4'], {
    file: 'gate/execute/verify-binding.ts',
    find: 'idempotent || effect',
    replace: `effect === 'write' || idempotent || effect`,
  }),
  bug('what is not found yet is called a failure', ['I4'], {
    file: 'gate/execute/reconcile.ts',
    find: 'if (found.done === false && found.authoritative)',
    replace: 'if (found.done === false)',
  }),
  bug('nobody checks an unknown outcome again', ['I9'], {
    file: 'gate/due.ts',
    find: 'if (check) deps.background(deps.lanes.run(check.row.tool, () => checkAgain(deps, check)))',
    replace: '',
  }),
  bug('what was of unknown outcome is tried again under another key', ['I4'], {
    file: 'gate/execute/attempt-key.ts',
    find: 'in_doubt ? idempotency_key : attemptKey(id, attempt + 1)',
    replace: 'in_doubt > 1 ? idempotency_key : attemptKey(id, attempt + 1)',
  }),
  bug('an attempt is sent again under another key', ['I4'], {
    file: 'gate/execute/start-attempt.ts',
    find: 'const again = { key: row.idempotency_key,',
    replace: `const again = { key: row.id + '.' + (row.attempt + 1),`,
  }),
  bug(
    'the model is told a second time when an action is tried again',
    ['I6'],
    { file: 'gate/execute/settle.ts', find: 'if (row.told) {', replace: 'if (row.told > 1) {' },
    TOLD_IS_FORGOTTEN,
  ),
  bug(
    'a result is written twice',
    ['I6'],
    {
      file: 'gate/execute/settle.ts',
      find: '} else yield* writeToolResult(writer, row, undefined, nowMs)',
      replace: `} else {
    yield* writeToolResult(writer, row, undefined, nowMs)
    yield* writeToolResult(writer, row, undefined, nowMs)
  }`,
    },
    TOLD_IS_FORGOTTEN,
  ),
  bug('the model is called while an action is open', ['I6'], {
    file: 'agent/advance.ts',
    find: 'if (!session || open.length > 0)',
    replace: `if (!session || open.some(({ state }) => state === 'proposed'))`,
  }),
  bug('a step goes by the history that it remembers', ['I6', 'I9', 'unexpected'], {
    file: 'agent/history.ts',
    find: 'after: known.upTo }',
    replace: 'after: known.upTo === 0 ? 0 : known.upTo + 2 }',
  }),
  bug(
    'a piece of a message is said after the message',
    ['I7'],
    {
      file: 'agent/deltas.ts',
      find: `      isClosed = true
      stopWaiting?.()
      const unsaid = pending
      pending = []
      return unsaid`,
      replace: `      return []`,
    },
    {
      file: 'agent/deltas.ts',
      find: 'if (!(yield* isAtStep(run))) return undefined',
      replace: '',
    },
  ),
  bug('a start takes up nothing that was left', ['I9'], {
    file: 'gate/execute/recover.ts',
    find: `  const taken: ActionRow[] = []
`,
    replace: `  const taken: ActionRow[] = []
  if (!gone) return
`,
  }),
  rareBug('a start forgets the messages that wait in the queue', ['I9'], {
    file: 'store/tables/sessions.ts',
    find: ', ...(yield* sessionsWithQueue.all({}))]',
    replace: ']',
  }),
  bug('a request that is sent again is done again', ['I2'], {
    file: 'store/idempotency.ts',
    find: `  const earlier = yield* findAnswer<T>(once)
  if (earlier !== undefined) return earlier
  const answer = yield* work()
  yield* insertAnswer(once, nowMs, answer)`,
    replace: '  const answer = yield* work()',
  }),
  bug('a reader loses what is committed while it reads', ['I7'], {
    file: 'http/follow.ts',
    find: `      isLive = false
      isMissing = true
      wake()`,
    replace: `      if (!isLive) return
      isLive = false
      isMissing = true
      wake()`,
  }),
  bug('a full disk loses the answer of a target', ['I9'], {
    file: 'gate/execute/retry.ts',
    find: 'if (!(await pauseAfter(deps, actionId, failures, error))) return undefined',
    replace: 'return undefined',
  }),
  bug('the second of two deciders wins as well', ['I2'], {
    file: 'store/tables/actions.ts',
    find: `      .set({ state: p.to as ActionRow['state'], told: p.told, due_at: p.due_at, updated_at: p.now })
      .where('id', '=', p.id)
      .where('state', '=', lit('proposed'))`,
    replace: `      .set({ state: p.to as ActionRow['state'], told: p.told, due_at: p.due_at, updated_at: p.now })
      .where('id', '=', p.id)`,
  }),
  rareBug('an answer counts whoever holds the attempt by now', ['I5', 'I2', 'I4'], {
    file: 'store/tables/attempts.ts',
    find: `      due_at: p.due_at,
      updated_at: p.now,
    })
    .where('id', '=', p.id)
    .where('state', '=', lit('executing'))
    .where('epoch', '=', p.epoch),`,
    replace: `      due_at: p.due_at,
      updated_at: p.now,
    })
    .where('id', '=', p.id)
    .where('state', '=', lit('executing')),`,
  }),
  bug(
    'who lives is taken over',
    ['I5', 'I9'],
    {
      file: 'dispatch/cluster/failure-detector.ts',
      find: 'if (other.heldBy !== null) continue',
      replace: '',
    },
    {
      file: 'dispatch/cluster/processes.ts',
      find: 'if (!(await rows.takeProcess(connection, other.number))) continue',
      replace: '',
    },
  ),
  bug(
    'nobody takes over what a dead process was carrying out',
    ['I9'],
    {
      file: 'dispatch/cluster/cluster-membership.ts',
      find: 'await work.recover([gone.id])',
      replace: '',
    },
    {
      file: 'dispatch/cluster/cluster-membership.ts',
      find: 'await work.recover(await claims.strayRunners(connection))',
      replace: '',
    },
  ),
  bug('a model call of a dead process stays taken', ['I9'], {
    file: 'dispatch/cluster/cluster-membership.ts',
    find: 'await claims.giveBackSteps(connection, gone.id)',
    replace: '',
  }),
  rareBug('a step is made by everybody who was woken', ['I2', 'I6', 'I7', 'I9', 'unexpected'], {
    file: 'store/tables/sessions.ts',
    find: `    .where('state', '=', lit('open'))
    .where('id', '=', p.id)
    .where('steps', '=', p.steps),
)

/** Ends a session's open run because`,
    replace: `    .where('state', '=', lit('open'))
    .where('id', '=', p.id),
)

/** Ends a session's open run because`,
  }),
  rareBug('a model is asked about a step that was made', ['I6'], {
    file: 'agent/history.ts',
    find: 'if (!(yield* isAtStep(run))) return undefined',
    replace: '',
  }),
  bug('a reader is handed what does not join on', ['I7'], {
    file: 'dispatch/cluster/postgres-hub.ts',
    find: 'feed.restsAt === undefined || first !== feed.restsAt + 1 || last == null',
    replace: 'last == null',
  }),
  bug('a job whose fetch answer was lost stays locked', ['I9'], {
    file: 'dispatch/cluster/job-dispatch.ts',
    find: 'const lost = await fetches.findLost(',
    replace: 'const lost: claims.LockedRow[] = []\n    if (isStopped) await fetches.findLost(',
  }),
  bug('an approval wakes nobody, and nobody compares what is due with what is under way', ['I9'], APPROVAL_WAKES_NOBODY, {
    file: 'dispatch/reconciler.ts',
    find: 'const looked = work.isAble() ?',
    replace: 'const looked = isStopped ?',
  }),
  bug('a database that was put back to an earlier moment is not held', ['I4'], {
    file: 'instance/judge.ts',
    find: 'return isMarkThere ? undefined :',
    replace: 'return isMarkThere || files ? undefined :',
  }),
  bug(
    'a held server starts what was approved before',
    ['I4'],
    {
      file: 'engine.ts',
      find: 'if (!guard?.held) await goOn()',
      replace: 'await goOn()',
    },
    {
      file: 'store/tables/instance.ts',
      find: 'where instance.held_at > coalesce(action.released_at, 0) or',
      replace: 'where',
    },
  ),
  bug('a held server takes votes', ['I2', 'I4'], {
    file: 'http/hold.ts',
    find: 'if (why === undefined || READS',
    replace: `if (why === undefined || route.endsWith('/decision') || READS`,
  }),
  bug('other processes are not told of news', ['I7'], {
    file: 'dispatch/cluster/postgres-hub.ts',
    find: 'notices.tell({ sessions: named, inbox: forInbox.length > 0, ended })',
    replace: '',
  }),
]
