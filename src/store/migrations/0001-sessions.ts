// Version 1: sessions, the anchors of the sticky slot, turns. Append-only: once released this file never changes.
export const sessions = `
create table session (
  id text primary key,
  touched_at integer not null
) strict;

create index session_touched_at on session (touched_at);

create table anchors (
  session_id text primary key references session (id) on delete cascade,
  anchors text not null
) strict;

create table turn (
  session_id text not null references session (id) on delete cascade,
  turn integer not null,
  started_at integer not null,
  ended_at integer not null,
  calls integer not null,
  input_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  hud_tokens integer not null,
  provider_id text not null,
  model_id text not null,
  primary key (session_id, turn)
) strict;
`
