// The migrations in order. A store at version n has had the first n applied; `PRAGMA user_version` holds n. Append-only: a
// released migration never changes.

/** Version 1: sessions, the anchors of the HUD's sticky slot, turns. */
const sessions = `
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

/** Version 2: what a ledger carried across a compaction. */
const carried = `
create table carried (
  session_id text primary key references session (id) on delete cascade,
  compaction_id text not null,
  data text not null
) strict;
`

/** Version 3: digests written by a model. */
const digests = `
create table digest (
  key text not null,
  writer text not null,
  digest text not null,
  used_at integer not null,
  primary key (key, writer)
) strict;

create index digest_used_at on digest (used_at);
`

/** Version 4: folds, and what folding did in a turn. */
const folds = `
create table fold (
  session_id text not null references session (id) on delete cascade,
  part_id text not null,
  number integer not null,
  fold text,
  primary key (session_id, part_id)
) strict;

alter table turn add column folded_tokens integer not null default 0;
alter table turn add column recalls integer not null default 0;
`

/** Version 5: what the input of a turn cost, and what it would have cost without the plugin. */
const savings = `
alter table turn add column saved_tokens integer not null default 0;
alter table turn add column input_cost integer not null default 0;
alter table turn add column input_cost_without integer not null default 0;
alter table turn add column saved_usd real not null default 0;
`

/** Version 6: folds by the call that made them, since their ids have no numbers any more; what recalls taught of a model. */
const misses = `
drop table fold;

create table fold (
  session_id text not null references session (id) on delete cascade,
  part_id text not null,
  call integer not null,
  fold text not null,
  primary key (session_id, part_id)
) strict;

create index fold_call on fold (session_id, call);

create table miss (
  model text not null,
  shows text not null,
  recalls integer not null,
  folded integer not null,
  used_at integer not null,
  primary key (model, shows)
) strict;
`

/** Version 7: what recalls taught of a model decides nothing any more. */
const noMisses = "drop table miss;"

export const migrations: readonly string[] = [sessions, carried, digests, folds, savings, misses, noMisses]

export const schemaVersion = migrations.length

/** `PRAGMA application_id` of every store ("OHUD"): a database without it was created by something else. */
export const applicationID = 0x4f485544
