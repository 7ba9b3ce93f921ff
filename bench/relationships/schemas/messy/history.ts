import { code, date, flag, int, money, pick, serial, to, uuid } from "../column.ts";
import type { Schema } from "../schema.ts";

export const history: Schema = {
  name: "history",
  about: "slowly changing dimensions: facts refer to a version by surrogate key, events to the entity by its own",
  tables: {
    hub_customer: { rows: 400, columns: { customer_id: uuid("hc"), created_at: date() } },
    dim_customer: {
      rows: 900,
      columns: {
        customer_sk: serial(),
        customer_id: to("hub_customer.customer_id", { type: "TEXT" }),
        segment: pick("smb", "mid", "ent"),
        valid_from: date(),
        valid_to: date(),
        is_current: flag(),
      },
    },
    dim_plan: {
      rows: 60,
      columns: {
        plan_sk: serial(),
        plan_code: code("AA-#"),
        monthly_fee: money(400),
        valid_from: date(),
        is_current: flag(),
      },
    },
    currencies: { rows: 20, columns: { code: code("AAA"), minor_units: int(0, 3) } },
    fct_subscription: {
      rows: 2_600,
      columns: {
        subscription_id: serial(70_001),
        customer_sk: to("dim_customer.customer_sk"),
        plan_sk: to("dim_plan.plan_sk"),
        previous_plan_sk: to("dim_plan.plan_sk", { nulls: 0.6 }),
        currency: to("currencies.code", { type: "TEXT" }),
        mrr: money(500),
        deleted_at: pick(null, null, "2024-03-01"),
      },
    },
    raw_events: {
      rows: 3_000,
      columns: {
        event_id: uuid("ev"),
        customer_id: to("hub_customer.customer_id", { type: "TEXT", orphans: 0.02 }),
        subscription_id: to("fct_subscription.subscription_id", { nulls: 0.4 }),
        name: pick("login", "export", "invite"),
        ms: int(1, 9_000),
      },
    },
  },
};
