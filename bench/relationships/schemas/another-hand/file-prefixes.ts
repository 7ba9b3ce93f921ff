import { code, int, money, pick, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const filePrefixes: Schema = {
  name: "file-prefixes",
  about: "names of eight letters, glued; two letters of the file before each column",
  tables: {
    CUSTMAST: { rows: 500, columns: { CUSTNO: serial(10_001), CUSTNM: words(), CRLIM: money(), CTERR: int(1, 9) } },
    VENDMAST: { rows: 60, columns: { VNDNO: serial(501), VNDNM: words() } },
    WHSMAST: { rows: 5, columns: { WHSENO: serial(10, 10), WHSENM: words() } },
    SLSMAST: { rows: 24, columns: { SLSNO: serial(), SLSNM: words(), COMPCT: int(1, 15) } },
    ITEMMAST: {
      rows: 700,
      columns: { ITEMNO: code("A#####"), ITDESC: words(), ITVEND: to("VENDMAST.VNDNO"), ITWGT: money() },
    },
    ORDHDR: {
      rows: 1_600,
      columns: {
        OHORD: serial(500_001),
        OHCUST: to("CUSTMAST.CUSTNO"),
        OHWHSE: to("WHSMAST.WHSENO"),
        OHSLSM: to("SLSMAST.SLSNO"),
        OHDATE: int(20_180_101, 20_251_231),
        OHSTAT: pick("O", "C", "X"),
      },
    },
    ORDDTL: {
      rows: 4_000,
      columns: {
        ODORD: to("ORDHDR.OHORD"),
        ODLINE: int(1, 60),
        ODITEM: to("ITEMMAST.ITEMNO", { type: "TEXT" }),
        ODQTY: int(1, 40),
      },
      key: ["ODORD", "ODLINE"],
    },
    INVHDR: {
      rows: 1_200,
      columns: { IHINV: serial(900_001), IHORD: to("ORDHDR.OHORD"), IHCUST: to("CUSTMAST.CUSTNO"), IHAMT: money() },
    },
    ITMBAL: {
      rows: 1_500,
      columns: { IBITEM: to("ITEMMAST.ITEMNO", { type: "TEXT" }), IBWHSE: to("WHSMAST.WHSENO"), IBQOH: int(0, 900) },
      key: ["IBITEM", "IBWHSE"],
    },
  },
};
