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
