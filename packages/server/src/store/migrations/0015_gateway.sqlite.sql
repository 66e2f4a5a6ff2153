-- Calls that came in over MCP and whose result nobody was given yet: the same call again is the same action until then.
create table gateway_call (
  call       text primary key,
  once_key   text not null,
  action_id  text references action (id),
  created_at integer not null
) strict, without rowid;
create index gateway_call_action on gateway_call (action_id);
