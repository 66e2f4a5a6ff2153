-- Each row names the place of the one that it follows in its scope, and a session that of its last row: what an index over all scopes was
-- for, which was written to in another place for every row.
alter table audit add column follows integer;
update audit set follows = (select earlier.id from audit as earlier where earlier.scope = audit.scope and earlier.seq = audit.seq - 1);
alter table session add column audit_place integer;
update session set audit_place = (select id from audit where scope = session.id order by seq desc limit 1);
drop index audit_chain;
-- One row is the first. That no two follow the same one is for the lock of the scope, and for `audit verify`: an index over all rows was
-- one page more in every commit.
create unique index audit_first on audit (scope) where follows is null;
-- What has no session to remember its end.
create unique index audit_chain on audit (scope, seq) where substr(scope, 1, 4) <> 'ses_';
