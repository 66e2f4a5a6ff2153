-- All text is in byte order, as on SQLite: lists go by id, and a database's own collation may be any.
create table setting (
  name  text collate "C" primary key,
  value text collate "C" not null
);

create table principal (
  id         text collate "C" primary key,
  kind       text collate "C" not null check (kind in ('person', 'agent', 'service')),
  name       text collate "C" not null,
  roles      text collate "C" not null,
  created_at bigint not null
);

create table api_key (
  id           text collate "C" primary key,
  principal_id text collate "C" not null references principal (id),
  hash         text collate "C" not null unique,
  created_at   bigint not null
);

create table session (
  id          text collate "C" primary key,
  agent       text collate "C" not null,
  title       text collate "C" not null,
  status      text collate "C" not null check (status in ('idle', 'active', 'waiting_approval', 'completed', 'error')),
  owner_id    text collate "C" not null references principal (id),
  approve_all_by text collate "C" references principal (id),
  last_seq    bigint not null default 0,
  last_run    bigint not null default 0,
  created_at  bigint not null,
  updated_at  bigint not null
);

create table run (
  session_id          text collate "C" not null references session (id),
  number              bigint not null,
  id                  text collate "C" not null,
  state               text collate "C" not null check (state in ('open', 'done', 'failed', 'cancelled')),
  steps               bigint not null default 0,
  input_tokens        bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens       bigint not null default 0,
  created_at          bigint not null,
  updated_at          bigint not null,
  primary key (session_id, number)
);
-- At most one run of a session is open: the last guard against two loops on one session.
create unique index run_open on run (session_id) where state = 'open';

create table message (
  session_id    text collate "C" not null references session (id),
  -- Its place in the session. A queued message gets its last place when its turn comes.
  seq           bigint not null,
  id            text collate "C" not null,
  run_id        text collate "C",
  role          text collate "C" not null check (role in ('user', 'assistant', 'tool', 'system')),
  kind          text collate "C" not null check (kind in ('text', 'request', 'note')),
  -- 1 when the model is given it; 0 for command words, requests, notes for people, and what waits in the queue.
  in_history    bigint not null,
  queued        bigint not null,
  content       text collate "C" not null,
  tool_calls    text collate "C",
  tool_call_id  text collate "C",
  action_ids    text collate "C",
  model         text collate "C",
  -- An assistant message: what its provider wants back verbatim. A tool message: how the call ended, for the model.
  payload       text collate "C",
  created_at    bigint not null,
  primary key (session_id, seq)
);
create index message_queued on message (session_id, seq) where queued = 1;

create table action (
  id              text collate "C" primary key,
  session_id      text collate "C" references session (id),
  run_id          text collate "C",
  message_id      text collate "C",
  tool_call_id    text collate "C",
  position        bigint not null default 0,
  tool            text collate "C" not null,
  effect          text collate "C" not null check (effect in ('read', 'write')),
  destination     text collate "C" not null,
  definition_hash text collate "C" not null,
  arguments       text collate "C" not null,
  digest          text collate "C" not null,
  revision        bigint not null default 1,
  description     text collate "C" not null,
  preview         text collate "C",
  preview_error   text collate "C",
  previewed_at    bigint,
  risk            text collate "C" not null,
  state           text collate "C" not null check (state in ('proposed', 'approved', 'declined', 'expired', 'cancelled', 'executing', 'succeeded', 'failed', 'outcome_unknown')),
  policy          text collate "C" not null,
  requires        text collate "C" not null,
  requested_by    text collate "C" not null references principal (id),
  agent           text collate "C",
  agent_says      text collate "C",
  executor        text collate "C" not null check (executor in ('server', 'client')),
  attempt         bigint not null default 0,
  epoch           bigint not null default 0,
  -- 1 once the model has been given a result of it: what comes later is told as a note.
  told            bigint not null default 0,
  idempotency_key text collate "C" not null unique,
  result          text collate "C",
  result_url      text collate "C",
  error           text collate "C",
  expires_at      bigint,
  created_at      bigint not null,
  updated_at      bigint not null
);
create index action_by_message on action (session_id, message_id, position) where session_id is not null;
create index action_open on action (session_id, id) where state in ('proposed', 'approved', 'executing');
create index action_waiting on action (id) where state = 'proposed';

create table vote (
  action_id    text collate "C" not null references action (id),
  revision     bigint not null,
  principal_id text collate "C" not null references principal (id),
  verdict      text collate "C" not null check (verdict in ('approve', 'decline')),
  reason       text collate "C",
  created_at   bigint not null,
  primary key (action_id, revision, principal_id)
);

-- The log: one row holds all that one transaction said to one session (16 events of a gated cycle are 6 rows).
create table event (
  -- The place of its last event in the log: the number of its transaction × 10,000, and what follows.
  id         bigint primary key,
  session_id text collate "C",
  -- The number of the last of its events in the session; null for what belongs to no session.
  last_seq   bigint,
  -- Set on the streamed pieces of a message: they give way to the message.
  delta_of   text collate "C",
  -- 1 when some event is about an action.
  inbox      bigint not null,
  -- [[seq, type, data], ...]
  events     text collate "C" not null,
  created_at bigint not null
);
create unique index event_by_session on event (session_id, last_seq) where session_id is not null;
create index event_delta on event (delta_of) where delta_of is not null;

-- One row per Idempotency-Key of a POST, written in the transaction that it guards.
create table once (
  scope        text collate "C" not null,
  key          text collate "C" not null,
  request_hash text collate "C" not null,
  answer       text collate "C" not null,
  created_at   bigint not null,
  primary key (scope, key)
);

-- The transaction that counts as the first of the log. The server raises it when the database moves to a cluster that counts from less.
insert into setting (name, value) values ('log.first_transaction', pg_current_xact_id()::text);

-- The process that carries the action out: when it is gone, somebody else finds out what became of the attempt.
alter table action add column runner text collate "C";
-- When time itself does the next thing to it: a reminder, its expiry, the end of a client's hold.
alter table action add column due_at bigint;
-- What a person said came of an unknown outcome: {by, outcome, note, at}.
alter table action add column resolution text collate "C";
-- The action whose result this read was given again.
alter table action add column cached_from text collate "C";
-- Until when other reads may be given this one's result.
alter table action add column reusable_until bigint;
create index action_unfinished on action (id) where state in ('approved', 'executing');
create index action_due on action (due_at) where due_at is not null;
create index action_reusable on action (session_id, digest) where reusable_until is not null;

alter table session add column archived_at bigint;

-- The server processes on this database. One lives while its own connection holds the advisory lock of its number.
create table process (
  id          text primary key,
  number      integer generated always as identity unique,
  -- Machine and process number, for people.
  name        text not null,
  version     text not null,
  -- The ids under which it takes jobs, as JSON.
  pools       text not null,
  -- The connection that holds the lock.
  backend     integer not null,
  started_at  bigint not null,
  seen_at     bigint not null
) with (fillfactor = 50); -- seen_at is written every second, in place

-- The process that makes the run's next model call, and how many steps the run had taken when it began.
alter table run add column runner text;
alter table run add column claimed integer;
create index run_claimed on run (runner) where state = 'open' and claimed = steps;

-- What is at work, among millions of sessions that wait for a person.
create index session_active on session (id) where status = 'active';

-- graphile-worker's add_jobs without its NOTIFY: a transaction that notifies commits alone, one after the other, which costs most of the
-- throughput (tx/s at 1, 8, 32 in flight: 682, 1421, 1366 quiet; 361, 808, 826 as it is). Whoever commits wakes the workers himself.
-- The plans are kept, because making them anew took four fifths of the call (180 µs instead of 750), and go by indexes, because they are
-- kept from a time when the table was small.
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

-- What outside agents' actions said: the archive looks for it by age.
create index event_alone on event (id) where session_id is null;

-- The session's events up to this number are in the archive.
alter table session add column archived_seq bigint not null default 0;
-- Since then nothing can be done about it any more.
alter table action add column archived_at bigint;

-- One row per file of the archive. It is there before the file is, so that what an interrupted run leaves is known; the columns without a
-- value are filled in by the transaction that takes the file's rows out of the log.
create table archive_file (
  number     bigint primary key,
  folder     text not null,
  name       text not null,
  sha256     text,
  -- The hash of its last line, which the first line of the next file goes on from.
  head       text,
  bytes      bigint,
  row_count  bigint,
  -- The highest place in the log of a row that was archived, in this file or before.
  last_event bigint,
  created_at bigint not null
);

-- What a person has to find out, among millions of settled actions.
create index action_unknown on action (id) where state = 'outcome_unknown';

-- Requests that run when somebody calls for them, by the id of their run, which begins then.
create table agent_request (
  id         text primary key,
  session_id text not null references session (id),
  -- The place of its message while that is held (message.queued = 2).
  held_seq   bigint not null
);

-- Programs that speak with a model know an action by the id of its tool call.
create index action_by_call on action (tool_call_id) where tool_call_id is not null;

-- Who carries the attempt out, where a client does: nobody else's result of it is taken.
alter table action add column claimed_by text references principal (id);

-- One row per transition of an action and per change of who may do what, chained by hashes within its scope.
create table audit (
  -- Its place in the record, from the same count as the places of the log of events.
  id        bigint primary key,
  -- The session, the action where it has none, or 'system'.
  scope     text collate "C" not null,
  -- Its number in the scope, from 1.
  seq       bigint not null,
  -- The hash of the row before it in the scope; '' for the first.
  prev      text collate "C" not null,
  at        bigint not null,
  kind      text collate "C" not null,
  actor     text collate "C" not null,
  action_id text collate "C",
  -- Canonical JSON, and what its hash is salted with. Both are null once the row was redacted.
  data      text collate "C",
  salt      text collate "C",
  data_hash text collate "C" not null,
  hash      text collate "C" not null
);
create unique index audit_chain on audit (scope, seq);

-- Signed from time to time: each head links the rows that came since the one before it.
create table audit_head (
  number    bigint primary key,
  prev      text collate "C" not null,
  at        bigint not null,
  -- The places of its first and last row, how many they are, and between which times they were written.
  first_id  bigint not null,
  last_id   bigint not null,
  row_count bigint not null,
  first_at  bigint not null,
  last_at   bigint not null,
  rows_hash text collate "C" not null,
  -- The public key, of 32 bytes.
  key       text collate "C" not null,
  hash      text collate "C" not null,
  signature text collate "C" not null
);

-- The end of the session's chain, kept with the row that its transactions read and write anyway.
alter table session add column audit_seq bigint not null default 0;
alter table session add column audit_hash text collate "C" not null default '';
-- Since then what the action was about is blanked.
alter table action add column redacted_at bigint;

-- The person behind a principal: a person's own id; for an agent or a service, the person who owns it.
alter table principal add column person_id text references principal (id);
update principal set person_id = id where kind = 'person';

alter table api_key add column name text not null default '';
alter table api_key add column created_by text references principal (id);
-- JSON. Which of its principal's roles it carries, and what it may be used for; null: all of them, everything.
alter table api_key add column roles text;
alter table api_key add column scopes text;
alter table api_key add column expires_at bigint;
alter table api_key add column revoked_at bigint;
alter table api_key add column revoked_by text references principal (id);
-- To the minute.
alter table api_key add column last_used_at bigint;
update api_key set name = (select principal.name from principal where principal.id = api_key.principal_id);

-- Who is signed in at a console.
create table console_session (
  id           text primary key,
  principal_id text not null references principal (id),
  -- SHA-256 of the secret in its cookie, and of the one before: what is under way while it changes still carries that.
  hash         text not null unique,
  earlier_hash text,
  how          text not null check (how in ('local', 'key', 'oidc')),
  -- Of the key that opened it: it ends with that key.
  key_hash     text,
  -- What the sign-in service wants back at sign-out.
  id_token     text,
  created_at   bigint not null,
  -- To the minute.
  seen_at      bigint not null,
  rotated_at   bigint not null,
  ended_at     bigint
);
create index console_session_earlier on console_session (earlier_hash) where earlier_hash is not null;
create index console_session_open on console_session (principal_id) where ended_at is null;

-- Answers of the sign-in service that were used: each is taken once, by whichever process.
create table used_sign_in (
  state_hash text primary key,
  used_at    bigint not null
);
create index used_sign_in_by_time on used_sign_in (used_at);

-- Versions of the policy, by number. One is in force; one at most is tried beside it and decides nothing.
create table policy_version (
  number     bigint primary key,
  -- JSON.
  document   text not null,
  -- SHA-256 (hex) of its canonical form: the same number can come up again with another document where a save was undone.
  digest     text not null,
  source     text not null check (source in ('file', 'api')),
  author     text references principal (id),
  reason     text not null,
  in_use     text check (in_use in ('force', 'shadow')),
  created_at bigint not null
);
create unique index policy_version_in_use on policy_version (in_use) where in_use is not null;

-- Proposals about which the version that is tried says something else than the one in force.
create table policy_difference (
  shadow     bigint not null references policy_version (number),
  action_id  text not null references action (id),
  in_force   bigint not null,
  -- The verdicts of both; equal where only requirements or risk are others.
  was        text not null,
  would_be   text not null,
  -- JSON: all that the tried version says.
  said       text not null,
  primary key (shadow, action_id)
);

-- A vote that somebody gives for another: the person whose right it uses.
alter table vote add column for_id text references principal (id);

-- When people are reminded and when others are asked too, each once; `due_at` is the first of these and of `expires_at`.
alter table action add column remind_at bigint;
alter table action add column escalate_at bigint;
-- The grant by which it was approved.
alter table action add column grant_id text;
update action set remind_at = due_at where state = 'proposed' and due_at is not null and (expires_at is null or due_at < expires_at);
-- What people declined is not asked again in the same run.
create index action_declined on action (session_id, digest) where state = 'declined' and session_id is not null;

-- Who wrote it. What they asked for in this way they may not be allowed to approve.
alter table message add column author_id text references principal (id);

-- Who decides in whose place, and until when.
create table delegation (
  id         text primary key,
  from_id    text not null references principal (id),
  to_id      text not null references principal (id),
  reason     text,
  made_by    text not null references principal (id),
  expires_at bigint not null,
  revoked_at bigint,
  revoked_by text references principal (id),
  created_at bigint not null
);
create index delegation_to on delegation (to_id) where revoked_at is null;

-- Recorded approvals of later calls. "Approve all" is one of them (`session.approve_all_by`, of earlier versions, means nothing any more).
create table action_grant (
  id           text primary key,
  scope        text not null check (scope in ('session', 'agent')),
  session_id   text references session (id),
  agent        text,
  -- The key of the outside agent that it is for; null for an agent of the configuration.
  requested_by text references principal (id),
  -- The tool that it is for; null for any of `definitions`.
  tool         text,
  -- JSON: the tools as they were, by name, each with the hash of its definition.
  definitions  text not null,
  -- Canonical JSON of exactly these arguments.
  arguments    text,
  -- A condition in CEL.
  condition    text,
  uses_left    bigint,
  used         bigint not null default 0,
  last_used_at bigint,
  made_by      text not null references principal (id),
  -- The action it was made for.
  made_from    text,
  expires_at   bigint not null,
  revoked_at   bigint,
  revoked_by   text references principal (id),
  created_at   bigint not null
);
create index action_grant_session on action_grant (session_id) where revoked_at is null and session_id is not null;
create index action_grant_agent on action_grant (agent) where revoked_at is null and session_id is null;
create index action_grant_key on action_grant (requested_by) where revoked_at is null and requested_by is not null;

-- What a decision is bound to, besides tool, arguments and destination: whose rights, and what the target was when it was shown.
alter table action add column credential text not null default 'none';
alter table action add column precondition text;
-- The version of the target (ETag) that the attempt is held against.
alter table action add column target_version text;
-- Why the revision is not the first: JSON of {why, reason, by, at}.
alter table action add column revised text;
-- Who changed the arguments last.
alter table action add column edited_by text references principal (id);

-- Every earlier revision of an action, as it was shown, and why it ended. The last one is the action.
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
  previewed_at    bigint,
  risk            text not null,
  policy          text not null,
  requires        text not null,
  revised         text,
  ended           text not null,
  primary key (action_id, revision)
);

-- Each row names the place of the one that it follows in its scope, and a session that of its last row: what an index over all scopes was
-- for, which was written to in another place for every row.
alter table audit add column follows bigint;
update audit set follows = (select earlier.id from audit as earlier where earlier.scope = audit.scope and earlier.seq = audit.seq - 1);
alter table session add column audit_place bigint;
update session set audit_place = (select id from audit where scope = session.id order by seq desc limit 1);
drop index audit_chain;
-- One row is the first. That no two follow the same one is for the lock of the scope, and for `audit verify`: an index over all rows was
-- one page more in every commit.
create unique index audit_first on audit (scope) where follows is null;
-- What has no session to remember its end.
create unique index audit_chain on audit (scope, seq) where substr(scope, 1, 4) <> 'ses_';

-- What the sources of tools said that each tool is, when it was first seen or when people last agreed to it.
create table tool_pin (
  group_name text not null,
  tool       text not null,
  hash       text not null,
  definition text not null,
  pinned_at  bigint not null,
  primary key (group_name, tool)
);

-- Objectives with their key results, and every change of them.
create table objective (
  id          text primary key,
  title       text not null,
  description text not null,
  owner       text not null,
  period      text not null,
  state       text not null check (state in ('open', 'achieved', 'missed', 'dropped')),
  version     bigint not null,
  created_at  bigint not null,
  updated_at  bigint not null
);
create table key_result (
  id            text primary key,
  objective_id  text not null references objective (id),
  title         text not null,
  metric        text not null,
  unit          text not null,
  start_value   text not null,
  target_value  text not null,
  current_value text not null,
  version       bigint not null,
  archived_at   bigint,
  created_at    bigint not null,
  updated_at    bigint not null
);
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
  -- The key of the attempt that made it: whatever is sent again is done once.
  attempt_key   text not null unique,
  at            bigint not null
);
create index objective_change_of on objective_change (objective_id, id);

-- Calls that came in over MCP and whose result nobody was given yet: the same call again is the same action until then.
create table gateway_call (
  call       text primary key,
  once_key   text not null,
  action_id  text references action (id),
  created_at bigint not null
);
create index gateway_call_action on gateway_call (action_id);

-- One row per step: which model answered, and what it counted. Statistics read these and never the conversation.
create table model_call (
  session_id          text collate "C" not null references session (id),
  run_id              text collate "C" not null,
  -- From 1.
  step                bigint not null,
  agent               text collate "C" not null,
  -- Who answered, or failed last.
  model               text collate "C" not null,
  -- Why the agent's first model did not answer; null when it did.
  fell_back           text collate "C",
  -- Why the step failed; null when it did not.
  error               text collate "C",
  input_tokens        bigint not null,
  cached_input_tokens bigint not null,
  cache_write_tokens  bigint not null,
  output_tokens       bigint not null,
  -- 1 when the provider did not say, and the numbers are our estimate.
  estimated           bigint not null,
  created_at          bigint not null,
  -- By time: a row is written behind the last one, and statistics read a piece of it.
  primary key (created_at, session_id, run_id, step)
);
alter table run add column cache_write_tokens bigint not null default 0;
-- How many of its steps were estimated.
alter table run add column estimated_steps bigint not null default 0;
create index run_by_time on run (created_at);

-- A version is shown by what it changed: against the one that was in force when it was saved, which a tried one in between is not.
alter table policy_version add column replaces bigint;

-- 1 once an attempt ended without a known outcome: from then on the action keeps its idempotency key. Under another key it could happen twice.
alter table action add column in_doubt integer not null default 0;
-- The attempt that the current series of sends began with. A retry by a person begins a new series, a repeat by the server does not.
alter table action add column first_send integer not null default 1;
-- How an unknown outcome is checked: JSON of {since, until, lastAt, lastFound}. The next check is at due_at; none is planned where that is null.
alter table action add column checks text;

update action set first_send = cast(substr(idempotency_key, length(id) + 2) as integer)
where idempotency_key like id || '.%' and idempotency_key <> id || '.1';

update action set in_doubt = 1
where effect = 'write'
  and (state = 'outcome_unknown'
    or resolution is not null
    or attempt > first_send
    or (state = 'failed' and (error like '%"kind":"ambiguous"%' or error like '%"kind":"not_done"%')));

-- Which installation this database belongs to. Its other half lies outside the database, so that a copy can be told from the original.
create table instance (
  only_one integer primary key check (only_one = 1),
  id text not null, -- another one with each epoch
  epoch bigint not null,
  bound_at bigint, -- null until a server has started on it
  system text, -- which cluster and which database of it
  timeline text, -- the one that a process has vouched for
  token text, -- hash of the token that its processes have in their environment
  held_at bigint, -- while this is set, nothing is carried out
  held_why text
);

insert into instance (only_one, id, epoch) values (1, replace(gen_random_uuid()::text, '-', ''), 1);

-- The epoch that the last attempt was started in, and when a person let an action go on although the rest is held.
alter table action add column instance_epoch bigint;
alter table action add column released_at bigint;

-- Both answer null where the service does not let its users ask.
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

-- How long an answer is kept: a day after it was given, or until 30 days after the action that it names is settled.
alter table once add column kept_for text collate "C" not null default 'day' check (kept_for in ('day', 'action'));
update once set kept_for = 'action' where scope like '% mcp';
-- Old rows of these tables are looked for by time.
create index once_by_time on once (kept_for, created_at);
create index gateway_call_by_time on gateway_call (created_at);

-- The person at the server's own machine and the owner of the bootstrap key are one person, prn_local. Votes and requests stay as they were
-- recorded; rules about people compare person_id. Keys, delegations and grants of the bootstrap key's owner become those of that person.
update principal set person_id = 'prn_local'
  where person_id = 'prn_bootstrap' and exists (select 1 from principal as local_person where local_person.id = 'prn_local');
update api_key set principal_id = 'prn_local'
  where principal_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update delegation set from_id = 'prn_local'
  where from_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update delegation set to_id = 'prn_local'
  where to_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update action_grant set made_by = 'prn_local'
  where made_by = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
-- Over plain http, the cookie of a console reached every port of its host. Its secret is worth nothing from now on.
update console_session set ended_at = seen_at, id_token = null where ended_at is null;

-- Keys used to be derived from this secret and the row in `once`. Keys are random now, and a copy of the database computes none of them.
delete from setting where name = 'key_secret';

-- A key that somebody else made for a person only reads until that person accepts it. Keys from before this version keep working.
alter table api_key add column accepted_at bigint;
update api_key set accepted_at = created_at;

-- A disabled person signs in nowhere and counts nowhere.
alter table principal add column disabled_at bigint;
alter table principal add column disabled_by text;
-- JSON: the roles that the sign-in service gave at the last sign-in, a part of `roles`; null for somebody who has never used one.
alter table principal add column provided_roles text;
-- The id of somebody from a sign-in service is `prn_` and 32 hex digits; all other ids are shorter.
update principal set provided_roles = roles where kind = 'person' and length(id) = 36;

-- What ends with a person is looked for by person.
create index api_key_by_principal on api_key (principal_id);
create index principal_by_person on principal (person_id);

-- All whose words led to an action, by id, as JSON. Null: stored before this was kept, so they are worked out from the session.
alter table action add column requesters text collate "C";
-- 1 when the caller's key proves the agent's name. The agent of a session is always the server's own.
alter table action add column agent_verified bigint not null default 0;
-- The name that an agent's keys prove. Null: an agent from before names were kept, which proves none.
alter table principal add column agent text collate "C";
-- Whose requests a grant of a session covers, by id, as JSON. Null: made before this was kept, so only those of the session's owner.
alter table action_grant add column requesters text collate "C";
-- Who may write in a session besides its owner.
create table session_participant (
  session_id text collate "C" not null references session (id),
  principal_id text collate "C" not null references principal (id),
  invited_by text collate "C" not null references principal (id),
  created_at bigint not null,
  primary key (session_id, principal_id)
);
-- For the sessions that a person may see because they are invited.
create index session_participant_by_principal on session_participant (principal_id, session_id);
-- The authors of what the model was given in a session.
create index message_author on message (session_id, author_id) where in_history = 1 and author_id is not null;

-- How often an action was asked for: the same call of the same requester, without an idempotency key, while it waits, is the same action.
alter table action add column times_asked integer not null default 1;
-- 1 for an action that was proposed without an idempotency key: only such a one stands for a repeat of its call.
alter table action add column unkeyed integer not null default 0;
-- What a requester has waiting is counted each time they ask for more.
create index action_waiting_of on action (requested_by) where state = 'proposed';

-- How a head is hashed: 2 also covers which row each of its rows follows, and what a person accepted before it (`gap`, as JSON).
alter table audit_head add column format integer not null default 1;
alter table audit_head add column gap text collate "C";
-- A process of the version before, which remembers no head and would sign whatever is there, cannot sign any more.
alter table audit_head alter column format drop default;
create unique index audit_head_gap on audit_head (number) where gap is not null;

-- Where events about actions are sent, and what is signed there with.
create table webhook (
  id text collate "C" primary key,
  url text collate "C" not null,
  description text collate "C" not null,
  events text collate "C" not null, -- JSON: the types it hears of
  secret text collate "C" not null, -- `whsec_` and base64: what is sent is signed with it, so it cannot be stored as a hash
  earlier_secret text collate "C", -- signs beside the new one until `earlier_until`
  earlier_until bigint,
  failing_since bigint, -- the first of the attempts that failed since the last success
  disabled_at bigint,
  disabled_why text collate "C" check (disabled_why in ('admin', 'gone', 'failing')),
  created_by text collate "C" not null,
  created_at bigint not null
);

-- One event for one webhook, written in the transaction of what it tells of.
create table webhook_delivery (
  webhook_id text collate "C" not null,
  id text collate "C" not null, -- of the event: the header `webhook-id`, the same at each attempt and for each webhook
  type text collate "C" not null,
  action_id text collate "C",
  facts text collate "C" not null, -- JSON: ids, names of tools, states, times
  words text collate "C", -- JSON: sentences that may name values; null for none, or once the action was redacted
  redacted integer not null default 0,
  state text collate "C" not null check (state in ('waiting', 'delivered', 'failed')),
  tries integer not null default 0, -- failed attempts since it was last put in the queue
  epoch integer not null default 0, -- how often it was claimed: only the last one to claim it settles it
  next_at bigint, -- while it waits: when it is sent, or until when whoever claimed it has it
  runner text collate "C", -- the process that claimed it
  attempts text collate "C" not null default '[]', -- JSON: the last of them
  answer text collate "C", -- the beginning of what the last one was answered
  created_at bigint not null,
  ended_at bigint,
  primary key (webhook_id, id)
);
create index webhook_delivery_waiting on webhook_delivery (webhook_id, next_at) where state = 'waiting';
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;
create index webhook_delivery_action on webhook_delivery (action_id);

-- A deleted session keeps its row: its actions name it, and its part of the record ends in it.
alter table session add column deleted_at bigint;

