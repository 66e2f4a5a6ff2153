-- The server processes on this database. One lives while its own connection holds the advisory lock of its number.
create table process (
  id          text primary key,
  number      integer generated always as identity unique,
  -- Machine and process number, for people.
  name        text not null,
  version     text not null,
  -- The ids under which it takes jobs, as JSON.
  pools       text not null,
  -- The connection that holds the lock.
  backend     integer not null,
  started_at  bigint not null,
  seen_at     bigint not null
) with (fillfactor = 50); -- seen_at is written every second, in place

-- The process that makes the run's next model call, and how many steps the run had taken when it began.
alter table run add column runner text;
alter table run add column claimed integer;
create index run_claimed on run (runner) where state = 'open' and claimed = steps;

-- What is at work, among millions of sessions that wait for a person.
create index session_active on session (id) where status = 'active';

-- graphile-worker's add_jobs without its NOTIFY: a transaction that notifies commits alone, one after the other, which costs most of the
-- throughput (tx/s at 1, 8, 32 in flight: 682, 1421, 1366 quiet; 361, 808, 826 as it is). Whoever commits wakes the workers himself.
-- The plans are kept, because making them anew took four fifths of the call (180 µs instead of 750), and go by indexes, because they are
-- kept from a time when the table was small.
create schema countersign_quiet;
create function countersign_quiet.pg_notify(text, text) returns void language sql as '';
create function countersign_quiet.add_jobs(specs json) returns void language plpgsql
  set search_path = countersign_quiet, pg_catalog
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  perform graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, specs)));
end
$$;
