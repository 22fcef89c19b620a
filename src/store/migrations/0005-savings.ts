// Version 5: what a turn's input cost and what it would have cost without the plugin. Append-only: once released this file
// never changes.
export const savings = `
alter table turn add column saved_tokens integer not null default 0;
alter table turn add column input_cost integer not null default 0;
alter table turn add column input_cost_without integer not null default 0;
alter table turn add column saved_usd real not null default 0;
`
