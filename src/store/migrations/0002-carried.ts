// Version 2: what a ledger carried across a compaction. Append-only: once released this file never changes.
export const carried = `
create table carried (
  session_id text primary key references session (id) on delete cascade,
  compaction_id text not null,
  data text not null
) strict;
`
