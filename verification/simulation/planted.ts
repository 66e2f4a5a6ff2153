import type { CodeMutant } from '../mutation/code-mutants.ts'

/** A bug that somebody might make, and that the simulation has to notice. */
export interface PlantedBug {
  name: string
  /** The invariants that it breaks, one or the other; `unexpected` for one of the code's own assertions. */
  breaks: readonly string[]
  mutants: readonly CodeMutant[]
  /** Worlds in which it is noticed at the latest. */
  within: number
}

const bug = (name: string, breaks: readonly string[], ...mutants: readonly CodeMutant[]): PlantedBug => ({
  name,
  breaks,
  mutants,
  within: 1_000,
})

/** One that does harm only by a rare coincidence. */
const rareBug = (name: string, breaks: readonly string[], ...mutants: readonly CodeMutant[]): PlantedBug => ({
  name,
  breaks,
  mutants,
  within: 5_000,
})

/** The second guard of those that tell a model twice: a call that has its result gets a note. */
const TOLD_IS_FORGOTTEN: CodeMutant = {
  file: 'gate/events.ts',
  in: 'writeToolResult',
  do: 'set condition',
  leadsTo: 'noteResult',
  to: false,
}

const APPROVAL_WAKES_NOBODY: CodeMutant = { file: 'gate/transition.ts', in: 'follow', do: 'remove call', call: 'actions.add' }

/** Each is a mutant of the production code, made as it is loaded. One that names what is not there any more fails, by its file. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  bug('what a commit asked for is begun before it is durable', ['I1', 'I7', 'I9'], {
    file: 'store/group-commit.ts',
    in: 'flush',
    do: 'call before',
    call: 'onCommitted',
    checkpoint: 'batch.before_commit',
  }),
  bug('an answer is given before it is durable', ['I8', 'I2', 'I5', 'I9', 'unexpected'], {
    file: 'store/group-commit.ts',
    in: 'flush',
    do: 'call before',
    call: 'resolve',
    checkpoint: 'batch.before_commit',
  }),
  bug('an approval wakes nobody', ['I9'], APPROVAL_WAKES_NOBODY),
  bug('a result wakes nobody', ['I9'], { file: 'gate/transition.ts', in: 'follow', do: 'remove call', call: 'sessions.add' }),
  bug('the model is never told of a decline', ['I6', 'I9'], {
    file: 'gate/transition.ts',
    in: 'FOLLOWS',
    do: 'replace value',
    property: ['decline'],
    by: '{}',
  }),
  bug(
    'a decision counts after the deadline',
    ['I2'],
    { file: 'store/tables/action-moves.ts', in: 'CONDITIONS', do: 'replace value', property: ['approve', 'proposed'], by: '() => []' },
    { file: 'store/tables/action-moves.ts', in: 'CONDITIONS', do: 'replace value', property: ['decline', 'proposed'], by: '() => []' },
  ),
  bug('what was decided meanwhile expires all the same', ['I2'], {
    file: 'store/tables/action-moves.ts',
    in: 'expireAction',
    do: 'remove guard',
    column: 'state',
  }),
  bug('a tool is called before the intent is stored', ['I1', 'I5', 'I4'], {
    file: 'gate/execute/execute.ts',
    in: 'executeNow',
    do: 'begin with',
    statement: `await (await import('./attempt.ts')).attempt(arguments[0], arguments[1])`,
  }),
  bug('what may have happened is called a failure', ['I4'], {
    file: 'gate/execute/attempt.ts',
    in: 'readError',
    do: 'set condition',
    reads: 'ambiguous',
    to: false,
  }),
  bug('an attempt is sent again to a target that knows no keys', ['I4'], {
    file: 'gate/execute/verify-binding.ts',
    in: 'mayResend',
    do: 'replace body',
    by: 'true',
  }),
  bug('what is not found yet is called a failure', ['I4'], {
    file: 'gate/execute/reconcile.ts',
    in: 'readFinding',
    do: 'replace read',
    property: 'authoritative',
    by: 'true',
  }),
  bug('nobody checks an unknown outcome again', ['I9'], { file: 'gate/due.ts', in: 'moveTogether', do: 'remove call', call: 'background' }),
  bug('what was of unknown outcome is tried again under another key', ['I4'], {
    file: 'gate/execute/attempt-key.ts',
    in: 'nextKey',
    do: 'set condition',
    reads: 'in_doubt',
    to: false,
  }),
  bug('an attempt is sent again under another key', ['I4'], {
    file: 'gate/execute/start-attempt.ts',
    in: 'resendAttempt',
    do: 'replace value',
    property: ['key'],
    by: '$ + arguments[1].attempt',
  }),
  bug(
    'the model is told a second time when an action is tried again',
    ['I6'],
    { file: 'gate/transition.ts', in: 'follow', do: 'set condition', leadsTo: 'noteResult', to: false },
    TOLD_IS_FORGOTTEN,
  ),
  bug(
    'a result is written twice',
    ['I6'],
    { file: 'gate/transition.ts', in: 'follow', do: 'repeat call', call: 'writeToolResult' },
    TOLD_IS_FORGOTTEN,
  ),
  bug('the model is called while an action is open', ['I6'], {
    file: 'agent/advance.ts',
    in: 'nextOf',
    do: 'set comparison',
    reads: 'length',
    to: false,
    at: 0,
  }),
  bug('a step goes by the history that it remembers', ['I6', 'I9', 'unexpected'], {
    file: 'agent/history.ts',
    in: 'read',
    do: 'replace value',
    property: ['after'],
    by: '($ === 0 ? 0 : $ + 2)',
  }),
  bug(
    'a piece of a message is said after the message',
    ['I7'],
    { file: 'agent/deltas.ts', in: 'close', do: 'replace body', by: '{ return [] }' },
    { file: 'agent/deltas.ts', in: 'storeDeltas', do: 'set condition', reads: 'isAtStep', to: false },
  ),
  bug('a start takes up nothing that was left', ['I9'], {
    file: 'gate/execute/recover.ts',
    in: 'recover',
    do: 'begin with',
    statement: 'if (arguments[1] === undefined) return',
  }),
  rareBug('a start forgets the messages that wait in the queue', ['I9'], {
    file: 'store/tables/sessions.ts',
    in: 'sessionsWithWork',
    do: 'replace call',
    call: 'sessionsWithQueue.all',
    by: '[]',
  }),
  bug('a request that is sent again is done again', ['I2'], {
    file: 'store/idempotency.ts',
    in: 'idempotently',
    do: 'remove call',
    call: 'insertAnswer',
  }),
  bug('a reader loses what is committed while it reads', ['I7', 'I9'], {
    file: 'http/follow.ts',
    in: 'take',
    do: 'remove call',
    call: 'catchUp',
  }),
  bug('a full disk loses the answer of a target', ['I9'], {
    file: 'gate/execute/retry.ts',
    in: 'untilItWorks',
    do: 'set condition',
    reads: 'pauseAfter',
    to: true,
  }),
  bug('the second of two deciders wins as well', ['I2'], {
    file: 'store/tables/action-moves.ts',
    in: 'moveFrom',
    do: 'remove guard',
    column: 'state',
  }),
  rareBug('an answer counts whoever holds the attempt by now', ['I5', 'I2', 'I4'], {
    file: 'store/tables/action-moves.ts',
    in: 'moveFrom',
    do: 'remove guard',
    column: 'epoch',
  }),
  bug(
    'who lives is taken over',
    ['I5', 'I9'],
    { file: 'dispatch/cluster/failure-detector.ts', in: 'look', do: 'set condition', reads: 'heldBy', to: false },
    { file: 'dispatch/cluster/processes.ts', in: 'takeOver', do: 'set condition', reads: 'takeProcess', to: false },
  ),
  bug(
    'nobody takes over what a dead process was carrying out',
    ['I9'],
    { file: 'dispatch/cluster/cluster-membership.ts', in: 'takeOver', do: 'remove call', call: 'work.recover' },
    { file: 'dispatch/cluster/cluster-membership.ts', in: 'adoptOrphans', do: 'remove call', call: 'work.recover' },
  ),
  bug('a model call of a dead process stays taken', ['I9'], {
    file: 'dispatch/cluster/cluster-membership.ts',
    in: 'takeOver',
    do: 'remove call',
    call: 'giveBackSteps',
  }),
  rareBug(
    'a step is made by everybody who was woken',
    ['I2', 'I6', 'I7', 'I9', 'unexpected'],
    { file: 'gate/session-writer.ts', in: 'openRun', do: 'set comparison', reads: 'steps', to: true },
    { file: 'store/tables/sessions.ts', in: 'countStep', do: 'remove guard', column: 'steps' },
  ),
  bug('a reader is handed what does not join on', ['I7'], {
    file: 'dispatch/cluster/postgres-hub.ts',
    in: 'publishToSession',
    do: 'set comparison',
    reads: 'restsAt',
    to: false,
  }),
  bug('a job whose fetch answer was lost stays locked', ['I9'], {
    file: 'dispatch/cluster/job-dispatch.ts',
    in: 'unlockLost',
    do: 'begin with',
    statement: 'return',
  }),
  bug('an approval wakes nobody, and nobody compares what is due with what is under way', ['I9'], APPROVAL_WAKES_NOBODY, {
    file: 'dispatch/reconciler.ts',
    in: 'schedule',
    do: 'set condition',
    reads: 'isAble',
    to: false,
  }),
  bug('a database that was put back to an earlier moment is not held', ['I4'], {
    file: 'instance/judge.ts',
    in: 'whyCopy',
    do: 'set condition',
    reads: 'isMarkThere',
    to: true,
  }),
  bug(
    'a held server starts what was approved before',
    ['I4'],
    { file: 'start/start-engine.ts', in: 'startEngine', do: 'set condition', leadsTo: 'goOn', to: true },
    { file: 'store/tables/instance.ts', in: 'mayStart', do: 'replace body', by: 'sql<boolean>`1 = 1`' },
  ),
  bug('a held server takes votes', ['I2', 'I4'], {
    file: 'http/hold.ts',
    in: 'requireTakenWhileHeld',
    do: 'begin with',
    statement: `if (arguments[2].endsWith('/decision')) return`,
  }),
  bug('other processes are not told of news', ['I7'], {
    file: 'dispatch/cluster/postgres-hub.ts',
    in: 'publish',
    do: 'remove call',
    call: 'notices.tell',
  }),
]
