-- Earlier secrets of webhooks that still sign, each until its own time. They cannot be stored as hashes.
create table webhook_earlier_secret (
  webhook_id text not null references webhook (id),
  secret     text not null,
  until      integer not null,
  primary key (webhook_id, secret)
) strict, without rowid;
create index webhook_earlier_secret_by_time on webhook_earlier_secret (until);
insert into webhook_earlier_secret (webhook_id, secret, until)
  select id, earlier_secret, earlier_until from webhook where earlier_secret is not null and earlier_until is not null;
alter table webhook drop column earlier_secret;
alter table webhook drop column earlier_until;
-- Until when the receiver asked to be left alone.
-- begin sqlite
alter table webhook add column paused_until integer;
-- end sqlite
-- begin postgres
alter table webhook add column paused_until bigint;
-- end postgres
