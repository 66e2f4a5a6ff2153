-- When an action was decided, when its last attempt started, and when it was settled. Null for what has not happened, and for actions from before.
-- begin sqlite
alter table action add column decided_at integer;
alter table action add column started_at integer;
alter table action add column settled_at integer;
-- end sqlite
-- begin postgres
alter table action add column decided_at bigint;
alter table action add column started_at bigint;
alter table action add column settled_at bigint;
-- end postgres
