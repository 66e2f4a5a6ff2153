-- Which installation this database belongs to. Its other half lies outside the database, so that a copy can be told from the original.
create table instance (
  only_one integer primary key check (only_one = 1),
  id text not null, -- another one with each epoch
  epoch integer not null,
  bound_at integer, -- null until a server has started on it
  system text, -- of Postgres: which cluster and which database of it
  timeline text,
  token text, -- hash of the token that its processes have in their environment
  held_at integer, -- while this is set, nothing is carried out
  held_why text
) strict;

insert into instance (only_one, id, epoch) values (1, lower(hex(randomblob(16))), 1);

-- The epoch that the last attempt was started in, and when a person let an action go on although the rest is held.
alter table action add column instance_epoch integer;
alter table action add column released_at integer;
