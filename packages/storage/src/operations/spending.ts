import { operation } from "../operation.ts";
import { Refusal } from "../refusal.ts";
import { all, insert, join, one, raw, sql, where, type Sql, type Work } from "../sql-statement.ts";
import { fence, type LogLease } from "./fence.ts";

export interface AccountKey {
  scope: string;
  name: string;
  unit: string;
}

interface ClaimInput extends AccountKey {
  total: number;
  reserve: number;
  limit: number | null;
}

export interface AccountRow extends AccountKey {
  spent: number;
  reserved: number;
}

interface ShareRow extends AccountKey {
  counted: number;
  reserved: number;
}

/** Account name for spending that happened before the session was first counted. */
const BEFORE = "";

/** A reservation is valid only while the lease that made it is. */
const HOLDS = sql`share.token = log.lease_token and log.lease_holder is not null and log.lease_until >= now_ms()`;

/**
 * Accounts are locked in one global order, to avoid deadlocks between sessions. The lock keeps other sessions'
 * reservations stable until the commit.
 */
export const settle = operation("spending.settle", settleAll, { single: settleInOneStatement });

interface SettleArgs {
  lease: LogLease;
  claims: readonly ClaimInput[];
}

const byKey = (a: AccountKey, b: AccountKey): number => (keyOf(a) < keyOf(b) ? -1 : 1);

function* settleAll(args: SettleArgs): Work<(AccountRow & { limit: number })[]> {
  const { session, token } = args.lease;
  yield* fence(args.lease);
  const claims = args.claims.toSorted(byKey);
  if (claims.length === 0) {
    yield sql`update share set reserved = 0 where session = ${session}`;
    return [];
  }
  const shares = yield* all(sql<ShareRow>`
  select scope, name, unit, counted, reserved from share where session = ${session}`);
  const counted = claims.map((claim) => {
    const same = shares.filter(({ scope, unit }) => scope === claim.scope && unit === claim.unit);
    const own = same.find(({ name }) => name === claim.name);
    return {
      claim,
      own,
      isFirst: same.length === 0,
      delta: same.length === 0 ? 0 : claim.total - same.reduce((sum, share) => sum + share.counted, 0),
    };
  });
  const accounts = new Map<string, AccountRow>();
  const written = yield* all(sql<AccountRow>`
  ${insert(
    "account",
    counted.map(({ claim: { scope, name, unit }, delta }) => ({ scope, name, unit, spent: delta })),
  )}
  on conflict (scope, name, unit) do update set spent = account.spent + excluded.spent
  returning scope, name, unit, spent`);
  for (const row of written) accounts.set(keyOf(row), { ...row, reserved: 0 });
  const others = yield* all(sql<AccountKey & { reserved: number }>`
  select share.scope, share.name, share.unit, cast(sum(share.reserved) as bigint) as reserved
  from share join log on log.session = share.session
  where share.session <> ${session} and share.reserved > 0 and ${HOLDS} and (${anyOf(claims)})
  group by share.scope, share.name, share.unit`);
  for (const row of others) accounts.get(keyOf(row))!.reserved = row.reserved;
  const short = counted.flatMap(({ claim: { limit, reserve, ...key } }) => {
    const account = accounts.get(keyOf(key))!;
    return limit !== null && account.spent + account.reserved + reserve > limit ? [{ ...account, limit }] : [];
  });
  const rows = counted.flatMap(({ claim: { scope, name, unit, total, reserve }, own, isFirst, delta }) => {
    const left = Math.max(0, (own?.reserved ?? 0) - Math.max(0, delta));
    const share = { session, scope, name, unit, counted: delta, reserved: short.length > 0 ? left : reserve, token };
    return isFirst ? [{ ...share, name: BEFORE, counted: total, reserved: 0 }, share] : [share];
  });
  yield sql`update share set reserved = 0 where session = ${session} and reserved > 0 and not (${anyOf(claims)})`;
  yield sql`${insert("share", rows)}
  on conflict (session, scope, name, unit) do update
  set counted = share.counted + excluded.counted, reserved = excluded.reserved, token = excluded.token`;
  return short;
}

/** Without a limit nothing can be short, so nothing of other sessions is read, and the database can calculate the rest. */
function settleInOneStatement({ lease, claims }: SettleArgs): Work<(AccountRow & { limit: number })[]> | undefined {
  const isUnlimited = claims.length > 0 && claims.every(({ limit }) => limit === null);
  return isUnlimited ? settleUnlimited(lease, claims.toSorted(byKey)) : undefined;
}

function* settleUnlimited({ session, token }: LogLease, claims: readonly ClaimInput[]): Work<[]> {
  const values = claims.map(({ scope, name, unit, total, reserve }, index) =>
    index === 0
      ? sql`(0, ${scope}, ${name}, ${unit}, cast(${total} as bigint), cast(${reserve} as bigint))`
      : sql`(${raw(String(index))}, ${scope}, ${name}, ${unit}, ${total}, ${reserve})`,
  );
  const row = yield* one(sql<{ number: number }>`
    with fence as (
      update log set lease_token = lease_token
      where session = ${session} and lease_token = ${token} and lease_holder is not null
      returning number
    ), claim as (
      select fresh.* from fence, (values ${join(values, ", ")}) as fresh (place, scope, name, unit, total, reserve)
    ), counted as (
      select claim.*, count(share.session) = 0 as is_first,
        case when count(share.session) = 0 then 0 else claim.total - sum(share.counted) end as delta
      from claim left join share
        on share.session = ${session} and share.scope = claim.scope and share.unit = claim.unit
      group by claim.place, claim.scope, claim.name, claim.unit, claim.total, claim.reserve
    ), booked as (
      insert into account (scope, name, unit, spent) select scope, name, unit, delta from counted order by place
      on conflict (scope, name, unit) do update set spent = account.spent + excluded.spent
    ), earlier as (
      insert into share (session, scope, name, unit, counted, reserved, token)
      select ${session}, scope, ${BEFORE}, unit, total, 0, cast(${token} as bigint) from counted where is_first
    ), own as (
      insert into share (session, scope, name, unit, counted, reserved, token)
      select ${session}, scope, name, unit, delta, reserve, cast(${token} as bigint) from counted
      on conflict (session, scope, name, unit) do update
      set counted = share.counted + excluded.counted, reserved = excluded.reserved, token = excluded.token
    ), freed as (
      update share set reserved = 0 from fence where share.session = ${session} and share.reserved > 0 and not exists (
        select 1 from claim where claim.scope = share.scope and claim.name = share.name and claim.unit = share.unit
      )
    )
    select number from fence`);
  if (!row) throw new Refusal({ type: "lease_lost", session });
  return [];
}

export interface ChargeInput extends AccountKey {
  amount: number;
  limit: number | null;
}

/** Locks the accounts in the same order as `settle`. */
export const charge = operation("spending.charge", function* (given: readonly ChargeInput[]): Work<
  (AccountRow & { limit: number })[]
> {
  const charges = given.toSorted(byKey);
  if (charges.length === 0) return [];
  const locked = yield* all(sql<AccountRow>`
    ${insert(
      "account",
      charges.map(({ scope, name, unit }) => ({ scope, name, unit, spent: 0 })),
    )}
    on conflict (scope, name, unit) do update set spent = account.spent
    returning scope, name, unit, spent`);
  const reserved = yield* all(sql<AccountKey & { reserved: number }>`
    select share.scope, share.name, share.unit, cast(sum(share.reserved) as bigint) as reserved
    from share join log on log.session = share.session
    where share.reserved > 0 and ${HOLDS} and (${anyOf(charges)})
    group by share.scope, share.name, share.unit`);
  const held = new Map(reserved.map((row) => [keyOf(row), row.reserved]));
  const spent = new Map(locked.map((row) => [keyOf(row), row.spent]));
  const short = charges.flatMap(({ scope, name, unit, amount, limit }) => {
    const key = keyOf({ scope, name, unit });
    const account = { scope, name, unit, spent: spent.get(key)!, reserved: held.get(key) ?? 0 };
    // A correction is always counted.
    const isOver = limit !== null && amount > 0 && account.spent + account.reserved + amount > limit;
    return isOver ? [{ ...account, limit }] : [];
  });
  if (short.length > 0) return short;
  yield sql`
    ${insert(
      "account",
      charges.map(({ scope, name, unit, amount }) => ({ scope, name, unit, spent: amount })),
    )}
    on conflict (scope, name, unit) do update set spent = account.spent + excluded.spent`;
  return [];
});

export const readAccounts = operation("spending.read", function* (query: { scope?: string; name?: string }): Work<
  AccountRow[]
> {
  const wanted = where([
    ...(query.scope === undefined ? [] : [sql`account.scope = ${query.scope}`]),
    ...(query.name === undefined ? [] : [sql`account.name = ${query.name}`]),
  ]);
  return yield* all(sql<AccountRow>`
    select account.scope, account.name, account.unit, account.spent, cast(coalesce((
      select sum(share.reserved) from share join log on log.session = share.session
      where share.scope = account.scope and share.name = account.name and share.unit = account.unit and ${HOLDS}
    ), 0) as bigint) as reserved
    from account ${wanted} order by account.scope, account.name, account.unit`);
});

/** Every account of a unit holds the same reservation. */
export const readReserved = operation("spending.reserved", function* (session: string): Work<
  { unit: string; reserved: number }[]
> {
  return yield* all(sql<{ unit: string; reserved: number }>`
    select share.unit, max(share.reserved) as reserved from share join log on log.session = share.session
    where share.session = ${session} and share.reserved > 0 and ${HOLDS} group by share.unit order by share.unit`);
});

const keyOf = ({ scope, name, unit }: AccountKey): string => `${scope}\n${name}\n${unit}`;

const anyOf = (keys: readonly AccountKey[]): Sql =>
  join(
    keys.map(({ scope, name, unit }) =>
      join([sql`share.scope = ${scope}`, sql`share.name = ${name}`, sql`share.unit = ${unit}`], " and "),
    ),
    " or ",
  );
