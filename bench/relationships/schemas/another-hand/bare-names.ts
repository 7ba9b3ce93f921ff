import { code, date, int, money, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const bareNames: Schema = {
  name: "bare-names",
  about: "id, ref, code and parent; what is referred to is a code beside the primary key",
  tables: {
    category: {
      rows: 40,
      columns: {
        id: serial(),
        code: code("CA###"),
        label: words(),
        parent: to("category.code", { type: "TEXT", nulls: 0.2 }),
      },
      unique: [["code"]],
    },
    product: {
      rows: 500,
      columns: { id: serial(), ref: code("R#####"), label: words(), category: to("category.code", { type: "TEXT" }) },
      unique: [["ref"]],
    },
    stock: { rows: 400, columns: { ref: to("product.ref", { type: "TEXT" }), qty: int(0, 200) } },
    price: {
      rows: 1_200,
      columns: { ref: to("product.ref", { type: "TEXT" }), since: date(), amount: money() },
      key: ["ref", "since"],
    },
    client: { rows: 300, columns: { id: serial(), code: code("K####"), name: words() }, unique: [["code"]] },
    doc: {
      rows: 1_500,
      columns: {
        id: serial(),
        code: code("D######"),
        client: to("client.code", { type: "TEXT" }),
        parent: to("doc.id", { nulls: 0.7 }),
      },
      unique: [["code"]],
    },
    doc_line: {
      rows: 3_000,
      columns: { doc: to("doc.id"), pos: int(1, 40), ref: to("product.ref", { type: "TEXT" }), qty: int(1, 9) },
      key: ["doc", "pos"],
    },
  },
};
