-- When the newest secret of a console was first sent back. Until then the answer that brought it may be lost, and the one before is good.
-- begin sqlite
alter table console_session add column used_at integer;
-- end sqlite
-- begin postgres
alter table console_session add column used_at bigint;
-- end postgres
update console_session set used_at = rotated_at;
