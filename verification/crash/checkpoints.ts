/**
 * When a checkpoint is reached: while a server works, when it starts on an empty database, at every start, while it stops, after another
 * process has died. This campaign leaves out two groups: checkpoints reached only when something besides the servers fails or changes (the
 * database is unreachable, a process is frozen, a target does not answer or differs from what was shown, approvers leave), and the commands
 * that archive, back up and restore, which are killed in their own tests. Checkpoints that only a source of tools reaches belong to the part
 * `features`; deleting a session, sending to webhooks and accepting a copy have kills in their own acceptance tests.
 */
export type Phase = 'work' | 'first' | 'start' | 'stop' | 'takeover' | 'fault' | 'archive' | 'feature' | 'own'

export interface Checkpoint {
  name: string
  phase: Phase
  /** The only database where it is reached. */
  only?: 'sqlite' | 'postgres'
}

const at = (phase: Phase, names: readonly string[], only?: Checkpoint['only']): Checkpoint[] =>
  names.map((name) => ({ name, phase, ...(only && { only }) }))

/** Every checkpoint that the code names with `checkpoint`, and when a server reaches it. */
export const CHECKPOINTS: readonly Checkpoint[] = [
  ...at('first', ['migrate.before_commit', 'migrate.after_commit']),
  ...at('start', ['start.opened', 'start.recovered', 'start.dispatching', 'start.listening', 'recover.begin', 'recover.taken_over']),
  ...at('start', ['recover.put_up'], 'sqlite'),
  ...at('stop', ['stop.asked', 'stop.left', 'stop.drained']),
  ...at('work', ['session.after_store', 'message.before_store', 'message.storing', 'message.after_store']),
  ...at('work', ['request.before_store', 'request.storing', 'request.after_store']),
  ...at('work', ['request.before_call', 'request.calling', 'request.after_call']),
  ...at('work', ['run.before_start', 'run.after_start', 'run.before_fail', 'run.after_fail']),
  ...at('work', ['step.before_claim', 'step.claimed'], 'postgres'),
  ...at('work', ['step.before_model', 'step.hearing', 'step.after_model', 'step.before_store', 'step.storing', 'step.after_store']),
  ...at('work', ['delta.before_store', 'delta.after_store']),
  ...at('work', ['propose.before_store', 'propose.storing', 'propose.after_store']),
  ...at('work', ['decide.before_store', 'decide.storing', 'decide.after_store', 'approve.storing']),
  ...at('work', ['cancel.before_store', 'cancel.storing', 'cancel.after_store']),
  ...at('work', ['execute.before_start', 'execute.looked', 'execute.starting', 'execute.started', 'execute.before_send']),
  ...at('work', ['execute.answered', 'execute.not_answered', 'settle.before_store', 'settle.storing', 'settle.after_store']),
  ...at('work', ['resend.waiting', 'resend.before_store', 'resend.storing', 'resend.after_store']),
  ...at('work', ['verify.before_read', 'verify.before_ask', 'verify.answered']),
  ...at('work', ['check.taking', 'check.before_store', 'check.after_store']),
  ...at('work', ['resolve.before_store', 'resolve.storing', 'resolve.after_store']),
  ...at('work', ['retry.before_look', 'retry.before_store', 'retry.storing', 'retry.after_store']),
  ...at('work', ['claim.before_store', 'claim.storing', 'claim.after_store']),
  ...at('work', ['result.before_store', 'result.storing', 'result.after_store', 'hold.ending']),
  ...at('work', ['timer.fired', 'timer.before_store', 'timer.after_store', 'timer.batch_done', 'expire.storing', 'remind.storing']),
  ...at('fault', [
    'escalate.storing',
    'extend.storing',
    'redact.before_store',
    'redact.after_store',
    'seal.before_store',
    'seal.after_store',
  ]),
  ...at('work', ['http.before_answer', 'http.after_answer']),
  ...at('work', ['batch.before_begin', 'batch.before_commit', 'batch.after_commit', 'batch.before_resolve'], 'sqlite'),
  ...at('work', ['commit.before_send', 'commit.after_send', 'commit.after_answer', 'notice.before_send', 'notice.after_send'], 'postgres'),
  ...at('takeover', ['takeover.begun', 'takeover.recovered', 'takeover.steps_given_back', 'takeover.jobs_unlocked'], 'postgres'),
  ...at('takeover', ['takeover.before_forget', 'takeover.done'], 'postgres'),
  ...at('archive', ['archive.before_begin', 'archive.begun', 'archive.before_fsync', 'archive.before_rename', 'archive.renamed']),
  ...at('archive', ['archive.after_manifest', 'archive.before_store', 'archive.storing', 'archive.after_store', 'archive.before_forget']),
  ...at('archive', ['backup.before_rename', 'restore.before_commit']),
  ...at('fault', ['store.refused', 'verify.before_store', 'verify.after_store']),
  ...at('fault', ['revise.storing', 'refresh.before_store', 'refresh.storing', 'refresh.after_store']),
  ...at('fault', ['edit.before_read', 'edit.before_store', 'edit.storing', 'edit.after_store']),
  ...at('feature', ['objectives.storing']),
  ...at('own', ['session.before_delete', 'session.deleting', 'session.after_delete']),
  ...at('own', ['accept.attempts_ended', 'accept.stored']),
  ...at('own', ['webhook.before_claim', 'webhook.before_send', 'webhook.before_store', 'webhook.after_store']),
  ...at('fault', ['process.rejoined'], 'postgres'),
]
