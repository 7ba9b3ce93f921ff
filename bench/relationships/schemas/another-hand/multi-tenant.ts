import { date, email, int, money, numberWithin, part, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

/** Each tenant counts from 1: a customer's id means nothing without the tenant. */
export const tenants: Schema = {
  name: "tenants",
  about: "a tenant in every key; ids that count anew for each of them",
  tables: {
    tenants: { rows: 9, columns: { tenant_id: serial(), name: words() } },
    customers: {
      rows: 900,
      columns: {
        tenant_id: to("tenants.tenant_id"),
        id: numberWithin("tenant_id", "customers"),
        name: words(),
        email: email(),
      },
      key: ["tenant_id", "id"],
    },
    products: {
      rows: 260,
      columns: {
        tenant_id: to("tenants.tenant_id"),
        id: numberWithin("tenant_id", "products"),
        title: words(),
        price: money(),
      },
      key: ["tenant_id", "id"],
    },
    invoices: {
      rows: 1_500,
      columns: {
        tenant_id: part("customers.tenant_id"),
        id: numberWithin("tenant_id", "invoices"),
        customer_id: part("customers.id"),
        issued: date(),
      },
      key: ["tenant_id", "id"],
      composite: [{ columns: ["tenant_id", "customer_id"], to: "customers", toColumns: ["tenant_id", "id"] }],
    },
    payments: {
      rows: 1_100,
      columns: {
        tenant_id: part("invoices.tenant_id"),
        id: numberWithin("tenant_id", "payments"),
        invoice_id: part("invoices.id"),
        amount: money(),
        days_late: int(0, 60),
      },
      key: ["tenant_id", "id"],
      composite: [{ columns: ["tenant_id", "invoice_id"], to: "invoices", toColumns: ["tenant_id", "id"] }],
    },
  },
};
