-- What outside agents' actions said: the archive looks for it by age.
create index event_alone on event (id) where session_id is null;

-- The session's events up to this number are in the archive.
alter table session add column archived_seq bigint not null default 0;
-- Since then nothing can be done about it any more.
alter table action add column archived_at bigint;

-- One row per file of the archive, written in the transaction that takes its rows out of the log.
create table archive_file (
  number     bigint primary key,
  name       text not null,
  sha256     text not null,
  -- The hash of its last line, which the first line of the next file goes on from.
  head       text not null,
  bytes      bigint not null,
  row_count  bigint not null,
  -- The highest place in the log of a row that was archived, in this file or before.
  last_event bigint not null,
  created_at bigint not null
);
