/**
 * Every table, and who keeps it from growing without end:
 * - `deleted`: rows are deleted by `retention.ts` or by what made them; the soak fails when such a table keeps growing;
 * - `bounded`: as many rows as there are things in the configuration, processes or migrations;
 * - `kept`: rows are records of what people and agents did, and stay.
 *
 * `docs/guides/retention.md` has the limits.
 */
export const TABLES: Readonly<Record<string, 'deleted' | 'bounded' | 'kept'>> = {
  action: 'kept',
  action_grant: 'kept',
  action_revision: 'kept',
  action_seen: 'kept',
  agent_request: 'kept',
  api_key: 'kept',
  archive_file: 'kept',
  audit: 'kept',
  audit_head: 'kept',
  console_session: 'deleted',
  delegation: 'kept',
  embed_token: 'deleted',
  // `countersign archive` moves them to files.
  event: 'kept',
  gateway_call: 'deleted',
  instance: 'bounded',
  key_result: 'kept',
  message: 'kept',
  migration: 'bounded',
  model_call: 'deleted',
  objective: 'kept',
  objective_change: 'kept',
  once: 'deleted',
  policy_difference: 'deleted',
  policy_version: 'kept',
  // Two of a person: quiet hours and saved views.
  preference: 'bounded',
  principal: 'kept',
  process: 'bounded',
  // At most 10 of a person.
  push_subscription: 'bounded',
  // At most 5,000, and 200 of one owner.
  registered_tool: 'bounded',
  run: 'kept',
  session: 'kept',
  session_participant: 'kept',
  session_thread: 'kept',
  setting: 'bounded',
  snooze: 'deleted',
  tool_pin: 'bounded',
  used_sign_in: 'deleted',
  vote: 'kept',
  // One row for each webhook an admin made, at most 50.
  webhook: 'bounded',
  webhook_delivery: 'deleted',
  // Four for each webhook.
  webhook_earlier_secret: 'bounded',
  'graphile_worker._private_job_queues': 'bounded',
  'graphile_worker._private_jobs': 'deleted',
  'graphile_worker._private_known_crontabs': 'bounded',
  'graphile_worker._private_tasks': 'bounded',
  'graphile_worker.migrations': 'bounded',
}
