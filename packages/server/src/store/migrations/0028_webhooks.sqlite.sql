-- Where events about actions are sent, and what is signed there with.
create table webhook (
  id text primary key,
  url text not null,
  description text not null,
  events text not null, -- JSON: the types it hears of
  secret text not null, -- `whsec_` and base64: what is sent is signed with it, so it cannot be stored as a hash
  earlier_secret text, -- signs beside the new one until `earlier_until`
  earlier_until integer,
  failing_since integer, -- the first of the attempts that failed since the last success
  disabled_at integer,
  disabled_why text check (disabled_why in ('admin', 'gone', 'failing')),
  created_by text not null,
  created_at integer not null
) strict, without rowid;

-- One event for one webhook, written in the transaction of what it tells of.
create table webhook_delivery (
  webhook_id text not null,
  id text not null, -- of the event: the header `webhook-id`, the same at each attempt and for each webhook
  type text not null,
  action_id text,
  facts text not null, -- JSON: ids, names of tools, states, times
  words text, -- JSON: sentences that may name values; null for none, or once the action was redacted
  redacted integer not null default 0,
  state text not null check (state in ('waiting', 'delivered', 'failed')),
  tries integer not null default 0, -- failed attempts since it was last put in the queue
  epoch integer not null default 0, -- how often it was claimed: only the last one to claim it settles it
  next_at integer, -- while it waits: when it is sent, or until when whoever claimed it has it
  runner text, -- the process that claimed it
  attempts text not null default '[]', -- JSON: the last of them
  answer text, -- the beginning of what the last one was answered
  created_at integer not null,
  ended_at integer,
  primary key (webhook_id, id)
) strict, without rowid;
create index webhook_delivery_waiting on webhook_delivery (webhook_id, next_at) where state = 'waiting';
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;
create index webhook_delivery_action on webhook_delivery (action_id);
