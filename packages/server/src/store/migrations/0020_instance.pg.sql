-- Which installation this database belongs to. Its other half lies outside the database, so that a copy can be told from the original.
create table instance (
  only_one integer primary key check (only_one = 1),
  id text not null, -- another one with each epoch
  epoch bigint not null,
  bound_at bigint, -- null until a server has started on it
  system text, -- which cluster and which database of it
  timeline text, -- the one that a process has vouched for
  token text, -- hash of the token that its processes have in their environment
  held_at bigint, -- while this is set, nothing is carried out
  held_why text
);

insert into instance (only_one, id, epoch) values (1, replace(gen_random_uuid()::text, '-', ''), 1);

-- The epoch that the last attempt was started in, and when a person let an action go on although the rest is held.
alter table action add column instance_epoch bigint;
alter table action add column released_at bigint;

-- Both answer null where the service does not let its users ask.
create function countersign_timeline() returns text language plpgsql stable as $$
begin
  return substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
exception when others then
  return null;
end $$;

create function countersign_system() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system())::text
    || '/' || (select oid from pg_database where datname = current_database())::text;
exception when others then
  return null;
end $$;
