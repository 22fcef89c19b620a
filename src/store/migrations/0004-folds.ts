// Version 4: which outputs go out folded, and what folding did in a turn. Append-only: once released this file never
// changes.
export const folds = `
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
