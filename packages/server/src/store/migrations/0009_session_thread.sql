-- The sessions behind the ids that other user interfaces give their conversations, for each caller.
create table session_thread (
  owner_id   text not null references principal (id),
  -- ai-sdk or ag-ui.
  surface    text not null,
  thread     text not null,
  session_id text not null references session (id),
  created_at integer not null,
  primary key (owner_id, surface, thread)
) strict, without rowid;
create index session_thread_session on session_thread (session_id);
