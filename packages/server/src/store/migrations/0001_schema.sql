-- The tables of a new database, for SQLite and Postgres. migrate.ts translates the types, and parts for one of them are marked.

create table setting (
  name  text primary key,
  value text not null
) strict, without rowid;

-- The installation that this database belongs to. A file beside the database holds the other half, so that a copy is recognised.
create table instance (
  only_one integer primary key check (only_one = 1),
  -- A new one with each epoch.
  id       text not null,
  epoch    integer not null,
  -- Null until a server has started on this database.
  bound_at integer,
  -- Postgres: the cluster and the database in it, and the timeline that a process has confirmed.
  system   text,
  timeline text,
  -- The hash of the token in the environment of its processes.
  token    text,
  -- While this is set, no action runs.
  held_at  integer,
  held_why text
) strict;

-- begin sqlite
insert into instance (only_one, id, epoch) values (1, lower(hex(randomblob(16))), 1);
-- end sqlite
-- begin postgres
insert into instance (only_one, id, epoch) values (1, replace(gen_random_uuid()::text, '-', ''), 1);

-- Positions in the log are made from transaction ids, counted from this one.
insert into setting (name, value) values ('log.first_transaction', pg_current_xact_id()::text);

-- Both return null where the service does not let its users ask.
create function countersign_timeline() returns text language plpgsql stable as $$
begin
  return substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $$;
create function countersign_system() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system())::text
    || '/' || (select oid from pg_database where datname = current_database())::text;
exception when others then
  return null;
end $$;

-- The server processes on this database. A process is alive while its own connection holds the advisory lock of its number.
create table process (
  id         text collate "C" primary key,
  number     integer generated always as identity unique,
  -- Machine and process number, for people.
  name       text collate "C" not null,
  version    text collate "C" not null,
  -- JSON: the ids under which it takes jobs.
  pools      text collate "C" not null,
  -- The connection that holds the lock.
  backend    integer not null,
  started_at bigint not null,
  -- Written every second, in place.
  seen_at    bigint not null
) with (fillfactor = 50);

-- graphile-worker's add_jobs without its NOTIFY: a transaction that notifies commits alone, one after the other, which costs most of the
-- throughput (transactions/s at 1, 8, 32 in flight: 682, 1421, 1366 without NOTIFY; 361, 808, 826 with it). The caller wakes the workers
-- after the commit. The plans are kept, because planning took four fifths of the call (180 µs instead of 750), and use indexes, because they
-- were made when the table was small.
create schema countersign_quiet;
create function countersign_quiet.pg_notify(text, text) returns void language sql as '';
create function countersign_quiet.add_jobs(specs json) returns void language plpgsql
  set search_path = countersign_quiet, pg_catalog
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  perform graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, specs)));
end
$$;
-- end postgres

create table principal (
  id             text primary key,
  kind           text not null check (kind in ('person', 'agent', 'service')),
  name           text not null,
  roles          text not null,
  created_at     integer not null,
  -- The person behind a principal: a person's own id; for an agent or a service, the person who owns it.
  person_id      text references principal (id),
  -- A disabled person cannot sign in, and their votes do not count.
  disabled_at    integer,
  disabled_by    text,
  -- JSON: the roles that the sign-in service gave at the last sign-in, a part of `roles`; null for somebody who has never used one.
  provided_roles text,
  -- The agent name that a key proves; null for none.
  agent          text
) strict;
create index principal_by_person on principal (person_id);

create table api_key (
  id           text primary key,
  principal_id text not null references principal (id),
  hash         text not null unique,
  created_at   integer not null,
  name         text not null default '',
  created_by   text references principal (id),
  -- JSON. Which of its principal's roles it carries, and what it may be used for; null: all of them, everything.
  roles        text,
  scopes       text,
  expires_at   integer,
  revoked_at   integer,
  revoked_by   text references principal (id),
  -- To the minute.
  last_used_at integer,
  -- A key that somebody else made for a person can only read until that person accepts it.
  accepted_at  integer
) strict;
create index api_key_by_principal on api_key (principal_id);

-- Who is signed in at a console.
create table console_session (
  id           text primary key,
  principal_id text not null references principal (id),
  -- SHA-256 of the secret in its cookie, and of the previous secret, which requests in flight during a rotation still carry.
  hash         text not null unique,
  earlier_hash text,
  how          text not null check (how in ('local', 'key', 'oidc')),
  -- The hash of the key that opened it. The session ends with that key.
  key_hash     text,
  -- The ID token, which the sign-in service expects at sign-out.
  id_token     text,
  created_at   integer not null,
  -- To the minute.
  seen_at      integer not null,
  rotated_at   integer not null,
  ended_at     integer
) strict;
create index console_session_earlier on console_session (earlier_hash) where earlier_hash is not null;
create index console_session_open on console_session (principal_id) where ended_at is null;

-- Sign-ins by OpenID Connect that were completed. Each is accepted once, across all processes.
create table used_sign_in (
  state_hash text primary key,
  used_at    integer not null
) strict, without rowid;
create index used_sign_in_by_time on used_sign_in (used_at);

-- Delegations: one person may decide for another until a time.
create table delegation (
  id         text primary key,
  from_id    text not null references principal (id),
  to_id      text not null references principal (id),
  reason     text,
  made_by    text not null references principal (id),
  expires_at integer not null,
  revoked_at integer,
  revoked_by text references principal (id),
  created_at integer not null
) strict, without rowid;
create index delegation_to on delegation (to_id) where revoked_at is null;

create table session (
  id             text primary key,
  agent          text not null,
  title          text not null,
  status         text not null check (status in ('idle', 'active', 'waiting_approval', 'completed', 'error')),
  owner_id       text not null references principal (id),
  last_seq       integer not null default 0,
  last_run       integer not null default 0,
  created_at     integer not null,
  updated_at     integer not null,
  archived_at    integer,
  -- The session's events up to this number are in the archive.
  archived_seq   integer not null default 0,
  -- The end of the session's chain of audit rows. It is here because each transaction of the session writes this row anyway.
  audit_seq      integer not null default 0,
  audit_hash     text not null default '',
  audit_place    integer,
  -- A deleted session keeps its row: its actions name it, and its part of the record ends in it.
  deleted_at     integer
) strict;
-- Active sessions among millions that wait for a person.
create index session_active on session (id) where status = 'active';

-- Who may write in a session besides its owner.
create table session_participant (
  session_id   text not null references session (id),
  principal_id text not null references principal (id),
  invited_by   text not null references principal (id),
  created_at   integer not null,
  primary key (session_id, principal_id)
) strict, without rowid;
create index session_participant_by_principal on session_participant (principal_id, session_id);

create table run (
  session_id          text not null references session (id),
  number              integer not null,
  id                  text not null,
  state               text not null check (state in ('open', 'done', 'failed', 'cancelled')),
  steps               integer not null default 0,
  input_tokens        integer not null default 0,
  cached_input_tokens integer not null default 0,
  output_tokens       integer not null default 0,
  created_at          integer not null,
  updated_at          integer not null,
  cache_write_tokens  integer not null default 0,
  -- The number of steps whose tokens were estimated.
  estimated_steps     integer not null default 0,
-- begin postgres
  -- The process that makes the run's next model call, and the number of steps when it began.
  runner text collate "C",
  claimed bigint,
-- end postgres
  primary key (session_id, number)
) strict, without rowid;
create index run_by_time on run (created_at);
-- At most one run of a session is open. This is the last guard against two loops on one session.
create unique index run_open on run (session_id) where state = 'open';
-- begin postgres
create index run_claimed on run (runner) where state = 'open' and claimed = steps;
-- end postgres

create table message (
  session_id   text not null references session (id),
  -- Its position in the session. A queued message gets its final position when its turn comes.
  seq          integer not null,
  id           text not null,
  run_id       text,
  role         text not null check (role in ('user', 'assistant', 'tool', 'system')),
  kind         text not null check (kind in ('text', 'request', 'note')),
  -- 1 when the model receives it; 0 for commands, requests, notes for people, and queued messages.
  in_history   integer not null,
  queued       integer not null,
  content      text not null,
  tool_calls   text,
  tool_call_id text,
  action_ids   text,
  model        text,
  -- Of an assistant message: the provider's parts, which are sent back verbatim. Of a tool message: the outcome of the call.
  payload      text,
  created_at   integer not null,
  -- The author. They may not be allowed to approve an action that they asked for here.
  author_id    text references principal (id),
  primary key (session_id, seq)
) strict, without rowid;
create index message_author on message (session_id, author_id) where in_history = 1 and author_id is not null;
create index message_queued on message (session_id, seq) where queued = 1;

-- Requests that run on demand, by the id of the run that they begin.
create table agent_request (
  id         text primary key,
  session_id text not null references session (id),
  -- The position of its message while the message is held (message.queued = 2).
  held_seq   integer not null
) strict, without rowid;

-- One row per step: the model that answered and its tokens. Statistics read these rows and never the conversation.
create table model_call (
  session_id          text not null references session (id),
  run_id              text not null,
  -- From 1.
  step                integer not null,
  agent               text not null,
  -- The model that answered, or failed last.
  model               text not null,
  -- Why the agent's first model did not answer; null when it did.
  fell_back           text,
  -- Why the step failed; null when it did not.
  error               text,
  input_tokens        integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens  integer not null,
  output_tokens       integer not null,
  -- 1 when the provider gave no numbers and these are estimates.
  estimated           integer not null,
  created_at          integer not null,
  -- In order of time: new rows go to the end, and statistics read a range.
  primary key (created_at, session_id, run_id, step)
) strict, without rowid;

create table action (
  id               text primary key,
  session_id       text references session (id),
  run_id           text,
  message_id       text,
  tool_call_id     text,
  position         integer not null default 0,
  tool             text not null,
  effect           text not null check (effect in ('read', 'write')),
  destination      text not null,
  definition_hash  text not null,
  arguments        text not null,
  digest           text not null,
  revision         integer not null default 1,
  description      text not null,
  preview          text,
  preview_error    text,
  previewed_at     integer,
  risk             text not null,
  state            text not null check (state in ('proposed', 'approved', 'declined', 'expired', 'cancelled', 'executing', 'succeeded', 'failed', 'outcome_unknown')),
  policy           text not null,
  requires         text not null,
  requested_by     text not null references principal (id),
  agent            text,
  agent_says       text,
  executor         text not null check (executor in ('server', 'client')),
  attempt          integer not null default 0,
  epoch            integer not null default 0,
  -- 1 once the model was given a result. A later result reaches it as a note.
  result_delivered integer not null default 0,
  idempotency_key  text not null unique,
  result           text,
  result_url       text,
  error            text,
  expires_at       integer,
  created_at       integer not null,
  updated_at       integer not null,
  -- The process that executes the action. When it is gone, another process finds out the outcome.
  runner           text,
  -- The time of the next timer: a reminder, the expiry, or the end of a client's claim.
  due_at           integer,
  -- A person's answer about an unknown outcome: {by, outcome, note, at}.
  resolution       text,
  -- The action whose result this read reused.
  cached_from      text,
  -- Until this time, identical reads reuse this result.
  reusable_until   integer,
  -- When its session was archived. Archived actions accept no decisions.
  archived_at      integer,
  -- The client that executes the attempt. Only its result is accepted.
  claimed_by       text references principal (id),
  -- When arguments, results and texts were removed.
  redacted_at      integer,
  -- When people are reminded, and when more people are asked. `due_at` is the earliest of these and `expires_at`.
  remind_at        integer,
  escalate_at      integer,
  -- The grant that approved it.
  grant_id         text,
  -- A decision is also bound to these: the credential, and the state of the target on the card.
  credential       text not null default 'none',
  precondition     text,
  -- The version of the target (ETag) that the attempt requires.
  target_version   text,
  -- Why there is another revision: JSON of {why, reason, by, at}.
  revised          text,
  -- The person who edited the arguments last.
  edited_by        text references principal (id),
  -- 1 after an attempt with an unknown outcome. The action then keeps its idempotency key: under a new key it could take effect twice.
  in_doubt         integer not null default 0,
  -- The first attempt of the current series. A retry by a person starts a new series; a repeat by the server does not.
  first_send       integer not null default 1,
  -- Checks of an unknown outcome: JSON of {since, until, lastAt, lastFound}. The next check is at due_at, or none if that is null.
  checks           text,
  -- The epoch of the last attempt, and when a person released this action while others were held.
  instance_epoch   integer,
  released_at      integer,
  -- JSON: the ids of all people whose messages led to the action. Null: derived from the session.
  requesters       text,
  -- 1 when the caller's key proves the agent's name. The agent of a session is always known.
  agent_verified   integer not null default 0,
  -- How often it was proposed: the same call by the same requester without an idempotency key, while it waits, is the same action.
  times_asked      integer not null default 1,
  -- 1 for an action that was proposed without an idempotency key. Only these can be repeated by the same call.
  unkeyed          integer not null default 0
) strict;
-- Programs that run a model know an action by the id of its tool call.
create index action_by_call on action (tool_call_id) where tool_call_id is not null;
create index action_by_message on action (session_id, message_id, position) where session_id is not null;
-- A declined call does not go to people again in the same run.
create index action_declined on action (session_id, digest) where state = 'declined' and session_id is not null;
create index action_due on action (due_at) where due_at is not null;
create index action_open on action (session_id, id) where state in ('proposed', 'approved', 'executing');
create index action_reusable on action (session_id, digest) where reusable_until is not null;
create index action_unfinished on action (id) where state in ('approved', 'executing');
-- Unknown outcomes among millions of settled actions.
create index action_unknown on action (id) where state = 'outcome_unknown';
create index action_waiting on action (id) where state = 'proposed';
-- Each proposal counts the waiting actions of its requester.
create index action_waiting_of on action (requested_by) where state = 'proposed';

-- Every earlier revision of an action as people saw it, and why it ended. The latest revision is the action itself.
create table action_revision (
  action_id       text not null references action (id),
  revision        integer not null,
  tool            text not null,
  arguments       text not null,
  digest          text not null,
  definition_hash text not null,
  destination     text not null,
  credential      text not null,
  precondition    text,
  description     text not null,
  preview         text,
  preview_error   text,
  previewed_at    integer,
  risk            text not null,
  policy          text not null,
  requires        text not null,
  revised         text,
  ended           text not null,
  primary key (action_id, revision)
) strict, without rowid;

create table vote (
  action_id    text not null references action (id),
  revision     integer not null,
  principal_id text not null references principal (id),
  verdict      text not null check (verdict in ('approve', 'decline')),
  reason       text,
  created_at   integer not null,
  -- For a vote by delegation: the person who delegated.
  for_id       text references principal (id),
  primary key (action_id, revision, principal_id)
) strict, without rowid;

-- Recorded approvals of later calls. "Approve all" is one of them.
create table action_grant (
  id           text primary key,
  scope        text not null check (scope in ('session', 'agent')),
  session_id   text references session (id),
  agent        text,
  -- The outside agent that it is for; null for an agent of the configuration.
  requested_by text references principal (id),
  -- The tool; null for any of `definitions`.
  tool         text,
  -- JSON: the hash of each tool's definition, by name.
  definitions  text not null,
  -- Canonical JSON of the only arguments that it covers.
  arguments    text,
  -- A condition in CEL.
  condition    text,
  uses_left    integer,
  used         integer not null default 0,
  last_used_at integer,
  made_by      text not null references principal (id),
  -- The action from which it was made.
  made_from    text,
  expires_at   integer not null,
  revoked_at   integer,
  revoked_by   text references principal (id),
  created_at   integer not null,
  -- JSON: the ids of the people whose requests a grant of a session covers. Null: only the session's owner.
  requesters   text
) strict, without rowid;
create index action_grant_agent on action_grant (agent) where revoked_at is null and session_id is null;
create index action_grant_key on action_grant (requested_by) where revoked_at is null and requested_by is not null;
create index action_grant_session on action_grant (session_id) where revoked_at is null and session_id is not null;

-- One row for each Idempotency-Key of a POST, written in the transaction of the request.
create table once (
  scope        text not null,
  key          text not null,
  request_hash text not null,
  answer       text not null,
  created_at   integer not null,
  -- How long the answer is kept: a day, or 30 days after the action in it is settled.
  kept_for     text not null default 'day' check (kept_for in ('day', 'action')),
  primary key (scope, key)
) strict, without rowid;
create index once_by_time on once (kept_for, created_at);

-- MCP calls whose result was not delivered yet. Until then, the same call means the same action.
create table gateway_call (
  call       text primary key,
  once_key   text not null,
  action_id  text references action (id),
  created_at integer not null
) strict, without rowid;
create index gateway_call_action on gateway_call (action_id);
create index gateway_call_by_time on gateway_call (created_at);

-- The log of events. A number is never given twice, also after rows were deleted or archived.
create table event (
  id         integer primary key autoincrement,
  session_id text,
  last_seq   integer,
  delta_of   text,
  inbox      integer not null,
  events     text not null,
  created_at integer not null
) strict;
-- Events without a session: the archive finds them by age.
create index event_alone on event (id) where session_id is null;
create unique index event_by_session on event (session_id, last_seq) where session_id is not null;
create index event_delta on event (delta_of) where delta_of is not null;

-- The record: one row for each transition of an action and each change of rights, chained by hashes within its scope.
create table audit (
  -- Its position in the record, from the same sequence as the log of events.
  id        integer primary key,
  -- The session, the action where it has none, or 'system'.
  scope     text not null,
  -- Its number in the scope, from 1.
  seq       integer not null,
  -- The hash of the row before it in the scope; '' for the first.
  prev      text not null,
  at        integer not null,
  kind      text not null,
  actor     text not null,
  action_id text,
  -- Canonical JSON, and the salt of its hash. Both are null after a redaction.
  data      text,
  salt      text,
  data_hash text not null,
  hash      text not null,
  -- The position of the row before it in the scope. A session holds the position of its last row (audit_place). An index over all scopes would
  -- be one more page in every commit.
  follows   integer
) strict;
-- Scopes without a session that holds their end.
create unique index audit_chain on audit (scope, seq) where substr(scope, 1, 4) <> 'ses_';
-- A scope has one first row. The lock of the scope prevents two rows from following the same one, and `audit verify` checks it.
create unique index audit_first on audit (scope) where follows is null;

-- Signed heads: each covers the rows since the head before it.
create table audit_head (
  number    integer primary key,
  prev      text not null,
  at        integer not null,
  -- The positions of its first and last row, their number, and the times of the first and the last.
  first_id  integer not null,
  last_id   integer not null,
  row_count integer not null,
  first_at  integer not null,
  last_at   integer not null,
  rows_hash text not null,
  -- The public key, of 32 bytes.
  key       text not null,
  hash      text not null,
  signature text not null,
  -- The format of the hash. 2 also covers `follows` of each row, and a gap that a person accepted (`gap`, as JSON).
  format    integer not null,
  gap       text
) strict;
create unique index audit_head_gap on audit_head (number) where gap is not null;

-- One row for each file of the archive. The row is written before the file, so that an interrupted run is noticed. The transaction that deletes
-- the file's rows from the log fills in the other columns.
create table archive_file (
  number     integer primary key,
  folder     text not null,
  name       text not null,
  sha256     text,
  -- The hash of its last line, which the first line of the next file refers to.
  head       text,
  bytes      integer,
  row_count  integer,
  -- The highest position in the log that was archived, in this file or before.
  last_event integer,
  created_at integer not null
) strict;

-- Versions of the policy. One is in force; at most one is a shadow, which decides nothing.
create table policy_version (
  number     integer primary key,
  -- JSON.
  document   text not null,
  -- SHA-256 (hex) of its canonical form. After a rollback the same number can have another document.
  digest     text not null,
  source     text not null check (source in ('file', 'api')),
  author     text references principal (id),
  reason     text not null,
  in_use     text check (in_use in ('force', 'shadow')),
  created_at integer not null,
  -- The version that was in force when it was saved: its changes are shown against that one.
  replaces   integer
) strict;
create unique index policy_version_in_use on policy_version (in_use) where in_use is not null;

-- Proposals for which the shadow version decides differently from the version in force.
create table policy_difference (
  shadow    integer not null references policy_version (number),
  action_id text not null references action (id),
  in_force  integer not null,
  -- The verdicts of both; equal when only requirements or risk differ.
  was       text not null,
  would_be  text not null,
  -- JSON: the shadow version's whole decision.
  said      text not null,
  primary key (shadow, action_id)
) strict, without rowid;

-- The definition of each tool of a source when it was first seen, or when people last accepted it.
create table tool_pin (
  group_name text not null,
  tool       text not null,
  hash       text not null,
  definition text not null,
  pinned_at  integer not null,
  primary key (group_name, tool)
) strict, without rowid;

-- Objectives with their key results, and every change of them.
create table objective (
  id          text primary key,
  title       text not null,
  description text not null,
  owner       text not null,
  period      text not null,
  state       text not null check (state in ('open', 'achieved', 'missed', 'dropped')),
  version     integer not null,
  created_at  integer not null,
  updated_at  integer not null
) strict;

create table key_result (
  id            text primary key,
  objective_id  text not null references objective (id),
  title         text not null,
  metric        text not null,
  unit          text not null,
  start_value   text not null,
  target_value  text not null,
  current_value text not null,
  version       integer not null,
  archived_at   integer,
  created_at    integer not null,
  updated_at    integer not null
) strict;
create index key_result_of on key_result (objective_id);

create table objective_change (
  id            text primary key,
  objective_id  text not null,
  key_result_id text,
  kind          text not null,
  before        text not null,
  after         text not null,
  note          text,
  by_id         text,
  action_id     text not null,
  -- The key of the attempt that made it, so that a second send changes nothing.
  attempt_key   text not null unique,
  at            integer not null
) strict;
create index objective_change_of on objective_change (objective_id, id);

-- Webhooks.
create table webhook (
  id             text primary key,
  url            text not null,
  description    text not null,
  -- JSON: the types of events that it receives.
  events         text not null,
  -- `whsec_` and base64. It signs deliveries, so it cannot be stored as a hash. The earlier secret signs as well until `earlier_until`.
  secret         text not null,
  earlier_secret text,
  earlier_until  integer,
  -- The first failed attempt since the last success.
  failing_since  integer,
  disabled_at    integer,
  disabled_why   text check (disabled_why in ('admin', 'gone', 'failing')),
  created_by     text not null,
  created_at     integer not null
) strict, without rowid;

-- One event for one webhook, written in the transaction of the event.
create table webhook_delivery (
  webhook_id text not null,
  -- The id of the event: the header `webhook-id`, the same for each attempt and each webhook.
  id         text not null,
  type       text not null,
  action_id  text,
  -- JSON: ids, names of tools, states, times.
  facts      text not null,
  -- JSON: sentences that may contain values; null for none, and after a redaction.
  words      text,
  redacted   integer not null default 0,
  state      text not null check (state in ('waiting', 'delivered', 'failed')),
  -- Failed attempts since it was last queued.
  tries      integer not null default 0,
  -- The number of claims. Only the latest claim settles it.
  epoch      integer not null default 0,
  -- While it waits: when it is sent, or until when its claim holds.
  next_at    integer,
  -- The process that claimed it.
  runner     text,
  -- JSON: the latest attempts, and the beginning of the last answer.
  attempts   text not null default '[]',
  answer     text,
  created_at integer not null,
  ended_at   integer,
  primary key (webhook_id, id)
) strict, without rowid;
create index webhook_delivery_action on webhook_delivery (action_id);
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;
create index webhook_delivery_waiting on webhook_delivery (webhook_id, next_at) where state = 'waiting';
