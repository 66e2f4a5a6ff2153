-- Actions that people left out of their own inboxes until a time. Other people's inboxes do not change.
create table snooze (
  principal_id text not null references principal (id),
  action_id    text not null references action (id),
  until        integer not null,
  created_at   integer not null,
  primary key (principal_id, action_id)
) strict, without rowid;

create index snooze_by_action on snooze (action_id);
create index snooze_by_time on snooze (until);
