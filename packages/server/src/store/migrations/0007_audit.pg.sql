-- One row per transition of an action and per change of who may do what, chained by hashes within its scope.
create table audit (
  -- Its place in the record, from the same count as the places of the log of events.
  id        bigint primary key,
  -- The session, the action where it has none, or 'system'.
  scope     text collate "C" not null,
  -- Its number in the scope, from 1.
  seq       bigint not null,
  -- The hash of the row before it in the scope; '' for the first.
  prev      text collate "C" not null,
  at        bigint not null,
  kind      text collate "C" not null,
  actor     text collate "C" not null,
  action_id text collate "C",
  -- Canonical JSON, and what its hash is salted with. Both are null once the row was redacted.
  data      text collate "C",
  salt      text collate "C",
  data_hash text collate "C" not null,
  hash      text collate "C" not null
);
create unique index audit_chain on audit (scope, seq);

-- Signed from time to time: each head links the rows that came since the one before it.
create table audit_head (
  number    bigint primary key,
  prev      text collate "C" not null,
  at        bigint not null,
  -- The places of its first and last row, how many they are, and between which times they were written.
  first_id  bigint not null,
  last_id   bigint not null,
  row_count bigint not null,
  first_at  bigint not null,
  last_at   bigint not null,
  rows_hash text collate "C" not null,
  -- The public key, of 32 bytes.
  key       text collate "C" not null,
  hash      text collate "C" not null,
  signature text collate "C" not null
);

-- The end of the session's chain, kept with the row that its transactions read and write anyway.
alter table session add column audit_seq bigint not null default 0;
alter table session add column audit_hash text collate "C" not null default '';
-- Since then what the action was about is blanked.
alter table action add column redacted_at bigint;
