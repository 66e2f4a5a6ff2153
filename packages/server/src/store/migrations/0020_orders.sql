-- The orders of settled actions, as store/tables/action-order.ts asks for them: how long people let them wait, and their risk.
-- How long they ran has no index: it would cost a settlement more than these two together (13 of 21 µs of a processor, on SQLite).
-- begin sqlite
create index action_waited on action ((coalesce(decided_at, settled_at) - created_at), id)
  where settled_at is not null and (policy -> '$.verdict') = '"ask"';
create index action_risk on action ((risk -> '$.level'), settled_at, id) where settled_at is not null;
-- end sqlite
-- begin postgres
create index action_waited on action ((coalesce(decided_at, settled_at) - created_at), id)
  where settled_at is not null and (policy::jsonb -> 'verdict')::text = '"ask"';
create index action_risk on action (((risk::jsonb -> 'level')::text), settled_at, id) where settled_at is not null;
-- end postgres
