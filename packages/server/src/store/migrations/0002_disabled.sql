-- Whether anybody is disabled is asked with every step of a session.
create index principal_disabled on principal (id) where disabled_at is not null;
