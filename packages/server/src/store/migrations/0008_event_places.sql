-- SQLite kept the last place of the log in a row of its own, which was one more page in every commit. The log and the record say it, too.
-- begin sqlite
insert into setting (name, value) select 'log.last_place', cast(seq as text) from sqlite_sequence where name = 'event';
create table event_next (
  id         integer primary key,
  session_id text,
  last_seq   integer,
  delta_of   text,
  inbox      integer not null,
  events     text not null,
  created_at integer not null
) strict;
insert into event_next (id, session_id, last_seq, delta_of, inbox, events, created_at)
  select id, session_id, last_seq, delta_of, inbox, events, created_at from event order by id;
drop table event;
alter table event_next rename to event;
create index event_alone on event (id) where session_id is null;
create unique index event_by_session on event (session_id, last_seq) where session_id is not null;
create index event_delta on event (delta_of) where delta_of is not null;
-- end sqlite
