-- Who should decide about an action: JSON of {person or role, by, at}. It gives nobody a right.
-- begin sqlite
alter table action add column assigned text;
-- end sqlite
-- begin postgres
alter table action add column assigned text;
-- end postgres
