-- What outside agents' actions said: the archive looks for it by age.
create index event_alone on event (id) where session_id is null;

-- The session's events up to this number are in the archive.
alter table session add column archived_seq bigint not null default 0;
-- Since then nothing can be done about it any more.
alter table action add column archived_at bigint;

-- One row per file of the archive. It is there before the file is, so that what an interrupted run leaves is known; the columns without a
-- value are filled in by the transaction that takes the file's rows out of the log.
create table archive_file (
  number     bigint primary key,
  folder     text not null,
  name       text not null,
  sha256     text,
  -- The hash of its last line, which the first line of the next file goes on from.
  head       text,
  bytes      bigint,
  row_count  bigint,
  -- The highest place in the log of a row that was archived, in this file or before.
  last_event bigint,
  created_at bigint not null
);
