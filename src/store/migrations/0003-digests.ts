// Version 3: digests that a model wrote. Append-only: once released this file never changes.
export const digests = `
create table digest (
  key text not null,
  writer text not null,
  digest text not null,
  used_at integer not null,
  primary key (key, writer)
) strict;

create index digest_used_at on digest (used_at);
`
