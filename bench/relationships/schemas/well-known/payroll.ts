import { code, date, int, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const payroll: Schema = {
  name: "payroll",
  about: "the same few keys in all tables, dates in keys, one-to-one and many-to-many by the same names",
  tables: {
    employees: {
      rows: 300,
      columns: {
        emp_no: serial(10_001),
        birth_date: date(),
        first_name: words(1),
        last_name: words(1),
        gender: pick("M", "F"),
        hire_date: date(),
      },
    },
    departments: { rows: 9, columns: { dept_no: code("d###"), dept_name: title() } },
    dept_emp: {
      rows: 330,
      columns: {
        emp_no: to("employees.emp_no"),
        dept_no: to("departments.dept_no", { type: "TEXT" }),
        from_date: date(),
        to_date: date(),
      },
      key: ["emp_no", "dept_no"],
    },
    dept_manager: {
      rows: 24,
      columns: {
        emp_no: to("employees.emp_no"),
        dept_no: to("departments.dept_no", { type: "TEXT" }),
        from_date: date(),
        to_date: date(),
      },
      key: ["emp_no", "dept_no"],
    },
    salaries: {
      rows: 1500,
      columns: { emp_no: to("employees.emp_no"), salary: int(38_000, 160_000), from_date: date(), to_date: date() },
      key: ["emp_no", "from_date"],
    },
    titles: {
      rows: 440,
      columns: {
        emp_no: to("employees.emp_no"),
        title: pick("Engineer", "Staff", "Manager"),
        from_date: date(),
        to_date: date(),
      },
      key: ["emp_no", "title", "from_date"],
    },
  },
};
