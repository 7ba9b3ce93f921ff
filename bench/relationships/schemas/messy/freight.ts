import { code, date, flag, int, money, numberWithin, part, serial, sparse, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const freight: Schema = {
  name: "freight",
  about: "abbreviations, lookup codes of two letters, two roles of one table, a lane of two facilities as a key",
  tables: {
    st: { rows: 48, columns: { st_cd: code("AA"), st_nm: words(1) } },
    fac: { rows: 70, columns: { fac_no: sparse(3), fac_nm: words(), st_cd: to("st.st_cd", { type: "TEXT" }) } },
    carr: {
      rows: 60,
      columns: { carr_cd: code("AAAA"), carr_nm: words(), hq_fac_no: to("fac.fac_no", { nulls: 0.4 }) },
    },
    equip_typ: { rows: 9, columns: { typ_cd: code("AA"), descr: words(), max_wt: int(1_000, 40_000) } },
    drvr: {
      rows: 210,
      columns: {
        drvr_id: serial(),
        carr_cd: to("carr.carr_cd", { type: "TEXT" }),
        mgr_drvr_id: to("drvr.drvr_id", { nulls: 0.3 }),
        home_fac_no: to("fac.fac_no"),
        hire_dt: date(),
      },
    },
    lane: {
      rows: 400,
      columns: {
        orig_fac_no: to("fac.fac_no"),
        dest_fac_no: to("fac.fac_no"),
        miles: int(20, 2_500),
      },
      key: ["orig_fac_no", "dest_fac_no"],
    },
    shpmt: {
      rows: 1_400,
      columns: {
        shpmt_id: serial(1_000_001),
        carr_cd: to("carr.carr_cd", { type: "TEXT", orphans: 0.03 }),
        equip_typ_cd: to("equip_typ.typ_cd", { type: "TEXT" }),
        orig_fac_no: part("lane.orig_fac_no"),
        dest_fac_no: part("lane.dest_fac_no"),
        wt: int(100, 40_000),
        is_del: flag(),
      },
      composite: [
        {
          columns: ["orig_fac_no", "dest_fac_no"],
          to: "lane",
          toColumns: ["orig_fac_no", "dest_fac_no"],
        },
      ],
    },
    stop: {
      rows: 3_100,
      columns: {
        shpmt_id: to("shpmt.shpmt_id", { orphans: 0.02 }),
        stop_seq: numberWithin("shpmt_id", "stop"),
        fac_no: to("fac.fac_no"),
        drvr_id: to("drvr.drvr_id", { nulls: 0.1 }),
        dtn_amt: money(200),
      },
      key: ["shpmt_id", "stop_seq"],
    },
  },
};
