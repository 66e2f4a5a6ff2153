-- Actions by when they were settled: what was settled today is found without a look at all others, however long before it was proposed.
create index action_settled on action (settled_at, id) where settled_at is not null;
