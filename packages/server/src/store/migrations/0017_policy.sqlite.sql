-- A version is shown by what it changed: against the one that was in force when it was saved, which a tried one in between is not.
alter table policy_version add column replaces integer;
