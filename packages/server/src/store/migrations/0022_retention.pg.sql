-- How long an answer is kept: a day after it was given, or until 30 days after the action that it names is settled.
alter table once add column kept_for text collate "C" not null default 'day' check (kept_for in ('day', 'action'));
update once set kept_for = 'action' where scope like '% mcp';
-- Old rows of these tables are looked for by time.
create index once_by_time on once (kept_for, created_at);
create index gateway_call_by_time on gateway_call (created_at);
