import type { BudgetUnit } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { charge, readAccounts, readReserved, settle, type AccountRow } from "../operations/spending.ts";
import type { AccountState, SharedScope, Spending } from "../spending.ts";
import { plainLease } from "./leases.ts";

const decode = ({ scope, name, unit, spent, reserved }: AccountRow): AccountState => ({
  scope: scope as SharedScope,
  of: name,
  unit: unit as BudgetUnit,
  spent,
  reserved,
});

export function createSpending(database: Database): Spending {
  return {
    settle: async (lease, claims) => {
      const rows = claims.map(({ of, scope, unit, total, reserve, limit }) => ({
        scope,
        name: of,
        unit,
        limit,
        total: Math.round(total),
        reserve: Math.ceil(reserve),
      }));
      // Not in the session's write queue: a transaction that locks an account must not wait for another session's log.
      const short = await database.write(settle, { lease: plainLease(lease), claims: rows });
      return short.map((row) => ({ ...decode(row), limit: row.limit }));
    },
    charge: async (charges) => {
      const rows = charges.map(({ of, scope, unit, amount, limit }) => ({
        scope,
        name: of,
        unit,
        limit,
        amount: Math.round(amount),
      }));
      const short = await database.write(charge, rows);
      return short.map((row) => ({ ...decode(row), limit: row.limit }));
    },
    read: async ({ scope, of }) => {
      const query = { ...(scope !== undefined && { scope }), ...(of !== undefined && { name: of }) };
      return (await database.read(readAccounts, query)).map(decode);
    },
    reservedBy: async (session) => {
      const rows = await database.read(readReserved, session);
      return Object.fromEntries(rows.map(({ unit, reserved }) => [unit as BudgetUnit, reserved]));
    },
  };
}
