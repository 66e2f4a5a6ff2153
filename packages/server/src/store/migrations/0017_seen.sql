-- Who has had a revision of an action on their screen, and when first. It is no vote and gives nobody a right.
create table action_seen (
  action_id    text not null references action (id),
  principal_id text not null references principal (id),
  revision     integer not null,
  seen_at      integer not null,
  primary key (action_id, principal_id, revision)
) strict, without rowid;
