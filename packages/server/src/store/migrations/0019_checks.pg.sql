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
