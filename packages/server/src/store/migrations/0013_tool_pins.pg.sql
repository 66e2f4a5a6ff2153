-- What the sources of tools said that each tool is, when it was first seen or when people last agreed to it.
create table tool_pin (
  group_name text not null,
  tool       text not null,
  hash       text not null,
  definition text not null,
  pinned_at  bigint not null,
  primary key (group_name, tool)
);
