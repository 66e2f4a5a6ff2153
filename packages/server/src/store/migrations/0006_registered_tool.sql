-- Tools that agents registered and carry out themselves. A removed one keeps its name, so that nobody else takes it over.
create table registered_tool (
  name          text not null,
  owner_id      text not null references principal (id),
  -- Canonical JSON of what was registered last, and its SHA-256.
  definition    text not null,
  hash          text not null,
  -- The same of the definition that was first registered, or that people last approved a call of.
  accepted      text not null,
  accepted_hash text not null,
  removed_at    integer,
  created_at    integer not null,
  updated_at    integer not null,
  primary key (name)
) strict, without rowid;
create index registered_tool_owner on registered_tool (owner_id);
