-- Browsers that are notified of actions that wait for their person.
create table push_subscription (
  id                 text primary key,
  principal_id       text not null references principal (id),
  -- The sign-in that it was made with: signing out deletes it.
  console_session_id text not null,
  -- Of the key that was used to sign in: nothing is sent once it is revoked or has expired.
  key_hash           text,
  -- An address of the push service that works like a password: whoever knows it can send there.
  endpoint           text not null unique,
  p256dh             text not null,
  auth               text not null,
  -- The first failed attempt since the last success.
  failing_since      integer,
  created_at         integer not null
) strict;
create index push_subscription_by_principal on push_subscription (principal_id, id);
create index push_subscription_by_session on push_subscription (console_session_id);
-- How a person has set up the console, under the names that the server knows. JSON.
create table preference (
  principal_id text not null references principal (id),
  name         text not null,
  value        text not null,
  primary key (principal_id, name)
) strict, without rowid;
-- Webhooks were the first to be sent to; push messages wait in the same queue. `webhook_id` is then the id of the subscription.
alter table webhook_delivery add column channel text not null default 'webhook' check (channel in ('webhook', 'push'));
create index webhook_delivery_push on webhook_delivery (webhook_id, next_at) where state = 'waiting' and channel = 'push';
