// The migrations in order. A store at version n has had all up to n applied; `PRAGMA user_version` holds n. Append-only: a
// released migration never changes. Versions 1 to 8 were never released, so the first migration leads to version 9.

const tables = `
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
  ended_at integer not null,
  calls integer not null,
  output_tokens integer not null,
  provider_id text not null,
  model_id text not null,
  recalls integer not null,
  saved_tokens integer not null,
  input_cost integer not null,
  input_cost_without integer not null,
  saved_usd real not null,
  primary key (session_id, turn)
) strict;

create table carried (
  session_id text primary key references session (id) on delete cascade,
  compaction_id text not null,
  data text not null
) strict;

create table fold (
  session_id text not null references session (id) on delete cascade,
  part_id text not null,
  call integer not null,
  fold text not null,
  primary key (session_id, part_id)
) strict;

create index fold_call on fold (session_id, call);
`

/** By the version that each leads to. */
export const migrations: ReadonlyMap<number, string> = new Map([[9, tables]])

export const schemaVersion = Math.max(...migrations.keys())

/** `PRAGMA application_id` of every store ("OHUD"): a database without it was created by something else. */
export const applicationID = 0x4f485544
