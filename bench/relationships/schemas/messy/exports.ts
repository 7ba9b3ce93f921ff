import { code, copied, date, email, flag, int, money, pick, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

/** Files of several programs in one database: nothing but e-mail addresses and numbers in common. */
export const exportsOfPrograms: Schema = {
  name: "exports",
  about: "wide exports of several programs, joined by e-mail addresses and by numbers that one of them writes as text",
  tables: {
    erp_accounts: { rows: 300, columns: { account_no: serial(10_017, 7), name: words(), open_items: money(9_000) } },
    crm_contacts: {
      rows: 620,
      columns: {
        email: email(),
        first_name: words(1),
        last_name: words(1),
        company: words(),
        phone: code("+49 ### #######"),
        erp_no: to("erp_accounts.account_no", { nulls: 0.2, type: "TEXT", padded: 8 }),
        opted_in: flag(),
      },
    },
    newsletter_export: {
      rows: 480,
      columns: {
        email: to("crm_contacts.email", { type: "TEXT", orphans: 0.04 }),
        subscribed_on: date(),
        opens: int(0, 90),
        clicks: int(0, 40),
      },
      key: [],
    },
    shop_orders: {
      rows: 1_200,
      columns: {
        order_no: code("SO-######"),
        customer_email: to("crm_contacts.email", { type: "TEXT", orphans: 0.03 }),
        total: money(),
        status: pick("paid", "open", "cancelled"),
      },
    },
    shop_order_items: {
      rows: 2_600,
      columns: { order_no: to("shop_orders.order_no", { type: "TEXT" }), article: code("A-####"), qty: int(1, 9) },
      key: [],
    },
    helpdesk_tickets: {
      rows: 700,
      columns: {
        ticket: serial(),
        requester: to("crm_contacts.email", { type: "TEXT", nulls: 0.1 }),
        requester_name: copied("crm_contacts.email", "last_name", "requester"),
        order_ref: to("shop_orders.order_no", { type: "TEXT", nulls: 0.5 }),
        minutes: int(1, 400),
      },
    },
    invoices_2023: {
      rows: 900,
      columns: { invoice: code("R######"), account: to("erp_accounts.account_no"), net: money(), vat: int(0, 19) },
    },
  },
};
