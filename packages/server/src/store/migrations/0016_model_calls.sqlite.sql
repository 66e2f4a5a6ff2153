-- One row per step: which model answered, and what it counted. Statistics read these and never the conversation.
create table model_call (
  session_id          text not null references session (id),
  run_id              text not null,
  -- From 1.
  step                integer not null,
  agent               text not null,
  -- Who answered, or failed last.
  model               text not null,
  -- Why the agent's first model did not answer; null when it did.
  fell_back           text,
  -- Why the step failed; null when it did not.
  error               text,
  input_tokens        integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens  integer not null,
  output_tokens       integer not null,
  -- 1 when the provider did not say, and the numbers are our estimate.
  estimated           integer not null,
  created_at          integer not null,
  -- By time: a row is written behind the last one, and statistics read a piece of it.
  primary key (created_at, session_id, run_id, step)
) strict, without rowid;
alter table run add column cache_write_tokens integer not null default 0;
-- How many of its steps were estimated.
alter table run add column estimated_steps integer not null default 0;
create index run_by_time on run (created_at);
