-- The person behind a principal: a person's own id; for an agent or a service, the person who owns it.
alter table principal add column person_id text references principal (id);
update principal set person_id = id where kind = 'person';

alter table api_key add column name text not null default '';
alter table api_key add column created_by text references principal (id);
-- JSON. Which of its principal's roles it carries, and what it may be used for; null: all of them, everything.
alter table api_key add column roles text;
alter table api_key add column scopes text;
alter table api_key add column expires_at bigint;
alter table api_key add column revoked_at bigint;
alter table api_key add column revoked_by text references principal (id);
-- To the minute.
alter table api_key add column last_used_at bigint;
update api_key set name = (select principal.name from principal where principal.id = api_key.principal_id);

-- Who is signed in at a console.
create table console_session (
  id           text primary key,
  principal_id text not null references principal (id),
  -- SHA-256 of the secret in its cookie, and of the one before: what is under way while it changes still carries that.
  hash         text not null unique,
  earlier_hash text,
  how          text not null check (how in ('local', 'key', 'oidc')),
  -- Of the key that opened it: it ends with that key.
  key_hash     text,
  -- What the sign-in service wants back at sign-out.
  id_token     text,
  created_at   bigint not null,
  -- To the minute.
  seen_at      bigint not null,
  rotated_at   bigint not null,
  ended_at     bigint
);
create index console_session_earlier on console_session (earlier_hash) where earlier_hash is not null;
create index console_session_open on console_session (principal_id) where ended_at is null;

-- Answers of the sign-in service that were used: each is taken once, by whichever process.
create table used_sign_in (
  state_hash text primary key,
  used_at    bigint not null
);
create index used_sign_in_by_time on used_sign_in (used_at);
