import { code, date, int, numberWithin, pick, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const clinic: Schema = {
  name: "clinic",
  about: "capitals, glued and shortened words, persons in several roles",
  tables: {
    WARD: { rows: 9, columns: { WARDID: serial(), WARDNAME: title(), BEDS: int(4, 30) } },
    PHYSICIAN: {
      rows: 35,
      columns: {
        PHYSID: serial(),
        SURNAME: words(1),
        SPEC: pick("CARD", "NEUR", "ORTH"),
        WARDID: to("WARD.WARDID"),
        CHIEF: to("PHYSICIAN.PHYSID", { nulls: 0.2 }),
      },
    },
    PATIENT: {
      rows: 210,
      columns: { PATNO: serial(100_001), SURNAME: words(1), BIRTHYR: year(), FAMPHYS: to("PHYSICIAN.PHYSID") },
    },
    ENCOUNTER: {
      rows: 620,
      columns: {
        ENCID: serial(),
        PATNO: to("PATIENT.PATNO"),
        ATTPHYS: to("PHYSICIAN.PHYSID"),
        WARD: to("WARD.WARDID"),
        ADMITTED: date(),
        DAYS: int(1, 30),
      },
    },
    DIAGCODE: { rows: 80, columns: { ICD: code("A##.#"), DESCR: title() } },
    DIAGNOSIS: {
      rows: 900,
      columns: {
        ENCID: to("ENCOUNTER.ENCID"),
        SEQ: numberWithin("ENCID", "DIAGNOSIS"),
        ICD: to("DIAGCODE.ICD", { type: "TEXT" }),
        SEVERITY: int(1, 5),
      },
      key: ["ENCID", "SEQ"],
    },
    MEDICATION: { rows: 66, columns: { MEDID: serial(), GENERIC: title(), DOSE: int(1, 60) } },
    PRESCRIPTION: {
      rows: 500,
      columns: {
        RXNO: serial(),
        ENCID: to("ENCOUNTER.ENCID"),
        MED: to("MEDICATION.MEDID"),
        PRESCRIBER: to("PHYSICIAN.PHYSID"),
        REFILLS: int(0, 5),
      },
    },
  },
};
