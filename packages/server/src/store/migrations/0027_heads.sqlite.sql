-- How a head is hashed: 2 also covers which row each of its rows follows, and what a person accepted before it (`gap`, as JSON).
alter table audit_head add column format integer not null default 1;
alter table audit_head add column gap text;
create unique index audit_head_gap on audit_head (number) where gap is not null;
