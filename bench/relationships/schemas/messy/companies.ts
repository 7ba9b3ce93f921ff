import { date, int, listed, money, numberWithin, part, pick, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

/** Numbers count anew for each company; staff has two roles. */
export const companies: Schema = {
  name: "companies",
  about: "a company in every key, numbers that count anew for each, an account manager and a driver as roles of staff",
  tables: {
    companies: { rows: 6, columns: { company_id: serial(), name: words() } },
    staff: {
      rows: 240,
      columns: { company_id: to("companies.company_id"), staff_no: numberWithin("company_id", "staff"), name: words() },
      key: ["company_id", "staff_no"],
    },
    accounts: {
      rows: 700,
      columns: {
        company_id: part("staff.company_id"),
        account_no: numberWithin("company_id", "accounts"),
        account_manager_no: part("staff.staff_no"),
        name: words(),
        credit: money(),
      },
      key: ["company_id", "account_no"],
      composite: [
        { columns: ["company_id", "account_manager_no"], to: "staff", toColumns: ["company_id", "staff_no"] },
      ],
    },
    depots: { rows: 12, columns: { depot_id: serial(), town: listed("Bern", "Basel", "Chur") } },
    orders: {
      rows: 1_600,
      columns: {
        company_id: part("accounts.company_id"),
        order_no: numberWithin("company_id", "orders"),
        account_no: part("accounts.account_no"),
        depot_id: to("depots.depot_id"),
        ordered: date(),
        status: pick("new", "open", "done"),
      },
      key: ["company_id", "order_no"],
      composite: [{ columns: ["company_id", "account_no"], to: "accounts", toColumns: ["company_id", "account_no"] }],
    },
    order_lines: {
      rows: 3_000,
      columns: {
        company_id: part("orders.company_id"),
        order_no: part("orders.order_no"),
        line_no: int(1, 9),
        pieces: int(1, 50),
      },
      key: [],
      composite: [{ columns: ["company_id", "order_no"], to: "orders", toColumns: ["company_id", "order_no"] }],
    },
  },
};
