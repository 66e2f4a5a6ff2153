-- Short-lived tokens that a host's server makes for its own people.
create table embed_token (
  id           text primary key,
  hash         text not null unique,
  -- The host's key: its tokens end with it.
  key_id       text not null references api_key (id),
  principal_id text not null references principal (id),
  -- JSON. The roles that it carries.
  roles        text not null,
  created_at   integer not null,
  expires_at   integer not null
) strict;
create index embed_token_by_key on embed_token (key_id, expires_at);
create index embed_token_by_principal on embed_token (principal_id);
-- JSON. Of a key with the scope "embed": the roles that its tokens may carry.
alter table api_key add column embed_roles text;
-- Of a person that only embed tokens identify: the service that vouches for them.
alter table principal add column host_id text references principal (id);
