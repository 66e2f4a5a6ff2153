-- A row of the log stands at the place of the last of its events, not at a number of its own.
update event set id = -id;
update event set id = id * -1000;
