-- A vote that somebody gives for another: the person whose right it uses.
alter table vote add column for_id text references principal (id);

-- When people are reminded and when others are asked too, each once; `due_at` is the first of these and of `expires_at`.
alter table action add column remind_at integer;
alter table action add column escalate_at integer;
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
  expires_at integer not null,
  revoked_at integer,
  revoked_by text references principal (id),
  created_at integer not null
) strict, without rowid;
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
  uses_left    integer,
  used         integer not null default 0,
  last_used_at integer,
  made_by      text not null references principal (id),
  -- The action it was made for.
  made_from    text,
  expires_at   integer not null,
  revoked_at   integer,
  revoked_by   text references principal (id),
  created_at   integer not null
) strict, without rowid;
create index action_grant_session on action_grant (session_id) where revoked_at is null and session_id is not null;
create index action_grant_agent on action_grant (agent) where revoked_at is null and session_id is null;
create index action_grant_key on action_grant (requested_by) where revoked_at is null and requested_by is not null;
