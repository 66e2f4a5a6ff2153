-- The end of the grace period of an approved action: until then it does not start, and the approval can be taken back.
-- begin sqlite
alter table action add column starts_at integer;
-- end sqlite
-- begin postgres
alter table action add column starts_at bigint;
-- end postgres
