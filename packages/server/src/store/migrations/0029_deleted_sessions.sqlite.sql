-- A deleted session keeps its row: its actions name it, and its part of the record ends in it.
alter table session add column deleted_at integer;
