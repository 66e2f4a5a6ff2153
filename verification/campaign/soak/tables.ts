/** Why a table does not grow without end, in words that the guide to retention shows. */
export type TableFate =
  /** Rows are deleted by `retention.ts` or by their maker; the soak fails when such a table keeps growing. */
  | { fate: 'deleted'; holds: string; after: string }
  /** There are as many rows as things in the configuration, processes or migrations. */
  | { fate: 'bounded'; atMost: string }
  /** Rows are records of what people and agents did, and stay. */
  | { fate: 'kept'; holds: string }

const deleted = (holds: string, after: string): TableFate => ({ fate: 'deleted', holds, after })
const bounded = (atMost: string): TableFate => ({ fate: 'bounded', atMost })
const kept = (holds: string): TableFate => ({ fate: 'kept', holds })

const HANDFUL = 'A handful of rows.'

/** Every table of both databases. */
export const TABLES: Readonly<Record<string, TableFate>> = {
  action: kept('Actions.'),
  action_grant: kept('Grants.'),
  action_revision: kept('Earlier revisions of actions.'),
  action_seen: kept('Who has had an action on their screen, until the action is redacted or archived.'),
  agent_request: kept('Requests that run call by call. Deleting the session deletes them.'),
  api_key: kept('Keys, also revoked ones.'),
  archive_file: kept('The files of the [archive](/guides/archive.md).'),
  audit: kept('The rows of the [record](/concepts/audit.md).'),
  audit_head: kept('The heads of the record.'),
  console_session: deleted('Sign-ins.', 'A day after the end.'),
  delegation: kept('Delegations.'),
  embed_token: deleted('Tokens that a host made for its own users.', 'When they have expired, or with their key or person.'),
  event: kept(
    'Everything that happens; the largest table. [Archive](/guides/archive.md) it. Deleting a session deletes most of its events.',
  ),
  gateway_call: deleted('Calls over MCP.', '30 days after the action was settled.'),
  instance: bounded(HANDFUL),
  key_result: kept('Key results.'),
  message: kept('Messages. Deleting the session deletes them.'),
  migration: bounded(HANDFUL),
  model_call: deleted('Steps of agents.', 'After 400 days.'),
  objective: kept('Objectives.'),
  objective_change: kept('Changes of objectives and key results.'),
  once: deleted('Answers under an `Idempotency-Key`.', 'After a day; of a proposal 30 days after its action was settled.'),
  policy_difference: deleted('Results of a policy version on trial.', 'When the trial ends.'),
  policy_version: kept('Versions of the policy.'),
  preference: bounded('Two rows of one person: quiet hours and saved views.'),
  principal: kept('People, agents and services.'),
  process: bounded('The running processes (Postgres).'),
  push_subscription: bounded('10 browsers of one person.'),
  registered_tool: bounded('200 tools of one owner, 5,000 in all. A removed one keeps its name.'),
  run: kept('Runs of agents.'),
  session: kept('Sessions.'),
  session_participant: kept('Invitations to sessions. Deleting the session deletes them.'),
  session_thread: kept('Ids that clients gave to sessions.'),
  setting: bounded(HANDFUL),
  snooze: deleted('Actions that people snoozed.', 'When the snooze has ended; at most 30 days.'),
  tool_pin: bounded('5,000 tools per MCP server.'),
  used_sign_in: deleted('Sign-ins with OpenID Connect.', 'After a day.'),
  vote: kept('Votes.'),
  webhook: bounded('50.'),
  webhook_delivery: deleted('Events for webhooks.', '30 days after it was delivered or given up.'),
  webhook_earlier_secret: bounded('4 of one webhook.'),
  'graphile_worker._private_job_queues': bounded(HANDFUL),
  'graphile_worker._private_jobs': deleted('Jobs (Postgres).', 'When done; a week after the last of 25 failed attempts.'),
  'graphile_worker._private_known_crontabs': bounded(HANDFUL),
  'graphile_worker._private_tasks': bounded(HANDFUL),
  'graphile_worker.migrations': bounded(HANDFUL),
}
