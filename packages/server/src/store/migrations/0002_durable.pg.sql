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
