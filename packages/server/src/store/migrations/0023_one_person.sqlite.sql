-- The person at the server's own machine and the owner of the bootstrap key are one person, prn_local. Votes and requests stay as they were
-- recorded; rules about people compare person_id. Keys, delegations and grants of the bootstrap key's owner become those of that person.
update principal set person_id = 'prn_local'
  where person_id = 'prn_bootstrap' and exists (select 1 from principal as local_person where local_person.id = 'prn_local');
update api_key set principal_id = 'prn_local'
  where principal_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update delegation set from_id = 'prn_local'
  where from_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update delegation set to_id = 'prn_local'
  where to_id = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
update action_grant set made_by = 'prn_local'
  where made_by = 'prn_bootstrap' and exists (select 1 from principal where principal.id = 'prn_local');
-- Over plain http, the cookie of a console reached every port of its host. Its secret is worth nothing from now on.
update console_session set ended_at = seen_at, id_token = null where ended_at is null;
