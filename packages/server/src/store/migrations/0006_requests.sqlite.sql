-- Requests that run when somebody calls for them, by the id of their run, which begins then.
create table agent_request (
  id         text primary key,
  session_id text not null references session (id),
  -- The place of its message while that is held (message.queued = 2).
  held_seq   integer not null
) strict, without rowid;

-- Programs that speak with a model know an action by the id of its tool call.
create index action_by_call on action (tool_call_id) where tool_call_id is not null;

-- Who carries the attempt out, where a client does: nobody else's result of it is taken.
alter table action add column claimed_by text references principal (id);
