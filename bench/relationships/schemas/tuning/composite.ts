import { code, date, int, money, numberWithin, part, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const composite: Schema = {
  name: "composite",
  about: "order lines, sections, junctions; foreign keys of two and three columns",
  tables: {
    orders: { rows: 200, columns: { order_id: serial(), placed: date(), total: money() } },
    products: { rows: 50, columns: { product_id: serial(), name: title(), weight: money() } },
    order_lines: {
      rows: 600,
      columns: {
        order_id: to("orders.order_id"),
        line_no: numberWithin("order_id", "order_lines"),
        product_id: to("products.product_id"),
        quantity: int(1, 20),
      },
      key: ["order_id", "line_no"],
    },
    shipment_lines: {
      rows: 300,
      columns: {
        shipment_line_id: serial(),
        order_id: part("order_lines.order_id"),
        line_no: part("order_lines.line_no"),
        shipped: date(),
      },
      composite: [{ columns: ["order_id", "line_no"], to: "order_lines", toColumns: ["order_id", "line_no"] }],
    },
    courses: { rows: 30, columns: { course_code: code("AAA###"), title: title(), credits: int(1, 6) } },
    sections: {
      rows: 140,
      columns: {
        course_code: to("courses.course_code", { type: "TEXT" }),
        term: pick("2021S", "2021W", "2022S", "2022W", "2023S"),
        section_no: int(1, 4),
        room: int(1, 40),
      },
      key: ["course_code", "term", "section_no"],
    },
    students: { rows: 110, columns: { student_id: serial(), name: words(), gpa: money(4) } },
    enrolments: {
      rows: 700,
      columns: {
        student_id: to("students.student_id"),
        course_code: part("sections.course_code", "TEXT"),
        term: part("sections.term", "TEXT"),
        section_no: part("sections.section_no"),
        mark: int(1, 100),
      },
      key: ["student_id", "course_code", "term", "section_no"],
      composite: [
        {
          columns: ["course_code", "term", "section_no"],
          to: "sections",
          toColumns: ["course_code", "term", "section_no"],
        },
      ],
    },
    product_courses: {
      rows: 60,
      columns: { product_id: to("products.product_id"), course_code: to("courses.course_code", { type: "TEXT" }) },
      key: ["product_id", "course_code"],
    },
  },
};
