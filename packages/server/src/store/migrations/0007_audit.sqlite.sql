-- One row per transition of an action and per change of who may do what, chained by hashes within its scope.
create table audit (
  -- Its place in the record, from the same count as the places of the log of events.
  id        integer primary key,
  -- The session, the action where it has none, or 'system'.
  scope     text not null,
  -- Its number in the scope, from 1.
  seq       integer not null,
  -- The hash of the row before it in the scope; '' for the first.
  prev      text not null,
  at        integer not null,
  kind      text not null,
  actor     text not null,
  action_id text,
  -- Canonical JSON, and what its hash is salted with. Both are null once the row was redacted.
  data      text,
  salt      text,
  data_hash text not null,
  hash      text not null
) strict;
create unique index audit_chain on audit (scope, seq);

-- Signed from time to time: each head links the rows that came since the one before it.
create table audit_head (
  number    integer primary key,
  prev      text not null,
  at        integer not null,
  -- The places of its first and last row, how many they are, and between which times they were written.
  first_id  integer not null,
  last_id   integer not null,
  row_count integer not null,
  first_at  integer not null,
  last_at   integer not null,
  rows_hash text not null,
  -- The public key, of 32 bytes.
  key       text not null,
  hash      text not null,
  signature text not null
) strict;

-- The end of the session's chain, kept with the row that its transactions read and write anyway.
alter table session add column audit_seq integer not null default 0;
alter table session add column audit_hash text not null default '';
-- Since then what the action was about is blanked.
alter table action add column redacted_at integer;
