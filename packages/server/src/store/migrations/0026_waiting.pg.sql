-- How often an action was asked for: the same call of the same requester, without an idempotency key, while it waits, is the same action.
alter table action add column times_asked integer not null default 1;
-- 1 for an action that was proposed without an idempotency key: only such a one stands for a repeat of its call.
alter table action add column unkeyed integer not null default 0;
-- What a requester has waiting is counted each time they ask for more.
create index action_waiting_of on action (requested_by) where state = 'proposed';
