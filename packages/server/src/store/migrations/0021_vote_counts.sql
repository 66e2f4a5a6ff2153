-- 0 for a vote that did not count when its action was decided: who held which role then is not known later.
alter table vote add column counts integer;
