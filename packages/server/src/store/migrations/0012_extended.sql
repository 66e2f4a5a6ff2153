-- Who extended the deadline of an action: JSON of {by, at, from}. It is done once.
-- begin sqlite
alter table action add column extended text;
-- end sqlite
-- begin postgres
alter table action add column extended text;
-- end postgres
