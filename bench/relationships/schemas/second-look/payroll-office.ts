import { date, flag, int, listed, money, serial, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const payrollOffice: Schema = {
  name: "payroll-office",
  about: "small lookups by number beside ratings and levels, heads and approvers as roles, padded cost centres",
  tables: {
    cost_center: { rows: 60, columns: { cc_no: serial(100, 10), cc_name: words(), active: flag() } },
    pay_grade: { rows: 12, columns: { grade_id: serial(), label: words(1), min_pay: money(3_000) } },
    contract_type: { rows: 5, columns: { type_id: serial(), label: listed("full", "part", "temp", "intern", "ext") } },
    department: {
      rows: 25,
      columns: {
        dept_no: serial(10, 10),
        dept_name: words(),
        cost_center: to("cost_center.cc_no", { type: "TEXT", padded: 6 }),
      },
    },
    employee: {
      rows: 480,
      columns: {
        emp_no: serial(10_001),
        last_name: words(1),
        dept_no: to("department.dept_no"),
        grade_id: to("pay_grade.grade_id"),
        contract_type_id: to("contract_type.type_id"),
        manager: to("employee.emp_no", { nulls: 0.1 }),
        rating: int(1, 5),
        level: int(1, 12),
        hired: date(),
        terminated_on: date(),
      },
    },
    absence: {
      rows: 1_500,
      columns: {
        absence_id: serial(),
        emp_no: to("employee.emp_no", { orphans: 0.04 }),
        approver_emp_no: to("employee.emp_no", { nulls: 0.3 }),
        days: int(1, 20),
        year: year(),
      },
    },
    payslip: {
      rows: 3_000,
      columns: {
        emp_no: to("employee.emp_no"),
        month: int(1, 12),
        year: year(),
        gross: money(9_000),
        cost_center: to("cost_center.cc_no", { type: "TEXT", padded: 6 }),
      },
      key: [],
    },
  },
};
