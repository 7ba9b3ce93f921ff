import { date, int, money, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const german: Schema = {
  name: "german",
  about: "kunde_nr for kunden.nr, compounds, plurals in -en, mixed case",
  tables: {
    Kunden: { rows: 90, columns: { Nr: serial(), Name: words(), Ort: words(1), PLZ: int(10_000, 99_999) } },
    Lieferanten: { rows: 14, columns: { Nr: serial(), Firma: title(), Bewertung: int(1, 5) } },
    Warengruppen: { rows: 8, columns: { Nr: serial(), Bezeichnung: title() } },
    Artikel: {
      rows: 160,
      columns: {
        Nr: serial(),
        Bezeichnung: title(),
        Lieferant_Nr: to("Lieferanten.Nr"),
        Warengruppe: to("Warengruppen.Nr"),
        Bestand: int(0, 90),
        Preis: money(),
      },
    },
    Mitarbeiter: {
      rows: 22,
      columns: {
        Nr: serial(),
        Name: words(),
        Vorgesetzter_Nr: to("Mitarbeiter.Nr", { nulls: 0.2 }),
        Geburtsjahr: year(),
      },
    },
    Bestellungen: {
      rows: 350,
      columns: {
        Nr: serial(),
        Kunde_Nr: to("Kunden.Nr"),
        Bearbeiter: to("Mitarbeiter.Nr"),
        Datum: date(),
        Zustand: int(1, 4),
      },
    },
    Bestellpositionen: {
      rows: 900,
      columns: {
        BestellungNr: to("Bestellungen.Nr"),
        ArtikelNr: to("Artikel.Nr"),
        Menge: int(1, 20),
        Rabatt: money(1),
      },
      key: ["BestellungNr", "ArtikelNr"],
    },
  },
};
