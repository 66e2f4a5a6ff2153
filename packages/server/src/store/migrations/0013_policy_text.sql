-- The document of a version as its author wrote it, comments included; null where it came as data.
alter table policy_version add column written text;
