import { code, date, email, flag, int, money, numberWithin, pick, serial, title, to, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const twoHouses: Schema = {
  name: "two-houses",
  about: "two modules with tables of the same names, prefixed; natural and invented keys side by side",
  tables: {
    crm_customer: { rows: 75, columns: { id: serial(), name: title(), vat_id: code("AA########") } },
    crm_contact: {
      rows: 140,
      columns: { id: serial(), customer_id: to("crm_customer.id"), email: email(), opted_in: flag() },
    },
    crm_activity: {
      rows: 300,
      columns: {
        id: serial(),
        contact_id: to("crm_contact.id"),
        kind: pick("call", "mail", "visit"),
        minutes: int(1, 75),
      },
    },
    ref_country: { rows: 40, columns: { code: code("AA"), label: title() } },
    ref_currency: { rows: 12, columns: { code: code("AAA"), label: title() } },
    bil_customer: {
      rows: 110,
      columns: { id: serial(5001), name: title(), country: to("ref_country.code", { type: "TEXT" }) },
    },
    bil_contact: { rows: 60, columns: { id: serial(), customer_id: to("bil_customer.id"), email: email() } },
    bil_invoice: {
      rows: 400,
      columns: {
        number: code("R-######"),
        customer_id: to("bil_customer.id"),
        currency: to("ref_currency.code", { type: "TEXT" }),
        fiscal_year: year(),
        reminder_level: int(0, 3),
      },
    },
    bil_invoice_line: {
      rows: 900,
      columns: {
        invoice_number: to("bil_invoice.number", { type: "TEXT" }),
        line: numberWithin("invoice_number", "bil_invoice_line"),
        units: int(1, 60),
        price: money(),
      },
      key: ["invoice_number", "line"],
    },
    bil_payment: {
      rows: 350,
      columns: { id: serial(), invoice: to("bil_invoice.number", { type: "TEXT" }), amount: money(), received: date() },
    },
  },
};
