-- All whose words led to an action, by id, as JSON. Null: stored before this was kept, so they are worked out from the session.
alter table action add column requesters text collate "C";
-- 1 when the caller's key proves the agent's name. The agent of a session is always the server's own.
alter table action add column agent_verified bigint not null default 0;
-- The name that an agent's keys prove. Null: an agent from before names were kept, which proves none.
alter table principal add column agent text collate "C";
-- Whose requests a grant of a session covers, by id, as JSON. Null: made before this was kept, so only those of the session's owner.
alter table action_grant add column requesters text collate "C";
-- Who may write in a session besides its owner.
create table session_participant (
  session_id text collate "C" not null references session (id),
  principal_id text collate "C" not null references principal (id),
  invited_by text collate "C" not null references principal (id),
  created_at bigint not null,
  primary key (session_id, principal_id)
);
-- For the sessions that a person may see because they are invited.
create index session_participant_by_principal on session_participant (principal_id, session_id);
-- The authors of what the model was given in a session.
create index message_author on message (session_id, author_id) where in_history = 1 and author_id is not null;
