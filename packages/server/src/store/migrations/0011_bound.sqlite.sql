-- What a decision is bound to, besides tool, arguments and destination: whose rights, and what the target was when it was shown.
alter table action add column credential text not null default 'none';
alter table action add column precondition text;
-- The version of the target (ETag) that the attempt is held against.
alter table action add column target_version text;
-- Why the revision is not the first: JSON of {why, reason, by, at}.
alter table action add column revised text;
-- Who changed the arguments last.
alter table action add column edited_by text references principal (id);

-- Every earlier revision of an action, as it was shown, and why it ended. The last one is the action.
create table action_revision (
  action_id       text not null references action (id),
  revision        integer not null,
  tool            text not null,
  arguments       text not null,
  digest          text not null,
  definition_hash text not null,
  destination     text not null,
  credential      text not null,
  precondition    text,
  description     text not null,
  preview         text,
  preview_error   text,
  previewed_at    integer,
  risk            text not null,
  policy          text not null,
  requires        text not null,
  revised         text,
  ended           text not null,
  primary key (action_id, revision)
) strict, without rowid;
