import { code, date, flag, int, listed, money, numberWithin, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const lager: Schema = {
  name: "lager",
  about: "German, master tables, abbreviations of compounds (ME for Mengeneinheiten, LO for Lagerorte), padded numbers",
  tables: {
    Mengeneinheiten: {
      rows: 8,
      columns: { ME: listed("ST", "KG", "M", "L", "PAL", "KRT", "T", "CM"), Bezeichnung: words(1) },
    },
    Warengruppen: {
      rows: 30,
      columns: {
        WGR: code("A##"),
        Bezeichnung: words(),
        ObergruppeWGR: to("Warengruppen.WGR", { type: "TEXT", nulls: 0.4 }),
      },
    },
    Lieferantenstamm: { rows: 130, columns: { LiefNr: serial(70_000), Name1: words(), PLZ: int(10_000, 99_999) } },
    Artikelstamm: {
      rows: 850,
      columns: {
        ArtNr: code("##-#####"),
        Bezeichnung: words(),
        ME: to("Mengeneinheiten.ME", { type: "TEXT" }),
        WGR: to("Warengruppen.WGR", { type: "TEXT", orphans: 0.03 }),
        HauptLiefNr: to("Lieferantenstamm.LiefNr", { nulls: 0.2 }),
        EKPreis: money(),
        Gesperrt: flag(),
      },
    },
    Lagerorte: { rows: 45, columns: { LagerortID: serial(), Halle: int(1, 6), Regal: int(1, 40) } },
    Bestand: {
      rows: 1_400,
      columns: {
        ArtNr: to("Artikelstamm.ArtNr", { type: "TEXT" }),
        LagerortID: to("Lagerorte.LagerortID"),
        Menge: int(0, 900),
      },
      key: ["ArtNr", "LagerortID"],
    },
    Bestellkopf: {
      rows: 500,
      columns: {
        BestNr: serial(4_500_001),
        LiefNr: to("Lieferantenstamm.LiefNr", { type: "TEXT", padded: 10 }),
        Bestelldatum: date(),
        StornoKZ: flag(),
      },
    },
    Bestellpos: {
      rows: 1_900,
      columns: {
        BestNr: to("Bestellkopf.BestNr", { orphans: 0.03 }),
        Pos: numberWithin("BestNr", "Bestellpos"),
        ArtNr: to("Artikelstamm.ArtNr", { type: "TEXT" }),
        ME: to("Mengeneinheiten.ME", { type: "TEXT" }),
        Menge: int(1, 300),
      },
      key: ["BestNr", "Pos"],
    },
  },
};
