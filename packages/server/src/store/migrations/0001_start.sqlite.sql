create table setting (
  name  text primary key,
  value text not null
) strict, without rowid;

create table principal (
  id         text primary key,
  kind       text not null check (kind in ('person', 'agent', 'service')),
  name       text not null,
  roles      text not null,
  created_at integer not null
) strict;

create table api_key (
  id           text primary key,
  principal_id text not null references principal (id),
  hash         text not null unique,
  created_at   integer not null
) strict;

create table session (
  id          text primary key,
  agent       text not null,
  title       text not null,
  status      text not null check (status in ('idle', 'active', 'waiting_approval', 'completed', 'error')),
  owner_id    text not null references principal (id),
  approve_all_by text references principal (id),
  last_seq    integer not null default 0,
  last_run    integer not null default 0,
  created_at  integer not null,
  updated_at  integer not null
) strict;

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
  primary key (session_id, number)
) strict, without rowid;
-- At most one run of a session is open: the last guard against two loops on one session.
create unique index run_open on run (session_id) where state = 'open';

create table message (
  session_id    text not null references session (id),
  -- Its place in the session. A queued message gets its last place when its turn comes.
  seq           integer not null,
  id            text not null,
  run_id        text,
  role          text not null check (role in ('user', 'assistant', 'tool', 'system')),
  kind          text not null check (kind in ('text', 'request', 'note')),
  -- 1 when the model is given it; 0 for command words, requests, notes for people, and what waits in the queue.
  in_history    integer not null,
  queued        integer not null,
  content       text not null,
  tool_calls    text,
  tool_call_id  text,
  action_ids    text,
  model         text,
  -- An assistant message: what its provider wants back verbatim. A tool message: how the call ended, for the model.
  payload       text,
  created_at    integer not null,
  primary key (session_id, seq)
) strict, without rowid;
create index message_queued on message (session_id, seq) where queued = 1;

create table action (
  id              text primary key,
  session_id      text references session (id),
  run_id          text,
  message_id      text,
  tool_call_id    text,
  position        integer not null default 0,
  tool            text not null,
  effect          text not null check (effect in ('read', 'write')),
  destination     text not null,
  definition_hash text not null,
  arguments       text not null,
  digest          text not null,
  revision        integer not null default 1,
  description     text not null,
  preview         text,
  preview_error   text,
  previewed_at    integer,
  risk            text not null,
  state           text not null check (state in ('proposed', 'approved', 'declined', 'expired', 'cancelled', 'executing', 'succeeded', 'failed', 'outcome_unknown')),
  policy          text not null,
  requires        text not null,
  requested_by    text not null references principal (id),
  agent           text,
  agent_says      text,
  executor        text not null check (executor in ('server', 'client')),
  attempt         integer not null default 0,
  epoch           integer not null default 0,
  -- 1 once the model has been given a result of it: what comes later is told as a note.
  told            integer not null default 0,
  idempotency_key text not null unique,
  result          text,
  result_url      text,
  error           text,
  expires_at      integer,
  created_at      integer not null,
  updated_at      integer not null
) strict;
create index action_by_message on action (session_id, message_id, position) where session_id is not null;
create index action_open on action (session_id, id) where state in ('proposed', 'approved', 'executing');
create index action_waiting on action (id) where state = 'proposed';

create table vote (
  action_id    text not null references action (id),
  revision     integer not null,
  principal_id text not null references principal (id),
  verdict      text not null check (verdict in ('approve', 'decline')),
  reason       text,
  created_at   integer not null,
  primary key (action_id, revision, principal_id)
) strict, without rowid;

-- The log: one row holds all that one transaction said to one session (16 events of a gated cycle are 6 rows).
create table event (
  id         integer primary key,
  session_id text,
  -- The number of the last of its events in the session; null for what belongs to no session.
  last_seq   integer,
  -- Set on the streamed pieces of a message: they give way to the message.
  delta_of   text,
  -- 1 when some event is about an action.
  inbox      integer not null,
  -- [[seq, type, data], ...]
  events     text not null,
  created_at integer not null
) strict;
create unique index event_by_session on event (session_id, last_seq) where session_id is not null;
create index event_delta on event (delta_of) where delta_of is not null;

-- One row per Idempotency-Key of a POST, written in the transaction that it guards.
create table once (
  scope        text not null,
  key          text not null,
  request_hash text not null,
  answer       text not null,
  created_at   integer not null,
  primary key (scope, key)
) strict, without rowid;
