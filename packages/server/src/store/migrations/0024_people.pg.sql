-- Keys used to be derived from this secret and the row in `once`. Keys are random now, and a copy of the database computes none of them.
delete from setting where name = 'key_secret';

-- A key that somebody else made for a person only reads until that person accepts it. Keys from before this version keep working.
alter table api_key add column accepted_at bigint;
update api_key set accepted_at = created_at;

-- A disabled person signs in nowhere and counts nowhere.
alter table principal add column disabled_at bigint;
alter table principal add column disabled_by text;
-- JSON: the roles that the sign-in service gave at the last sign-in, a part of `roles`; null for somebody who has never used one.
alter table principal add column provided_roles text;
-- The id of somebody from a sign-in service is `prn_` and 32 hex digits; all other ids are shorter.
update principal set provided_roles = roles where kind = 'person' and length(id) = 36;

-- What ends with a person is looked for by person.
create index api_key_by_principal on api_key (principal_id);
create index principal_by_person on principal (person_id);
