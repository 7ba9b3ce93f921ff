import type { Dialect } from "./dialect.ts";

/** Shared spending accounts, and each session's share of them. Converts session cost from cents to micro-dollars. */
export const spendingSchema = ({ id, int, strict }: Dialect): string[] => [
  "alter table session rename column cents to micros",
  "update session set micros = micros * 10000",
  `create table account (
    scope ${id} not null,
    name ${id} not null,
    unit ${id} not null,
    spent ${int} not null,
    primary key (scope, name, unit)
  ) ${strict}`,
  `create table share (
    session ${id} not null,
    scope ${id} not null,
    name ${id} not null,
    unit ${id} not null,
    counted ${int} not null,
    reserved ${int} not null,
    token ${int} not null,
    primary key (session, scope, name, unit)
  ) ${strict}`,
  "create index share_reserved on share (scope, name, unit) where reserved > 0",
];
