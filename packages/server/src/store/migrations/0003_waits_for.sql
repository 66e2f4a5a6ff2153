-- The inbox of a person, among waiting actions of many groups: what decides who may vote, as store/tables/waits-for.ts builds it.
-- begin sqlite
create index action_waits_for on action (
  '[' || (requires -> '$.roles') || ',' || coalesce(requires -> '$.alsoRoles', '[]') || ','
    || case when (requires -> '$.notRequester') = 'true' then coalesce(requesters, '[null]') else '[]' end || ']',
  id
) where state = 'proposed';
-- end sqlite
-- begin postgres
create index action_waits_for on action (
  ('[' || (requires::jsonb -> 'roles')::text || ',' || coalesce((requires::jsonb -> 'alsoRoles')::text, '[]') || ','
    || case when (requires::jsonb -> 'notRequester')::text = 'true' then coalesce(requesters, '[null]') else '[]' end || ']'),
  id
) where state = 'proposed';
-- end postgres
