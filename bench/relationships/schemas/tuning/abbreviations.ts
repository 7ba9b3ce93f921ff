import { date, int, money, pick, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const abbreviations: Schema = {
  name: "abbreviations",
  about: "cust_no for customers.customer_number, dept for department.dept_id",
  tables: {
    department: { rows: 12, columns: { dept_id: serial(10, 10), dname: title(), floor: int(1, 9) } },
    employee: {
      rows: 90,
      columns: {
        emp_id: serial(),
        full_nm: words(),
        dept: to("department.dept_id"),
        mgr: to("employee.emp_id", { nulls: 0.1 }),
        sal: money(),
        grade: int(1, 9),
      },
    },
    customers: {
      rows: 150,
      columns: { customer_number: serial(1001), cname: words(), region: pick("N", "S", "E", "W") },
    },
    product_category: { rows: 9, columns: { cat_id: serial(), descr: title() } },
    products: {
      rows: 80,
      columns: {
        prod_id: serial(),
        prod_nm: title(),
        cat_id: to("product_category.cat_id"),
        unit_prc: money(),
        stk_qty: int(0, 60),
      },
    },
    orders: {
      rows: 400,
      columns: {
        ord_no: serial(50_001),
        cust_no: to("customers.customer_number"),
        ord_dt: date(),
        sls_emp: to("employee.emp_id"),
        stat: int(1, 5),
      },
    },
    order_items: {
      rows: 1200,
      columns: {
        itm_id: serial(),
        ord_no: to("orders.ord_no"),
        prd: to("products.prod_id"),
        qty: int(1, 12),
        disc: money(1),
      },
    },
    acct: { rows: 60, columns: { acct_num: serial(7001), cust: to("customers.customer_number"), bal: money() } },
    txn: { rows: 500, columns: { txn_id: serial(), account: to("acct.acct_num"), amt: money(), yr: year() } },
  },
};
