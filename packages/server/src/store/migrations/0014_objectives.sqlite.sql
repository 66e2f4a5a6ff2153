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
  -- The key of the attempt that made it: whatever is sent again is done once.
  attempt_key   text not null unique,
  at            integer not null
) strict;
create index objective_change_of on objective_change (objective_id, id);
