-- Numbers of the log are given once: not again after deltas gave way to their message, and not after rows were archived.
create table event_numbered (
  id         integer primary key autoincrement,
  session_id text,
  last_seq   integer,
  delta_of   text,
  inbox      integer not null,
  events     text not null,
  created_at integer not null
) strict;
insert into event_numbered select id, session_id, last_seq, delta_of, inbox, events, created_at from event;
drop table event;
alter table event_numbered rename to event;
create unique index event_by_session on event (session_id, last_seq) where session_id is not null;
create index event_delta on event (delta_of) where delta_of is not null;
-- What outside agents' actions said: the archive looks for it by age.
create index event_alone on event (id) where session_id is null;

-- The session's events up to this number are in the archive.
alter table session add column archived_seq integer not null default 0;
-- Since then nothing can be done about it any more.
alter table action add column archived_at integer;

-- One row per file of the archive. It is there before the file is, so that what an interrupted run leaves is known; the columns without a
-- value are filled in by the transaction that takes the file's rows out of the log.
create table archive_file (
  number     integer primary key,
  folder     text not null,
  name       text not null,
  sha256     text,
  -- The hash of its last line, which the first line of the next file goes on from.
  head       text,
  bytes      integer,
  row_count  integer,
  -- The highest place in the log of a row that was archived, in this file or before.
  last_event integer,
  created_at integer not null
) strict;
