import { code, copied, date, money, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const denormalised: Schema = {
  name: "denormalised",
  about: "copies of names, archives and backups, numbers kept as text, orphans, 0 for none",
  tables: {
    customer: { rows: 160, columns: { customer_id: serial(), customer_name: title(), city: words(1) } },
    customer_backup: { rows: 150, columns: { customer_id: serial(), customer_name: title(), city: words(1) } },
    sales_order: {
      rows: 500,
      columns: {
        order_id: serial(),
        customer_id: to("customer.customer_id"),
        customer_name: copied("customer.customer_id", "customer_name", "customer_id"),
        parent_order_id: to("sales_order.order_id", { nulls: 0.8, none: 0 }),
        total: money(),
      },
    },
    sales_order_history: {
      rows: 800,
      columns: { history_id: serial(), order_id: to("sales_order.order_id"), changed_at: date(), old_total: money() },
    },
    invoice: {
      rows: 300,
      columns: {
        invoice_no: code("INV-#####"),
        order_id: to("sales_order.order_id", { type: "TEXT" }),
        amount: money(),
      },
    },
    payment: {
      rows: 280,
      columns: {
        payment_id: serial(),
        invoice_no: to("invoice.invoice_no", { type: "TEXT" }),
        method: pick("card", "cash"),
        paid: date(),
      },
    },
    legacy_note: {
      rows: 90,
      columns: {
        note_id: serial(),
        customer_id: {
          ...to("customer.customer_id"),
          make: ({ row, random }) => (row % 20 === 0 ? 9000 + row : 1 + Math.floor(random() * 160)),
        },
        text: words(8),
      },
    },
  },
};
