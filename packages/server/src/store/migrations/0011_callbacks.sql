-- Whether agents may name addresses under the webhook's URL as the callbacks of their actions.
alter table webhook add column callbacks integer not null default 0;
-- Where the proposer is told what became of the action: JSON of {webhook, url}.
alter table action add column callback text;
-- 1 for a delivery to the callback of its action instead of the webhook's own URL.
alter table webhook_delivery add column is_callback integer not null default 0;
