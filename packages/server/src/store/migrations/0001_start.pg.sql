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
