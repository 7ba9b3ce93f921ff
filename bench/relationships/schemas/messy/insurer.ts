import { code, date, flag, int, listed, money, pick, serial, sparse, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const insurer: Schema = {
  name: "insurer",
  about: "lookups by code, dates as numbers in four roles, many numbers that are no reference, a broker's hierarchy",
  tables: {
    calendar: { rows: 1_100, columns: { date_key: serial(20_220_101), weekday: int(1, 7), holiday: flag() } },
    claim_status: { rows: 6, columns: { status_code: listed("OP", "RV", "AP", "PD", "DN", "CL"), meaning: words() } },
    peril: { rows: 15, columns: { peril_code: code("AAA"), meaning: words(), severity: int(1, 5) } },
    broker: {
      rows: 90,
      columns: {
        broker_id: serial(),
        name: words(),
        upline_broker_id: to("broker.broker_id", { nulls: 0.3 }),
        tier: int(1, 4),
      },
    },
    policyholder: {
      rows: 700,
      columns: { holder_id: sparse(21), name: words(), birth_year: year(), rating: int(1, 9) },
    },
    policy: {
      rows: 1_000,
      columns: {
        policy_no: code("P########"),
        holder_id: to("policyholder.holder_id"),
        broker_id: to("broker.broker_id", { nulls: 0.2 }),
        start_date_key: to("calendar.date_key"),
        end_date_key: to("calendar.date_key", { nulls: 0.4 }),
        premium: money(),
        payments_per_year: pick(1, 2, 4, 12),
      },
    },
    claim: {
      rows: 1_700,
      columns: {
        claim_id: serial(),
        policy_no: to("policy.policy_no", { type: "TEXT", orphans: 0.03 }),
        status: to("claim_status.status_code", { type: "TEXT" }),
        peril: to("peril.peril_code", { type: "TEXT" }),
        loss_date_key: to("calendar.date_key"),
        reported_date_key: to("calendar.date_key"),
        reserve: money(9_000),
        days_open: int(0, 400),
        reopened: int(0, 3),
      },
    },
    adjuster: {
      rows: 40,
      columns: { adjuster_id: serial(), name: words(), supervisor: to("adjuster.adjuster_id", { nulls: 0.2 }) },
    },
    claim_payment: {
      rows: 2_200,
      columns: {
        payment_id: serial(),
        claim_id: to("claim.claim_id"),
        approved_by: to("adjuster.adjuster_id"),
        amount: money(5_000),
        paid_on: date(),
        batch: int(1, 60),
      },
    },
  },
};
