-- Versions of the policy, by number. One is in force; one at most is tried beside it and decides nothing.
create table policy_version (
  number     integer primary key,
  -- JSON.
  document   text not null,
  -- SHA-256 (hex) of its canonical form: the same number can come up again with another document where a save was undone.
  digest     text not null,
  source     text not null check (source in ('file', 'api')),
  author     text references principal (id),
  reason     text not null,
  in_use     text check (in_use in ('force', 'shadow')),
  created_at integer not null
) strict;
create unique index policy_version_in_use on policy_version (in_use) where in_use is not null;

-- Proposals about which the version that is tried says something else than the one in force.
create table policy_difference (
  shadow     integer not null references policy_version (number),
  action_id  text not null references action (id),
  in_force   integer not null,
  -- The verdicts of both; equal where only requirements or risk are others.
  was        text not null,
  would_be   text not null,
  -- JSON: all that the tried version says.
  said       text not null,
  primary key (shadow, action_id)
) strict, without rowid;
